"""Textures beside MuJoCo's own renderer: where they lie on every kind of geom, and what colours they have.

In ambient light alone MuJoCo's picture is the surface's colour, which is the output "albedo".
"""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics.rendering import BatchRenderer, Camera, Look
from tumble.physics.rendering.shown.textures import textures

from ...models.meshes import attributes, icosphere
from .mujoco_pictures import mujoco_pictures

SIZE = 200, 200
NEAR = 25  # of 255: a block of a texture differs from its neighbours by more, but beside their edges
UNLIKE = 0.1
"""Share of pixels inside a geom that may be farther off: MuJoCo blurs edges of blocks on slanting surfaces more."""
VIEWS = ((2.4, 70.0, -35.0, (0.0, 0.0, 0.0)), (2.6, 215.0, 25.0, (0.0, 0.0, 0.0)))
ASSETS = f"""
  <visual><headlight ambient="1 1 1" diffuse="0 0 0" specular="0 0 0"/><global offwidth="400" offheight="400"/>
    <quality numslices="128" numstacks="128"/></visual>
  <asset>
    <material name="flat" texture="flat" texrepeat="1 2"/>
    <material name="flat uniform" texture="flat" texrepeat="1 2" texuniform="true"/>
    <material name="cube" texture="cube" rgba="1 0.8 1 1"/>
    <material name="cube uniform" texture="cube" texuniform="true"/>
    <mesh name="ball" {attributes(icosphere(3))} scale="0.5 0.6 0.7"/>
  </asset>"""
GEOMS = {
    "box": 'type="box" size="0.5 0.7 0.3"',
    "sphere": 'type="sphere" size="0.8"',
    "ellipsoid": 'type="ellipsoid" size="0.5 0.8 0.6"',
    "cylinder": 'type="cylinder" size="0.5 0.8"',
    "capsule": 'type="capsule" size="0.4 0.5"',
    "plane": 'type="plane" size="1.2 0.8 1"',
    "endless": 'type="plane" size="0 0 1"',
    "mesh": 'type="mesh" mesh="ball"',
}
MATERIALS = ("flat", "flat uniform", "cube", "cube uniform")
CASES = [(g, m) for g in GEOMS for m in MATERIALS if not ("plane" in GEOMS[g] and "cube" in m)]
"""On planes all directions into a cube are along z = 0: there, on the middle line of each face, two blocks meet."""
MOST_UNLIKE = {"endless": 0.25}
"""The far end of an endless plane is blurred in other ways."""


def blocks(faces):
    """Images of 8 x 8 blocks of random colours, with eight texels a side each, one below the other."""
    colours = np.random.default_rng(3).integers(0, 256, (8 * faces, 8, 3), np.uint8)
    return np.repeat(np.repeat(colours, 8, axis=0), 8, axis=1).ravel().tolist()


def world(geom, material):
    """A model of one geom."""
    return blocks_on(f'<geom {geom} material="{material}"/>')


def blocks_on(geoms):
    """A model of geoms, with the textures `blocks`."""
    spec = mujoco.MjSpec.from_string(f"<mujoco>{ASSETS}<worldbody>{geoms}</worldbody></mujoco>")
    kinds = mujoco.mjtTexture
    for name, kind, faces in (("flat", kinds.mjTEXTURE_2D, 1), ("cube", kinds.mjTEXTURE_CUBE, 6)):
        spec.add_texture(name=name, type=kind, width=64, height=64 * faces, nchannel=3, data=blocks(faces))
    return spec.compile()


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    """MuJoCo's pictures by geom, material and view."""
    cases = [(g, m, v) for g, m in CASES for v in range(2) if not ("plane" in GEOMS[g] and v == 1)]
    jobs = [(world(GEOMS[g], m), VIEWS[v], SIZE, ()) for g, m, v in cases]
    found = mujoco_pictures(jobs, tmp_path_factory.mktemp("pictures"))
    return None if found is None else dict(zip(cases, found, strict=True))


@pytest.mark.parametrize(("geom", "material"), CASES)
def test_textures_are_mujocos(geom, material, poses, references):
    """Compare flat images and cubes, uniform or not, on every kind of geom."""
    if references is None:
        pytest.skip("MuJoCo's own renderer needs EGL, which is not there")
    source = poses(world(GEOMS[geom], material))
    for view, (distance, azimuth, elevation, lookat) in enumerate(VIEWS):
        if (geom, material, view) not in references:
            continue
        camera = Camera(distance=distance, azimuth=azimuth, elevation=elevation, lookat=lookat)
        renderer = BatchRenderer(source.model, *SIZE, camera=camera)
        found = renderer.draw(source, ("albedo", "segmentation"))
        albedo, expected = found["albedo"][0].float(), torch.as_tensor(references[geom, material, view]).float()
        outside = (found["segmentation"][0] != 0).float()
        inside = torch.nn.functional.max_pool2d(outside[None], 5, stride=1, padding=2)[0] == 0
        assert inside.sum() > 2000
        unlike = (albedo - expected).abs().amax(dim=-1)[inside] > NEAR
        assert unlike.float().mean() < MOST_UNLIKE.get(geom, UNLIKE), (view, float(unlike.float().mean()))
        assert albedo[inside].std(dim=0).max() > 20


def test_smaller_copies_keep_the_mean():
    """In linear light, also where a side is odd; the last one is a texel."""
    spec = mujoco.MjSpec()
    pixels = np.random.default_rng(0).integers(0, 256, (6, 10, 3), np.uint8)
    spec.add_texture(
        name="t", type=mujoco.mjtTexture.mjTEXTURE_2D, width=10, height=6, nchannel=3, data=pixels.ravel().tolist()
    )
    made = textures(spec.compile(), [0])
    assert made.table.tolist() == [[0, 5, 0]]
    assert [tuple(row[1:3]) for row in made.levels] == [(10, 6), (5, 3), (3, 2), (2, 1), (1, 1)]
    light = (pixels / 255.0) ** 2
    first = made.levels[1, 0]
    halved = light.reshape(3, 2, 5, 2, 3).mean(axis=(1, 3))
    assert np.abs(made.texels[first : first + 15].reshape(3, 5, 3) / 255.0 - np.sqrt(halved)).max() < 1 / 255


def test_skyboxes_surround_the_scene(poses):
    """Each face of MuJoCo's six is where its name says, looking from inside; the sky has no geom."""
    faces = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0], [255, 0, 255], [0, 255, 255]], np.uint8)
    spec = mujoco.MjSpec()
    data = np.repeat(faces, 16, axis=0)
    spec.add_texture(
        name="s", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, width=4, height=24, nchannel=3, data=data.ravel().tolist()
    )
    source = poses(spec.compile())
    for azimuth, elevation, face in ((0, 0, 0), (180, 0, 1), (0, 90, 2), (0, -90, 3), (270, 0, 4), (90, 0, 5)):
        camera = Camera(distance=1, azimuth=azimuth, elevation=elevation, lookat=(0, 0, 0))
        for skybox in (True, False):
            look = Look(skybox=skybox, exposure=1.0, zenith_rgb=(0.2, 0.2, 0.2))  # no face's colour
            rgb = BatchRenderer(source.model, 8, 8, camera=camera, look=look).render(source)[0, 4, 4]
            assert ((rgb > 128) == torch.as_tensor(faces[face] > 128)).all() == skybox, (azimuth, elevation)


def test_far_textures_do_not_flicker(poses):
    """A fine checker on boxes, seen from afar, is its mean colour, however the camera is moved by parts of a pixel."""
    model = mujoco.MjModel.from_xml_string("""
    <mujoco><asset><texture name="c" type="2d" builtin="checker" rgb1="0 0 0" rgb2="1 1 1" width="64" height="64"/>
      <material name="m" texture="c" texrepeat="200 200"/></asset>
    <worldbody><geom type="box" size="1 1 1" material="m"/></worldbody></mujoco>""")
    source = poses(model)
    for turn in (0.0, 0.3, 0.71):
        camera = Camera(distance=8, azimuth=90 + turn, elevation=0, lookat=(0, 0, 0), fovy=20)
        albedo = BatchRenderer(source.model, 48, 48, camera=camera).draw(source, ("albedo",))["albedo"][0].float()
        assert (albedo[12:36, 12:36] - 255 * 0.5**0.5).abs().max() < 4


FILE_SCENE = """<mujoco><visual><headlight ambient="1 1 1" diffuse="0 0 0" specular="0 0 0"/>
    <global offwidth="400" offheight="400"/><quality numslices="128"/><map haze="{haze}" zfar="30"/>
    <rgba haze="1 0 0 1"/></visual>
  <asset><texture type="skybox" builtin="flat" rgb1="0 0 0" width="8" height="48"/>
    <texture name="t" type="2d" builtin="checker" mark="edge" rgb1="{dark}" rgb2="{light}" markrgb="{mark}"
      width="40" height="40"/><material name="m" texture="t" texrepeat="1 1" texuniform="true"/></asset>
  <worldbody><geom type="plane" size="0 0 1" material="m"/></worldbody></mujoco>"""
FAR, DOWN = (2.0, 90.0, -10.0, (0.0, 0.0, 1.0)), (2.5, 90.0, -60.0, (0.0, 0.0, 0.0))
CHECKER, BLACK = {"dark": "0.2 0.3 0.4", "light": "0.1 0.2 0.3", "mark": "0.9 0.8 0.7"}, "0 0 0"


def test_the_look_of_a_file_has_its_floor_its_marks_and_its_haze(poses, tmp_path):
    """As MuJoCo's renderer has them: lines of `mark`, no fog, and the haze before the skybox."""
    marked = mujoco.MjModel.from_xml_string(FILE_SCENE.format(**CHECKER, haze=0.01))
    black = mujoco.MjModel.from_xml_string(FILE_SCENE.format(dark=BLACK, light=BLACK, mark=BLACK, haze=0.6))
    jobs = [(marked, DOWN, SIZE, ()), (black, FAR, SIZE, ())]
    expected = mujoco_pictures(jobs, tmp_path)
    if expected is None:
        pytest.skip("MuJoCo's own renderer needs EGL, which is not there")
    drawn = []
    for mj, (distance, azimuth, elevation, lookat), size, _ in jobs:
        camera = Camera(distance=distance, azimuth=azimuth, elevation=elevation, lookat=lookat)
        source = poses(mj)
        renderer = BatchRenderer(source.model, *size, camera=camera, look=Look.of_file())
        drawn.append(renderer.draw(source, ("albedo", "rgb")))
    albedo, theirs = drawn[0]["albedo"][0].float(), torch.as_tensor(expected[0]).float()
    assert (theirs[..., 0] > 150).float().mean() > 0.005  # lines are in sight
    assert ((albedo - theirs).abs().amax(dim=-1) > NEAR).float().mean() < 0.01
    # MuJoCo blends colours as they are shown, over black: its red is the haze's share, which here is linear light
    value = drawn[1]["rgb"][0, ..., 0].double() / 255
    light = torch.linspace(0, 1, 10_001, dtype=torch.float64)
    shown = (light * (light + 0.29) / (light * light + 0.383 * light + 0.223)).sqrt()
    share = light[torch.searchsorted(shown, value.contiguous()).clamp(max=10_000)]
    theirs = torch.as_tensor(expected[1])[..., 0].double() / 255
    assert theirs.max() > 0.9 and theirs[-1].max() < 0.5
    assert (share - theirs).abs().median(dim=1).values.max() < 0.05  # rows at both rims are parts of a pixel off

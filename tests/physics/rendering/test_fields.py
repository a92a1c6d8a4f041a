"""Height fields in pictures: mj_ray's geometry, no seams between cells, light and textures on the ground."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics.rendering import BatchRenderer, Camera, Look
from tumble.physics.rendering.shown.appearance import openness

from .test_meshes import look_at_every_pixel

ABOVE = Camera(distance=4, azimuth=90, elevation=-89.99, lookat=(0, 0, 0), fovy=2.0, orthographic=True)


def world(fields, rest=""):
    """A model of fields, each (heights, size, further attributes of its geom), and other things of MJCF.

    Heights go from 0 to 1, and the first row is at the smallest y.
    """
    assets, geoms = [], []
    for k, (heights, size, more) in enumerate(fields):
        nrow, ncol = heights.shape
        numbers = " ".join(f"{x:.9g}" for x in heights[::-1].ravel())
        size = " ".join(f"{x:.17g}" for x in size)
        assets.append(f'<hfield name="h{k}" nrow="{nrow}" ncol="{ncol}" size="{size}" elevation="{numbers}"/>')
        geoms.append(f'<geom type="hfield" hfield="h{k}" {more}/>')
    return mujoco.MjModel.from_xml_string(f"""<mujoco>
      <asset>{"".join(assets)}<material name="dull" rgba="0.8 0.8 0.8 1" specular="0"/></asset>
      <worldbody>{"".join(geoms)}{rest}</worldbody></mujoco>""")


def ramp(nrow, ncol):
    """A slope along x and y."""
    return np.linspace(0, 0.5, nrow)[:, None] + np.linspace(0, 0.5, ncol)


BODIES = """
  <body pos="0 0 1"><freejoint/><geom type="capsule" size="0.1 0.2"/></body>
  <body pos="0.5 0.3 1"><freejoint/><geom type="box" size="0.1 0.2 0.1"/></body>"""


def scene():
    """Ground with steps, a field of two cells on its side, a small one that floats, one that is hidden, and bodies."""
    rng = np.random.default_rng(0)
    steps = np.round(rng.uniform(0, 4, (30, 41))) / 4
    return world(
        (
            (steps, (1.5, 1.2, 0.2, 0.1), ""),
            (rng.uniform(size=(2, 3)), (0.3, 0.2, 0.2, 0.05), 'pos="-0.7 0.5 0.6" euler="80 20 10"'),
            (rng.uniform(size=(9, 5)), (0.2, 0.4, 0.1, 0.02), 'pos="0.8 -0.5 0.5" euler="10 -20 40" group="2"'),
            (rng.uniform(size=(3, 3)), (0.5, 0.5, 0.5, 0.5), 'pos="0 0 0.5" group="3"'),
        ),
        BODIES,
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_pixel_sees_what_mj_ray_does(dtype, poses):
    """Two pictures whole: 21,600 rays."""
    model = scene()
    source = poses(model, 2, dtype).scatter(seed=2, amount=0.2)
    camera = Camera(distance=3.0, azimuth=100, elevation=-25, lookat=(0, 0, 0.3))
    look_at_every_pixel(source, camera)


@pytest.mark.parametrize("elevation", [-35, -4])
def test_no_seams_between_cells(elevation, poses):
    """A slope of 6,000 cells looks like the same slope of one cell, at the edges of the picture's cells, too."""
    camera = Camera(distance=3.0, azimuth=60, elevation=elevation, lookat=(0, 0, 0.2))
    pictures = []
    for shape in ((2, 2), (61, 101)):
        source = poses(world(((ramp(*shape), (1.0, 1.0, 0.4, 0.1), 'material="dull"'),)))
        pictures.append(BatchRenderer(source.model, 160, 120, camera=camera).images(source))
    assert torch.equal(pictures[0].segmentation, pictures[1].segmentation)
    assert (pictures[0].rgb.int() - pictures[1].rgb.int()).abs().max() <= 2
    seen = pictures[0].segmentation >= 0
    torch.testing.assert_close(pictures[0].depth[seen], pictures[1].depth[seen], rtol=2e-5, atol=0)


def test_a_dome_is_lit_like_a_sphere(poses):
    """A field of 16 x 16 cells in the shape of a sphere has its light: normals are smooth."""
    x = np.linspace(-0.6, 0.6, 17)
    cap = np.sqrt(1.0 - x**2 - x[:, None] ** 2)
    low, high = cap.min(), cap.max()
    field = (cap - low) / (high - low), (0.6, 0.6, high - low, 0.1), f'pos="0 0 {low}" material="dull"'
    look = Look(plain_floor=(0.8, 0.8))  # no checker
    pictures = []
    for model in (world((field,)), world((), '<geom size="1" material="dull"/>')):
        source = poses(model)
        pictures.append(BatchRenderer(source.model, 64, 64, camera=ABOVE, look=look).render(source)[0].int())
    middle = slice(16, 48)
    assert (pictures[0] - pictures[1])[middle, middle].abs().max() <= 2


def test_steps_keep_their_edges(poses):
    """The tread of a step is as flat beside the riser as in the middle: smooth normals would bend its light there."""
    stairs = np.repeat(np.arange(4) / 3.0, 10)[None].repeat(21, 0)
    source = poses(world(((stairs, (1.0, 1.0, 0.6, 0.1), 'material="dull"'),)))
    look = Look(plain_floor=(0.8, 0.8), sun=(0.1, 0.2, 1.0), occlusion=0.0)
    drawn = BatchRenderer(source.model, 160, 64, camera=ABOVE, samples=1, look=look)
    drawn._scene.drawn.appearance.openness[:] = 1.0  # sunlight alone
    shown = drawn.render(source)[0, 32, 58:102, 0].int()
    treads = (shown - shown.median()).abs() <= 1
    assert treads.float().mean() > 0.8 and (shown < shown.median() - 10).any()


def test_hollows_are_darker(poses):
    """A pit's ground sees less of the sky than a level one, and a hill's as much."""
    x = np.linspace(-1, 1, 41)
    bump = np.exp(-8 * (x**2 + x[:, None] ** 2))
    found = []
    for heights in (1 - bump, bump):
        source = poses(world(((heights, (1.0, 1.0, 0.5, 0.1), 'material="dull"'),)))
        found.append(openness(BatchRenderer(source.model, 8, 8)._scene.drawn.appearance.fields).reshape(41, 41))
    pit, hill = found
    assert pit[20, 20] < 0.85 and hill[20, 20] == 1.0 and abs(pit[2, 2] - 1) < 1e-3
    assert ((pit > 0) & (pit <= 1)).all()


def test_the_ground_throws_shadows_on_itself(poses):
    """A wall in the ground 0.3 m high, under a sun at 45 degrees, darkens 0.3 m behind it."""
    heights = np.zeros((41, 81))
    heights[:, 40:42] = 1.0
    source = poses(world(((heights, (1.0, 0.5, 0.3, 0.1), 'material="dull"'),)))
    look = Look(sun=(-1, 0, 1), plain_floor=(0.8, 0.8), occlusion=0.0)
    shown = BatchRenderer(source.model, 64, 64, camera=ABOVE, look=look).render(source)[0, 32, :, 0].float()
    lit, behind, past = shown[20], shown[32 + 6], shown[32 + 16]
    assert behind < 0.8 * lit and abs(past - lit) < 6


def textured(repeat, uniform):
    """A field 2 m x 1 m with a texture of four colours: red, green in its first row, blue, white in the second."""
    spec = mujoco.MjSpec()
    spec.add_texture(
        name="four", type=mujoco.mjtTexture.mjTEXTURE_2D, width=2, height=2, nchannel=3,
        data=[255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255],
    )  # fmt: skip
    material = spec.add_material(name="m", texrepeat=[repeat, repeat], texuniform=uniform, specular=0.0)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "four"
    spec.add_hfield(name="h", nrow=5, ncol=4, size=[1.0, 0.5, 0.01, 0.1]).userdata = np.zeros(20)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="h", material="m")
    return spec.compile()


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("repeat", [1, 2])
def test_textures_lie_as_in_mujoco(repeat, uniform, poses):
    """Projected: x and -y run from -0.5 to 0.5 over half the field's size, or a metre; its first row is at 0.

    Middles of texels have the texel's colour.
    """
    model = textured(repeat, uniform)
    source = poses(model)
    rgb = BatchRenderer(source.model, 64, 64, camera=ABOVE, samples=1).render(source)[0].float()
    colours = {(0, 0): (1, 0, 0), (1, 0): (0, 1, 0), (0, 1): (0, 0, 1), (1, 1): (1, 1, 1)}
    compared = 0
    for x, y in np.stack(np.meshgrid(np.linspace(-0.97, 0.97, 25), np.linspace(-0.47, 0.47, 25)), -1).reshape(-1, 2):
        s, t = 0.5 * repeat * np.array([x, -y]) / (1.0 if uniform else model.geom_size[0, :2]) - 0.5
        if abs(2 * s % 1 - 0.5) > 0.1 or abs(2 * t % 1 - 0.5) > 0.1:
            continue  # not a middle of a texel
        seen = rgb[round(31.5 - 32 * y), round(31.5 + 32 * x)]
        wanted = torch.tensor(colours[int(2 * s % 2), int(2 * t % 2)], dtype=torch.float32)
        assert ((seen > 0.5 * seen.max()) == (wanted > 0)).all(), (x, y, seen)
        compared += 1
    assert compared >= 4


def test_a_camera_in_the_ground_looks_out_of_it(poses):
    """Through its surface, and through a wall."""
    model = world(
        ((ramp(5, 5), (1.0, 1.0, 0.2, 0.5), ""),),
        """<geom size="0.5" pos="0 3 0"/><geom size="0.5" pos="0 0 3"/>
        <camera name="aside" pos="0 0 -0.2" xyaxes="1 0 0 0 0 1"/>
        <camera name="up" pos="0 0 -0.2" xyaxes="1 0 0 0 -1 0"/>""",
    )
    source = poses(model)
    for camera, geom in (("aside", 1), ("up", 2)):
        seen = BatchRenderer(source.model, 32, 32, camera=camera).segmentation(source).unique().tolist()
        assert set(seen) == {-1, geom}

"""What BatchRenderer promises beside right geometry: which environments, which geoms, the same bits, good light."""

import subprocess
import sys

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics.rendering import BatchRenderer, Camera, Look
from tumble.physics.rendering import renderer as renderer_module

# -- What BatchRenderer promises beside right geometry: which environments, which geoms, the same bits, good light


ABOVE = Camera(distance=4.0, azimuth=90, elevation=-89.99, lookat=(0, 0, 0))


@pytest.fixture
def ants(poses):
    """Five different ants."""
    return poses("ant", 5).scatter(seed=1)


def test_shapes_and_types(ants):
    images = BatchRenderer(ants.model, 50, 30).images(ants)
    assert images.rgb.shape == (5, 30, 50, 3) and images.rgb.dtype == torch.uint8
    assert images.depth.shape == (5, 30, 50) and images.depth.dtype == torch.float32
    assert images.segmentation.shape == (5, 30, 50) and images.segmentation.dtype == torch.int32


def test_one_call_gives_the_same_as_three(ants):
    renderer = BatchRenderer(ants.model, 48, 48)
    images = renderer.images(ants)
    assert torch.equal(images.rgb, renderer.render(ants))
    assert torch.equal(images.depth, renderer.depth(ants))
    assert torch.equal(images.segmentation, renderer.segmentation(ants))


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (3, [3]),
        ([4, 0], [4, 0]),
        (torch.tensor([1, 1]), [1, 1]),
        (torch.tensor([True, False, False, True, False]), [0, 3]),
        ([], []),
    ],
)
def test_subsets_of_environments(chosen, expected, ants):
    renderer = BatchRenderer(ants.model, 40, 40)
    every, some = renderer.images(ants), renderer.images(ants, chosen)
    for whole, part in zip(every, some, strict=True):
        assert torch.equal(whole[expected], part)
    assert not torch.equal(every.rgb[0], every.rgb[3])


def test_bad_subsets_are_refused(ants):
    renderer = BatchRenderer(ants.model, 16, 16)
    with pytest.raises(IndexError, match="there is no environment 5"):
        renderer.render(ants, [0, 5])
    with pytest.raises(ValueError, match="mask must have shape"):
        renderer.render(ants, [True, False])
    with pytest.raises(ValueError, match="expected whole numbers"):
        renderer.render(ants, [0.5])


@pytest.mark.parametrize("bad", [{"width": 0}, {"height": -1}, {"samples": 0}])
def test_bad_sizes_are_refused(bad, ants):
    with pytest.raises(ValueError, match="must be at least 1"):
        BatchRenderer(ants.model, **bad)


def test_same_bits_however_the_work_is_cut(ants, monkeypatch):
    renderer = BatchRenderer(ants.model, 40, 40)
    first = renderer.images(ants)
    monkeypatch.setattr(renderer_module, "_PIXELS_AT_ONCE", 2 * 40 * 40)
    for again in (renderer.images(ants), BatchRenderer(ants.model, 40, 40).images(ants)):
        assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


def test_a_robot_that_has_run_far_looks_the_same(poses):
    """In float64 poses; the floor is endless and a whole number of checker cells goes by."""
    source = poses("ant", 1, torch.float64)
    renderer = BatchRenderer(source.model, 64, 64, look=Look(endless_planes=True, fade=1000.0))
    here = renderer.images(source)
    source.data[0].qpos[0] += 8192.0 * 80 / 60
    source.forward()
    there = renderer.images(source)
    assert torch.equal(here.segmentation, there.segmentation)
    torch.testing.assert_close(here.depth, there.depth, rtol=1e-5, atol=0)
    assert (here.rgb.int() - there.rgb.int()).abs().float().mean() < 1.0


def test_only_what_mujocos_viewer_shows(poses):
    source = poses("primitives")
    mj = source.model.mj
    seen = set(BatchRenderer(source.model, 200, 200, camera=ABOVE).segmentation(source).unique().tolist())
    hidden = {mj.geom("hidden group").id, mj.geom("fully clear").id}
    assert not seen & hidden
    assert mj.geom("shown group").id in seen and mj.geom("clear").id in seen


@pytest.mark.parametrize("geom", ["", "<geom type='plane' size='1 1 1'/>"])
def test_a_world_without_solids(geom, poses):
    source = poses(mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{geom}</worldbody></mujoco>"))
    images = BatchRenderer(source.model, 32, 32, camera=ABOVE).images(source)
    assert (images.segmentation[0, 16, 16] == 0) == bool(geom)
    assert (images.segmentation[0, 0, 0]) == -1
    assert torch.isinf(images.depth[images.segmentation < 0]).all()


def test_a_camera_inside_a_geom_looks_out_of_it(poses):
    xml = """
    <mujoco><worldbody>
      <geom name="head" size="0.5"/><geom name="ahead" size="0.5" pos="0 3 0"/>
      <camera name="eyes" xyaxes="1 0 0 0 0 1"/>
    </worldbody></mujoco>"""
    source = poses(mujoco.MjModel.from_xml_string(xml))
    segmentation = BatchRenderer(source.model, 32, 32, camera="eyes").segmentation(source)
    assert segmentation[0, 16, 16] == 1 and 0 not in segmentation


def test_nothing_nearer_than_the_near_plane_is_seen(poses):
    """`vis.map.znear` times `stat.extent` is 0.4 m here; the post stands 0.3 m ahead."""
    xml = """
    <mujoco><visual><map znear="0.1"/></visual><statistic extent="4"/>
    <worldbody>
      <geom name="post" type="capsule" size="0.02 1" pos="0 0.3 0"/><geom name="ball" size="0.5" pos="0 3 0"/>
      <camera name="eyes" xyaxes="1 0 0 0 0 1"/>
    </worldbody></mujoco>"""
    source = poses(mujoco.MjModel.from_xml_string(xml))
    assert set(BatchRenderer(source.model, 33, 33, camera="eyes").segmentation(source).unique().tolist()) == {-1, 1}


SHADOW = """
<mujoco><worldbody>
  <geom type="plane" size="5 5 1"/>
  <geom type="sphere" size="0.3" pos="0 0 1" rgba="1 0 0 {alpha}"/>
</worldbody></mujoco>"""


@pytest.mark.parametrize(("alpha", "darkest"), [(1, 0.75), (0.3, 0.95)])
def test_the_sun_throws_shadows(alpha, darkest, poses):
    """A sun at 45 degrees puts the shadow of a ball at height 1 one metre aside; a clear ball's is fainter."""
    source = poses(mujoco.MjModel.from_xml_string(SHADOW.format(alpha=alpha)))
    look = Look(sun=(-1, 0, 1), plain_floor=(0.8, 0.8), occlusion=0.0, plain_reflectance=0.0)
    camera = Camera(distance=6, azimuth=90, elevation=-89.99, lookat=(0, 0, 0), fovy=45)
    renderer = BatchRenderer(source.model, 101, 101, camera=camera, look=look)
    rgb = renderer.render(source)[0].float().mean(dim=-1)
    metre = 101 / (2 * 6 * 0.41421)
    shadow, open_floor = rgb[50, 50 + round(metre)], rgb[50, 50 - round(metre)]
    assert 0.4 < shadow / open_floor < darkest
    if alpha < 1:
        assert shadow / open_floor > 0.75


def test_edges_are_smoothed_by_samples(poses):
    """The picture approaches that of many samples."""
    source = poses("primitives")
    camera = Camera(distance=3.5, azimuth=70, elevation=-25, lookat=(0, 0.2, 0.3))
    pictures = [
        BatchRenderer(source.model, 120, 90, camera=camera, samples=samples).render(source).float()
        for samples in (1, 2, 3, 8)
    ]
    errors = [(picture - pictures[-1]).square().mean() for picture in pictures]
    assert errors[0] > 2 * errors[1] > 2 * errors[2]


def test_orthographic_pictures_keep_sizes(poses):
    xml = """
    <mujoco><worldbody>
      <geom type="box" size="0.25 0.25 0.25" pos="-1 0 0"/><geom type="box" size="0.25 0.25 0.25" pos="1 3 0"/>
    </worldbody></mujoco>"""
    source = poses(mujoco.MjModel.from_xml_string(xml))
    camera = Camera(distance=5, azimuth=90, elevation=0, lookat=(0, 0, 0), fovy=4.0, orthographic=True)
    images = BatchRenderer(source.model, 80, 80, camera=camera).images(source)
    for geom, depth in ((0, 4.75), (1, 7.75)):
        mask = images.segmentation[0] == geom
        assert mask.sum() == 100
        torch.testing.assert_close(images.depth[0][mask], torch.full((100,), depth), rtol=1e-6, atol=0)


def test_a_cylinder_seen_along_its_axis_is_round(poses):
    """All rays are parallel to it: as mj_ray has it, its side is never met."""
    xml = "<mujoco><worldbody><geom type='cylinder' size='0.2 0.5'/></worldbody></mujoco>"
    source = poses(mujoco.MjModel.from_xml_string(xml))
    camera = Camera(distance=5, azimuth=90, elevation=-90, lookat=(0, 0, 0), fovy=1.6, orthographic=True)
    seen = BatchRenderer(source.model, 80, 80, camera=camera).segmentation(source)[0] == 0
    places = (torch.arange(80) - 39.5) * 0.02
    assert torch.equal(seen, places[:, None] ** 2 + places[None] ** 2 < 0.2**2)


def test_look_refuses_a_sun_without_direction(ants):
    with pytest.raises(ValueError, match=r"Look\.sun"):
        BatchRenderer(ants.model, 8, 8, look=Look(sun=(0, 0, 0))).render(ants)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"near": 0.0}, "near must be a positive number, not 0.0"),
        ({"near": float("inf")}, "near must be a positive number"),
        ({"width": 100_000, "height": 100_000}, "can have 67,108,864 pixels at most"),
        ({"samples": 17}, "samples=17: it must be at most 16"),
    ],
)
def test_impossible_arguments_are_told_in_a_sentence(given, message, poses):
    with pytest.raises(ValueError, match=message):
        BatchRenderer(poses("primitives").model, **given)


def test_a_texture_that_is_missing_is_named():
    from tumble.physics import Model
    from tumble.physics.model.loading.sanity import ModelLoadError

    xml = """<mujoco><asset><texture name="t" type="2d" {}/><material name="m" texture="{}"/></asset>
    <worldbody><geom size="1" material="m"/></worldbody></mujoco>"""
    with pytest.raises(ModelLoadError, match=r"none\.png"):
        Model.from_mjcf(xml.format('file="none.png"', "t"))
    with pytest.raises(ModelLoadError, match="texture 'nix' not found"):
        Model.from_mjcf(xml.format('builtin="flat" width="8" height="8"', "nix"))


# -- The renderer on RigidSolver: the same pictures as on MuJoCo's poses of the same coordinates


CAMERAS = (
    "track",
    Camera(trackbodyid="torso", distance=3.0, elevation=-20.0),
    Camera(lookat=(0, 0, 0.5), distance=4.0),
)
DIFFERENT = 5e-3  # share of pixels whose geom may differ: float32 kinematics moves edges by about 1e-6 m


@pytest.mark.parametrize("name", ["ant", "humanoid", "half_cheetah"])
def test_same_pictures_as_from_mujocos_poses(name, poses):
    from tumble.physics import Model, RigidSolver

    source = poses(name, 6).scatter(seed=11, amount=0.2)
    solver = RigidSolver(Model.from_mjmodel(source.model.mj), num_envs=6)
    qpos = torch.as_tensor(np.stack([data.qpos for data in source.data]), dtype=solver.dtype)
    solver.set_state(qpos=qpos)
    solver.forward()
    for camera in CAMERAS:
        renderer = BatchRenderer(source.model, 96, 72, camera=camera)
        ours, theirs = renderer.images(solver, [4, 1]), renderer.images(source, [4, 1])
        same = ours.segmentation == theirs.segmentation
        assert same.float().mean() > 1 - DIFFERENT
        seen = same & (theirs.segmentation >= 0)
        torch.testing.assert_close(ours.depth[seen], theirs.depth[seen], rtol=1e-3, atol=0)
        assert (ours.rgb.float() - theirs.rgb.float()).abs().mean() < 1.0
        for mine, reference in zip(renderer.camera_poses(solver), renderer.camera_poses(source), strict=True):
            torch.testing.assert_close(mine, reference, rtol=0, atol=1e-5)


@pytest.mark.slow
def test_sizes_of_environments_are_asked_of_the_solver(poses):
    from tumble.physics import Model, RigidSolver

    source = poses("half_cheetah", 2)
    mj = source.model.mj
    solver = RigidSolver(Model.from_mjmodel(mj), num_envs=2)
    sizes = np.tile(mj.geom_size, (2, 1, 1))
    sizes[1, mj.geom("torso").id, 0] *= 3
    solver.update_parameters({"geom_size": sizes})
    renderer = BatchRenderer(solver.model, 48, 36, camera=Camera(lookat=(0, 0, 0.5), distance=4.0))
    torso = (renderer.segmentation(solver) == mj.geom("torso").id).sum(dim=(1, 2))
    assert torso[1] > 2 * torso[0] > 0


def test_the_process_that_compiles_pictures_needs_no_torch():
    """It takes a second to import, each time that pictures are compiled."""
    kernels = (
        "tumble.physics.rendering.cast.raycast, tumble.physics.rendering.path.kernel"
        ", tumble.physics.rendering.path.wavelets"
    )
    program = f"import sys, {kernels}; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)

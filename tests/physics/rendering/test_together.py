"""Environments side by side in one picture, with sizes of their own, against MuJoCo's rays in one model of them all."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics.rendering import BatchRenderer, Camera, CameraRig, MountedCamera, Show, grid

from .test_against_mj_ray import mj_ray

ENVS, DEPTH = 4, 1e-4
"""Relative, of rays in single precision; as in `test_against_mj_ray.py`."""
ROBOT = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <geom name="post" type="cylinder" size="0.05 0.4" pos="0.4 0.3 0.4"/>
    <body name="body" pos="0 0 0.5">
      <freejoint/>
      <geom name="box" type="box" size="0.2 0.15 0.1"/>
      <geom name="ball" type="sphere" size="0.12" pos="0 0 0.2"/>
      <body name="arm" pos="0.2 0 0"><joint type="hinge" axis="0 1 0"/>
        <geom name="arm" type="capsule" size="0.04 0.2" pos="0.2 0 0" euler="0 90 0"/>
        <geom name="egg" type="ellipsoid" size="0.08 0.1 0.12" pos="0.45 0 0"/></body>
    </body>
  </worldbody>
</mujoco>"""
SIZE = {"width": 60, "height": 40}
CAMERA = Camera(distance=5.0, azimuth=60, elevation=-30, lookat=(0, 0, 0.4))


class OwnSizes:
    """The part of a solver's parameters that the renderer asks for."""

    own = ("geom_size",)

    def __init__(self, sizes):
        self.sizes = torch.as_tensor(sizes)

    def get(self, name, envs=None):
        assert name == "geom_size"
        return self.sizes if envs is None else self.sizes[envs.index]


@pytest.fixture
def source(poses):
    return poses(mujoco.MjModel.from_xml_string(ROBOT), ENVS).scatter(seed=5, amount=0.2)


def with_sizes(source, seed=0):
    """Give the environments sizes of their own."""
    mj = source.model.mj
    factors = np.random.default_rng(seed).uniform(0.6, 1.5, (ENVS, mj.ngeom, 3))
    sizes = np.where(np.arange(mj.ngeom)[:, None] == mj.geom("floor").id, 1.0, factors) * mj.geom_size
    source.parameters = OwnSizes(sizes)
    return sizes


def sized(mj, sizes):
    """A copy of a model with other sizes of its geoms."""
    spec = mujoco.MjSpec.from_string(ROBOT)
    for number, (geom, size) in enumerate(zip(spec.geoms, sizes, strict=True)):
        assert geom.name == mj.geom(number).name
        geom.size = size
    return spec.compile()


def against_rays(mj, data, found, position, rotation, rays):
    """Compare depth and geoms (height, width) with MuJoCo's rays, but for edges; return the geoms that were hit."""
    depth, geoms, hit, unlike = found["depth"].numpy(), found["segmentation"].numpy(), set(), 0
    for y, x in np.ndindex(depth.shape):
        distance, geom = mj_ray(mj, data, position, rotation @ rays[y, x])
        if geoms[y, x] != geom:
            unlike += 1
        elif geom >= 0:
            assert depth[y, x] == pytest.approx(distance, rel=DEPTH)
            hit.add(geom)
    assert unlike <= 0.002 * depth.size  # edges, which rounding moves to the other side of a pixel's middle
    return hit


def test_geoms_have_the_sizes_of_their_environment(source):
    mj, sizes = source.model.mj, with_sizes(source)
    renderer = BatchRenderer(source.model, **SIZE, camera=Camera(distance=2.5, azimuth=60, elevation=-25))
    found = renderer.draw(source, ("depth", "segmentation", "rgb"), [3, 1])
    eye, view = renderer.camera_poses(source, [3, 1])
    for k, env in enumerate((3, 1)):
        picture = {name: found[name][k] for name in ("depth", "segmentation")}
        own = sized(mj, sizes[env])
        data = mujoco.MjData(own)
        data.qpos[:] = source.data[env].qpos
        mujoco.mj_forward(own, data)
        pose = eye[k].double().numpy(), view[k].double().numpy()
        assert len(against_rays(own, data, picture, *pose, renderer.rays().double().numpy())) >= 5
        alone = BatchRenderer(SimpleNamespace(mj=own), **SIZE, camera=Camera(distance=2.5, azimuth=60, elevation=-25))
        source.parameters = None
        torch.testing.assert_close(alone.draw(source, ("rgb",), [env])["rgb"][0], found["rgb"][k])  # light and shadows
        source.parameters = OwnSizes(sizes)
    shown = renderer.with_camera(CAMERA).draw(source, ("rgb",), [3, 1])
    overlaid = BatchRenderer(source.model, **SIZE, camera=CAMERA, show=Show(frames="body")).draw(
        source, envs_idx=[3, 1]
    )
    changed = (shown["rgb"] != overlaid["rgb"]).any(dim=-1).float().mean()
    assert 0 < changed < 0.1  # frames are drawn, and all else stays


@pytest.mark.parametrize("sizes", [False, True])
def test_environments_stand_side_by_side(sizes, source):
    """The picture equals that of one model into which MuJoCo attaches the robot four times."""
    mj = source.model.mj
    own = with_sizes(source) if sizes else np.tile(mj.geom_size, (ENVS, 1, 1))
    offsets = np.array([[-0.75, -0.5, 0], [0.75, -0.5, 0], [-0.75, 0.5, 0], [0.75, 0.5, 0]])
    world = mujoco.MjSpec()
    for env in range(ENVS):
        spec = mujoco.MjSpec.from_string(ROBOT)
        for geom, size in zip(spec.geoms, own[env], strict=True):
            geom.size = size
        if env:
            spec.delete(spec.geom("floor"))
        world.attach(spec, prefix=f"{env}/", frame=world.worldbody.add_frame(pos=offsets[env]))
    whole = world.compile()
    data = mujoco.MjData(whole)
    for env, one in enumerate(source.data):
        for name in ("body", "arm"):
            joint, alone = whole.body(f"{env}/{name}").jntadr[0], mj.body(name).jntadr[0]
            first, own_first, width = whole.jnt_qposadr[joint], mj.jnt_qposadr[alone], 7 if name == "body" else 1
            data.qpos[first : first + width] = one.qpos[own_first : own_first + width]
            if name == "body":
                data.qpos[first : first + 3] += offsets[env]
    mujoco.mj_forward(whole, data)
    renderer = BatchRenderer(source.model, **SIZE, camera=CAMERA)
    found = renderer.together(source, ("rgb", "depth", "segmentation"), spacing=(1.5, 1.0))
    assert found["rgb"].shape == (40, 60, 3)
    number = {(env, mj.geom(g).name): g for env in range(ENVS) for g in range(mj.ngeom)}
    eye, view = (part[0].double().numpy() for part in renderer.camera_poses(source))
    rays, same = renderer.rays().double().numpy(), np.full(whole.ngeom, -1)
    for g in range(whole.ngeom):
        env, _, name = whole.geom(g).name.partition("/")
        same[g] = number[int(env), name]
    unlike, hit = 0, set()
    for y, x in np.ndindex(40, 60):
        distance, geom = mj_ray(whole, data, eye, view @ rays[y, x])
        if found["segmentation"][y, x] != (same[geom] if geom >= 0 else -1):
            unlike += 1
        elif geom >= 0:
            assert float(found["depth"][y, x]) == pytest.approx(distance, rel=DEPTH)
            hit.add(geom)
    assert unlike <= 5 and len(hit) >= 16  # on edges; nearly all of the 21 geoms are seen


def test_all_at_one_place_share_what_stands_still(source):
    renderer = BatchRenderer(source.model, **SIZE, camera=CAMERA)
    found = renderer.together(source, ("rgb", "segmentation", "points"), spacing=(0, 0), envs_idx=[2])
    alone = renderer.draw(source, ("rgb", "segmentation", "points"), [2])
    assert all(torch.equal(found[name], alone[name][0]) for name in found)
    own = renderer.with_camera(MountedCamera(pos=(2, 2, 2), lookat=(0, 0, 0.4), fovy=(20.0, 30.0, 40.0, 50.0)))
    seen, expected = (
        own.together(source, ("rgb", "points"), spacing=(0, 0), envs_idx=[2]),
        own.draw(source, ("rgb", "points"), [2]),
    )
    assert torch.equal(seen["rgb"], expected["rgb"][0])
    torch.testing.assert_close(seen["points"], expected["points"][0], rtol=0, atol=1e-5)
    follows = MountedCamera(body="body", pos=(1, 1, 1), lookat=(0, 0, 0), fovy=(20.0, 30.0, 40.0, 50.0))
    assert renderer.with_camera(follows).together(source, ("segmentation",))["segmentation"].unique().numel() > 4
    several = renderer.together(source, ("depth",), spacing=(0, 0))["depth"]
    each = renderer.depth(source)
    torch.testing.assert_close(several, each.amin(dim=0))  # what is nearest of all


def test_a_camera_that_follows_sees_all(source):
    """Every robot is in the picture, however far apart they stand; a mounted one keeps its direction."""
    for camera in (Camera(distance=2.0, elevation=-40, trackbodyid="body"), MountedCamera(body="body", mode="track")):
        renderer = BatchRenderer(source.model, 90, 90, camera=camera, entities=np.arange(source.model.mj.ngeom))
        if isinstance(camera, MountedCamera):
            renderer = renderer.with_camera(
                MountedCamera(body="body", mode="track", pos=(0, -2, 2), lookat=(0, 0, 0), fovy=45.0)
            )
        found = renderer.together(source, ("segmentation",), spacing=(3.0, 3.0))["segmentation"]
        balls = (found == source.model.mj.geom("ball").id) | (found == source.model.mj.geom("box").id)
        halves = balls[:, :45].any(dim=1), balls[:, 45:].any(dim=1)
        assert all(half[:45].any() and half[45:].any() for half in halves)


def test_errors_of_pictures_of_several(source):
    renderer = BatchRenderer(source.model, **SIZE, camera=CAMERA)
    with pytest.raises(ValueError, match="motion"):
        renderer.together(source, ("motion",))
    with pytest.raises(ValueError, match="no environment"):
        renderer.together(source, envs_idx=[])
    with pytest.raises(ValueError, match="two distances"):
        renderer.together(source, spacing=(1, 2, 3))
    with pytest.raises(ValueError, match="too many for one picture"):
        renderer.with_camera(CAMERA, 8000, 8000).together(source, ("depth",), envs_idx=[0] * 100)


def test_a_rig_draws_several_sizes_in_one_call(source):
    near = {"camera": MountedCamera(body="arm"), "width": 16, "height": 16}
    rig = CameraRig(source.model, {"far": {"camera": CAMERA, "width": 40, "height": 30}, "near": near}, samples=1)
    found = rig.draw(source, ("rgb", "depth"), [1, 2])
    assert found["far"]["rgb"].shape == (2, 30, 40, 3) and found["near"]["depth"].shape == (2, 16, 16)
    alone = BatchRenderer(source.model, 16, 16, camera=MountedCamera(body="arm"), samples=1)
    assert torch.equal(found["near"]["rgb"], alone.draw(source, ("rgb",), [1, 2])["rgb"])
    some = rig.draw(source, {"near": ("segmentation",)})
    assert set(some) == {"near"} and set(some["near"]) == {"segmentation"}
    with pytest.raises(ValueError, match="no camera 'nea'; nearest: near"):
        rig.draw(source, {"nea": ("rgb",)})
    with pytest.raises(ValueError, match="no argument 'widht'; nearest: width"):
        CameraRig(source.model, {"far": {"widht": 3}})
    with pytest.raises(ValueError, match="name one"):
        CameraRig(source.model, {})


def test_grids_are_rows_of_pictures():
    frames = torch.arange(5 * 2 * 3 * 3, dtype=torch.uint8).reshape(5, 2, 3, 3)
    sheet = grid(frames, gap=1, color=(9, 8, 7))
    assert sheet.shape == (2 * 2 + 1, 3 * 3 + 2, 3)  # three across, two down
    for k in range(5):
        row, column = divmod(k, 3)
        assert torch.equal(sheet[3 * row : 3 * row + 2, 4 * column : 4 * column + 3], frames[k])
    assert sheet[2].tolist() == [[9, 8, 7]] * 11 and sheet[3:, 8:].reshape(-1, 3).unique(dim=0).tolist() == [[9, 8, 7]]
    assert grid(frames, columns=1).shape == (10, 3, 3)
    assert np.array_equal(grid(list(frames.numpy()), columns=5), np.concatenate(list(frames.numpy()), axis=1))
    with pytest.raises(ValueError, match=r"pictures \(n, height, width, 3\)"):
        grid(frames[0])

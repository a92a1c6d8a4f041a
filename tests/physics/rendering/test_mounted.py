"""Mounted cameras, also with numbers of environments' own, against MuJoCo's; intrinsics against OpenCV's."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics.rendering import BatchRenderer, Camera, Intrinsics, MountedCamera

from ...cases import cases
from .test_camera import CAMERAS, HEIGHT, WIDTH

ENVS = 3
POSES = 1e-9
"""Differences of poses in double precision: MuJoCo's quaternions are unit to about 1e-10."""
QUAT = tuple(np.array([0.7, 0.6, 0.1, -0.2]) / np.linalg.norm([0.7, 0.6, 0.1, -0.2]))
MODES = {
    "fixed": {},
    "track": {"mode": "track"},
    "trackcom": {"mode": "trackcom"},
    "targetbody": {"mode": "targetbody", "target": "arm"},
    "targetbodycom": {"mode": "targetbodycom", "target": "body"},
}


@pytest.fixture(scope="module")
def mj():
    """The scene of the cameras' tests, in which every mode of MuJoCo's has a camera on the arm, which is turned."""
    spec = mujoco.MjSpec.from_string(CAMERAS)
    arm = spec.body("arm")
    arm.quat = [0.9, 0.1, 0.3, -0.2]
    for name, how in MODES.items():
        mode = getattr(mujoco.mjtCamLight, f"mjCAMLIGHT_{'TARGETBODYCOM' if name == 'targetbodycom' else name.upper()}")
        arm.add_camera(
            name=f"on arm {name}", pos=[0.1, -0.5, 0.7], quat=QUAT, mode=mode, targetbody=how.get("target", "")
        )
    return spec.compile()


@pytest.fixture
def source(poses, mj):
    """Environments with the bodies in different places, in double precision."""
    return poses(mj, ENVS, torch.float64).scatter(seed=3)


@pytest.mark.parametrize("mode", MODES)
def test_modes_are_mujocos(mode, source):
    camera = MountedCamera(body="arm", pos=(0.1, -0.5, 0.7), quat=QUAT, **MODES[mode])
    position, rotation = BatchRenderer(source.model, WIDTH, HEIGHT, camera=camera).camera_poses(source)
    number = source.model.mj.camera(f"on arm {mode}").id
    expected = [(data.cam_xpos[number], data.cam_xmat[number].reshape(3, 3)) for data in source.data]
    np.testing.assert_allclose(position, np.stack([place for place, _ in expected]), rtol=0, atol=POSES)
    np.testing.assert_allclose(rotation, np.stack([turn for _, turn in expected]), rtol=0, atol=POSES)


def test_each_environment_has_its_own_pose_and_field_of_view(source):
    """The pictures are those that a camera of one environment's numbers takes in it, also of some environments."""
    places, fovy = np.array([[0.9, 0.5, 0.8], [-0.9, 0.4, 0.7], [0.5, 0.9, 1]]), np.array([30.0, 50, 70])
    assert source.model.mj.stat.extent > 1.2  # so that floors fade alike, as these cameras are nearer
    camera = MountedCamera(pos=places, lookat=(0, 0, 0.5), fovy=fovy)
    renderer = BatchRenderer(source.model, WIDTH, HEIGHT, camera=camera)
    found = renderer.draw(source, ("rgb", "depth", "points", "distance"))
    for env in range(ENVS):
        one = MountedCamera(pos=places[env], lookat=(0, 0, 0.5), fovy=float(fovy[env]))
        alone = renderer.with_camera(one).draw(source, ("rgb", "depth", "points", "distance"), [env])
        for name, picture in alone.items():
            torch.testing.assert_close(found[name][env], picture[0], rtol=1e-6, atol=1e-5)
    some = renderer.draw(source, ("rgb", "depth"), [2, 0])
    assert all(torch.equal(some[name], found[name][[2, 0]]) for name in some)
    seen = found["depth"][1].isfinite()
    rays, (eye, turn) = renderer.rays(), renderer.camera_poses(source)
    points = eye[1] + found["depth"][1][..., None] * (rays[1].double() @ turn[1].T)
    torch.testing.assert_close(points[seen].float(), found["points"][1][seen], rtol=0, atol=1e-5)
    with pytest.raises(ValueError, match="2 rows, and the solver has 3"):
        renderer.with_camera(MountedCamera(pos=places[:2])).depth(source)
    with pytest.raises(ValueError, match="2 fields of view, and the solver has 3"):
        renderer.with_camera(MountedCamera(fovy=fovy[:2])).depth(source)


def test_tensors_of_a_camera_are_read_at_every_picture(source):
    places = torch.tensor([[2.0, 1, 1]] * ENVS, dtype=torch.float64)
    renderer = BatchRenderer(source.model, 8, 8, camera=MountedCamera(pos=places, lookat=(0, 0, 0.5)))
    before = renderer.camera_poses(source)[0].clone()
    places[1] += 1.0
    moved = (renderer.camera_poses(source)[0] - before).norm(dim=-1)
    assert moved[1] > 1 and moved[[0, 2]].eq(0).all()


def test_randomized_cameras_stay_within_their_bounds(source):
    base = MountedCamera(body="arm", pos=(0.1, 0, 0.3), lookat=(1, 0, 0), fovy=45.0)
    many = base.randomized(200, pos=0.05, angle=10.0, fovy=5.0, seed=1)
    again = base.randomized(200, pos=0.05, angle=10.0, fovy=5.0, seed=1)
    assert torch.equal(many.pos, again.pos) and torch.equal(many.quat, again.quat)
    away = (many.pos - torch.tensor([0.1, 0, 0.3])).abs()
    assert 0.04 < away.max() <= 0.05 and 4.0 < (many.fovy - 45).abs().max() <= 5.0
    own = base.randomized(1).quat
    turned = torch.rad2deg(2 * (many.quat * own).sum(dim=-1).abs().clamp(max=1).arccos())
    assert 8.0 < turned.max() <= 10.0001 and turned.min() < 2.0


def projected(points, rotation, translation, matrix):
    """Pixels of points (k, 3), as OpenCV's documentation has it for cv2.projectPoints without distortion.

    s (u, v, 1) = K [R | t] (X, Y, Z, 1), in a frame with x right, y down and z forward; pixels' middles are whole.
    """
    seen = points @ rotation.T + translation
    return seen[:, :2] / seen[:, 2:] @ matrix[:2, :2].T + matrix[:2, 2]


@pytest.mark.parametrize("kind", ["free", "mounted"])
def test_pixels_are_where_opencv_projects_points(kind, source):
    """A lens whose axis is far from the middle, and whose pixels are not square."""
    matrix = np.array([[95.0, 0, 30.2], [0, 80.0, 41.5], [0, 0, 1]])
    lens = Intrinsics.of_matrix(matrix, WIDTH, HEIGHT)
    camera = Camera(distance=2.0, azimuth=70, elevation=-25, lookat=(0, 0, 0.5), intrinsics=lens)
    if kind == "mounted":
        camera = MountedCamera(body="body", pos=(0.3, -2, 0.4), lookat=(0.2, 0, 0), intrinsics=lens)
    renderer = BatchRenderer(source.model, WIDTH, HEIGHT, camera=camera)
    points, seen = renderer.draw(source, ("points", "segmentation"))["points"], renderer.segmentation(source) >= 0
    position, rotation = renderer.camera_poses(source)
    down, right = np.mgrid[:HEIGHT, :WIDTH]
    for env in range(ENVS):
        there = seen[env].numpy()
        to_camera = rotation[env].numpy().T * np.array([[1.0], [-1], [-1]])  # OpenCV's y is down, its z forward
        found = projected(points[env].double().numpy()[there], to_camera, -to_camera @ position[env].numpy(), matrix)
        assert there.sum() > 100
        # points in single precision, a metre or two away
        np.testing.assert_allclose(found, np.stack([right[there], down[there]], axis=-1), rtol=0, atol=1e-3)
    np.testing.assert_allclose(renderer.intrinsics.matrix, matrix, rtol=0, atol=1e-9)
    larger = renderer.with_camera(camera, 2 * WIDTH, 2 * HEIGHT).intrinsics.matrix
    np.testing.assert_allclose(larger[0], [190.0, 0, 60.9], rtol=0, atol=1e-9)  # the middle of a pixel of half the size


def test_environments_have_intrinsics_of_their_own(source):
    matrices = np.tile(np.array([[60.0, 0, 39.5], [0, 60, 29.5], [0, 0, 1]]), (ENVS, 1, 1))
    matrices[1, 0, 0], matrices[2, 1, 2] = 90, 20.0
    lens = Intrinsics.of_matrix(matrices, WIDTH, HEIGHT)
    renderer = BatchRenderer(source.model, WIDTH, HEIGHT, camera=MountedCamera(pos=(3, 0, 1), intrinsics=lens))
    np.testing.assert_allclose(renderer.intrinsics.matrix, matrices, rtol=0, atol=1e-9)
    rays = renderer.rays()
    assert rays.shape == (ENVS, HEIGHT, WIDTH, 3)
    for env, matrix in enumerate(matrices):  # the ray through a pixel's middle is K^-1 (u, v, 1)
        expected = np.linalg.solve(matrix, [7.0, 11.0, 1.0]) * [1, -1, -1]
        np.testing.assert_allclose(rays[env, 11, 7], expected, rtol=0, atol=1e-6)


LENS = {"fx": 60.0, "fy": 60.0, "cx": 40.0, "cy": 30.0, "width": 80, "height": 60}


@cases(
    "camera, message",
    [
        (lambda: MountedCamera(body="arms"), "no body 'arms'; nearest: arm"),
        (lambda: MountedCamera(body=9), "9 must be 0 to 2"),
        (lambda: MountedCamera(mode="tracking"), "mode='tracking'; nearest: track"),
        (lambda: MountedCamera(mode="track"), "needs a body"),
        (lambda: MountedCamera(mode="targetbody"), "have a target"),
        (lambda: MountedCamera(target="arm"), "have a target"),
        (lambda: MountedCamera(quat=(1, 0, 0, 0), lookat=(1, 0, 0)), "not both"),
        (lambda: MountedCamera(quat=(0, 0, 0, 0)), "no orientation"),
        (lambda: MountedCamera(lookat=(0, 0, 0)), "must not be where the camera is"),
        (lambda: MountedCamera(pos=(1, 2)), r"pos: expected shape \(3,\) or"),
        (lambda: MountedCamera(pos=(1, 2, np.nan)), "pos: expected finite"),
        (lambda: MountedCamera(fovy=(40, 180.0)), "below 180"),
        (lambda: MountedCamera(fovy=40, intrinsics=Intrinsics(**LENS)), "not both"),
        (lambda: Camera(fovy=40, intrinsics=Intrinsics(**LENS)), "not both"),
        (lambda: Intrinsics(**LENS | {"fx": 0.0}), "fx must be positive"),
        (lambda: Intrinsics(**LENS | {"cx": np.inf}), "cx must be finite"),
        (lambda: Intrinsics(**LENS | {"width": 0}), "width"),
        (lambda: Intrinsics.of_matrix(np.ones((3, 3)), 80, 60), "skew"),
        (lambda: Intrinsics.of_matrix(np.eye(4), 80, 60), r"\(3, 3\)"),
    ],
)
def test_errors_say_what_is_wrong(camera, message, source):
    with pytest.raises(ValueError, match=message):
        BatchRenderer(source.model, camera=camera())


def test_an_orthographic_camera_has_no_intrinsics(source):
    with pytest.raises(ValueError, match="orthographic"):
        _ = BatchRenderer(source.model, camera="parallel").intrinsics

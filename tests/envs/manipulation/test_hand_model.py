"""The hand's figures are those published of the LEAP Hand, and a cube rests on it."""

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tumble import assets
from tumble.envs.manipulation.hand_reorient import quat_rows, random_quats
from tumble.envs.task.noise import Noise
from tumble.physics import Model, RigidSolver

# -- The hand's figures are those published of the LEAP Hand, and a cube rests on it


# Ranges (rad), axes and a point of each axis (m) in Playground's frame of the palm, whose y and z point the other way.
FINGER = [
    ((-0.314, 2.23), (0, 1, 0), (-0.007, 0.023, -0.0187)),
    ((-1.047, 1.047), (0, 0, -1), (0.0311, 0.0085, -0.0065)),
    ((-0.506, 1.885), (0, 1, 0), (0.0461, 0.0228, -0.0195)),
    ((-0.366, 2.042), (0, 1, 0), (0.0822, 0.0226, -0.0195)),
]
THUMB = [
    ((-0.349, 2.094), (-1, 0, 0), (-0.0693, -0.0012, -0.0216)),
    ((-0.349, 2.094), (0, 1, 0), (-0.0823, 0.0131, -0.0216)),
    ((-0.47, 2.443), (0, 0, -1), (-0.0823, 0.0301, -0.0071)),
    ((-1.34, 1.88), (0, 0, -1), (-0.0823, 0.0767, -0.0069)),
]
ASIDE = (0, 0.023 + 0.0224, 0.023 + 0.0678)  # m, of index, middle and ring finger
MASSES = {"finger": (0.044, 0.032, 0.037, 0.016), "thumb": (0.032, 0.003, 0.038, 0.049)}  # kg
TIPS = {"index": (0.1322, 0.0076, -0.0195), "thumb": (-0.0823, 0.1367, -0.0219)}  # m


@pytest.fixture(scope="module")
def hand() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(assets.find("hand.xml")))


def in_their_palm(hand: mujoco.MjModel, data: mujoco.MjData, points: np.ndarray) -> np.ndarray:
    """Points of the world in Playground's frame of the palm."""
    rotation = data.body("palm").xmat.reshape(3, 3)
    return (points - data.body("palm").xpos) @ rotation * [1, -1, -1]


def test_joints_are_the_published_ones(hand):
    data = mujoco.MjData(hand)
    mujoco.mj_kinematics(hand, data)
    axes = data.xaxis[:16] @ data.body("palm").xmat.reshape(3, 3) * [1, -1, -1]
    anchors = in_their_palm(hand, data, data.xanchor[:16])
    wanted = [(r, a, np.array(p) - [0, aside, 0]) for aside in ASIDE for r, a, p in FINGER] + THUMB
    for k, (limits, axis, point) in enumerate(wanted):
        np.testing.assert_allclose(hand.jnt_range[k], limits)
        np.testing.assert_allclose(axes[k], axis, atol=1e-9)
        off_the_axis = np.cross(axis, anchors[k] - point)  # an anchor may lie anywhere on its axis
        np.testing.assert_allclose(off_the_axis, 0, atol=2.5e-4, err_msg=hand.joint(k).name)  # decimals of the figures
    for name, place in TIPS.items():
        np.testing.assert_allclose(in_their_palm(hand, data, data.site(f"{name}_tip").xpos), place, atol=1e-3)


def test_masses_servos_and_friction_are_the_published_ones(hand):
    parts = [
        [b for b in range(hand.nbody) if hand.body(b).name.startswith(name)] for name in ("index", "middle", "ring")
    ]
    for bodies in parts:
        np.testing.assert_allclose(hand.body_mass[bodies], MASSES["finger"])
    thumb = [b for b in range(hand.nbody) if hand.body(b).name.startswith("thumb")]
    np.testing.assert_allclose(hand.body_mass[thumb], MASSES["thumb"])
    assert hand.body("palm").mass == pytest.approx(0.237)
    np.testing.assert_allclose(hand.dof_damping[:16], 0.2)
    np.testing.assert_allclose(hand.dof_armature[:16], 0.00149376)
    np.testing.assert_allclose(hand.dof_frictionloss[:16], 0.02)
    np.testing.assert_allclose(hand.actuator_gainprm[:, 0], 3)
    np.testing.assert_allclose(hand.actuator_biasprm[:, 1], -3)
    np.testing.assert_allclose(hand.actuator_forcerange, 16 * [[-0.2196, 0.2196]])
    np.testing.assert_allclose(hand.actuator_ctrlrange, hand.jnt_range[:16])
    for tip in ("index_tip", "middle_tip", "ring_tip", "thumb_tip"):
        assert hand.geom(tip).friction[0] == 0.7
    assert hand.geom("palm").friction[0] == 0.2 and hand.geom("cube").friction[0] == 0.3


def test_cube(hand):
    assert hand.body("cube").mass == pytest.approx(0.108)
    np.testing.assert_allclose(hand.geom("cube").size, 0.035)
    np.testing.assert_allclose(hand.body("cube").inertia, 0.108 * 0.07**2 / 6, rtol=1e-9)


def test_the_cube_rests_in_the_hand():
    """At the home posture it comes to rest on the palm against the fingers, and lies there still for 5 s."""
    model = Model.from_mjcf(str(assets.find("hand.xml")))
    solver, home = RigidSolver(model, num_envs=2), model.mj.key("home")
    solver.set_state(qpos=np.tile(home.qpos, (2, 1)), qvel=np.zeros((2, 22)))
    solver.ctrl = np.tile(home.ctrl, (2, 1))
    solver.step(200)
    before = solver.qpos.numpy()
    solver.step(500)
    after, speed = solver.qpos.numpy(), solver.qvel.numpy()
    assert np.abs(after[:, 16:19] - before[:, 16:19]).max() < 1e-3
    assert np.abs(speed).max() < 0.01
    np.testing.assert_allclose(after[:, 16:19] - model.mj.body("cube").pos, 0, atol=0.05)
    assert np.abs(after[:, :16] - home.qpos[:16]).max() < 0.1


# -- Random orientations are even on SO(3), and rows of matrices are scipy's


QUATS = random_quats(Noise(lambda: np.arange(20_000, dtype=np.int64) * 7919))
ROTATIONS = Rotation.from_quat(QUATS, scalar_first=True)


def test_rows_are_those_of_the_matrix():
    np.testing.assert_allclose(quat_rows(QUATS), ROTATIONS.as_matrix()[:, :2].reshape(-1, 6), atol=1e-14)


def test_random_orientations_are_even():
    """The angle from any orientation has the density (1 - cos) / pi, and each row of the matrix points everywhere."""
    np.testing.assert_allclose(np.sum(QUATS**2, axis=1), 1, atol=1e-14)
    n = len(QUATS)
    for base in Rotation.from_rotvec([[0, 0, 0], [1, -2, 0.5]]):
        angles = np.sort((ROTATIONS * base).magnitude())
        wanted = (angles - np.sin(angles)) / np.pi  # the distribution function
        assert np.abs(wanted - (np.arange(n) + 0.5) / n).max() < 1.63 / np.sqrt(n)  # Kolmogorov's bound at 1 %
    assert np.abs(ROTATIONS.as_matrix().mean(axis=0)).max() < 4 / np.sqrt(3 * n)

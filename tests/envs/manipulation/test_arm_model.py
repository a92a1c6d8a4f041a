"""The arm has the figures that were published of it, and stands."""

import mujoco
import numpy as np
import pytest

from tumble import assets
from tumble.envs.manipulation.arm import damped_steps, jacobian, turn_down

# -- The arm has the figures that were published of it, and stands


LINKS = [f"link{k}" for k in range(8)]
# Gaz et al., 2019, as MuJoCo Menagerie has them; rounded to a gram.
MASSES = (0.630, 4.971, 0.647, 3.229, 3.588, 1.226, 1.667, 0.736)
# Franka Emika, "Denavit-Hartenberg parameters" (Craig's convention): a and d in m, alpha in rad, of joints 1 to 7.
A = (0, 0, 0, 0.0825, -0.0825, 0, 0.088)
D = (0.333, 0, 0.316, 0, 0.384, 0, 0)
ALPHA = (0, -np.pi / 2, np.pi / 2, np.pi / 2, -np.pi / 2, np.pi / 2, np.pi / 2)
FLANGE, TCP = 0.107, 0.1034  # m
RANGES = (
    (-2.8973, 2.8973),
    (-1.7628, 1.7628),
    (-2.8973, 2.8973),
    (-3.0718, -0.0698),
    (-2.8973, 2.8973),
    (-0.0175, 3.7525),
    (-2.8973, 2.8973),
)
TORQUES = (87, 87, 87, 87, 12, 12, 12)
SCENES = ("arm", "arm_push", "arm_pick", "arm_stack", "arm_stack_three", "arm_drawer", "arm_peg")


@pytest.fixture(scope="module")
def model() -> mujoco.MjModel:
    """The arm alone."""
    return mujoco.MjModel.from_xml_path(str(assets.find("arm.xml")))


def turned(axis: int, angle: float, shift: float) -> np.ndarray:
    """The transform that turns about an axis and shifts along it."""
    step, (i, j) = np.eye(4), [k for k in range(3) if k != axis]
    sign = -1 if axis == 1 else 1
    step[i, i] = step[j, j] = np.cos(angle)
    step[i, j], step[j, i] = -sign * np.sin(angle), sign * np.sin(angle)
    step[axis, 3] = shift
    return step


def grip_by_denavit_hartenberg(q: np.ndarray) -> np.ndarray:
    """The pose of the grip, (4, 4)."""
    pose = np.eye(4)
    for a, d, alpha, theta in zip(A, D, ALPHA, q, strict=True):
        pose = pose @ turned(0, alpha, a) @ turned(2, theta, d)
    return pose @ turned(2, -np.pi / 4, FLANGE + TCP)


def test_offsets_are_the_published_ones(model):
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    for _ in range(20):
        data.qpos[:7] = rng.uniform(*np.transpose(RANGES))
        mujoco.mj_kinematics(model, data)
        pose = grip_by_denavit_hartenberg(data.qpos[:7])
        np.testing.assert_allclose(data.site("grip").xpos, pose[:3, 3], atol=1e-7)  # the hand's quaternion has 7 digits
        np.testing.assert_allclose(data.site("grip").xmat.reshape(3, 3), pose[:3, :3], atol=1e-6)


def test_figures_are_the_published_ones(model):
    np.testing.assert_allclose([model.body(name).mass[0] for name in LINKS], MASSES, atol=5.1e-4)
    assert model.body("hand").mass[0] == 0.73 and model.body("left_finger").mass[0] == 0.015
    np.testing.assert_allclose(model.jnt_range, (*RANGES, (0, 0.04), (0, 0.04)))
    np.testing.assert_allclose(model.actuator_ctrlrange[:7], RANGES)
    np.testing.assert_allclose(model.actuator_forcerange[:7, 1], TORQUES)
    np.testing.assert_allclose(model.actuator_forcerange[:7, 0], np.negative(TORQUES))
    np.testing.assert_allclose(model.dof_armature, 0.1)
    np.testing.assert_allclose(model.dof_damping, 1)
    # kp of ManiSkill's arm and of IsaacLab's for inverse kinematics; kv a tenth of it, as in Menagerie
    kp = [1000, 1000, 1000, 1000, 400, 400, 400]
    np.testing.assert_allclose(model.actuator_gainprm[:7, 0], kp)
    np.testing.assert_allclose(model.actuator_biasprm[:7, 1:3], np.column_stack((np.negative(kp), np.divide(kp, -10))))
    assert model.actuator_forcerange[7, 1] / 2 == 70, "N a finger, the hand's data sheet"


@pytest.mark.parametrize("scene", SCENES)
def test_home_holds_for_five_seconds(scene):
    model = mujoco.MjModel.from_xml_path(str(assets.find(f"{scene}.xml")))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    np.testing.assert_allclose(data.qpos[:7], home(), atol=0)
    mujoco.mj_step(model, data, round(5 / model.opt.timestep))
    # A peg's 0.4 N at 0.5 m turn servos of 1000 N m/rad by 2e-4 rad; it slips by 0.4 mm when it is seized.
    np.testing.assert_allclose(data.qpos[:7], home(), atol=3e-4)
    np.testing.assert_allclose(data.qpos, model.key("home").qpos, atol=6e-4)
    np.testing.assert_allclose(data.site("grip").xpos, (0.5, 0, 0.2), atol=2e-4)
    np.testing.assert_allclose(data.site("grip").xmat.reshape(3, 3), np.diag((1, -1, -1)), atol=6e-4)


def home() -> np.ndarray:
    """The posture whose grip points down over (0.5, 0, 0.2) m."""
    return np.array([0, 0.045898, 0, -2.37629, 0, 2.422188, 0.785398])


# -- The Jacobian against MuJoCo's, damped least squares against numpy's dense algebra, and the hand's motion


N, JOINTS = 30, 7


def random_arms() -> tuple[np.ndarray, ...]:
    """Jacobians of MuJoCo's (6, 7, N), axes and anchors (3, 7, N), and grips (3, N), of postures anywhere."""
    model = mujoco.MjModel.from_xml_path(str(assets.find("arm.xml")))
    data, rng, found = mujoco.MjData(model), np.random.default_rng(0), []
    for _ in range(N):
        data.qpos[:JOINTS] = rng.uniform(*model.jnt_range[:JOINTS].T)
        mujoco.mj_forward(model, data)
        jac = np.zeros((6, model.nv))
        mujoco.mj_jacSite(model, data, jac[:3], jac[3:], model.site("grip").id)
        grip = data.site("grip").xpos
        found.append((jac[:, :JOINTS], data.xaxis[:JOINTS].T.copy(), data.xanchor[:JOINTS].T.copy(), grip.copy()))
    return tuple(np.stack(parts, axis=-1) for parts in zip(*found, strict=True))


def test_the_jacobian_is_mujocos():
    expected, axes, anchors, grips = random_arms()
    np.testing.assert_allclose(jacobian(axes, anchors, grips), expected, atol=1e-12)


def test_steps_are_those_of_damped_least_squares():
    """Stated as the minimum of |J q - e|² / damping² + |q - w|², whose normal equations have 7 unknowns, not 6."""
    jac, *_ = random_arms()
    rng, damping = np.random.default_rng(1), 0.05
    error, wish = 0.1 * rng.normal(size=(6, N)), 0.1 * rng.normal(size=(JOINTS, N))
    steps = damped_steps(jac, error, wish, damping)
    for n in range(N):
        J = jac[:, :, n]
        normal = J.T @ J / damping**2 + np.eye(JOINTS)
        expected = np.linalg.solve(normal, J.T @ error[:, n] / damping**2 + wish[:, n])
        np.testing.assert_allclose(steps[:, n], expected, atol=1e-10)


def test_the_turn_makes_the_hand_point_down():
    rng, down = np.random.default_rng(2), np.array([0.0, 1, 0, 0])
    for sign in (1, -1):
        axis = rng.normal(size=3)
        turn = 0.05 * axis / np.linalg.norm(axis)
        step, back, quat = np.zeros(4), np.zeros(4), np.zeros(4)
        mujoco.mju_axisAngle2Quat(step, axis / np.linalg.norm(axis), 0.05)
        mujoco.mju_negQuat(back, step)
        mujoco.mju_mulQuat(quat, back, down)
        np.testing.assert_allclose(turn_down(sign * quat[:, None]), turn[:, None], atol=0.05**3 / 20)

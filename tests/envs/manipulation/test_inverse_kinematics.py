"""The Jacobian against MuJoCo's, damped least squares against numpy's dense algebra, and the hand's motion."""

import mujoco
import numpy as np

from tumble import assets
from tumble.envs.manipulation.arm import damped_steps, jacobian, turn_down

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

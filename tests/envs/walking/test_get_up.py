"""Getting up: rewards are the published formulas by MuJoCo, starts are anyhow, and success is to stand for a second."""

import mujoco
import numpy as np
import pytest

from .states import bound, evaluated, noise

N = 24


@pytest.fixture(scope="module")
def task():
    return bound("QuadrupedGetUp")


@pytest.fixture(scope="module")
def found(task):
    """Robots lying and standing, some nearly in the posture of standing."""
    rng = np.random.default_rng(0)
    qpos = np.array(task.reset(noise(N)).qpos)
    qpos[N // 2 :] = task.model.key("home").qpos + 0.05 * rng.normal(size=(N - N // 2, 19))
    qpos[:, 2] = rng.uniform(0.1, 0.35, N)
    qpos[:, 3:7] /= np.linalg.norm(qpos[:, 3:7], axis=1, keepdims=True)
    memory = {"action": rng.uniform(-1, 1, (N, 12)), "stood": np.zeros(N)}
    qvel = 4 * rng.normal(size=(N, 18))
    return evaluated(task, qpos, qvel, qpos[:, 7:] + rng.uniform(-0.3, 0.3, (N, 12)), memory), rng.uniform(
        -1, 1, (N, 12)
    )


def test_reward_terms(task, found):
    states, actions = found
    result, used = task.step(states.state, actions), set()
    for row, data in enumerate(states.data):
        up, z, q = data.xmat[1].reshape(3, 3)[:, 2], data.xpos[1, 2], data.qpos[7:]
        tilt = ((up - [0, 0, 1]) ** 2).sum()
        offset = ((q - task.model.key("home").qpos[7:]) ** 2).sum()
        upright = tilt < 0.1
        stands = upright and z > 0.9 * 0.275
        wanted = {
            "orientation": np.exp(-2 * tilt),
            "height": min(z, 0.275) / 0.275,
            "posture": upright * np.exp(-0.5 * offset),
            "stand_still": stands * np.exp(-0.5 * (actions[row] ** 2).sum()),
            "action_rate": -1e-3 * ((actions[row] - states.state.memory["action"][row]) ** 2).sum(),
            "torques": -1e-5 * (data.actuator_force**2).sum(),
            "dof_vel": -1e-3 * (np.maximum(np.abs(data.qvel[6:]) - 2 * np.pi, 0) ** 2).sum(),
        }
        assert {f"reward_{name}" for name in wanted} == {*result.reward_terms}
        for name, rate in wanted.items():
            assert result.reward_terms[f"reward_{name}"][row] == pytest.approx(0.02 * rate, rel=1e-9, abs=1e-12), name
            used |= {name} if rate else set()
    assert used == {*wanted}
    assert result.terminated is None


def test_observation(task, found):
    states, actions = found
    seen = task.step(states.state, actions).observation
    both = bound("QuadrupedGetUp", asymmetric=True).step(states.state, actions).observation
    np.testing.assert_array_equal(both["policy"], seen)
    for row, data in enumerate(states.data):
        rotation, velocity = data.xmat[1].reshape(3, 3), np.zeros(6)
        mujoco.mj_objectVelocity(task.model, data, mujoco.mjtObj.mjOBJ_XBODY, 1, velocity, 1)
        offset = data.qpos[7:] - task.model.key("home").qpos[7:]
        parts = (velocity[:3], -rotation[2], offset, data.qvel[6:], actions[row])
        np.testing.assert_allclose(seen[row], np.concatenate(parts), atol=1e-9)
        known = (velocity[3:], data.xpos[1, 2:], data.actuator_force)
        np.testing.assert_allclose(both["critic"][row, 42:], np.concatenate(known), atol=1e-9)


def test_success_is_to_stand_for_a_second(task):
    """Fifty steps of 0.02 s upright and high; one step of lying begins the count anew."""
    qpos = np.tile(task.model.key("home").qpos, (2, 1))
    states = evaluated(task, qpos, np.zeros((2, 18)), qpos[:, 7:], {"action": np.zeros((2, 12)), "stood": np.zeros(2)})
    state, success = states.state, []
    for step in range(60):
        low = state.qpos.copy()
        low[1, 2] = 0.1 if step == 30 else low[1, 2]
        result = task.step(state._replace(qpos=low), np.zeros((2, 12)))
        success.append(result.info["success"])
        state = state._replace(memory={**state.memory, **result.memory})
    success = np.array(success)
    assert not success[:49, 0].any() and success[49:, 0].all() and not success[:, 1].any()


def test_starts_are_anyhow(task):
    start = task.reset(noise(4000))
    up = 1 - 2 * (start.qpos[:, 4] ** 2 + start.qpos[:, 5] ** 2)
    # The height of an even point of a sphere is even: mean 0, variance 1/3, each to three standard errors of 4000.
    assert abs(up.mean()) < 0.03 and abs((up**2).mean() - 1 / 3) < 0.02
    low, high = task.model.jnt_range[1:].T
    share = (start.qpos[:, 7:] - low) / (high - low)
    assert share.min() >= 0 and share.max() <= 1 and abs(share.mean(0) - 0.5).max() < 0.02
    assert (start.qpos[:, 2] == 0.5).all()


def test_a_share_of_episodes_may_begin_standing():
    task = bound("QuadrupedGetUp", drop_share=0.6)
    qpos = task.reset(noise(4000)).qpos
    stands = (qpos == task.model.key("home").qpos).all(axis=1)
    assert abs(stands.mean() - 0.4) < 0.025  # three standard errors
    assert (qpos[~stands, 2] == 0.5).all()


def test_no_action_is_to_stand(task, found):
    states, actions = found
    np.testing.assert_array_equal(task.control(states.state, 0 * actions)[0], task.model.key("home").qpos[7:])
    wanted = task.model.key("home").qpos[7:] + 1.5 * actions
    np.testing.assert_allclose(task.control(states.state, actions), wanted)

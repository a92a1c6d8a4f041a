"""Walking robots in the solver: they stand under no action, fall where they are thrown over, and get new commands."""

import numpy as np
import pytest

import tumble
from tumble.envs.arrays import host

STEPS = 60


@pytest.fixture(scope="module")
def envs():
    made = tumble.make_vec("QuadrupedFlat", 4, autoreset_mode="SAME_STEP", resampling_time=0.5)
    yield made
    made.close()


def test_the_quadruped_stands_without_an_action_and_gets_new_commands(envs):
    seen = [host(envs.reset(seed=3)[0])]
    for _ in range(STEPS):
        observation, reward, terminated, _, info = envs.step(np.zeros((4, 12), np.float32))
        assert not host(terminated).any() and np.isfinite(host(reward)).all()
        seen.append(host(observation))
    commands = np.array(seen)[:, :, 33:36]
    changes = (commands[1:] != commands[:-1]).any(axis=2)
    assert np.flatnonzero(changes.any(axis=1)).tolist() == [24, 49]  # after 25 steps of 0.02 s, and 50
    last = seen[-1]
    assert (last[:, 8] < -0.98).all() and abs(last[:, :3]).max() < 0.1  # upright and at rest
    terms = {name: host(value) for name, value in info.items() if name.startswith("reward_")}
    np.testing.assert_allclose(sum(terms.values()), host(reward), rtol=1e-5)


def test_a_robot_that_is_thrown_over_has_fallen(envs):
    envs.reset(seed=4)
    solver = envs.unwrapped.solver
    qpos, qvel = host(solver.qpos).copy(), np.zeros((4, 18))
    qpos[1, 3:7] = [0, 1, 0, 0]
    solver.set_state(qpos=qpos, qvel=qvel)
    ended = host(envs.step(np.zeros((4, 12), np.float32))[2])
    np.testing.assert_array_equal(ended, [False, True, False, False])


def test_a_push_moves_the_feet_with_it(envs):
    """The memory of the feet is made anew where a state is set from outside: their speed is not a jump's."""
    envs.reset(seed=5)
    solver = envs.unwrapped.solver
    for _ in range(10):
        envs.step(np.zeros((4, 12), np.float32))
    qpos = host(solver.qpos).copy()
    qpos[:, 0] += 5.0
    solver.set_state(qpos=qpos, qvel=host(solver.qvel).copy())
    info = envs.step(np.zeros((4, 12), np.float32))[4]
    assert (host(info["reward_feet_slip"]) > -1e-3).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["BipedFlat", "BipedRough", "QuadrupedRough", "QuadrupedStairs", "QuadrupedGetUp"])
def test_other_tasks_run(name):
    """Random actions over the first falls: finite numbers, levels and heights within their ranges, no faults."""
    envs = tumble.make_vec(name, 8, autoreset_mode="SAME_STEP")
    envs.reset(seed=0)
    rng, ends = np.random.default_rng(0), 0
    for _ in range(320):
        observation, reward, terminated, truncated, _ = envs.step(rng.uniform(-1, 1, (8, 12)).astype(np.float32))
        assert np.isfinite(host(observation)).all() and np.isfinite(host(reward)).all()
        ends += int((host(terminated) | host(truncated)).sum())
    assert ends > 0 and not host(envs.unwrapped.solver.faults).any()
    envs.close()

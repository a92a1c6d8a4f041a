"""The kitchen equals Gymnasium-Robotics': observations without and with noise, completions, and a step's physics."""

import numpy as np
import pytest

import tumble
from tumble.envs.robotics.kitchen import GOALS

from . import originals
from .originals import side_by_side
from .parity import TASK, Pair, relative

pytestmark = pytest.mark.skipif(not originals.available(), reason="Gymnasium-Robotics is not installed")

IDENTITY = "gymnasium_robotics/FrankaKitchen-v1"
QUIET = {"robot_noise_ratio": 0.0, "object_noise_ratio": 0.0}
STEPS, EVERY = 100, 9
MESHES = 1e-3  # the bound of a step in which meshes may touch, by GJK and EPA, which end at 1e-6 m


def same_progress(theirs, memory):
    """Give the original what has been done, and the joints that were observed last."""
    env, names = theirs.env, list(theirs.env.goal)
    env.tasks_to_complete = {name for name, left in zip(names, memory["left"], strict=True) if left}
    env.episode_task_completions = [name for name, done in zip(names, memory["done"], strict=True) if done]
    env.robot_env._last_robot_qpos = memory["held"].copy()


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"remove_task_when_completed": False}, {"tasks_to_complete": ["kettle"]}])
def test_like_the_original(options, double_precision):
    pair = Pair(IDENTITY, same_progress, terminate_on_tasks_completed=False, **QUIET, **options)
    env, qpos = pair.theirs.env, pair.state()[0]
    for i in range(pair.num_envs):
        pair.put(i, pair.state(), {}, pair.memory)
        theirs = env._get_obs(env.robot_env._get_obs())
        assert relative(side_by_side(pair.seen, i), side_by_side(theirs)).max() < TASK
    for i in range(3):
        for name in list(GOALS)[: 3 * i + 1]:
            first, goal = GOALS[name]
            qpos[i, first : first + len(goal)] = goal
    pair.set_state(qpos, pair.state()[1])
    pair.memory["left"][4, :1] = False
    pair.memory["done"][4, :1] = True
    for step in range(STEPS):
        pair.step(pair.rng.uniform(-1.2, 1.2, (pair.num_envs, 9)), step % EVERY == 0)
    found = pair.found()
    assert found.task < TASK
    assert found.physics < MESHES
    assert len(set(found.rewards)) > 1 or "tasks_to_complete" in options


@pytest.mark.slow
def test_completions_and_ends():
    envs = tumble.make_vec(IDENTITY, 2, output="numpy", tasks_to_complete=["microwave", "kettle"], **QUIET)
    seen, _ = envs.reset(seed=0)
    assert seen["desired_goal"].shape == (2, 8)
    memory = envs.unwrapped.batch._memory.arrays
    memory["goal"][0, :1] = seen["achieved_goal"][0, :1]
    _, reward, terminated, _, info = envs.step(np.zeros((2, 9), np.float32))
    assert list(reward) == [1, 0] and not terminated.any()
    assert info["step_task_completions"].tolist() == [[True, False], [False, False]]
    assert info["tasks_to_complete"].tolist() == [[False, True], [True, True]]
    memory["goal"][0, 1:] = seen["achieved_goal"][0, 1:]
    _, reward, terminated, _, info = envs.step(np.zeros((2, 9), np.float32))
    assert list(reward) == [1, 0] and list(terminated) == [True, False]
    pay = envs.unwrapped.compute_reward
    np.testing.assert_array_equal(pay(seen["achieved_goal"], seen["achieved_goal"], {}), [2, 2])
    envs.close()
    for wrong in (["sink"], ["kettle", "kettle"], "kettle", []):
        with pytest.raises(ValueError, match="different tasks of bottom burner"):
            tumble.make_vec(IDENTITY, 1, tasks_to_complete=wrong)


def test_noise_has_the_originals_amplitudes():
    theirs = originals.Original(IDENTITY)
    noisy, quiet = (tumble.make_vec(IDENTITY, 256, output="numpy", **options) for options in ({}, QUIET))
    spread = np.ptp(noisy.reset(seed=0)[0]["observation"] - quiet.reset(seed=0)[0]["observation"], axis=0)
    robot, env = theirs.inner, theirs.env
    arm = (robot.robot_noise_ratio * part[:9] for part in (robot.robot_pos_noise_amp, robot.robot_vel_noise_amp))
    rest = robot.robot_pos_noise_amp[8:], robot.robot_vel_noise_amp[9:]
    amplitudes = (*arm, *(env.object_noise_ratio * part for part in rest))
    np.testing.assert_allclose(spread, 2 * np.concatenate(amplitudes), rtol=0.15, atol=2e-6)
    noisy.close()
    quiet.close()

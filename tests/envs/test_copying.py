"""Copies and pickles of environments go on where the original is, and neither sees the other."""

import copy
import inspect
import pickle
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode

import tumble
from tumble.envs import SimVectorEnv, SingleEnv
from tumble.envs.arrays import host
from tumble.wrappers import NormalizeObservation, RecordEpisodeStatistics

from .own_tasks import Pointer, Pushed

COPIES = pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))], ids=["copy", "pickle"]
)


def flat(value: Any) -> list[np.ndarray]:
    """All arrays of a result but the seconds that episodes took, in a fixed order."""
    if isinstance(value, dict):
        return [array for key in sorted(value) if key != "t" for array in flat(value[key])]
    if isinstance(value, tuple | list):
        return [array for part in value for array in flat(part)]
    return [np.asarray(host(value) if isinstance(value, torch.Tensor) else value)]


def assert_same(one: Any, other: Any) -> None:
    """Equal to the last bit."""
    for mine, theirs in zip(flat(one), flat(other), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def go_on(env: Any, steps: int) -> list[Any]:
    """Results of steps under sampled actions, and of resets if a single environment, or one of many, needs them."""
    found: list[Any] = []
    for _ in range(steps):
        found.append(env.step(env.action_space.sample()))
        done = flat(found[-1][2])[0] | flat(found[-1][3])[0]
        if isinstance(env, gymnasium.Env) and done:
            found.append(env.reset())
        elif not isinstance(env, gymnasium.Env) and env.metadata["autoreset_mode"] is AutoresetMode.DISABLED:
            found.append(env.reset(options={"reset_mask": done}))
    return found


@COPIES
@pytest.mark.parametrize("task", ["tumble/Hopper-v0", "mine/Pointer-v0", "mine/Pushed-v0"])
def test_a_single_environment_in_the_middle_of_an_episode(copied, task):
    """The rest of the episode, its time limit in the wrapper of `make`, and the episodes after it are the same."""
    tumble.register("mine/Pointer-v0", Pointer)
    tumble.register("mine/Pushed-v0", Pushed(gust=2.0))
    try:
        env = gymnasium.make(task, max_episode_steps=17)
        env.reset(seed=3)
        env.action_space.seed(1)
        go_on(env, 11)
        twin = copied(env)
        assert twin.spec == env.spec and type(twin) is type(env)
        assert twin.unwrapped.solver is not env.unwrapped.solver and twin.unwrapped.task is not env.unwrapped.task
        expected = go_on(env, 40)
        assert_same(go_on(twin, 40), expected)
        assert sum(len(result) == 2 for result in expected) >= 2
        env.close()
        go_on(twin, 3)
        twin.close()
    finally:
        del gymnasium.registry["mine/Pointer-v0"], gymnasium.registry["mine/Pushed-v0"]


@COPIES
def test_a_search_over_actions(copied):
    """The use of a copy: an action is tried, and the original has not moved."""
    env = SingleEnv("Hopper")
    env.reset(seed=0)
    before = env.solver.state_dict()
    rewards = [copied(env).step(np.full(3, level, np.float32))[1] for level in (-1, 0, 1)]
    assert len(set(rewards)) == 3
    assert all(torch.equal(value, before[name]) for name, value in env.solver.state_dict().items())
    assert env.step(np.ones(3, np.float32))[1] == rewards[2]


@COPIES
@pytest.mark.parametrize("output", ["torch", "numpy"])
@pytest.mark.parametrize("mode", AutoresetMode)
def test_vector_environments_that_were_stepped(copied, mode, output):
    """Memory, inputs, time limits, finished environments that wait for their reset, and seeds of later episodes."""
    envs = tumble.make_vec(Pushed, 4, max_episode_steps=7, autoreset_mode=mode, output=output)
    envs.action_space.seed(0)
    envs.reset(seed=5, options={"elapsed_steps": np.arange(4)})
    go_on(envs, 5)
    if mode is AutoresetMode.NEXT_STEP:
        while not envs.episodes.ended:
            envs.step(envs.action_space.sample())
    twin = copied(envs)
    assert twin.autoreset_mode is mode and twin.max_episode_steps == 7 and twin.np_random_seed == envs.np_random_seed
    expected = go_on(envs, 25)
    assert_same(go_on(twin, 25), expected)


@COPIES
def test_what_was_changed_since_they_were_made(copied):
    """Options, numbers of the model, a state set from outside and not noticed yet, pictures, warnings given."""
    envs = tumble.make_vec("Hopper", 4, render_mode="rgb_array", width=8, height=8, healthy_reward=2.0)
    envs.reset(seed=0)
    envs.set_attr("forward_reward_weight", 3.0)
    envs.solver.set_parameters("body_mass", envs.task.model.body_mass * np.linspace(0.8, 1.2, 4)[:, None])
    envs.render_envs = [2, 0]
    go_on(envs, 3)
    envs.solver.set_state(qpos=envs.solver.qpos + 0.1)
    envs.episodes.reporter._reported.add(1)
    twin = copied(envs)
    assert (twin.task.forward_reward_weight, twin.task.healthy_reward) == (3.0, 2.0)
    assert twin.render_envs.tolist() == [2, 0] and twin.episodes.reporter._reported == {1}
    np.testing.assert_array_equal(twin.solver.get_parameters("body_mass"), envs.solver.get_parameters("body_mass"))
    expected = go_on(envs, 10)
    assert_same(go_on(twin, 10), expected)
    assert_same(twin.render(), envs.render())


@COPIES
def test_wrappers_around_them(copied):
    """Statistics, running episodes and queues are the copy's own."""
    envs = NormalizeObservation(RecordEpisodeStatistics(tumble.make_vec(Pushed, 3, max_episode_steps=6)))
    envs.reset(seed=0)
    go_on(envs, 8)
    twin = copied(envs)
    expected = go_on(envs, 10)
    count = envs.env.episode_count
    assert twin.env.episode_count < count
    assert_same(go_on(twin, 10), expected)
    assert twin.env.episode_count == count


@COPIES
def test_before_the_first_reset(copied):
    """Made again by the same arguments; Gymnasium's spec and the action space's generator stay."""
    envs = gymnasium.make_vec("tumble/Hopper-v0", num_envs=3, max_episode_steps=9, frame_skip=2)
    envs.action_space.seed(4)
    twin = copied(envs)
    assert twin.spec == envs.spec and (twin.num_envs, twin.max_episode_steps, twin.task.frame_skip) == (3, 9, 2)
    with pytest.raises(ResetNeeded):
        twin.step(np.zeros((3, 3)))
    assert_same(twin.reset(seed=1), envs.reset(seed=1))
    assert_same(go_on(twin, 12), go_on(envs, 12))


@COPIES
def test_closed_ones(copied):
    """Vector environments have no state left, in one sentence; a single one waits for a reset, at its next episode."""
    envs = tumble.make_vec("Hopper", 2)
    envs.reset(seed=0)
    envs.close()
    with pytest.raises(ClosedEnvironmentError, match="these environments were closed; make new ones"):
        copied(envs)
    env = SingleEnv("Hopper")
    env.reset(seed=0)
    env.close()
    twin = copied(env)
    with pytest.raises(ResetNeeded):
        twin.step(np.zeros(3))
    assert_same(twin.reset(), env.reset())


class Stiffer(SimVectorEnv):
    """A user's class, with arguments of its own."""

    def __init__(self, stiffness: float, **options: Any) -> None:
        """Two arms."""
        super().__init__(Pointer, 2, **options)
        self.stiffness = stiffness


@COPIES
def test_a_class_of_ones_own(copied):
    """A copy is made by the arguments of its own class."""
    envs = Stiffer(3.0, max_episode_steps=4)
    envs.reset(seed=0)
    twin = copied(envs)
    assert type(twin) is Stiffer and twin.stiffness == 3.0
    assert_same(go_on(twin, 6), go_on(envs, 6))


def test_tools_see_the_arguments():
    """`inspect` and what builds on it."""
    for kind, name in ((SimVectorEnv, "num_envs"), (SingleEnv, "camera_name"), (Stiffer, "stiffness")):
        assert name in inspect.signature(kind).parameters and "self" not in inspect.signature(kind).parameters


PROGRAM = """
import pickle, sys
import numpy as np
envs = pickle.load(open(sys.argv[1], "rb"))
np.save(sys.argv[2], envs.step(np.full((3, 3), 0.1, np.float32))[0])
"""


@pytest.mark.slow
def test_in_another_process(tmp_path):
    """A pickle that another process loads goes on to the last bit, too."""
    envs = tumble.make_vec("Hopper", 3)
    envs.reset(seed=0)
    go_on(envs, 5)
    (tmp_path / "envs.pkl").write_bytes(pickle.dumps(envs))
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "envs.pkl"), str(tmp_path / "seen.npy")]
    subprocess.run(command, check=True, timeout=240)
    np.testing.assert_array_equal(np.load(tmp_path / "seen.npy"), envs.step(np.full((3, 3), 0.1, np.float32))[0])

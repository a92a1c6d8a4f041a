"""What Gymnasium's tests of vector environments check, of ours: numpy and torch output in three autoreset modes.

Those tests are its modules tests/vector/test_vector_env.py, test_sync_vector_env.py, test_autoreset_mode.py,
test_vector_env_info.py and test_vector_wrapper.py, and tests/envs/registration/test_make_vec.py. Comparisons with
`SyncVectorEnv` step by step are in `test_autoreset`, `call` and `set_attr` in `test_attributes`, pictures in
`test_pictures`, seeds in `test_seeding`. Of test_async_vector_env.py, test_observation_mode.py and the utilities there
is nothing to adapt: processes, observation modes and shared memory are of Gymnasium's own vector environments.
"""

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete
from gymnasium.vector import AutoresetMode, VectorWrapper

import tumble
from tumble.envs.arrays import host
from tumble.envs.gym.vector_env import SimVectorEnv
from tumble.envs.task.observations import each

from .own_tasks import Counter, Held, Pointer

OUTPUTS = pytest.mark.parametrize("output", ["torch", "numpy"])
MODES = pytest.mark.parametrize("mode", [mode.name for mode in AutoresetMode])
KINDS = {"torch": torch.Tensor, "numpy": np.ndarray}


@pytest.fixture
def make():
    """Make vector environments that are closed in the end."""
    made = []

    def make(task: Any = "Hopper", num_envs: int = 3, **options: Any) -> Any:
        made.append(tumble.make_vec(task, num_envs, **options))
        return made[-1]

    yield make
    for envs in made:
        envs.close()


def told(info: dict[str, Any], key: str) -> list[Any] | None:
    """The values of a key, None for the environments that it does not speak of; None for a key that is not there."""
    if key not in info:
        return None
    return [value if said else None for value, said in zip(info[key].tolist(), info[f"_{key}"].tolist(), strict=True)]


# -- episodes, counted by hand -----------------------------------------------------------------------------------------

ACTIONS = [[1, 2, 0], [3, 1, 2], [1, 4, 3], [2, 0, 1]]  # 3 and 4 end an episode
WANTED = {  # of each step: counts, rewards, terminations, who was told "action" what, who was told that it has begun
    "NEXT_STEP": [
        ([1, 1, 1], [1, 2, 0], [0, 0, 0], [1, 2, 0], None),
        ([2, 2, 2], [3, 1, 2], [1, 0, 0], [3, 1, 2], None),
        ([0, 3, 3], [0, 4, 3], [0, 1, 1], [None, 4, 3], [1, None, None]),
        ([1, 0, 0], [2, 0, 0], [0, 0, 0], [2, None, None], [None, 1, 1]),
    ],
    "SAME_STEP": [
        ([1, 1, 1], [1, 2, 0], [0, 0, 0], [1, 2, 0], None),
        ([0, 2, 2], [3, 1, 2], [1, 0, 0], [None, 1, 2], [1, None, None]),
        ([1, 0, 0], [1, 4, 3], [0, 1, 1], [1, None, None], [None, 1, 1]),
        ([2, 1, 1], [2, 0, 1], [0, 0, 0], [2, 0, 1], None),
    ],
    "DISABLED": [
        ([1, 1, 1], [1, 2, 0], [0, 0, 0], [1, 2, 0], None),
        ([2, 2, 2], [3, 1, 2], [1, 0, 0], [3, 1, 2], None),
        ([1, 3, 3], [1, 4, 3], [0, 1, 1], [1, 4, 3], None),
        ([2, 1, 1], [2, 0, 1], [0, 0, 0], [2, 0, 1], None),
    ],
}
FINAL = {1: ([2, None, None], [3, None, None]), 2: ([None, 3, 3], [None, 4, 3])}  # of SAME_STEP: counts, actions
BEGUN_BY_HAND = {1: [0, 2, 2], 2: [1, 0, 0]}  # counts after the partial resets under DISABLED


@OUTPUTS
@MODES
def test_episodes_counted_by_hand(make, mode, output):
    """Three episodes that end at different steps: what every step and partial reset returns."""
    envs = make(Counter, autoreset_mode=mode, output=output)
    assert envs.metadata["autoreset_mode"] is AutoresetMode[mode]
    observation, info = envs.reset()
    assert observation.tolist() == [[0]] * 3 and set(info) == {"begun", "_begun"}
    assert told(info, "begun") == [1, 1, 1]
    for step, (actions, wanted) in enumerate(zip(ACTIONS, WANTED[mode], strict=True)):
        counts, rewards, ended, actions_told, begun = wanted
        observation, reward, terminated, truncated, info = envs.step(actions)
        assert observation[:, 0].tolist() == counts and reward.tolist() == rewards
        assert terminated.tolist() == [bool(flag) for flag in ended] and not truncated.any()
        assert told(info, "action") == told(info, "reward") == actions_told
        assert told(info, "begun") == begun
        if mode == "SAME_STEP" and step in FINAL:
            last, action = FINAL[step]
            assert told(info, "final_obs") == [None if count is None else [count] for count in last]
            assert info["_final_info"].tolist() == terminated.tolist()
            assert told(info["final_info"], "action") == action and "begun" not in info["final_info"]
        else:
            assert "final_obs" not in info and "final_info" not in info
        if mode == "DISABLED" and terminated.any():
            observation, info = envs.reset(options={"reset_mask": terminated})
            assert observation[:, 0].tolist() == BEGUN_BY_HAND[step]
            assert told(info, "begun") == [1 if flag else None for flag in ended]
            assert "action" not in info


@OUTPUTS
@MODES
def test_infos_of_one_environment(make, mode, output):
    """As of several, with one value and a mask of one."""
    envs = make(Counter, 1, autoreset_mode=mode, output=output)
    _, info = envs.reset()
    assert {key: value.tolist() for key, value in info.items()} == {"begun": [1], "_begun": [True]}
    info = envs.step([2])[-1]
    told = {"action": [2], "_action": [True], "reward": [2], "_reward": [True]}
    assert {key: value.tolist() for key, value in info.items()} == told


# -- types and spaces --------------------------------------------------------------------------------------------------


@OUTPUTS
@MODES
@pytest.mark.parametrize("task", [Counter, Held, Pointer])
def test_everything_lies_in_the_spaces(make, task, mode, output):
    """Observations, final ones too, of one array or several; flags and rewards (num_envs,), arrays of the output."""
    envs = make(task, autoreset_mode=mode, output=output, max_episode_steps=2)
    single, actions = envs.single_observation_space, envs.single_action_space
    assert isinstance(single, Dict if task is Pointer else Box)
    assert isinstance(actions, Box if task is Held else Discrete)
    assert isinstance(envs.action_space, Box if task is Held else MultiDiscrete)
    envs.action_space.seed(0)
    observation, _ = envs.reset(seed=0)
    finals = 0
    for _ in range(5):
        assert each(host, observation) in envs.observation_space
        sample = envs.action_space.sample()
        assert sample in envs.action_space and len(sample) == 3
        observation, reward, terminated, truncated, info = envs.step(sample)
        for array in (reward, terminated, truncated, *(observation.values() if task is Pointer else [observation])):
            assert type(array) is KINDS[output] and len(array) == 3
        assert reward.ndim == terminated.ndim == truncated.ndim == 1
        assert host(reward).dtype.kind == "f" and host(terminated).dtype == host(truncated).dtype == bool
        for env in range(3) if "final_obs" in info else ():
            finals += 1
            assert each(lambda part, env=env: host(part)[env], info["final_obs"]) in single
        if mode == "DISABLED":
            observation, _ = envs.reset(options={"reset_mask": terminated | truncated})
    assert bool(finals) == (mode == "SAME_STEP")


# -- actions -----------------------------------------------------------------------------------------------------------


@OUTPUTS
@pytest.mark.parametrize("task", [Counter, Held])
def test_one_action_for_each_environment(make, task, output):
    """Neither fewer nor more nor a single number; a list or a tuple of single ones is as good as an array."""
    envs = make(task, output=output)
    envs.action_space.seed(0)
    batch = envs.action_space.sample()
    results = []
    tensors = [torch.as_tensor(action) for action in batch]
    for actions in (batch, list(batch), tuple(batch), batch.tolist(), tensors, torch.stack(tensors)):
        envs.reset(seed=0)
        results.append(envs.step(actions)[:2])
    for observation, reward in results[1:]:
        np.testing.assert_array_equal(host(observation), host(results[0][0]))
        np.testing.assert_array_equal(host(reward), host(results[0][1]))
    for wrong in (batch[:2], np.concatenate([batch, batch[:1]]), torch.as_tensor(batch[:2])):
        with pytest.raises(ValueError, match=r"actions have shape \([24]"):
            envs.step(wrong)
    for number in (0, 0.5, np.float32(0), torch.tensor(0)):
        with pytest.raises(TypeError, match="actions are a single number; needed is an array"):
            envs.step(number)


# -- seeds -------------------------------------------------------------------------------------------------------------


def test_seeds_are_there_before_the_first_reset(make):
    """Read then, they are those of the reset that follows without one; other environments have others."""
    envs, other = make(), make()
    seeds = envs.np_random_seed
    assert len(set(seeds)) == 3 and envs.np_random_seed == envs.get_attr("np_random_seed") == seeds
    assert not set(seeds) & set(other.np_random_seed)
    start, _ = envs.reset()
    assert envs.np_random_seed == seeds
    assert torch.equal(start, other.reset(seed=list(seeds))[0])
    assert not torch.equal(start, envs.reset()[0]), "the next episode has other noise"


@OUTPUTS
@MODES
def test_seeds_stay_until_others_are_given(make, mode, output):
    """A number s is s + i in environment i; a reset without a seed keeps them."""
    envs = make(autoreset_mode=mode, output=output)
    for seed, wanted in ((42, (42, 43, 44)), (None, (42, 43, 44)), ([7, None, 5], (7, 43, 5))):
        envs.reset(seed=seed)
        assert envs.np_random_seed == wanted


def test_samples_of_equally_seeded_spaces_are_equal(make):
    """Two batches draw the same actions, which differ from environment to environment."""
    envs, other = make(), make()
    envs.action_space.seed(3)
    other.action_space.seed(3)
    for _ in range(20):
        np.testing.assert_array_equal(envs.action_space.sample(), other.action_space.sample())
    assert not np.array_equal(envs.action_space.sample()[0], envs.action_space.sample()[1])


@OUTPUTS
@MODES
def test_partial_resets_with_seeds(make, mode, output):
    """Where the mask is True episodes begin as their seeds say; the others stay, and keep their seeds."""
    envs = make(autoreset_mode=mode, output=output)
    envs.action_space.seed(123)
    first, _ = envs.reset(seed=[0, 1, 2])
    for _ in range(3):
        last, *_ = envs.step(envs.action_space.sample())
    mask = np.array([True, True, False])
    mask = torch.from_numpy(mask) if output == "torch" else mask
    again, _ = envs.reset(seed=[0, 1, 0], options={"reset_mask": mask})
    np.testing.assert_array_equal(host(again[:2]), host(first[:2]))
    np.testing.assert_array_equal(host(again[2]), host(last[2]))
    assert envs.np_random_seed == (0, 1, 2)
    with pytest.raises(ValueError, match=r"must have shape \(3,\), got \(1, 3\)"):
        envs.reset(options={"reset_mask": mask[None]})


# -- what an environment says of itself --------------------------------------------------------------------------------


def test_metadata_is_of_one_batch(make):
    """The mode of one is not another's, nor the class's; it can be replaced."""
    one, other = make(autoreset_mode="NEXT_STEP"), make(autoreset_mode="DISABLED", output="numpy")
    assert one.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert other.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    assert "autoreset_mode" not in SimVectorEnv.metadata
    one.metadata["render_modes"].clear()
    assert other.metadata["render_modes"] and SimVectorEnv.metadata["render_modes"]
    one.metadata = {"render_modes": ["rgb_array"]}
    assert one.metadata != other.metadata


class Counting(VectorWrapper):
    """Counts resets."""

    resets = 0

    def reset(self, **arguments: Any) -> Any:
        """Count."""
        self.resets += 1
        return super().reset(**arguments)


@OUTPUTS
@MODES
def test_a_wrapper_of_the_users_own(make, mode, output):
    """It hands on everything that it does not change."""
    envs = make(autoreset_mode=mode, output=output, render_mode="rgb_array", width=16, height=16)
    wrapped = Counting(envs)
    wrapped.reset(seed=1)
    wrapped.step(np.zeros((3, 3)))
    assert wrapped.resets == 1 and wrapped.unwrapped is envs
    for name in ("metadata", "num_envs", "np_random_seed", "spec", "render_mode", "closed"):
        assert getattr(wrapped, name) == getattr(envs, name)
    for name in ("observation_space", "action_space", "single_observation_space", "single_action_space"):
        assert getattr(wrapped, name) == getattr(envs, name)
    envs.set_attr("healthy_reward", [3.0] * 3)
    assert wrapped.env.get_attr("healthy_reward") == wrapped.env.call("healthy_reward") == (3.0,) * 3
    assert len(wrapped.render()) == 3
    wrapped.close()
    assert envs.closed
    wrapped.close()


# -- gymnasium.make_vec ------------------------------------------------------------------------------------------------

ARGUMENTS = [
    {},
    {"num_envs": 3},
    {"vectorization_mode": "vector_entry_point"},
    {"vectorization_mode": gymnasium.VectorizeMode.SYNC, "num_envs": 2},
    {"vectorization_mode": "sync", "wrappers": (gymnasium.wrappers.TimeAwareObservation,)},
    {"vectorization_mode": "sync", "vector_kwargs": {"autoreset_mode": AutoresetMode.DISABLED}},
    {"render_mode": "rgb_array", "width": 16},
    {"max_episode_steps": 5, "output": "numpy", "autoreset_mode": AutoresetMode.NEXT_STEP},
    {"healthy_reward": 2.0, "model_options": {"timestep": 0.001}},
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=lambda arguments: ", ".join(arguments) or "none")
def test_made_again_from_its_spec(arguments):
    """Without a warning, and equal in all that a spec decides."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs = gymnasium.make_vec("tumble/Hopper-v0", **arguments)
        again = gymnasium.make_vec(envs.spec)
    assert type(envs) is type(again) and envs.spec == again.spec
    by_itself = arguments.get("vectorization_mode") in (None, "vector_entry_point")
    assert isinstance(envs, SimVectorEnv) == by_itself
    assert envs.num_envs == again.num_envs == arguments.get("num_envs", 1)
    assert envs.render_mode == again.render_mode == arguments.get("render_mode")
    assert envs.metadata == again.metadata
    for name in ("observation_space", "action_space", "single_observation_space", "single_action_space"):
        assert getattr(envs, name) == getattr(again, name)
    if by_itself:
        assert envs.max_episode_steps == again.max_episode_steps == arguments.get("max_episode_steps", 1000)
        assert envs.task == again.task and envs.task.dt == again.task.dt
    envs.close()
    again.close()


@pytest.mark.parametrize(
    "arguments", [{"vector_kwargs": {"output": "numpy"}}, {"wrappers": [gymnasium.wrappers.TimeAwareObservation]}]
)
def test_what_make_vec_gives_to_single_environments_alone(arguments):
    """Gymnasium refuses it around any vector environment of its own kind; the options go in by name."""
    with pytest.raises(gymnasium.error.Error, match=next(iter(arguments))):
        gymnasium.make_vec("tumble/Hopper-v0", 2, **arguments)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_modes_go_through_make_vec(mode):
    """As a member, by name and by Gymnasium's value."""
    for spelled in (mode, mode.name, mode.value):
        envs = gymnasium.make_vec("tumble/Hopper-v0", 2, autoreset_mode=spelled)
        assert envs.metadata["autoreset_mode"] is mode
        envs.close()

"""What Gymnasium's tests of vector wrappers check, around ours: numpy and torch output in three autoreset modes.

Those tests are its modules in tests/wrappers/vector. `test_wrappers` has our own of those that remember something,
`test_gymnasium_pictures` those that show pictures.
"""

from typing import Any

import array_api_compat.numpy
import array_api_compat.torch
import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Dict
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit

import tumble
from tumble import wrappers
from tumble.envs.arrays import host
from tumble.envs.gym.single_env import SingleEnv
from tumble.envs.task.observations import each

from .own_tasks import Counter, Held, Pointer, Seen
from .reference import OLD_GYMNASIUM, assert_same_info

W = gymnasium.wrappers.vector
NUM_ENVS, LIMIT = 3, 4
OUTPUTS = pytest.mark.parametrize("output", ["torch", "numpy"])
MODES = pytest.mark.parametrize("mode", [mode.name for mode in AutoresetMode])
STAYING = pytest.mark.parametrize("mode", ["NEXT_STEP", "DISABLED"])  # that wrappers of observations know
KINDS = {"torch": torch.Tensor, "numpy": np.ndarray}


@pytest.fixture
def make():
    """Make three environments that are closed in the end."""
    made = []

    def make(task: Any, mode: str, output: str, **options: Any) -> Any:
        made.append(tumble.make_vec(task, NUM_ENVS, autoreset_mode=mode, output=output, **options))
        return made[-1]

    yield make
    for envs in made:
        envs.close()


def run(envs: Any, mode: str, steps: int = 10):
    """Yield what `reset` and every step returned; under DISABLED what finished is reset, and that is yielded too."""
    envs.action_space.seed(5)
    yield envs.reset(seed=4, options={"reset_mask": np.ones(NUM_ENVS, bool)})
    for step in range(steps):
        result = envs.step(envs.action_space.sample())
        yield result
        done = host(result[2] | result[3])
        if mode == "DISABLED" and done.any():
            yield envs.reset(options={"reset_mask": done.copy()})
        elif step == 1:  # so that not all end together
            yield envs.reset(options={"reset_mask": np.array([False, True, False])})


# -- those that treat one environment after the other ------------------------------------------------------------------

ALIKE = {
    "FilterObservation": (Pointer, {"filter_keys": ["arm", "goal"]}),
    "FlattenObservation": (Pointer, {}),
    "GrayscaleObservation": (Seen, {"keep_dim": True}),
    "ResizeObservation": (Seen, {"shape": (5, 24)}),
    "ReshapeObservation": (Seen, {"shape": (12, 30)}),
    "DtypeObservation": (Seen, {"dtype": np.int32}),
    "RescaleObservation": (Held, {"min_obs": -1.0, "max_obs": 2.0}),
    "ClipAction": (Held, {}),
    "RescaleAction": (Held, {"min_action": -3.0, "max_action": 2.0}),
    "ClipReward": (Held, {"min_reward": -0.5, "max_reward": 0.0}),
}


OF_OBSERVATIONS = [name for name in ALIKE if name.endswith("Observation")]
WORKING = [(name, mode.name) for name in ALIKE for mode in AutoresetMode]
REFUSED = [(name, "SAME_STEP") for name in OF_OBSERVATIONS]


@pytest.mark.parametrize("name", OF_OBSERVATIONS)
def test_refused_under_same_step(make, opencv, name):
    """Wrappers of observations would leave the last ones of episodes as they are: Gymnasium refuses the mode."""
    task, arguments = ALIKE[name]
    error, words = (
        (AssertionError, None) if OLD_GYMNASIUM else (ValueError, "autoreset_mode to be NEXT_STEP or DISABLED")
    )
    with pytest.raises(error, match=words):
        getattr(W, name)(make(task, "SAME_STEP", "numpy"), **arguments)


@pytest.mark.parametrize(("name", "mode"), [case for case in WORKING if case not in REFUSED])
def test_around_the_batch_or_each_environment(make, opencv, name, mode):
    """The same spaces, observations, rewards, flags and infos, step by step."""
    task, arguments = ALIKE[name]
    ours = getattr(W, name)(make(task, mode, "numpy", max_episode_steps=LIMIT), **arguments)
    wrapper = getattr(gymnasium.wrappers, name)
    single = [lambda: wrapper(TimeLimit(SingleEnv(task), LIMIT), **arguments)] * NUM_ENVS
    theirs = SyncVectorEnv(single, autoreset_mode=AutoresetMode[mode])
    for space in ("observation_space", "action_space", "single_observation_space", "single_action_space"):
        assert getattr(ours, space) == getattr(theirs, space)
    ends = 0
    for mine, other in zip(run(ours, mode), run(theirs, mode), strict=True):
        assert each(host, mine[0]) in ours.observation_space
        for one, two in zip(mine[:-1], other[:-1], strict=True):
            assert_equal(one, two)
        assert_same_info(mine[-1], other[-1])
        ends += len(mine) == 5 and int((mine[2] | mine[3]).sum())
    assert ends >= 4
    theirs.close()


def assert_equal(one: Any, other: Any) -> None:
    """The same numbers, in one array or several."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
    for part in one if isinstance(one, dict) else [...]:
        np.testing.assert_array_equal(one[part], other[part])


@MODES
@pytest.mark.parametrize("name", ["ClipAction", "RescaleAction", "ClipReward"])
def test_the_same_in_torch(make, name, mode):
    """Actions and rewards are treated alike whatever the output is; infos and final observations are tensors."""
    task, arguments = ALIKE[name]
    results = []
    for output in ("torch", "numpy"):
        envs = getattr(W, name)(make(task, mode, output, max_episode_steps=LIMIT), **arguments)
        results.append(list(run(envs, mode)))
    for mine, other in zip(*results, strict=True):
        assert all(type(part) is torch.Tensor for part in mine[:-1])
        for one, two in zip(mine[:-1], other[:-1], strict=True):
            assert_equal(one.numpy(), two)


# -- those that are given a function -----------------------------------------------------------------------------------


@OUTPUTS
@STAYING
def test_transformed_observations(make, mode, output):
    """Of the batch at once: in the space given for one environment; a space of another shape is warned of."""
    plain = make(Held, mode, output, max_episode_steps=LIMIT)
    one = Box(-200, 200, (4,), np.float32)
    envs = W.TransformObservation(
        make(Held, mode, output, max_episode_steps=LIMIT), lambda x: 2 * x, single_observation_space=one
    )
    assert envs.single_observation_space == one and envs.observation_space.shape == (NUM_ENVS, 4)
    for mine, raw in zip(run(envs, mode), run(plain, mode), strict=True):
        assert type(mine[0]) is KINDS[output]
        np.testing.assert_array_equal(host(mine[0]), 2 * host(raw[0]))
    with pytest.warns(UserWarning, match="batched single observation space don't match"):
        W.TransformObservation(plain, lambda x: x, observation_space=Box(-1, 1, (NUM_ENVS, 4)))


@OUTPUTS
@MODES
def test_transformed_actions(make, mode, output):
    """Of the batch at once, from the space given for one environment; a space of another shape is warned of."""
    plain = make(Held, mode, output, max_episode_steps=LIMIT)
    one = Box(-3, 3, (2,), np.float32)
    inner = make(Held, mode, output, max_episode_steps=LIMIT)
    envs = W.TransformAction(inner, lambda x: x / 2, single_action_space=one)
    assert envs.single_action_space == one and envs.action_space.shape == (NUM_ENVS, 2)
    for mine, raw in zip(run(envs, mode), run(plain, mode), strict=True):
        for part, other in zip(mine[:-1], raw[:-1], strict=True):
            np.testing.assert_array_equal(host(part), host(other))  # half of twice as much
    with pytest.warns(UserWarning, match="batched single action space don't match"):
        W.TransformAction(plain, lambda x: x, action_space=Box(-3, 3, (NUM_ENVS, 2)))


@OUTPUTS
@MODES
@pytest.mark.parametrize("kind", ["TransformReward", "VectorizeTransformReward"])
def test_transformed_rewards(make, kind, mode, output):
    """Of the batch at once, or one after the other."""
    arguments = {"wrapper": gymnasium.wrappers.TransformReward} if kind.startswith("Vectorize") else {}
    envs = getattr(W, kind)(make(Counter, mode, output), func=lambda reward: 2 * reward + 1, **arguments)
    for mine, raw in zip(run(envs, mode), run(make(Counter, mode, output), mode), strict=True):
        if len(mine) == 5:
            assert type(mine[1]) is KINDS[output]
            np.testing.assert_array_equal(host(mine[1]), 2 * host(raw[1]) + 1)


@OUTPUTS
@MODES
def test_actions_from_another_kind_of_space(make, mode, output):
    """A dict of one part becomes the array that the environments take."""
    envs = W.VectorizeTransformAction(
        make(Held, mode, output, max_episode_steps=LIMIT),
        gymnasium.wrappers.TransformAction,
        func=lambda action: action["key"],
        action_space=Dict({"key": Box(-1.5, 1.5, (2,), np.float32)}),
    )
    plain = make(Held, mode, output, max_episode_steps=LIMIT)
    envs.action_space.seed(0)
    start, other = envs.reset(seed=1)[0], plain.reset(seed=1)[0]
    for _ in range(3):
        np.testing.assert_array_equal(host(start), host(other))
        action = envs.action_space.sample()
        start, other = envs.step(action)[0], plain.step(action["key"])[0]


@STAYING
def test_observations_in_another_kind_of_space(make, mode):
    """An array becomes a dict of two parts, of numpy output alone."""
    envs = W.VectorizeTransformObservation(
        make(Held, mode, "numpy", max_episode_steps=LIMIT),
        gymnasium.wrappers.TransformObservation,
        func=lambda x: {"angles": x[:2], "velocities": x[2:]},
        observation_space=Dict({name: Box(-100, 100, (2,), np.float32) for name in ("angles", "velocities")}),
    )
    for mine, raw in zip(run(envs, mode), run(make(Held, mode, "numpy", max_episode_steps=LIMIT), mode), strict=True):
        assert mine[0] in envs.observation_space
        np.testing.assert_array_equal(np.hstack((mine[0]["angles"], mine[0]["velocities"])), raw[0])


# -- infos -------------------------------------------------------------------------------------------------------------


@MODES
def test_lists_of_infos(make, mode):
    """One dict for each environment with what is said of it, nested ones too; around our statistics of episodes."""
    envs = W.DictInfoToList(wrappers.RecordEpisodeStatistics(make(Counter, mode, "numpy")))
    with pytest.raises(TypeError, match="VectorEnv"):
        W.DictInfoToList(SingleEnv(Counter))
    assert envs.reset()[1] == [{"begun": 1}] * 3
    assert envs.step(np.array([0, 1, 2]))[-1] == [{"action": k, "reward": k} for k in range(3)]
    info = envs.step(np.array([0, 3, 2]))[-1]
    assert info[0] == {"action": 0, "reward": 0} and info[2] == {"action": 2, "reward": 2}
    episode = info[1].pop("episode")
    assert (episode["r"], episode["l"]) == (4, 2) and episode["t"] > 0
    if mode == "SAME_STEP":
        assert info[1].pop("final_obs").tolist() == [2]
        assert info[1] == {"begun": 1, "final_info": {"action": 3, "reward": 3}}
    else:
        assert info[1] == {"action": 3, "reward": 3}


def test_lists_of_infos_are_made_of_numpy_output(make):
    """Gymnasium's conversion in between lets it work."""
    envs = make(Counter, "SAME_STEP", "torch")
    converted = W.ArrayConversion(envs, array_api_compat.torch, array_api_compat.numpy)
    assert W.DictInfoToList(converted).reset()[1] == [{"begun": 1}] * 3


# -- libraries ---------------------------------------------------------------------------------------------------------


@MODES
@pytest.mark.parametrize("kind", ["ArrayConversion", "NumpyToTorch"])
def test_converted_arrays(make, kind, mode):
    """Everything, infos and final observations too, in the other library, with the same numbers, and actions back."""
    numpy, to_torch = make(Pointer, mode, "numpy", max_episode_steps=LIMIT), kind == "NumpyToTorch"
    torchy = make(Pointer, mode, "torch", max_episode_steps=LIMIT)
    if to_torch:
        envs, raw, kind_of_array = W.NumpyToTorch(numpy), torchy, torch.Tensor
    else:
        kind_of_array = np.ndarray
        envs, raw = W.ArrayConversion(torchy, array_api_compat.torch, array_api_compat.numpy), numpy
    finals = 0
    for mine, other in zip(run(envs, mode), run(raw, mode), strict=True):
        assert_alike(mine, other, kind_of_array)
        finals += "final_obs" in mine[-1]
    assert bool(finals) == (mode == "SAME_STEP")
    envs.reset(seed=1)
    raw.reset(seed=1)
    action = np.array([0, 4, 8])
    assert_alike(envs.step(torch.from_numpy(action) if to_torch else action), raw.step(action), kind_of_array)


def assert_alike(one: Any, other: Any, kind: type) -> None:
    """The same nested tuples and dicts, of arrays of one kind with the same values and types."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        one, other = one.values(), other.values()
    if not isinstance(one, kind):
        for mine, theirs in zip(one, other, strict=True):
            assert_alike(mine, theirs, kind)
    else:
        assert type(other) is type(one) and other.dtype == one.dtype
        np.testing.assert_array_equal(host(one), host(other))


def test_none_is_silently_wrong(make):
    """Around torch output, or a mode that it does not know, a wrapper of numpy code raises an error by itself."""
    numpy_code = {
        W.RecordEpisodeStatistics: (),
        W.NormalizeReward: (),
        W.NormalizeObservation: ("SAME_STEP", "DISABLED"),
        W.FlattenObservation: ("SAME_STEP",),
        W.DictInfoToList: (),
    }
    for wrapper, unknown_modes in numpy_code.items():
        for mode in AutoresetMode:
            for output in KINDS:
                if output == "numpy" and mode.name not in unknown_modes:
                    continue
                with pytest.raises((TypeError, RuntimeError, ValueError, AssertionError)):
                    wrapped = wrapper(make("Hopper", mode.name, output))
                    wrapped.reset(seed=0)
                    wrapped.step(np.zeros((NUM_ENVS, 3), np.float32))

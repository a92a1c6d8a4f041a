"""The table of tasks, what Gymnasium's registry knows of them, and the tables in their docstrings."""

import copy
import inspect
import itertools
import pickle
import re

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import VectorEnv

import tumble
from tumble.envs.gym.single_env import SingleEnv
from tumble.envs.gym.vector_env import SimVectorEnv
from tumble.envs.registry import V5, make_task, register_all

from ..cases import cases
from .own_tasks import Pointer


@cases("name", V5)
def test_registered_like_v5(name):
    """Time limit and reward threshold are those of the v5 task."""
    ours, theirs = gymnasium.spec(f"tumble/{name}-v0"), gymnasium.spec(f"{name}-v5")
    assert ours.max_episode_steps == theirs.max_episode_steps
    assert ours.reward_threshold == theirs.reward_threshold


def test_registering_twice_is_quiet(recwarn):
    """A second time changes nothing."""
    register_all()
    assert not recwarn.list


@pytest.mark.parametrize("name", V5)
def test_spaces(name, each_precision):
    """Observations in the solver's precision and of v5's size, actions as in v5."""
    theirs = gymnasium.make(f"{name}-v5")
    env, envs = gymnasium.make(f"tumble/{name}-v0"), gymnasium.make_vec(f"tumble/{name}-v0", num_envs=3)
    dtype = np.dtype(f"float{each_precision}")
    for single in (env.observation_space, envs.single_observation_space):
        assert single.shape == theirs.observation_space.shape
        assert single.dtype == dtype
    assert env.action_space == envs.single_action_space == theirs.action_space
    assert envs.observation_space.shape == (3, *env.observation_space.shape)
    assert envs.action_space.shape == (3, *env.action_space.shape)
    observation, _ = envs.reset(seed=0)
    assert observation.dtype == getattr(torch, dtype.name)
    assert env.reset(seed=0)[0].dtype == dtype
    for made in (theirs, env, envs):
        made.close()


def test_a_misspelt_name_gets_the_nearest_ones():
    """With a namespace Gymnasium says so, without one we do."""
    with pytest.raises(ValueError, match="no task 'QuadrupedFlatt'; there is QuadrupedFlat"):
        tumble.make_vec("QuadrupedFlatt", 2)
    with pytest.raises(gymnasium.error.NameNotFound, match="Did you mean: `Ant`"):
        tumble.make_vec("tumble/Antt-v0", 2)


@pytest.mark.parametrize("name", ["Hopper", "Hopper-v0", "tumble/Hopper-v0"])
def test_names_of_a_task(name):
    """All three are one, for both calls; options and time limits are those of Gymnasium's calls."""
    env, envs = tumble.make(name, healthy_reward=2.0), tumble.make_vec(name, 2, healthy_reward=2.0)
    assert isinstance(env.unwrapped, SingleEnv) and isinstance(envs, SimVectorEnv) and envs.num_envs == 2
    for made in (env, envs):
        assert made.spec.id == "tumble/Hopper-v0" and made.unwrapped.task.healthy_reward == 2.0
        assert made.spec.max_episode_steps == 1000
        made.close()


@cases(
    "name, words",
    [
        ("Ant-v5", "no task 'Ant-v5', but an environment of Gymnasium's registry, .*; there is tumble/Ant-v0"),
        ("Ant-v9", "no task 'Ant-v9'; there is tumble/Ant-v0"),
        ("CartPole-v1", "no task 'CartPole-v1', but an environment of Gymnasium's registry, .* CartPoleSwingUp"),
        ("CartPole", "no task 'CartPole'; there is .*CartPoleSwingUp"),
        (
            "gymnasium.envs:CartPole-v1",
            "'gymnasium.envs:CartPole-v1' is of gymnasium.envs.*, not of Tumble",
        ),
    ],
)
def test_environments_of_gymnasium_are_not_given_as_ours(name, words):
    for make in (tumble.make, tumble.make_vec):
        with pytest.raises(ValueError, match=words):
            make(name)


def test_ids_of_suites_that_another_package_has_taken(monkeypatch):
    """Shimmy registers the control suite's ids as soon as Gymnasium is imported; Tumble's calls make Tumble's tasks."""
    identity = "gymnasium_robotics/PointMaze_UMaze-v3"  # on a model of Tumble's own
    theirs = EnvSpec(identity, entry_point="gymnasium.envs.classic_control:CartPoleEnv")
    monkeypatch.setitem(gymnasium.registry, identity, theirs)
    for make, kind in ((tumble.make, SingleEnv), (tumble.make_vec, SimVectorEnv)):
        made = make(identity)
        assert isinstance(made.unwrapped, kind) and made.spec.id == identity and made.spec.max_episode_steps == 300
        made.close()
    assert identity in tumble.envs.task_ids()
    env = gymnasium.make(identity)
    assert not isinstance(env.unwrapped, SingleEnv)


def test_a_single_environment_of_a_class():
    """Without registration; its time limit is the one that is asked for, and -1 and None are none."""
    for limit, wanted in ((2, 2), (-1, None), (None, None)):
        env = tumble.make(Pointer, max_episode_steps=limit)
        assert isinstance(env.unwrapped, SingleEnv) and isinstance(env.unwrapped.task, Pointer)
        env.reset(seed=0)
        assert next((k for k in range(1, 5) if env.step(env.action_space.sample())[3]), None) == wanted
        env.close()


def test_kinds_of_environments():
    """`gymnasium.make` gives one numpy environment, `gymnasium.make_vec` and `tumble.make_vec` the vector one."""
    env = gymnasium.make("tumble/Ant-v0")
    assert isinstance(env.unwrapped, SingleEnv)
    envs = gymnasium.make_vec("tumble/Ant-v0", num_envs=2)
    assert isinstance(envs, SimVectorEnv) and isinstance(envs, VectorEnv)
    assert envs.unwrapped.solver.num_envs == 2
    assert envs.spec.id == "tumble/Ant-v0"
    again = gymnasium.make_vec(envs.spec)
    assert again.num_envs == 2
    short = tumble.make_vec("Ant", 2)
    assert short.spec.id == "tumble/Ant-v0"
    for made in (env, envs, again, short):
        made.close()


def test_time_limit():
    """Registered 1000, another when asked for, none for -1."""
    for asked, wanted in (({}, 1000), ({"max_episode_steps": 5}, 5), ({"max_episode_steps": -1}, None)):
        envs = tumble.make_vec("HalfCheetah", 1, frame_skip=1, **asked)
        envs.reset(seed=0)
        first = next((step for step in range(1, 1010) if envs.step(torch.zeros(1, 6))[3].any()), None)
        assert first == wanted
        envs.close()


def test_counts_of_numpy_are_counts():
    """Numpy's whole numbers do what Python's do."""
    envs = tumble.make_vec("Hopper", np.int64(3), max_episode_steps=np.int32(2), frame_skip=np.int8(2))
    assert envs.num_envs == 3 and envs.max_episode_steps == 2 and envs.task.frame_skip == 2
    assert all(type(number) is int for number in (envs.num_envs, envs.max_episode_steps, envs.task.frame_skip))
    envs.reset(seed=0)
    envs.step(torch.zeros(3, 3))
    assert envs.step(torch.zeros(3, 3))[3].all()
    envs.close()


@pytest.mark.parametrize("mode", gymnasium.vector.AutoresetMode)
@pytest.mark.parametrize("output", ["torch", "numpy"])
def test_rewards_have_the_observations_dtype(output, mode, each_precision):
    """In every mode, in the step that resets under NEXT_STEP too."""
    envs = tumble.make_vec("Hopper", 2, output=output, autoreset_mode=mode, max_episode_steps=2)
    wanted = envs.reset(seed=0)[0].dtype
    assert str(wanted).endswith(f"float{each_precision}")
    for _ in range(2 if mode.name == "DISABLED" else 4):
        observation, reward, *_ = envs.step(np.zeros((2, 3)))
        assert observation.dtype == reward.dtype == wanted
    envs.close()


def test_numpy_output():
    """Everything, infos and final observations included, as numpy arrays."""
    envs = tumble.make_vec("Hopper", 3, output="numpy", max_episode_steps=2)
    observation, info = envs.reset(seed=0)
    envs.action_space.seed(0)
    assert isinstance(observation, np.ndarray) and isinstance(info["x_position"], np.ndarray)
    for _ in range(2):
        *rest, info = envs.step(envs.action_space.sample())
    assert all(isinstance(part, np.ndarray) for part in rest)
    assert isinstance(info["final_obs"], np.ndarray) and isinstance(info["final_info"]["x_velocity"], np.ndarray)
    assert not envs.metadata["torch"]
    envs.close()


def test_gymnasiums_own_vectorisation_of_single_environments():
    """SyncVectorEnv over single environments and the vector environment give the same bits."""
    options = {"num_envs": 3, "max_episode_steps": 7}
    sync = gymnasium.make_vec("tumble/Hopper-v0", vectorization_mode="sync", **options)
    ours = gymnasium.make_vec("tumble/Hopper-v0", output="numpy", autoreset_mode="NEXT_STEP", **options)
    np.testing.assert_array_equal(sync.reset(seed=3)[0], ours.reset(seed=3)[0])
    sync.action_space.seed(3)
    for _ in range(30):
        actions = sync.action_space.sample()
        for one, other in zip(sync.step(actions)[:4], ours.step(actions)[:4], strict=True):
            np.testing.assert_array_equal(one, other)
    sync.close()
    ours.close()


def test_vector_wrappers_of_gymnasium():
    """Its statistics and normalisation wrappers run on the numpy output."""
    envs = tumble.make_vec("Hopper", 3, output="numpy", autoreset_mode="NEXT_STEP", max_episode_steps=5)
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    wrapped = gymnasium.wrappers.vector.NormalizeObservation(wrapped)
    wrapped.reset(seed=0)
    wrapped.action_space.seed(0)
    lengths = []
    for _ in range(20):
        *_, info = wrapped.step(wrapped.action_space.sample())
        if "episode" in info:
            lengths += info["episode"]["l"][info["_episode"]].tolist()
    assert lengths and set(lengths) == {5}
    wrapped.close()


@cases(
    "options, error, words",
    [
        ({"output": "jax"}, ValueError, "there is torch and numpy"),
        ({"num_envs": 0}, ValueError, "num_envs=0"),
        ({"num_envs": 2.5}, TypeError, r"num_envs=2\.5: it must be a whole number"),
        ({"num_envs": float("nan")}, TypeError, "num_envs=nan: it must be a whole number"),
        ({"num_envs": "two"}, TypeError, "num_envs='two': it must be a whole number"),
        ({"max_episode_steps": 0}, ValueError, "at least 1, or -1"),
        ({"max_episode_steps": 1.5}, TypeError, r"max_episode_steps=1\.5: it must be a whole number"),
        ({"width": 32.5}, TypeError, r"width=32\.5: it must be a whole number"),
        ({"height": 0}, ValueError, "height=0: it must be at least 1"),
        ({"render_envs": [0.5]}, ValueError, "expected whole numbers, as integers"),
        ({"render_mode": "ascii"}, ValueError, "there is human, rgb_array, depth_array"),
        ({"autoreset_mode": "now"}, ValueError, "there is NEXT_STEP"),
        ({"render_envs": [0, 7]}, IndexError, "no environment 7"),
        ({"camera_id": 0, "camera_name": "track"}, ValueError, "not both"),
        ({"colour": "red"}, TypeError, "Ant got an unexpected keyword argument 'colour'; there are"),
    ],
)
def test_wrong_arguments(options, error, words):
    """Each is answered with what there is."""
    with pytest.raises(error, match=words):
        tumble.make_vec("Ant", **({"num_envs": 2} | options))


def test_copies_and_pickles():
    """A single environment is made again from its arguments; how it goes on is in `test_copying`."""
    env = gymnasium.make("tumble/Hopper-v0", healthy_reward=2.0).unwrapped
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert twin.task.healthy_reward == 2.0
        np.testing.assert_array_equal(twin.reset(seed=1)[0], env.reset(seed=1)[0])
        twin.close()
    env.close()


# -- the tables in the docstrings -------------------------------------------------------------------------------------


def rows(name: str, heading: str) -> list[list[str]]:
    """The cells of the first table after a heading of the task's docstring."""
    text = inspect.getdoc(type(make_task(name, {})))
    table = text.split(f"{heading}:", 1)[1].split("\n\n")[1]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


@cases("name", V5)
def test_action_table(name):
    """One row an actuator: index, name, range, and the torque's scale."""
    env = gymnasium.make(f"tumble/{name}-v0").unwrapped
    mj = env.solver.model.mj
    table = rows(name, "Action")
    assert len(table) == mj.nu
    for i, (index, actuator, low, high, meaning) in enumerate(table):
        assert (int(index), actuator) == (i, mj.actuator(i).name)
        np.testing.assert_allclose((float(low), float(high)), mj.actuator_ctrlrange[i])
        assert float(re.search(r"/ (\d+)", meaning)[1]) == mj.actuator_gear[i, 0]
    env.close()


@cases("name", V5)
def test_observation_table(name):
    """The rows cover every index once, in order; the blocks end where the task's structure says."""
    env = gymnasium.make(f"tumble/{name}-v0").unwrapped
    bounds = []
    for index, *_ in rows(name, "Observation"):
        first, last = (index.split("-") * 2)[:2]
        bounds.append((int(first), int(last) + 1))
    assert bounds[0][0] == 0
    assert all(one[1] == other[0] for one, other in itertools.pairwise(bounds))
    assert bounds[-1][1] == env.observation_space.shape[0]
    widths = [width for block, width in env.task.observation_structure.items() if block != "skipped_qpos"]
    ends = set(np.cumsum(widths).tolist())
    assert ends <= {end for _, end in bounds}
    env.close()


@cases("name", V5)
def test_reward_terms_are_documented(name):
    """Every term of the reward has its line in the docstring; they add up to it, but for what their sum rounds."""
    env = gymnasium.make(f"tumble/{name}-v0")
    env.reset(seed=0)
    env.action_space.seed(0)
    _, reward, _, _, info = env.step(env.action_space.sample())
    text = inspect.getdoc(type(env.unwrapped.task))
    terms = [key for key in info if key.startswith("reward") or key.endswith("penalty")]
    assert terms and all(f"`{term}`" in text for term in terms)
    values = np.array([info[term] for term in terms], float)
    rounding = np.finfo(np.float32).eps * len(values) * np.abs(values).sum()  # they may cancel
    np.testing.assert_allclose(values.sum(), reward, rtol=0, atol=rounding)
    env.close()


def test_closed_environments_say_so():
    """Nothing can be done with them, as with Gymnasium's own."""
    envs = tumble.make_vec("InvertedPendulum", 3)
    envs.reset(seed=0)
    envs.close()
    for use in (envs.reset, lambda: envs.step(np.zeros((3, 1)))):
        with pytest.raises(gymnasium.error.ClosedEnvironmentError, match="were closed; make new ones"):
            use()

"""The tasks that are not Gymnasium's: checkers, arrays, company, seeds and docstrings, with one solver of each kind.

What Gymnasium's eleven tasks are held to by `test_check_env.py`, `test_array_standard.py`, `test_seeding.py` and
`test_registry.py` is asked of these here, in one test for each kind of environment, because a solver costs seconds.
"""

import inspect
import itertools
import re
import warnings

import array_api_strict
import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_sb3

import tumble
from tumble.envs.arrays import ArrayKind, host
from tumble.envs.batch.batch import TaskBatch
from tumble.envs.registry import FLIGHT, MANIPULATION, MATTER, SUITE, V5, WALKING, make_task
from tumble.envs.task.observations import parts_of
from tumble.envs.task.task import Task, TaskState

OWN = {**SUITE, **WALKING, **MANIPULATION, **FLIGHT, **MATTER}
FEW = (*(itertools.islice(family, 1) for family in (SUITE, WALKING, MANIPULATION, MATTER)), FLIGHT)
DEFAULT = [*itertools.chain(*FEW)]
"""Tasks that the default run proves: some of each family."""
STEPS, LIMIT = 24, 10
ON_LEVELS = ("QuadrupedRough", "QuadrupedStairs", "BipedRough")
"""Tasks that deal out kinds of ground among the environments of a batch, unless `curriculum=False`."""

tasks = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in DEFAULT else pytest.mark.slow) for name in OWN]
)


@tasks
def test_alone(name):
    """Gymnasium's and Stable-Baselines3's checkers, tables of the docstring, and the bits of a place in a batch."""
    options = {"max_episode_steps": LIMIT, **({"curriculum": False} if name in ON_LEVELS else {})}
    env = gymnasium.make(f"tumble/{name}-v0", render_mode="rgb_array", width=32, height=24, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*A Box observation space m.*imum value is.*infinity")
        warnings.filterwarnings("ignore", message=".*looks like your observation space is an? image")
        warnings.filterwarnings("ignore", message=".*Dict observation space|.*not an instance of Dict")
        check_env(env.unwrapped)
        check_sb3(env.unwrapped)
    check_tables(env.unwrapped.task, env.unwrapped)
    actions = drawn_actions(env.action_space)
    alone = alone_rows(env, actions)
    env.close()
    for size, index in ((3, 1), (9, 7)):
        np.testing.assert_array_equal(rows_in_batch(name, size, options, 1234 - index, index, actions), alone)


def drawn_actions(space: gymnasium.Space) -> list:
    """A few actions of a space, always the same."""
    space.seed(0)
    return [space.sample() for _ in range(STEPS)]


def flat(observation) -> np.ndarray:
    """All numbers of an observation, one array or several."""
    return np.concatenate([np.asarray(host(part)).ravel() for part in parts_of(observation).values()])


def alone_rows(env: gymnasium.Env, actions: list) -> np.ndarray:
    """Observations, rewards and flags through gymnasium.make, reset whenever an episode ends."""
    env.reset(seed=1234)
    rows = []
    for action in actions:
        observation, reward, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            observation, _ = env.reset()
        rows.append(np.concatenate((flat(observation), [reward, terminated, truncated])))
    return np.array(rows)


def rows_in_batch(name: str, size: int, options: dict, seed: int, index: int, actions: list) -> np.ndarray:
    """The same of environment `index` in a batch in which the others do what they like."""
    envs = tumble.make_vec(name, size, **options)
    envs.reset(seed=seed)
    envs.action_space.seed(size)
    rows = []
    for action in actions:
        everyone = np.array(envs.action_space.sample())
        everyone[index] = action
        observation, reward, terminated, truncated, _ = envs.step(everyone)
        own = {key: part[index] for key, part in parts_of(observation).items()}
        rows.append(np.concatenate((flat(own), [reward[index], terminated[index], truncated[index]])))
    envs.close()
    return np.array(rows)


def check_tables(task, env) -> None:
    """One row an action; rows cover each index of the observation once; every term of the reward has its line."""
    texts = [inspect.cleandoc(kind.__doc__ or "") for kind in type(task).__mro__ if issubclass(kind, Task)]
    if isinstance(env.action_space, gymnasium.spaces.Box):
        assert table_ends(texts, "Action") == env.action_space.shape[0]
    space = env.observation_space
    if isinstance(space, gymnasium.spaces.Box) and len(space.shape) == 1:
        assert table_ends(texts, "Observation") == space.shape[0]
    env.reset(seed=0)
    _, reward, _, _, info = env.step(env.action_space.sample())
    terms = [key for key in info if key.startswith("reward")]
    assert terms and not [term for term in terms if not any(f"`{term}`" in text for text in texts)]
    values = np.array([info[term] for term in terms], float)
    rounding = np.finfo(np.float32).eps * len(values) * np.abs(values).sum()
    np.testing.assert_allclose(values.sum(), reward, rtol=0, atol=rounding)


def table_ends(texts: list[str], heading: str) -> int:
    """Return one more than the last index of the table after a heading, whose rows follow on each other.

    Args:
        texts: docstrings of a task's class and of its bases; the first that has the heading counts.
        heading: "Action" or "Observation".
    """
    wanted = re.compile(rf"(?m)(^|\. ){heading}s?[:,]")
    after = [text[found.end() :] for text in texts if (found := wanted.search(text))]
    table = next(text for text in after if "| index |" in text).split("| index |")[1].split("\n\n")[0]
    following = 0
    for line in table.splitlines()[2:]:
        first, last = (line.strip("| ").split("|")[0].strip().split("-") * 2)[:2]
        assert int(first) == following, line
        following = int(last) + 1
    return following


class Strict(ArrayKind):
    """The strict library's arrays; numbers come from numpy."""

    def numbers(self, values):
        """Through numpy."""
        return self.xp.asarray(np.asarray(values, np.float32))


@tasks
def test_arrays(name):
    """A step, a beginning and controls in the array standard's strict library, and a task that computes in torch."""
    batch = TaskBatch(make_task(name, {}), 3)
    task, everyone = batch.task, np.arange(3)
    batch.seed([1, 2, 3], everyone)
    batch.reset(everyone)
    space = gymnasium.vector.utils.batch_space(task.action_space, 3)
    space.seed(0)
    action = space.sample()
    batch.step(action)
    state = batch._view.look(
        {key: value.copy() for key, value in batch._memory.arrays.items()}, batch.streams.advance()
    )
    twin = make_task(name, {}).bound(task.model, Strict(array_api_strict, array_api_strict.float32, None))
    strict, given = strictly(state), array_api_strict.asarray(action)
    noise = state.noise
    for method in ("control", "step"):
        state, strict = state._replace(noise=restarted(noise)), strict._replace(noise=StrictNoise(restarted(noise)))
        mine, theirs = getattr(task, method)(state, action), getattr(twin, method)(strict, given)
        assert_equal(mine, theirs)
    assert_equal(task.begin(state), twin.begin(strict))
    batch.solver.close()
    check_torch(name)


def restarted(noise):
    """The same noise from its first number on."""
    return type(noise)(noise._make_key)


class StrictNoise:
    """Noise whose draws are strict arrays."""

    def __init__(self, noise) -> None:
        self._noise = noise

    def __getattr__(self, name):
        """A method that draws."""
        return lambda *given: array_api_strict.asarray(np.ascontiguousarray(getattr(self._noise, name)(*given)))


def strictly(state: TaskState) -> TaskState:
    """The same state in strict arrays."""
    convert = array_api_strict.asarray
    named = ({key: convert(np.ascontiguousarray(value)) for key, value in part.items()} for part in
             (state.fields, state.images, state.memory, state.rays))  # fmt: skip
    fields, images, memory, rays = named
    parts = (convert(np.ascontiguousarray(part)) for part in state[:3])
    return TaskState(*parts, fields, images, memory, state.noise, rays)


def assert_equal(mine, theirs) -> None:
    """Nothing, an array, or several, to rounding."""
    if mine is None:
        assert theirs is None
    elif isinstance(mine, dict):
        assert mine.keys() == theirs.keys()
        for key, value in mine.items():
            assert_equal(value, theirs[key])
    elif isinstance(mine, tuple):
        for part, other in zip(mine, theirs, strict=True):
            assert_equal(part, other)
    else:
        np.testing.assert_allclose(np.asarray(theirs), mine, rtol=2e-5, atol=2e-5)


def check_torch(name: str) -> None:
    """A task that wants torch gives the same keys, shapes and types, and after one step the same numbers."""
    task = make_task(name, {})
    wanting = type(f"{name}InTorch", (type(task),), {"array_library": "torch"})
    in_numpy, in_torch = (tumble.make_vec(each, 3, max_episode_steps=LIMIT) for each in (task, wanting))
    in_numpy.action_space.seed(0)
    for envs in (in_numpy, in_torch):
        envs.reset(seed=3)
    action = torch.as_tensor(in_numpy.action_space.sample())
    mine, theirs = in_numpy.step(action), in_torch.step(action)
    for one, other in zip(mine, theirs, strict=True):
        assert_alike(one, other)
    for envs in (in_numpy, in_torch):
        envs.close()


def assert_alike(one, other) -> None:
    """Tensors, or several by name, of the same types, equal to what a step of physics makes of a rounding."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_alike(one[key], other[key])
    else:
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=2e-3, atol=2e-3)


def test_no_name_twice():
    """Families have no task in common, and every row names a class of its module."""
    assert len(OWN) == sum(map(len, (SUITE, WALKING, MANIPULATION, FLIGHT, MATTER)))
    assert not OWN.keys() & V5.keys()
    for name in OWN:
        assert type(make_task(name, {})).__name__ == (OWN[name].kind or name)

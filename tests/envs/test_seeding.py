"""Under reset(seed=s) environment i draws from (s + i, its episode count since then), and from nothing else."""

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.error import Error

import tumble
from tumble.envs.registry import V5
from tumble.physics.solver import solver

from ..widths import WIDTH

# -- Under reset(seed=s) environment i draws from (s + i, its episode count since then), and from nothing else


NAME = "Hopper"


def starts(envs, seed, episodes: int = 3) -> np.ndarray:
    """The first observations of some episodes, all environments reset together: (episodes, num_envs, size)."""
    observations = [envs.reset(seed=seed)[0]] + [envs.reset()[0] for _ in range(episodes - 1)]
    return np.array([np.asarray(observation) for observation in observations])


@pytest.fixture
def vector():
    """Make vector environments that are closed in the end."""
    made = []

    def make(num_envs: int, **options):
        made.append(tumble.make_vec(NAME, num_envs, **options))
        return made[-1]

    yield make
    for envs in made:
        envs.close()


def test_environment_i_has_seed_s_plus_i(each_precision, vector):
    """Whatever num_envs is; a list of seeds says the same; a single environment replays any of them."""
    many = starts(vector(5), 40)
    np.testing.assert_array_equal(starts(vector(2), 43), many[:, 3:])
    np.testing.assert_array_equal(starts(vector(3), [44, 40, 42]), many[:, [4, 0, 2]])
    env = gymnasium.make(f"tumble/{NAME}-v0")
    np.testing.assert_array_equal(starts(env, 42), many[:, 2])
    env.close()
    assert len(np.unique(many[..., 0])) == many[..., 0].size


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP", "DISABLED"])
def test_what_caused_a_reset_does_not_matter(vector, mode):
    """The second episode starts the same after a termination, a truncation, a mask or a plain reset."""
    wanted = starts(vector(3), 9)
    envs = vector(3, autoreset_mode=mode, max_episode_steps=4)
    envs.reset(seed=9)
    envs.reset(options={"reset_mask": np.array([False, True, False])})
    for _ in range(4):
        observation, _, terminated, truncated, _ = envs.step(torch.zeros(3, 3))
    assert (terminated | truncated)[[0, 2]].all()
    if mode == "NEXT_STEP":
        observation, *_ = envs.step(torch.zeros(3, 3))
    if mode == "DISABLED":
        observation, _ = envs.reset()
    np.testing.assert_array_equal(observation[[0, 2]].numpy(), wanted[1, [0, 2]])
    np.testing.assert_array_equal(observation[1].numpy(), wanted[2, 1])


def test_none_goes_on_and_none_in_a_list_too(vector):
    """None keeps an environment's seed; a number among the list restarts that one."""
    envs = vector(2)
    wanted = starts(vector(2), 5)
    envs.reset(seed=5)
    observation, _ = envs.reset(seed=[None, 6])
    np.testing.assert_array_equal(observation[0].numpy(), wanted[1, 0])
    np.testing.assert_array_equal(observation[1].numpy(), wanted[0, 1])


def test_unseeded_environments_differ_and_can_be_replayed(vector):
    """Entropy seeds them; `np_random_seed` says with what."""
    first, second = vector(2), vector(2)
    one, _ = first.reset()
    other, _ = second.reset()
    assert (one != other).any() and (one[0] != one[1]).any()
    seed = first.unwrapped.np_random_seed
    assert seed[1] == seed[0] + 1
    again, _ = second.reset(seed=list(seed))
    assert torch.equal(one, again)
    env = gymnasium.make(f"tumble/{NAME}-v0")
    start, _ = env.reset()
    np.testing.assert_array_equal(env.reset(seed=env.unwrapped.np_random_seed)[0], start)
    env.close()


def test_equal_runs_are_equal_to_the_last_bit(vector):
    """Same seed, same actions: same everything."""
    runs = []
    for _ in range(2):
        envs = vector(4)
        envs.reset(seed=1)
        envs.action_space.seed(1)
        runs.append([envs.step(envs.action_space.sample())[:4] for _ in range(40)])
    for one, other in zip(*runs, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(
    ("seed", "error", "words"),
    [
        ([1, 2], ValueError, "num_envs=3, got 2"),
        (-1, Error, "zero or more, got -1"),
        (1.5, Error, "whole number, got 1.5"),
        ([1, "2", 3], Error, "whole number, got '2'"),
    ],
)
def test_wrong_seeds_are_refused(vector, seed, error, words):
    """Before anything is reset."""
    with pytest.raises(error, match=words):
        vector(3).reset(seed=seed)
    if not isinstance(seed, list):
        env = gymnasium.make(f"tumble/{NAME}-v0")
        with pytest.raises(error, match=words):
            env.reset(seed=seed)


def test_numpy_seeds_are_welcome(vector):
    """np.int64 and arrays of them."""
    wanted = starts(vector(2), 3)
    np.testing.assert_array_equal(starts(vector(2), np.int64(3)), wanted)
    np.testing.assert_array_equal(starts(vector(2), np.array([3, 4])), wanted)


def test_saved_state_goes_on_with_the_same_bits(vector):
    """An environment loaded from another's `state_dict` repeats its future, resets included."""
    first, second = vector(3, max_episode_steps=7), vector(3, max_episode_steps=7)
    actions = torch.rand(3, 3, generator=torch.Generator().manual_seed(0))
    first.reset(seed=2)
    for _ in range(5):
        first.step(actions)
    second.unwrapped.load_state_dict(first.unwrapped.state_dict())
    for _ in range(12):
        for one, other in zip(first.step(actions)[:4], second.step(actions)[:4], strict=True):
            assert torch.equal(one, other)


# -- An environment's trajectory has the same bits in any company: any batch size, any index, alone through gym.make


STEPS, LIMIT, SIZES = 120, 40, (1, 7, 64, 1000)
DEFAULT = ("Ant", "Reacher")
"""Tasks that the default run proves: one with contacts and a free body, and one whose starts are drawn most."""


def rollout(name: str, num_envs: int, seed: int, index: int, actions: np.ndarray) -> list[np.ndarray]:
    """Observations, rewards and flags of environment `index` under its actions (steps, nu), others doing their own."""
    envs = tumble.make_vec(name, num_envs, max_episode_steps=LIMIT)
    envs.reset(seed=seed)
    envs.action_space.seed(num_envs)
    rows = []
    for action in actions:
        everyone = torch.as_tensor(envs.action_space.sample())
        everyone[index] = torch.as_tensor(action)
        observation, reward, terminated, truncated, _ = envs.step(everyone)
        rows.append(np.concatenate((observation[index].numpy(), [reward[index], terminated[index], truncated[index]])))
    envs.close()
    return np.array(rows)


def alone(name: str, seed: int, actions: np.ndarray) -> np.ndarray:
    """The same through gymnasium.make, reset whenever an episode ends."""
    env = gymnasium.make(f"tumble/{name}-v0", max_episode_steps=LIMIT)
    env.reset(seed=seed)
    rows = []
    for action in actions:
        observation, reward, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            observation, _ = env.reset()
        rows.append(np.concatenate((observation, [reward, terminated, truncated])))
    env.close()
    return np.array(rows)


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in DEFAULT else pytest.mark.slow) for name in V5])
def test_same_bits_in_any_company(name, monkeypatch):
    """Seed 1234 is environment 1234 - s of a batch seeded with s, whatever s and the batch's size."""
    env = gymnasium.make(f"tumble/{name}-v0")
    env.action_space.seed(0)
    actions = np.array([env.action_space.sample() for _ in range(STEPS)])
    env.close()
    wanted = alone(name, 1234, actions)
    for size in SIZES:
        index = size // 2
        np.testing.assert_array_equal(rollout(name, size, 1234 - index, index, actions), wanted)
    monkeypatch.setattr(solver, "lanes_by_default", lambda *_: WIDTH)  # as where a batch has been compiled before
    np.testing.assert_array_equal(alone(name, 1234, actions), wanted)

"""The vector environments that are compared, each as a function that takes n steps and returns the seconds."""

import importlib.util
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import torch

from ..envs.making import make_vec
from .inside import use_workers

DIFFERENT_ACTIONS = 16
"""So many batches of random actions are drawn beforehand and used in turn."""


class Peer(NamedTuple):
    """A batch of environments under random actions.

    Attributes:
        num_envs: how many.
        step: takes so many steps; seconds, and episodes that ended.
    """

    num_envs: int
    step: Callable[[int], tuple[float, int]]


def tumble_peer(task: str, num_envs: int, workers: int) -> Peer:
    """`tumble/<task>-v0` as a user makes it: torch in and out, resets in the same step."""
    envs = make_vec(task, num_envs)
    envs.reset(seed=0)
    space: Any = envs.single_action_space
    low, high = torch.from_numpy(space.low), torch.from_numpy(space.high)
    generator = torch.Generator().manual_seed(0)
    noise = torch.rand((DIFFERENT_ACTIONS, num_envs, *space.shape), generator=generator)
    actions = low + (high - low) * noise

    def step(count: int) -> tuple[float, int]:
        use_workers(envs.unwrapped.solver, workers)
        torch.set_num_threads(workers)
        return _time_steps(envs, actions, count)

    return Peer(num_envs, step)


def gymnasium_peer(task: str, num_envs: int) -> Peer:
    """Gymnasium's `<task>-v5` in its SyncVectorEnv, on one core."""
    envs = gym.make_vec(f"{task}-v5", num_envs=num_envs, vectorization_mode="sync")
    envs.reset(seed=0)
    actions = _numpy_actions(envs.single_action_space, num_envs)
    return Peer(num_envs, lambda count: _time_steps(envs, actions, count))


def envpool_peer(task: str, num_envs: int, threads: int) -> Peer:
    """The pool's `<task>-v5`, which resets a finished environment in its next step."""
    import envpool

    envs = envpool.make(f"{task}-v5", env_type="gymnasium", num_envs=num_envs, num_threads=threads, seed=0)
    envs.reset()
    actions = _numpy_actions(envs.action_space, num_envs)
    return Peer(num_envs, lambda count: _time_steps(envs, actions, count))


def has_envpool() -> bool:
    """Return True if the benchmark-only dependency is installed."""
    return importlib.util.find_spec("envpool") is not None


def _numpy_actions(space: Any, num_envs: int) -> np.ndarray:
    noise = np.random.default_rng(0).random((DIFFERENT_ACTIONS, num_envs, *space.shape))
    return (space.low + (space.high - space.low) * noise).astype(space.dtype)


def _time_steps(envs: Any, actions: Any, count: int) -> tuple[float, int]:
    """Seconds for `count` steps under actions in turn, and how many episodes ended (counted outside the time)."""
    ends = []
    begin = time.perf_counter()
    for k in range(count):
        _, _, terminated, truncated, _ = envs.step(actions[k % DIFFERENT_ACTIONS])
        ends.append((terminated, truncated))
    seconds = time.perf_counter() - begin
    return seconds, sum(int((terminated | truncated).sum()) for terminated, truncated in ends)

"""Gymnasium's v5 tasks as the reference: the same solver settings, states drawn along random episodes."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import gymnasium
import mujoco
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit

from tumble.envs.arrays import ArrayKind
from tumble.envs.registry import V5, make_task
from tumble.envs.task.noise import Streams

OLD_GYMNASIUM = tuple(map(int, gymnasium.__version__.split(".")[:2])) < (1, 4)
TASKS = tuple(V5)
NEVER_TERMINATE = ("HalfCheetah", "HumanoidStandup", "Swimmer", "Reacher", "Pusher")
NEVER_TOUCH = ("InvertedPendulum", "InvertedDoublePendulum", "Reacher")  # they have joint limits alone
ALWAYS_TOUCH = ("Pusher",)  # its cylinder stands on the table in every step

# Both solvers run to the same tight end, so that what differs is the task and not where a solver stopped.
TIGHT = {"tolerance": 1e-12, "iterations": 100}


def make_reference(name: str, options: dict[str, Any] | None = None, solver: dict[str, Any] = TIGHT) -> gymnasium.Env:
    """Make Gymnasium's v5 task with the Newton solver and the given solver options."""
    env = gymnasium.make(f"{name}-v5", **(options or {})).unwrapped
    env.model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    for option, value in solver.items():
        setattr(env.model.opt, option, value)
    env.reset(seed=0)
    return env


@dataclass
class Pairs:
    """n states and actions, and what the v5 task makes of them in one environment step."""

    qpos: np.ndarray  # (n, nq)
    qvel: np.ndarray  # (n, nv)
    action: np.ndarray  # (n, nu)
    observation: np.ndarray  # (n, size)
    reward: np.ndarray  # (n,)
    terminated: np.ndarray  # (n,) bool
    touching: np.ndarray  # (n,) bool: an active contact or limit after the step
    info: dict[str, np.ndarray]  # each (n, ...)


def step_from(env: gymnasium.Env, qpos: np.ndarray, qvel: np.ndarray, action: np.ndarray) -> tuple:
    """Put the v5 task into a state and take one step: observation, reward, terminated, info, touching."""
    mujoco.mj_resetData(env.model, env.data)
    env.set_state(qpos, qvel)
    observation, reward, terminated, _, info = env.step(action)
    return observation, reward, terminated, info, env.data.nefc > 0


@cache
def draw_pairs_of_defaults(name: str, n: int) -> Pairs:
    """Draw pairs of a v5 task as it is, once in a process."""
    return draw_pairs(name, n)


def draw_pairs(name: str, n: int, options: dict[str, Any] | None = None, seed: int = 0) -> Pairs:
    """Draw n pairs along random episodes: a tenth terminating and half touching, where the task has such steps."""
    env = make_reference(name, options)
    rng = np.random.default_rng(seed)
    wanted_ends = 0 if name in NEVER_TERMINATE else n // 8
    wanted_touch = 0 if name in NEVER_TOUCH else n if name in ALWAYS_TOUCH else n * 5 // 8
    ends, touching, others = [], [], []
    env.reset(seed=seed)
    for _ in range(200 * n):
        # A third of the actions leave the actuators' range, to see that they are clipped as v5 clips them.
        action = 1.5 * rng.uniform(env.action_space.low, env.action_space.high)
        state = env.data.qpos.copy(), env.data.qvel.copy(), action
        result = step_from(env, *state)
        if result[2]:
            kind, wanted = ends, wanted_ends
        elif result[4]:
            kind, wanted = touching, wanted_touch
        else:
            kind, wanted = others, n
        if len(kind) < wanted:
            kind.append((*state, *result))
        if result[2] or rng.random() < 0.01:
            env.reset()
        if len(ends) >= wanted_ends and len(touching) >= wanted_touch and len(ends + touching + others) >= n:
            break
    return _stack((ends + touching + others)[:n])


def _stack(rows: list[tuple]) -> Pairs:
    """Turn a list of steps into arrays."""
    qpos, qvel, action, observation, reward, terminated, infos, touching = zip(*rows, strict=True)
    info = {key: np.array([single[key] for single in infos]) for key in infos[0]}
    arrays = [np.array(column) for column in (qpos, qvel, action, observation, reward, terminated, touching)]
    return Pairs(*arrays, info=info)


class Driven(gymnasium.Wrapper):
    """A v5 task whose episodes start where ours do: its noise is replaced by ours."""

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        super().__init__(make_reference(name, options))
        kind = ArrayKind.of(torch.float64, "cpu")
        self._streams = Streams(1, kind)
        self._task = make_task(name, options).bound(self.unwrapped.model, kind)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple:
        """Reset the v5 task with our noise of (seed, episode)."""
        row = np.zeros(1, np.int64)
        self._streams.seed([seed], row)
        start = self._task.reset(self._streams.begin(row))

        def reset_model() -> np.ndarray:
            self.unwrapped.set_state(start.qpos[0], start.qvel[0])
            return self.unwrapped._get_obs()

        self.unwrapped.reset_model = reset_model
        return self.env.reset(seed=seed)


def make_sync(name: str, num_envs: int, limit: int, mode: AutoresetMode, options: dict[str, Any]) -> SyncVectorEnv:
    """Gymnasium's own vector environment of driven v5 tasks that are truncated after `limit` steps."""
    return SyncVectorEnv([lambda: TimeLimit(Driven(name, options), limit)] * num_envs, autoreset_mode=mode)


def assert_same_info(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Same keys, same masks, same values where the masks are True."""
    assert set(ours) == set(theirs)
    for key, value in theirs.items():
        mine = ours[key]
        if isinstance(value, dict):
            assert_same_info(mine, value)
        elif key.startswith("_"):
            np.testing.assert_array_equal(mine, value, err_msg=key)
        else:
            mask = theirs[f"_{key}"]
            if mask.any():
                np.testing.assert_allclose(mine[mask], np.stack(value[mask]), rtol=1e-6, atol=1e-6, err_msg=key)
            assert not np.any(mine[~mask]), f"{key}: rows without a value are zero"

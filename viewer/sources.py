"""The sources that can be shown: a solver, environments that have one, or a built scene."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym
import mujoco
import numpy as np
import torch
from gymnasium.vector.utils import batch_space

from ..physics.base.arguments import as_environments
from ..physics.base.rotations import matrix_to_quat
from .errors import ViewerError

MOST_SHOWN = 16
"""Environments that are shown at most, unless others are asked for."""


def solver_of(source: Any) -> Any:
    """Return the solver of environments, of a scene, or the given solver.

    Raises:
        TypeError: it has none.
    """
    for one in (source, getattr(source, "unwrapped", None)):
        for found in (one, getattr(one, "solver", None), getattr(one, "rigid_solver", None)):
            if hasattr(found, "get_many") and hasattr(found, "model"):
                return found
    raise TypeError(f"{type(source).__name__} has no solver: give environments of Tumble, a Scene or a RigidSolver")


def numbers_of(info: Mapping[str, Any], count: int) -> dict[str, np.ndarray]:
    """Return the numbers of an info of which each of `count` environments has one, by name, (count,)."""
    found = {}
    for name, value in info.items():
        array = np.asarray(value.cpu() if hasattr(value, "cpu") else value)
        if not name.startswith("_") and array.shape == (count,) and array.dtype.kind in "biuf":
            found[name] = array.astype(float)
    return found


def is_environments(source: Any) -> bool:
    """Return True for environments, single ones too."""
    return hasattr(source, "action_space")


def is_scene(source: Any) -> bool:
    """Return True for a scene, whose steps are not a batch's."""
    return hasattr(source, "rigid_solver")


class _OneAsMany:
    """A single environment in the form of vector environments, which is reset when its episode ends."""

    def __init__(self, env: gym.Env) -> None:
        self._env, self.metadata, self.single_action_space = env, env.metadata, env.action_space
        self.action_space = batch_space(env.action_space, 1)

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        return self._env.reset(seed=seed)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self._env.step(actions[0])
        if terminated or truncated:
            observation, _ = self._env.reset()
        numbers = {name: np.array([value]) for name, value in info.items() if np.ndim(value) == 0}
        return observation, np.array([reward]), np.array([terminated]), np.array([truncated]), numbers


def as_vector(envs: Any, act: Callable[[Any], Any] | None) -> tuple[Any, Callable[[Any], Any] | None]:
    """Return vector environments, and a function that returns actions for all; a single environment is a batch of one.

    A function that acts in a single environment gets its observation, and returns its action.
    """
    if not isinstance(envs, gym.Env):
        return envs, act
    return _OneAsMany(envs), None if act is None else lambda observation: [act(observation)]


def model_of(solver: Any) -> mujoco.MjModel:
    """Return the compiled model of a solver.

    Raises:
        ViewerError: it has no bodies.
    """
    mj: mujoco.MjModel = solver.model.mj
    if mj.nbody < 2 and mj.ngeom == 0:
        raise ViewerError("the model has no bodies: there is nothing to show")
    return mj


def environments(envs: Sequence[int] | int | None, count: int) -> list[int]:
    """Return the numbers of the environments to show: the requested ones, or the first `MOST_SHOWN`.

    Raises:
        ValueError, IndexError: no whole numbers, no environment at all, or an environment that does not exist.
    """
    if envs is None:
        return list(range(min(count, MOST_SHOWN)))
    chosen: list[int] = as_environments(envs, count, name="envs").tolist()
    if not chosen:
        raise ValueError("envs: no environment was given")
    return chosen


def geom_poses(solver: Any, envs: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Positions (n, ngeom, 3), m, and unit quaternions (n, ngeom, 4), w first, of the geoms in environments."""
    index = torch.as_tensor(envs, device=solver.device)
    found = solver.get_many(("geom_xpos", "geom_xmat"), index)
    turns = found["geom_xmat"].double().cpu().numpy()
    return found["geom_xpos"].double().cpu().numpy(), quaternions(turns.reshape(*turns.shape[:2], 3, 3))


def own_sizes(solver: Any, envs: Sequence[int]) -> np.ndarray | None:
    """Return geom_size (n, ngeom, 3), m, of environments, if a solver's environments have per-environment sizes."""
    parameters = solver.parameters
    return parameters.get("geom_size", list(envs)).cpu().numpy() if "geom_size" in parameters.own else None


def quaternions(turns: np.ndarray) -> np.ndarray:
    """Return the unit quaternions (..., 4) of rotations (..., 3, 3), w first and not below 0."""
    quat = matrix_to_quat(turns)
    return np.where(quat[..., :1] < 0, -quat, quat)

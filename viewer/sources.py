"""The sources that can be shown: a solver, or environments that have one."""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
import torch

from .errors import ViewerError

MOST_SHOWN = 16
"""Environments that are shown at most, unless others are asked for."""


def solver_of(source: Any) -> Any:
    """Return the solver of environments, of a scene, or the given solver.

    Raises:
        TypeError: it has none.
    """
    for one in (source, getattr(source, "unwrapped", None)):
        for found in (one, getattr(one, "solver", None)):
            if hasattr(found, "get_many") and hasattr(found, "model"):
                return found
    raise TypeError(f"{type(source).__name__} has no solver: give a RigidSolver, or environments of Tumble")


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
    """Return the numbers of the environments to show: those asked for, or the first `MOST_SHOWN`.

    Raises:
        TypeError, IndexError: an index that is no whole number, or an environment that does not exist.
    """
    if envs is None:
        return list(range(min(count, MOST_SHOWN)))
    chosen = [envs] if isinstance(envs, int | np.integer) else list(envs)
    for env in chosen:
        if isinstance(env, bool) or not isinstance(env, int | np.integer):
            raise TypeError(f"envs: environments are whole numbers, not {env!r}")
        if not 0 <= env < count:
            raise IndexError(f"envs: there is no environment {env}; they are 0 to {count - 1}")
    if not chosen:
        raise ValueError("envs: no environment was given")
    return [int(env) for env in chosen]


def geom_poses(solver: Any, envs: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Positions (n, ngeom, 3), m, and unit quaternions (n, ngeom, 4), w first, of the geoms in environments."""
    index = torch.as_tensor(envs, device=solver.device)
    found = solver.get_many(("geom_xpos", "geom_xmat"), index)
    turns = found["geom_xmat"].double().cpu().numpy()
    return found["geom_xpos"].double().cpu().numpy(), quaternions(turns.reshape(*turns.shape[:2], 3, 3))


def quaternions(turns: np.ndarray) -> np.ndarray:
    """Return the unit quaternions (..., 4) of rotations (..., 3, 3), w first and not below 0."""
    m = turns
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    squares = np.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz], axis=-1)
    yz, zx, xy = (m[..., a, b] - m[..., b, a] for a, b in ((2, 1), (0, 2), (1, 0)))
    x_y, y_z, z_x = (m[..., a, b] + m[..., b, a] for a, b in ((1, 0), (2, 1), (0, 2)))
    rows = np.stack([
        np.stack([squares[..., 0], yz, zx, xy], axis=-1),
        np.stack([yz, squares[..., 1], x_y, z_x], axis=-1),
        np.stack([zx, x_y, squares[..., 2], y_z], axis=-1),
        np.stack([xy, z_x, y_z, squares[..., 3]], axis=-1),
    ], axis=-2)  # fmt: skip
    largest = squares.argmax(axis=-1)[..., None, None]
    quat = np.take_along_axis(rows, largest, axis=-2)[..., 0, :]
    quat = quat / np.linalg.norm(quat, axis=-1, keepdims=True)
    return np.where(quat[..., :1] < 0, -quat, quat)

"""Rays in MuJoCo: `mj_ray` at chosen geoms, as `solver.queries` of a `RigidSolver` has them."""

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import torch

from ...physics import Model
from ...physics.files.geometry.names import geom_ids
from ...physics.rendering.rays.query import RayHits, as_rays
from .world import World


def for_rays(mj: mujoco.MjModel) -> mujoco.MjModel:
    """Take materials off the geoms of a model of our own: the alpha of a geom says whether `mj_ray` meets it."""
    mj.geom_matid[:] = -1
    return mj


class Rays:
    """Casts rays in environments.

    Args:
        model: their model.
        chosen: (environments, None for all) -> those meant.
    """

    def __init__(self, model: Model, chosen: Callable[[Any], list[World]]) -> None:
        self._model, self._chosen = model, chosen
        mj = model.mj
        alpha = np.where(mj.geom_matid >= 0, np.append(mj.mat_rgba[:, 3], 1.0)[mj.geom_matid], mj.geom_rgba[:, 3])
        self._visible = alpha != 0

    def ray(self, pnt: Any, vec: Any, *, geoms: Any = None, envs_idx: Any = None) -> RayHits:
        """Find where rays first meet a geom; arguments, results and errors are those of `RigidSolver.ray`."""
        worlds, seen = self._chosen(envs_idx), self._visible
        if geoms is not None:
            seen = np.zeros_like(seen)
            seen[geom_ids(self._model.mj, geoms)] = True
            seen &= self._visible
        points, vectors = (rays.numpy() for rays in as_rays(pnt, vec, len(worlds), torch.float64, torch.device("cpu")))
        distance = np.full(points.shape[:2], -1.0)
        geom = np.full(points.shape[:2], -1, np.int32)
        for k, world in enumerate(worlds):
            world.model.geom_rgba[:, 3] = seen
            for i in range(points.shape[1]):
                ray, met = (points[k, i], vectors[k, i]), geom[k, i : i + 1]
                distance[k, i] = mujoco.mj_ray(world.model, world.data, *ray, None, True, -1, met)
        return RayHits(torch.from_numpy(distance), torch.from_numpy(geom), None)

"""Pictures of states: some moments side by side, or all in one place."""

import numpy as np
import torch

from tumble.physics import Model, RigidSolver
from tumble.physics.rendering import BatchRenderer, Camera


def moments(model: Model, states: np.ndarray, camera: Camera, width: int, height: int) -> torch.Tensor:
    """Return pictures of states (n, nq + nv) in a row, (height, n width, 3)."""
    solver = _posed(model, states)
    pictures = BatchRenderer(solver.model, width, height, camera=camera, samples=3).render(solver)
    return torch.cat(list(pictures), 1)


def in_one_place(model: Model, states: np.ndarray, camera: Camera, width: int, height: int) -> torch.Tensor:
    """Return one picture of states (n, nq + nv), (height, width, 3)."""
    solver = _posed(model, states)
    return BatchRenderer(model, width, height, camera=camera, samples=3).together(solver, spacing=(0, 0))["rgb"]


def _posed(model: Model, states: np.ndarray) -> RigidSolver:
    solver = RigidSolver(model, len(states))
    solver.reset(qpos=states[:, : model.mj.nq])
    return solver

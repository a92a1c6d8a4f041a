"""The models that are compared, and the states they are compared in."""

from typing import Any

import torch

from .. import assets
from ..physics import Model, RigidSolver

FILES = {
    "Ant": "ant.xml",
    "HalfCheetah": "half_cheetah.xml",
    "Humanoid": "humanoid.xml",
    "Hopper": "hopper.xml",
    "Walker2d": "walker2d.xml",
}
SETTINGS: dict[str, Any] = {"integrator": "implicitfast", "solver": "Newton", "tolerance": 1e-6}
"""On both sides: Tumble and MuJoCo are given the same compiled model."""
RANDOM_STEPS = 200


def load(name: str) -> Model:
    """A model with the settings of the comparison."""
    return Model.from_mjcf(str(assets.find(FILES[name])), **SETTINGS)


def random_controls(model: Model, num_envs: int, steps: int, seed: int) -> torch.Tensor:
    """Uniform in the control range: (steps, num_envs, nu), float32."""
    low, high = torch.as_tensor(model.mj.actuator_ctrlrange, dtype=torch.float32).T
    generator = torch.Generator().manual_seed(seed)
    return low + (high - low) * torch.rand((steps, num_envs, model.mj.nu), generator=generator)


def scatter(solver: RigidSolver, steps: int = RANDOM_STEPS) -> None:
    """Move every environment from the reference state by random actions."""
    solver.reset()
    for control in random_controls(solver.model, solver.num_envs, steps, seed=0):
        solver.ctrl = control
        solver.step()

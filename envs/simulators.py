"""The simulators that may move a task's environments: Tumble's own solver, and MuJoCo's C."""

from collections.abc import Sequence
from typing import TypeAlias

import torch

from ..physics import Model, RigidSolver
from ..physics.machine.runtime import ensure_runtime
from .arrays import ArrayKind
from .in_mujoco.solver import MujocoSolver

SIMULATORS = ("tumble", "mujoco")
Solver: TypeAlias = RigidSolver | MujocoSolver


def kind_in(simulator: str, library: str | None) -> ArrayKind:
    """Return the kind of arrays that a task is given in a simulator: in MuJoCo double precision on the processor.

    Args:
        simulator: its name.
        library: of the task's arrays, `Task.array_library`.

    Raises:
        ValueError: there is no such simulator or library.
    """
    if simulator not in SIMULATORS:
        raise ValueError(f"simulator={simulator!r}: there is {' and '.join(SIMULATORS)}")
    runtime = ensure_runtime()
    if simulator == "mujoco":
        return ArrayKind.of(torch.float64, "cpu", library)
    return ArrayKind.of(runtime.torch_dtype, str(runtime.torch_device), library)


def make_solver(simulator: str, model: Model, num_envs: int, outputs: Sequence[str]) -> Solver:
    """Make the solver of a simulator's environments.

    Raises:
        NotImplementedError: MuJoCo lacks what the model or the task has.
    """
    if simulator == "mujoco":
        return MujocoSolver(model, num_envs, outputs)
    return RigidSolver(model, num_envs=num_envs, outputs=outputs)

"""The simulators that may move a task's environments: Tumble's own solver, and MuJoCo's C."""

# ruff: noqa: D102  # the members of `Simulator` are documented in `RigidSolver`

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import torch

from ..physics import Model, RigidSolver
from ..physics.machine.runtime import Runtime, ensure_runtime
from .arrays import ArrayKind
from .in_mujoco.solver import MujocoSolver

if TYPE_CHECKING:
    from .task.matter import TaskMatter

SIMULATORS = ("tumble", "mujoco")


class Simulator(Protocol):
    """The members of a solver that environments use; arguments, results and errors as in `RigidSolver`.

    Attributes:
        state: saves and restores some environments, by `state_dict`, `check_state_dict` and `load_state_dict`.
        queries: casts rays, by `ray`.
        edits: counts the calls that changed coordinates.
    """

    model: Model
    num_envs: int
    runtime: Runtime
    device: torch.device
    state: Any
    queries: Any
    ctrl: Any

    @property
    def edits(self) -> int: ...
    @property
    def faults(self) -> torch.Tensor: ...
    @property
    def any_fault(self) -> bool: ...
    def step(self, n: int = 1, ctrl: Any = None) -> None: ...
    def forward(self, envs_idx: Any = None) -> None: ...
    def reset(self, envs_idx: Any = None, qpos: Any = None, qvel: Any = None, *, inputs: Any = None) -> None: ...
    def coordinates(self) -> torch.Tensor: ...
    def get(self, name: str, envs_idx: Any = None) -> torch.Tensor: ...
    def get_many(self, names: Sequence[str], envs_idx: Any = None) -> dict[str, torch.Tensor]: ...
    def get_present(self, names: Sequence[str], envs_idx: Any = None) -> dict[str, torch.Tensor]: ...
    def set_state(self, qpos: Any = None, qvel: Any = None, envs_idx: Any = None, act: Any = None) -> None: ...
    def set_inputs(self, envs_idx: Any = None, **inputs: Any) -> None: ...
    def update_parameters(self, parameters: Mapping[str, Any], envs_idx: Any = None) -> None: ...
    def state_dict(self) -> dict[str, torch.Tensor]: ...
    def load_state_dict(self, state: Any) -> None: ...
    def close(self) -> None: ...


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


def make_solver(
    simulator: str, model: Model, num_envs: int, outputs: Sequence[str], matter: "TaskMatter | None" = None
) -> Simulator:
    """Make the solver of a simulator's environments.

    Raises:
        NotImplementedError: MuJoCo lacks a feature of the model or the task.
        ValueError: matter does not fit its bounds or the model.
    """
    if matter is not None:
        if simulator == "mujoco":
            raise NotImplementedError(
                f"simulator='mujoco': MuJoCo has no liquid, sand or dough, and the task has matter "
                f"('{matter.matters[0].name}'); use simulator='tumble'"
            )
        from .matter.coupled import CoupledSolver

        return CoupledSolver(model, num_envs, outputs, matter)
    if simulator == "mujoco":
        return MujocoSolver(model, num_envs, outputs)
    return RigidSolver(model, num_envs=num_envs, outputs=outputs)

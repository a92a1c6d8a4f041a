"""What the solver says to a driver; `cpu.CpuDriver` and `gpu.GpuDriver` are the two.

Environments are named by `index`: numbers (k,) int64 that exist, or None for all. Rows of environments are arrays
(k, numbers) or what broadcasts to them, in the driver's precision; what is returned is a copy on the driver's device.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import torch

from ..model.features import Features
from ..state.memory import APPLIED as FORCES_APPLIED
from ..state.memory import MEMORY
from .settings import APPLIED_FORCES, DOF_CONTROLS, Count

Index = np.ndarray | None
STATE = frozenset(field.name for group in MEMORY.values() for field in group)
"""Fields that are kept in memory between launches."""
APPLIED = {field.name: APPLIED_FORCES for field in FORCES_APPLIED} | {"dof_mode": DOF_CONTROLS}
"""Those of them that no launch reads before one is written, and the part of `Setting.APPLIED` that each is. Other
numbers of controls do nothing before a mode is written."""


CLOSED = "this solver was closed; make a new one"


class ClosedSolverError(RuntimeError):
    """A solver is used after `close`."""


class View(NamedTuple):
    """Numbers of every environment in place: `block` (num_envs, numbers) is a view, `place` the columns meant."""

    block: torch.Tensor
    place: slice


class Evaluation(NamedTuple):
    """Fields of environments at their last evaluation.

    Attributes:
        fields: name -> (n, numbers).
        indices: integers of the environments computed together, (groups, k); n / groups environments side by side
            share a row. Spare environments may follow those asked for.
    """

    fields: dict[str, torch.Tensor]
    indices: torch.Tensor


class Driver(Protocol):
    """A batch of environments of one model.

    Fields are those of `state.fields.QUANTITIES`. Those of `STATE` are kept between launches and can be written; all
    others are computed by an evaluation, at the state of the last one (a step, or `forward`).
    """

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Tell a thread that is at work in a batch that another one has closed it: an attribute is gone."""
            if self.__dict__.get("_closed"):
                raise ClosedSolverError(CLOSED)
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    @property
    def sizes(self) -> dict[str, int]:
        """Of the model and of what the last evaluation computed, with as much room as it had."""
        ...

    @property
    def scratch_bytes(self) -> int:
        """Memory that one thread works in at present; it grows with what environments need."""
        ...

    def step(self, substeps: int) -> None:
        """Take so many physics steps under the present controls."""
        ...

    def rollout(self, controls: np.ndarray) -> torch.Tensor:
        """One step under each of the controls (num_envs, nstep, nu); returns qpos and qvel after each."""
        ...

    def forward(self, index: Index) -> None:
        """Let the last evaluation be at the present state, where that is finite; nothing moves."""
        ...

    def delivers(self, names: Sequence[str]) -> bool:
        """Whether every step delivers these fields; all others cost an evaluation."""
        ...

    def refresh(self, index: Index) -> None:
        """Bring what every step delivers to the last evaluation of these environments."""
        ...

    def evaluate(self, names: Sequence[str], index: Index) -> dict[str, torch.Tensor]:
        """Fields of environments, (k, numbers) each."""
        ...

    def sense(self, names: Sequence[str], index: Index) -> dict[str, torch.Tensor]:
        """Fields of environments where their sensors are evaluated, (k, numbers) each.

        That is the last evaluation, or, with Runge-Kutta, the first stage of the last step. They are not copied where
        steps deliver them.
        """
        ...

    def evaluate_together(self, names: Sequence[str], index: Index) -> Evaluation:
        """Fields of environments with the integers that go with them."""
        ...

    def evaluate_awake(self, names: Sequence[str]) -> Evaluation:
        """Fields of all environments with their integers, as they would be if nothing slept."""
        ...

    def read(self, name: str, index: Index = None) -> torch.Tensor:
        """A part of the state, (k, numbers)."""
        ...

    def coordinates(self) -> torch.Tensor:
        """Qpos and qvel side by side (num_envs, nq + nv); the environments of a column lie together in memory."""
        ...

    def view(self, name: str) -> View | None:
        """Where a part of the state, an output or "faults" lies in place; None where it does not."""
        ...

    def write(self, name: str, rows: np.ndarray, index: Index) -> None:
        """Set a part of the state."""
        ...

    def reset(self, index: Index, coordinates: np.ndarray | None) -> None:
        """Let everything begin anew, from qpos and qvel side by side; None: in the reference state."""
        ...

    def differ(self, numbers: Mapping[str, np.ndarray], features: Features) -> None:
        """Let environments have these fields of the model of their own, (num_envs, numbers) each, and no others.

        `features` is the optional code that they need.
        """
        ...

    def write_own(self, numbers: Mapping[str, np.ndarray], index: Index) -> None:
        """Set fields that environments have of their own, (k, numbers) each."""
        ...

    def count(self, row: Count) -> torch.Tensor:
        """One of the integers of every environment, (num_envs,) int32."""
        ...

    def write_count(self, row: Count, numbers: np.ndarray, index: Index) -> None:
        """Set one of the integers of environments, (k, 1) or (1,)."""
        ...

    def any_fault(self) -> bool:
        """Whether any environment has a fault: quicker than all their faults."""
        ...

    def clear_faults(self, index: Index) -> None:
        """Let environments move again."""
        ...

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Everything that the future depends on, (num_envs, numbers) each."""
        ...

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Go on from there; ValueError where it is not of this shape, and then nothing is written."""
        ...

    def close(self) -> None:
        """Give all memory back; a thread that is at work in it ends with ClosedSolverError, or has just finished."""
        ...


def require_same(state: Mapping[str, torch.Tensor], wanted: Mapping[str, tuple[tuple[int, int], torch.dtype]]) -> None:
    """Refuse a `state_dict` of another batch: `wanted` has the shape and the type of each part.

    Raises:
        ValueError: with the part that is missing, or its shape and precision, and those it should have.
    """
    for name, (shape, dtype) in wanted.items():
        saved = state.get(name)
        if not isinstance(saved, torch.Tensor) or saved.is_meta:
            found = "missing" if saved is None else f"no tensor of numbers but {type(saved).__name__}"
            raise ValueError(f"{name}: this part of the state is {found}; use what state_dict() returned")
        if tuple(saved.shape) != shape or saved.dtype != dtype:
            raise ValueError(
                f"{name}: saved as {tuple(saved.shape)} {saved.dtype}, this solver has {shape} {dtype}; "
                "use the model, precision, num_envs and version of Tumble it was saved with"
            )

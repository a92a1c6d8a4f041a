"""The types and errors that the solver and its driver (`driver.Driver`) share.

Environments are given by `index`: numbers (k,) int64 of existing environments, or None for all. Rows of environments
are (k, numbers), or broadcast to that, in the driver's precision. Both are numpy arrays on a CPU, and tensors on the
device with the GPU's arrangement.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch

from ..model.state.memory import APPLIED as FORCES_APPLIED
from ..model.state.memory import MEMORY
from .settings import APPLIED_FORCES, DOF_CONTROLS

Index = Any
"""Indices of environments: a numpy array, a tensor on the driver's device, or None."""
STATE = frozenset(field.name for group in MEMORY.values() for field in group)
"""Fields that are kept in memory between launches."""
APPLIED = {field.name: APPLIED_FORCES for field in FORCES_APPLIED} | {"dof_mode": DOF_CONTROLS}
"""Fields of STATE that launches skip until one is written, each with its part of `Setting.APPLIED`. The other numbers
of dof controls have no effect before a mode is written."""


CLOSED = "this solver was closed; make a new one"


class ClosedSolverError(RuntimeError):
    """A solver is used after `close`."""


class BatchMemory(NamedTuple):
    """The memory, counters and own numbers of environments, as the arrangement lays them out."""

    memory: torch.Tensor
    counters: torch.Tensor
    own: torch.Tensor


class InPlaceColumns(NamedTuple):
    """Numbers of every environment in place: `block` is a view (num_envs, numbers), `place` has the field's columns."""

    block: torch.Tensor
    place: slice


class EvaluatedFields(NamedTuple):
    """Fields of environments at their last evaluation.

    Attributes:
        fields: name -> (n, numbers).
        indices: integers of the scratch, (groups, k); each row belongs to n / groups consecutive environments, which
            were computed together. Rows of spare environments may follow those asked for.
    """

    fields: dict[str, torch.Tensor]
    indices: torch.Tensor


def is_of_one(state: Mapping[str, torch.Tensor]) -> bool:
    """Return True if a `state_dict` is of a single environment."""
    memory = state.get("memory") if isinstance(state, Mapping) else None
    return isinstance(memory, torch.Tensor) and memory.ndim == 2 and len(memory) == 1


def require_same(state: Mapping[str, torch.Tensor], wanted: Mapping[str, tuple[tuple[int, int], torch.dtype]]) -> None:
    """Check that a `state_dict` is of this batch: `wanted` has the shape and type of each part.

    Raises:
        ValueError: a part is missing, or has another shape or precision; the message names both.
    """
    for name, (shape, dtype) in wanted.items():
        saved = state.get(name)
        if not isinstance(saved, torch.Tensor) or saved.is_meta:
            fault = "missing" if saved is None else f"no tensor of numbers but {type(saved).__name__}"
            raise ValueError(f"{name}: this part of the state is {fault}; use what state_dict() returned")
        if tuple(saved.shape) != shape or saved.dtype != dtype:
            raise ValueError(
                f"{name}: saved as {tuple(saved.shape)} {saved.dtype}, this solver has {shape} {dtype}; "
                "use the model, precision, num_envs and version of Tumble it was saved with"
            )

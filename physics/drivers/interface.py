"""The types and errors that the solver and its driver (`driver.Driver`) share.

Environments are named by `index`: numbers (k,) int64 that exist, or None for all. Rows of environments are (k, numbers)
or broadcast to that, in the driver's precision. Both are arrays of numpy on a CPU, and tensors on the device with the
GPU's arrangement.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch

from ..state.memory import APPLIED as FORCES_APPLIED
from ..state.memory import MEMORY
from .settings import APPLIED_FORCES, DOF_CONTROLS

Index = Any
"""Indices of environments: an array of numpy, a tensor on the driver's device, or None."""
STATE = frozenset(field.name for group in MEMORY.values() for field in group)
"""Fields that are kept in memory between launches."""
APPLIED = {field.name: APPLIED_FORCES for field in FORCES_APPLIED} | {"dof_mode": DOF_CONTROLS}
"""Those of them that no launch reads before one is written, and the part of `Setting.APPLIED` that each is. Other
numbers of controls do nothing before a mode is written."""


CLOSED = "this solver was closed; make a new one"


class ClosedSolverError(RuntimeError):
    """A solver is used after `close`."""


class Batch(NamedTuple):
    """Environments: their memory, counters, and fields of the model of their own, as the arrangement lays them out."""

    memory: torch.Tensor
    counters: torch.Tensor
    own: torch.Tensor


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

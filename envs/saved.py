"""Checks of the results of `state_dict`, before anything of a saved state is written."""

import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

import torch

WHOLE, MASK = "whole numbers", "bools"


def require_parts(where: str, state: Any, names: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Refuse a saved state that lacks one of its parts, or has others than these and the optional ones.

    Raises:
        TypeError: it is no mapping.
        ValueError: with the first part that is missing, or that no state has.
    """
    if not isinstance(state, Mapping):
        raise TypeError(f"{where}: expected what state_dict() returned, not {type(state).__name__}")
    for name in names:
        if name not in state:
            raise ValueError(f"{where}: its part {name!r} is missing; use what state_dict() returned")
    for name in state:
        if name not in (*names, *optional):
            raise ValueError(f"{where}: it has a part {name!r}, which no state_dict() has")


def require_tensor(where: str, value: Any, shape: tuple[int, ...], kind: str = "") -> None:
    """Raise unless the value is a tensor of this shape, and, if `kind` says so, of whole numbers or of bools.

    Raises:
        ValueError: the message has its shape and type, and the expected ones.
    """
    if not isinstance(value, torch.Tensor) or value.is_meta:
        raise ValueError(f"{where} is no tensor of numbers but {type(value).__name__}")
    whole = not (value.is_floating_point() or value.is_complex() or value.dtype == torch.bool)
    fits = {WHOLE: whole, MASK: value.dtype == torch.bool}.get(kind, not value.is_complex())
    if tuple(value.shape) != shape or not fits:
        needed = f"{shape}{f' of {kind}' if kind else ''}"
        raise ValueError(f"{where}: saved as {tuple(value.shape)} {value.dtype}; needed is {needed}")


def require_counts(where: str, values: Any, count: int, none: bool = False) -> None:
    """Raise unless `values` is a list of `count` ints (or None, if `none` is True).

    Raises:
        ValueError: the message has the first other value.
    """
    if not isinstance(values, list | tuple) or len(values) != count:
        raise ValueError(f"{where}: expected a list of {count} whole numbers, one for each environment")
    for env, value in enumerate(values):
        if (value is None and none) or (isinstance(value, int) and not isinstance(value, bool)):
            continue
        raise ValueError(f"{where} of environment {env} is {value!r}: it must be a whole number")


def check_environments(state: Any, version: int, batch: Any, observations: Mapping[str, Any]) -> None:
    """Refuse a saved state of vector environments before anything of it is taken.

    Args:
        state: the result of their `state_dict`, unless the user made a mistake.
        version: of the format.
        batch: their `TaskBatch`.
        observations: by the names of their parts, each (num_envs, ...).

    Raises:
        TypeError: it is no mapping.
        ValueError: it is of another task, number of environments or version of Tumble.
    """
    if not isinstance(state, Mapping):
        raise TypeError(f"state: expected what state_dict() returned, not {type(state).__name__}")
    version_saved = state.get("format")
    if not isinstance(version_saved, int) or version_saved != version:
        raise ValueError(f"the state was saved by another version of Tumble (format {reprlib.repr(version_saved)})")
    require_parts("the saved state", state, ("format", "batch", "elapsed", "done", "observation"))
    batch.check_state(state["batch"])
    require_tensor("the saved elapsed steps", state["elapsed"], (batch.num_envs,), WHOLE)
    require_tensor("the saved mask of finished environments", state["done"], (batch.num_envs,), MASK)
    require_parts("the saved observation", state["observation"], list(observations))
    for name, part in observations.items():
        where = f"the saved observation {name!r}" if name else "the saved observation"
        require_tensor(where, state["observation"][name], tuple(part.shape))

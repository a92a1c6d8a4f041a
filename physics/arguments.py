"""Users' numbers: they become arrays of the solver's precision, or are refused by name."""

import operator
from typing import Any

import numpy as np
import torch


def as_count(name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least `least`, as an int; any integer type will do.

    Raises:
        ValueError: for a fraction, a float, a bool or anything else that is no integer, and for less than `least`.
    """
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        count = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}={value!r}: expected a whole number, as an integer") from None
    if count < least:
        raise ValueError(f"{name}={count}: it must be at least {least}")
    return count


def as_numbers(value: Any, dtype: np.dtype) -> np.ndarray:
    """An array of this precision; a view where it is one already. Numbers too large for it become infinite."""
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        value = (value.float() if value.dtype is torch.bfloat16 else value).numpy()  # numpy has no bfloat16
    if isinstance(value, np.ndarray) and value.dtype == dtype:
        return value
    with np.errstate(over="ignore"):
        return np.asarray(value, dtype)


def require_start(rows: np.ndarray, nq: int, largest: float) -> None:
    """Refuse a start that is not finite, or larger than any state may be.

    Args:
        rows: (n, nq + nv), qpos and qvel side by side.
        nq: number of coordinates.
        largest: the largest number allowed.

    Raises:
        ValueError: with the first number that is wrong, and its place.
    """
    if np.count_nonzero(np.abs(rows) <= largest) != rows.size:  # the comparison is false for nan
        row, column = np.argwhere(~(np.abs(rows) <= largest))[0]
        name, column = ("qpos", column) if column < nq else ("qvel", column - nq)
        raise ValueError(
            f"{name}[{row}, {column}] is {rows[row, column if name == 'qpos' else column + nq]}: "
            f"an environment can start only from finite numbers of at most {largest:g}"
        )


def as_environments(envs_idx: Any, num_envs: int) -> np.ndarray | None:
    """Environment indices (k,) from indices or a bool mask (num_envs,); None for all.

    Raises:
        ValueError: for a mask of another shape, and for what are no whole numbers.
        IndexError: for an environment that does not exist.
    """
    if envs_idx is None:
        return None
    index = np.asarray(envs_idx.cpu() if isinstance(envs_idx, torch.Tensor) else envs_idx)
    if index.dtype == np.bool_:
        if index.shape != (num_envs,):
            raise ValueError(f"envs_idx: a mask must have shape ({num_envs},), not {index.shape}")
        index = np.flatnonzero(index)
    elif index.dtype.kind not in "iu" and index.size:
        raise ValueError(f"envs_idx={envs_idx!r}: expected whole numbers, as integers, or a mask of bools")
    index = index.astype(np.int64, copy=False).reshape(-1)
    wrong = index.view(np.uint64) >= num_envs  # negative ones too
    if np.count_nonzero(wrong):
        bad = int(index[wrong][0])
        raise IndexError(f"envs_idx: there is no environment {bad}; they are numbered 0 to {num_envs - 1}")
    return index

"""Nested dicts, tuples and arrays as numpy's, whatever library they are of, and their rows."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


def as_numpy(value: Any) -> Any:
    """Return a copy of a nested value with arrays of numpy instead of torch's, JAX's and others'."""
    if isinstance(value, Mapping):
        return {key: as_numpy(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(map(as_numpy, value)) if type(value) in (tuple, list) else tuple(map(as_numpy, value))
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        return np.array(value.detach().cpu().numpy(), copy=True)
    if isinstance(value, np.ndarray) and value.dtype == object:
        copied = np.empty(value.shape, object)
        for place in np.ndindex(value.shape):
            copied[place] = as_numpy(value[place])
        return copied
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        return np.array(value, copy=True)
    return copy.deepcopy(value)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Go through the arrays and other values of a nested one, each with its path, such as "['arm'][0]"."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from leaves(part, f"{path}[{key!r}]")
    elif isinstance(value, tuple | list) or (isinstance(value, np.ndarray) and value.dtype == object):
        for place, part in enumerate(value):
            yield from leaves(part, f"{path}[{place}]")
    else:
        yield path, value


def row(value: Any, env: int) -> Any:
    """Return one environment's part of a batched value: of arrays (num_envs, ...), nested or of objects."""
    if isinstance(value, Mapping):
        return {key: row(part, env) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(row(part, env) for part in value)
    return value[env]


def with_rows(value: Any, other: Any, rows: np.ndarray) -> Any:
    """Return a batched value with the rows of another where the mask `rows` (num_envs,) is True."""
    if isinstance(value, Mapping):
        return {key: with_rows(part, other[key], rows) for key, part in value.items()}
    if isinstance(value, tuple):
        if len(value) == len(rows) and not isinstance(value[0], np.ndarray):
            return tuple(theirs if take else mine for mine, theirs, take in zip(value, other, rows, strict=True))
        return tuple(with_rows(mine, theirs, rows) for mine, theirs in zip(value, other, strict=True))
    mixed = np.array(value, copy=True)
    mixed[rows] = other[rows]
    return mixed


def difference(one: Any, other: Any) -> str | None:
    """Return where two nested values differ, in words; None where they are equal, NaN to NaN too."""
    here, there = dict(leaves(one)), dict(leaves(other))
    if here.keys() != there.keys():
        return (
            f"one has {sorted(here.keys() - there.keys())[:3]} and the other {sorted(there.keys() - here.keys())[:3]}"
        )
    for path, mine in here.items():
        if not _same(mine, there[path]):
            return f"{path + ': ' if path else ''}{shown(mine)} and {shown(there[path])}"
    return None


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        one, other = np.asarray(one), np.asarray(other)
        real = one.dtype.kind in "fc" and other.dtype.kind in "fc"
        return one.shape == other.shape and np.array_equal(one, other, equal_nan=real)
    return bool(one == other) or (one != one and other != other)


def shown(value: Any) -> str:
    """Return a value in a few characters."""
    if isinstance(value, np.ndarray):
        with np.printoptions(precision=4, threshold=6, edgeitems=2):
            text = " ".join(str(value).split())
    else:
        text = repr(value)
    return text if len(text) < 80 else f"{text[:76]} ..."


def environments(mask: np.ndarray) -> str:
    """Return the environments of a mask (num_envs,) in words."""
    numbers = np.flatnonzero(mask).tolist()
    return f"environment {numbers[0]}" if len(numbers) == 1 else f"environments {numbers[:8]}"

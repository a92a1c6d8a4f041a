"""Users' whole numbers, flags and names: they become Python's, or are refused by name. Nothing heavy is imported."""

import operator
import reprlib
from collections.abc import Iterable
from typing import Any

import numpy as np


def as_whole(name: str, value: Any) -> int:
    """Return a whole number as an int; any integer type will do.

    Raises:
        ValueError: for a fraction, a float, a bool or anything else that is no integer.
    """
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return operator.index(value)
    except (TypeError, RuntimeError, ValueError):  # torch's tensors with several numbers, or without any
        raise ValueError(f"{name}={reprlib.repr(value)}: expected a whole number, as an integer") from None


def as_count(name: str, value: Any, least: int = 1, most: int | None = None) -> int:
    """Return a whole number from `least` to `most` as an int; errors as in `as_whole`.

    Raises:
        ValueError: for less than `least` or more than `most`.
    """
    count = as_whole(name, value)
    if count < least:
        raise ValueError(f"{name}={count}: it must be at least {least}")
    if most is not None and count > most:
        raise ValueError(f"{name}={count}: it must be at most {most:,}")
    return count


def as_flag(name: str, value: Any) -> bool:
    """Return True or False; 0 and 1 will do.

    Raises:
        ValueError: for anything else.
    """
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1)):
        return bool(value)
    raise ValueError(f"{name}={reprlib.repr(value)}: expected True or False")


def as_names(name: str, value: Any) -> tuple[str, ...]:
    """Return a sequence of names as a tuple; a single string is a mistake for one, as it is a sequence of letters.

    Raises:
        ValueError: for a string, and for anything else that is no sequence of strings.
    """
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes)):
        hint = f", such as ({value!r},)" if isinstance(value, str) else ""
        raise ValueError(f"{name}={reprlib.repr(value)}: expected a sequence of names{hint}")
    names = tuple(value)
    for item in names:
        if not isinstance(item, str):
            raise ValueError(f"{name}: expected names, got {reprlib.repr(item)} among them")
    return names

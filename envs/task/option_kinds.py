"""Options of tasks that are numbers, pairs of them or flags: which are, and how they become Python's types."""

import operator
from collections.abc import Callable
from dataclasses import Field
from typing import Any

PLAIN: dict[str, Callable[[Any], Any]] = {
    "a number": float,
    "a whole number": operator.index,
    "a pair of numbers (low, high)": lambda pair: _pair(*pair),
    "True or False": lambda flag: _flag(flag),
}
"""By the kind of an option, in words: what makes Python's type of a value, or raises TypeError or ValueError."""


def _pair(low: Any, high: Any) -> tuple[float, float]:
    return float(low), float(high)


def _flag(value: Any) -> bool:
    if isinstance(value, str) or value not in (0, 1):
        raise ValueError
    return bool(value)


def kind_of(option: Field) -> str | None:
    """Return the kind of number, a key of `PLAIN`, that an option holds by its default and annotation, or None."""
    default = option.default
    if option.type in (int, "int"):
        return "a whole number"
    if option.type in (bool, "bool"):
        return "True or False"
    if isinstance(default, float) or option.type in (float, "float"):
        return "a number"
    numbers = isinstance(default, tuple) and [isinstance(bound, float) for bound in default]
    named = str(option.type) == "tuple[float, float]"
    return "a pair of numbers (low, high)" if numbers == [True, True] or named else None

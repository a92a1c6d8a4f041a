"""Numbers that users give to records of a scene: they become Python's, or are refused by the name of their argument."""

import math
from collections.abc import Sequence

import numpy as np
import torch

from ..physics.base.arguments import as_real, real_array

Numbers = float | np.generic | Sequence | np.ndarray | torch.Tensor
"""One number or several, as a user gives them."""
Indices = int | np.integer | slice | Sequence | np.ndarray | torch.Tensor | None
"""Environments or parts, as a user gives them: None for all, a number, a slice, a mask of all, or several numbers."""
Rows = slice | torch.Tensor
"""Environments as an index into what all of them have."""


def number(
    owner: str,
    name: str,
    value: object,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    above: float | None = None,
    infinite: bool = False,
) -> float:
    """Return a number within its limits.

    Raises:
        ValueError: with the argument, for anything else.
    """
    real = as_real(f"{owner}: {name}", value)
    if math.isnan(real) or (math.isinf(real) and not infinite):
        raise ValueError(f"{owner}: {name}={value!r}: it must be finite")
    if above is not None and real <= above:
        raise ValueError(f"{owner}: {name}={value!r}: it must be above {above:g}")
    if not least <= real <= most:
        bound = f"at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
        raise ValueError(f"{owner}: {name}={value!r}: it must be {bound}")
    return real


def numbers(owner: str, name: str, value: object, count: int) -> tuple[float, ...]:
    """Return so many finite numbers.

    Raises:
        ValueError: with the argument, for anything else.
    """
    array = real_array(f"{owner}: {name}", value)
    if array.shape != (count,) or not np.isfinite(array).all():
        raise ValueError(f"{owner}: {name}={value!r}: expected {count} finite numbers")
    return tuple(array.astype(float).tolist())


def lengths(owner: str, name: str, value: object, count: int) -> tuple[float, ...]:
    """Return so many numbers above zero; errors as in `numbers`."""
    array = numbers(owner, name, value, count)
    if min(array) <= 0.0:
        raise ValueError(f"{owner}: {name}={value!r}: every length must be above 0")
    return array


def mask(owner: str, name: str, value: object) -> int:
    """Return a bit mask of 16 or 32 bits, as MuJoCo keeps it."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or not 0 <= value < 2**32:
        raise ValueError(f"{owner}: {name}={value!r}: expected a bit mask, a whole number from 0 to 2**32 - 1")
    return int(value) if value < 2**31 else int(value) - 2**32  # an int32 with the same bits

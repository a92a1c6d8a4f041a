"""Single numbers of environments' rows: which ones, and the values to write there."""

from typing import Any

import numpy as np

from ...base.arguments import real_array
from ...base.batch_numbers import HostNumbers


def as_columns(what: str, columns: Any, width: int) -> np.ndarray:
    """Return numbers of columns that exist, (k,) int64; None: all, and a slice as of a list.

    Args:
        what: the kind of columns, such as "dof" or "number of qpos"; `columns` is named after it in errors.
        columns: a whole number, several, a slice or None.
        width: how many there are.

    Raises:
        IndexError: for one that does not exist, and for values that are not whole numbers.
    """
    if columns is None:
        return np.arange(width)
    if isinstance(columns, slice):
        return np.arange(width)[columns]
    found = np.atleast_1d(real_array(what, columns))
    if (found.dtype.kind not in "iu" and found.size) or found.ndim != 1:
        raise IndexError(f"{what}: expected a list of whole numbers, got {columns!r}")
    found = found.astype(np.int64, copy=False)
    wrong = found.view(np.uint64) >= width  # negative ones too
    if wrong.any():
        raise IndexError(f"{what}: there is no {found[wrong][0]}; they are numbered 0 to {width - 1}")
    return found


def as_entries(numbers: HostNumbers, name: str, values: Any, count: int, width: int) -> Any:
    """Return the values for `count` rows and `width` columns: (count, width), (width,) or one number, finite.

    Raises:
        ValueError: for another shape, naming the expected one, and for a number that is not finite or beyond 1e10.
    """
    rows = numbers.numbers(values, name)
    if tuple(rows.shape) not in ((count, width), (width,), ()):
        raise ValueError(f"{name}: expected shape ({count}, {width}) or ({width},), got {tuple(rows.shape)}")
    numbers.require_finite(name, rows)
    return rows

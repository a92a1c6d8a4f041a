"""What users pass as numbers, brought to arrays of the solver's precision."""

from typing import Any

import numpy as np
import torch


def as_numbers(value: Any, dtype: np.dtype) -> np.ndarray:
    """An array of this precision; a view where it is one already. What is too large for it becomes infinite."""
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        value = (value.float() if value.dtype is torch.bfloat16 else value).numpy()  # numpy has no bfloat16
    if isinstance(value, np.ndarray) and value.dtype == dtype:
        return value
    with np.errstate(over="ignore"):
        return np.asarray(value, dtype)


def as_rows(name: str, value: Any, count: int, width: int, dtype: np.dtype) -> np.ndarray:
    """Numbers (count, width), or (width,) for everyone.

    Raises:
        ValueError: for a wrong shape, naming what was expected.
    """
    rows = as_numbers(value, dtype)
    if rows.shape not in ((count, width), (width,)):
        raise ValueError(f"{name}: expected shape ({count}, {width}), got {rows.shape}")
    return rows

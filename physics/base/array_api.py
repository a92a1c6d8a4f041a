"""Arrays of any library, by the names of the Python array API standard (https://data-apis.org/array-api)."""

from functools import cache
from typing import Any

import numpy as np
import torch

Array = Any  # np.ndarray or torch.Tensor; no static type says what both can do


def namespace(x: Array) -> Any:
    """The library of an array, in the names of the array API standard."""
    if isinstance(x, np.ndarray | np.generic):
        return np
    if isinstance(x, torch.Tensor):
        return _torch()
    from array_api_compat import array_namespace

    return array_namespace(x)


def sqrt(x: Array) -> Array:
    """Return square roots, in single precision rounded as IEEE 754 says: torch's own are not, on a CPU."""
    if isinstance(x, torch.Tensor):
        return x.to(torch.float64).sqrt().to(x.dtype)
    return namespace(x).sqrt(x)


@cache
def _torch() -> Any:
    import array_api_compat.torch as xp

    return xp

"""Arrays of any library, by the names of the Python array API standard (https://data-apis.org/array-api)."""

import sys
from functools import cache
from typing import Any

import numpy as np

Array = Any  # np.ndarray or torch.Tensor; no static type says what both can do


def is_tensor(x: Any) -> bool:
    """Return whether x is a tensor of torch. This does not import torch, which processes that compile do not need."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def namespace(x: Array) -> Any:
    """The library of an array, in the names of the array API standard."""
    if isinstance(x, np.ndarray | np.generic):
        return np
    if is_tensor(x):
        return _torch()
    from array_api_compat import array_namespace

    return array_namespace(x)


def sqrt(x: Array) -> Array:
    """Return square roots, in single precision rounded as IEEE 754 says: torch's own are not, on a CPU."""
    if is_tensor(x):
        return x.double().sqrt().to(x.dtype)
    return namespace(x).sqrt(x)


@cache
def _torch() -> Any:
    import array_api_compat.torch as xp

    return xp

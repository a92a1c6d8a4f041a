"""Results on their way to another device: all numbers of a type that a step returns are copied at once."""

from typing import Any

import numpy as np
import torch

from .arrays import host


class Packer:
    """Brings the arrays in nested tuples and dicts to where the caller wants them, in one copy for each type.

    An array that stands in several places is brought once, and stands in all of them again.

    Args:
        device: where tensors are wanted; the processor where arrays of numpy are.
        in_numpy: whether those are wanted.
    """

    def __init__(self, device: torch.device, in_numpy: bool) -> None:
        self._device, self._in_numpy = device, in_numpy

    def __call__(self, result: Any) -> Any:
        """Return a result like this one, with arrays that are the caller's own."""
        found: dict[int, Any] = {}
        _collect(result, found)
        tensors = {key: torch.from_numpy(a) if isinstance(a, np.ndarray) else a for key, a in found.items()}
        return _replaced(result, self._copied(tensors))

    def _copied(self, tensors: dict[int, torch.Tensor]) -> dict[int, Any]:
        """Copy tensors, all of a type in a row; masks travel among the real numbers, where they are exact."""
        real = next((tensor.dtype for tensor in tensors.values() if tensor.dtype.is_floating_point), torch.uint8)
        alike: dict[torch.dtype, list[int]] = {}
        for key, tensor in tensors.items():
            alike.setdefault(real if tensor.dtype is torch.bool else tensor.dtype, []).append(key)
        copies = {}
        for dtype, keys in alike.items():
            row = torch.cat([tensors[key].reshape(-1).to(dtype) for key in keys]).to(self._device)
            for key, part in zip(keys, row.split([tensors[key].numel() for key in keys]), strict=True):
                copy = part.reshape(tensors[key].shape).to(tensors[key].dtype, copy=True)
                copies[key] = host(copy) if self._in_numpy else copy
        return copies


def _collect(result: Any, found: dict[int, Any]) -> None:
    if isinstance(result, dict | tuple):
        for value in result.values() if isinstance(result, dict) else result:
            _collect(value, found)
    else:
        found[id(result)] = result


def _replaced(result: Any, brought: dict[int, Any]) -> Any:
    if isinstance(result, dict):
        return {name: _replaced(value, brought) for name, value in result.items()}
    if isinstance(result, tuple):
        return tuple(_replaced(value, brought) for value in result)
    return brought[id(result)]

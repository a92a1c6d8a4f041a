"""Results on their way to the user: in the wanted library, on the wanted device, and the user's own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ..arrays import Array, ArrayKind, copy, host
from ..task.observations import each
from ..task.task import Observation


class PackedOutput:
    """Makes the user's arrays of a batch's.

    Attributes:
        device: of the user's tensors; the CPU for arrays of numpy.
        in_torch: True if the user wants tensors.
        array: makes the user's array of one of the batch, which may share its memory; if results are packed, it returns
            the array unchanged, and `result` copies it.

    Args:
        kind: of the batch's arrays.
        device: where the user wants tensors.
        library: the user's, "torch" or "numpy".
    """

    def __init__(self, kind: ArrayKind, device: torch.device, library: str) -> None:
        self.in_torch = library == "torch"
        self.device = device if self.in_torch else torch.device("cpu")
        self._pack = None if kind.lies_on(self.device) else Packer(self.device, not self.in_torch)
        self.array: Callable[[Array], Any] = kind.to_tensor if self.in_torch else host
        if self._pack is not None:
            self.array = lambda array: array

    def copied(self, array: Array) -> Any:
        """Return a copy of an array."""
        return self._pack(array) if self._pack else self.array(copy(array))

    def result(self, observation: Observation, *rest: Array, info: dict[str, Any]) -> tuple:
        """Return the result of a reset or a step: a copy of the observation, the rest, and an info made by `array`."""
        if self._pack is not None:
            return self._pack((observation, *rest, info))
        return each(lambda part: self.array(copy(part)), observation), *map(self.array, rest), info


class Packer:
    """Brings the arrays in nested tuples and dicts to another device, in one copy for each type of number.

    An array that stands in several places is brought once, and stands in all of them again.

    Args:
        device: the device of the resulting tensors; the processor for arrays of numpy.
        in_numpy: whether the results are arrays of numpy.
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

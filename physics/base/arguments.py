"""Users' numbers: they become arrays of the solver's precision, or are refused by name."""

import reprlib
from typing import Any

import numpy as np
import torch


def as_real(name: str, value: Any) -> float:
    """Return a single real number, which may be infinite, as a float.

    Raises:
        ValueError: for NaN and for anything that is no real number.
    """
    number = real_array(name, value)
    if number.size != 1 or number.dtype.kind == "b" or np.isnan(number).any():
        raise ValueError(f"{name}={reprlib.repr(value)}: expected a number")
    return float(number.reshape(()))


def real_array(name: str, value: Any) -> np.ndarray:
    """Return real numbers, whole numbers or bools as an array; a view where they are one already.

    Raises:
        ValueError: for complex numbers, dates, strings, None, lists of unequal lengths, and tensors without numbers.
    """
    if isinstance(value, torch.Tensor):
        value = _on_host(name, value)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{name}: {reprlib.repr(value)} is not an array of numbers") from None
    if array.dtype.kind not in "biuf":
        what = reprlib.repr(value) if array.dtype.kind in "OUS" else f"numbers of type {array.dtype}"
        raise ValueError(f"{name}: {what} is not an array of numbers: they must be real")
    return array


def _on_host(name: str, tensor: torch.Tensor) -> np.ndarray:
    """Return a tensor's numbers as an array."""
    if tensor.is_meta:
        raise ValueError(f"{name}: a tensor on the device 'meta' has no numbers")
    tensor = tensor.detach().cpu()
    if tensor.layout is not torch.strided:
        raise ValueError(f"{name}: a tensor of the layout {tensor.layout} is not taken: call its to_dense()")
    return (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).numpy()  # numpy has no bfloat16


def require_start(rows: np.ndarray, nq: int, largest: float) -> None:
    """Refuse a start that is not finite, or larger than any state may be.

    Args:
        rows: (n, nq + nv), qpos and qvel side by side.
        nq: number of coordinates.
        largest: the largest number allowed.

    Raises:
        ValueError: with the first number that is wrong, and its place.
    """
    if np.count_nonzero(np.abs(rows) <= largest) != rows.size:  # the comparison is false for nan
        row, column = np.argwhere(~(np.abs(rows) <= largest))[0]
        name, column = ("qpos", column) if column < nq else ("qvel", column - nq)
        raise ValueError(
            f"{name}[{row}, {column}] is {rows[row, column if name == 'qpos' else column + nq]}: "
            f"an environment can start only from finite numbers of at most {largest:g}"
        )


def require_finite(name: str, rows: np.ndarray) -> None:
    """Refuse numbers that are not finite.

    Raises:
        ValueError: with the first one, and its place.
    """
    if not np.isfinite(rows).all():
        place = tuple(np.argwhere(~np.isfinite(rows))[0].tolist())
        at = f"[{', '.join(map(str, place))}]" if place else ""
        raise ValueError(f"{name}{at} is {rows[place]}: it must be finite")


class CheckedEnvs:
    """Environments that exist, which are not checked again.

    Attributes:
        index: their numbers (k,) int64, an array or a tensor.
    """

    __slots__ = ("index",)

    def __init__(self, index: Any) -> None:
        self.index = index

    def __len__(self) -> int:
        return len(self.index)


def as_environments(envs_idx: Any, num_envs: int, device: torch.device | None = None, name: str = "envs_idx") -> Any:
    """Return environment indices (k,) int64: an array, or a tensor on the device; None for all.

    Whether indices that lie on the device exist is asked there, and the answer waited for: on a GPU a wrong one would
    end the process.

    Args:
        envs_idx: None; a number, a slice, or numbers in any form; a bool mask (num_envs,); or `CheckedEnvs`.
        num_envs: how many environments there are.
        device: of the tensor; None for an array.
        name: the user's argument, for errors.

    Raises:
        ValueError: for a mask of another shape, and for values that are not whole numbers.
        IndexError: for an environment that does not exist.
    """
    if envs_idx is None:
        return None
    if type(envs_idx) is CheckedEnvs:
        return on_host(envs_idx.index) if device is None else torch.as_tensor(envs_idx.index, device=device)
    if isinstance(envs_idx, torch.Tensor) and envs_idx.dtype == torch.int64 and envs_idx.device == device:
        index: Any = envs_idx.reshape(-1)
        if bool(((index >= 0) & (index < num_envs)).all()):
            return index
    index = _index_of(envs_idx, num_envs, name)
    wrong = index.view(np.uint64) >= num_envs  # negative ones too
    if np.count_nonzero(wrong):
        bad = int(index[wrong][0])
        raise IndexError(f"{name}: there is no environment {bad}; they are numbered 0 to {num_envs - 1}")
    return index if device is None else torch.as_tensor(index, device=device)


def _index_of(envs_idx: Any, num_envs: int, name: str) -> np.ndarray:
    """Return the numbers (k,) int64 of environments, which may not exist; errors as in `as_environments`."""
    if isinstance(envs_idx, slice):
        return np.arange(num_envs)[envs_idx]
    try:
        index = np.asarray(_on_host(name, envs_idx) if isinstance(envs_idx, torch.Tensor) else envs_idx)
    except (TypeError, ValueError, RuntimeError):
        index = np.asarray(None)
    if index.dtype == np.bool_:
        if index.shape != (num_envs,):
            raise ValueError(f"{name}: a mask must have shape ({num_envs},), not {index.shape}")
        return np.flatnonzero(index)
    if index.dtype.kind not in "iu" and index.size:
        said = reprlib.repr(envs_idx)
        raise ValueError(f"{name}={said}: expected whole numbers, as integers, or a mask of bools")
    return index.astype(np.int64, copy=False).reshape(-1)


def on_host(index: Any) -> np.ndarray | None:
    """Return environment indices as numpy's; None for all."""
    return index.cpu().numpy() if isinstance(index, torch.Tensor) else index

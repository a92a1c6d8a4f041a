"""The parts of an entity, and the environments, that a user means."""

from typing import Any

import numpy as np
import torch

from ..physics.base.arguments import real_array


def local_numbers(owner: str, what: str, chosen: Any, count: int) -> np.ndarray:
    """Return numbers of parts within their entity, (k,) int64.

    Args:
        owner: the entity in words, for errors.
        what: the argument.
        chosen: None for all, a number, a slice, a mask of all, or numbers in any form.
        count: how many parts there are.

    Raises:
        IndexError: for a part that does not exist, and for what are no whole numbers.
    """
    if chosen is None:
        return np.arange(count)
    if isinstance(chosen, slice):
        return np.arange(count)[chosen]
    try:
        found = np.atleast_1d(real_array(what, list(chosen) if isinstance(chosen, range) else chosen))
    except ValueError:
        raise IndexError(f"{owner}: {what}={chosen!r}: expected whole numbers, a slice or a mask") from None
    if found.dtype == np.bool_:
        if found.shape != (count,):
            raise IndexError(f"{owner}: {what}: a mask must have shape ({count},), not {found.shape}")
        return np.flatnonzero(found)
    if found.ndim != 1 or (found.dtype.kind not in "iu" and found.size):
        raise IndexError(f"{owner}: {what}={chosen!r}: expected whole numbers, a slice or a mask")
    found = found.astype(np.int64, copy=False)
    wrong = found.view(np.uint64) >= count  # negative ones too
    if wrong.any():
        raise IndexError(f"{owner}: {what}: there is no {found[wrong][0]}; they are numbered 0 to {count - 1}")
    return found


def environments(chosen: Any, count: int) -> Any:
    """Return environments in a form that the solver takes: None for all, else indices or a mask.

    Args:
        chosen: None, a number, a slice, a mask of all, or numbers in any form.
        count: how many environments there are.
    """
    if isinstance(chosen, slice):
        return np.arange(count)[chosen]
    if isinstance(chosen, range):
        return np.array(chosen, np.int64)
    if isinstance(chosen, torch.Tensor) and chosen.dtype == torch.bool:
        return chosen.cpu().numpy()
    if isinstance(chosen, int | np.integer) and not isinstance(chosen, bool):
        return np.array([chosen], np.int64)
    if isinstance(chosen, torch.Tensor) and chosen.ndim == 0:
        return chosen[None]
    return chosen

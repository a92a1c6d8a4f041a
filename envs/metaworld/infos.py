"""Infos of several vector environments as those of one: arrays side by side, with zeros where a key is missing."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch


def joined(parts: Sequence[Any]) -> Any:
    """Return arrays (n, ...) one after the other, (sum of n, ...), of the first one's library."""
    return torch.cat(list(parts)) if isinstance(parts[0], torch.Tensor) else np.concatenate(parts)


def merged(infos: Sequence[Mapping[str, Any]], each: int) -> dict[str, Any]:
    """Return the infos of groups of `each` environments as one, in Gymnasium's form with a mask for every key."""
    keys = dict.fromkeys(key for info in infos for key in info)
    return {key: _merged_key([info.get(key) for info in infos], each) for key in keys}


def _merged_key(values: Sequence[Any], each: int) -> Any:
    """Return the values of one key; None stands for a group that does not have it."""
    example = next(value for value in values if value is not None)
    if isinstance(example, Mapping):
        return merged([{} if value is None else value for value in values], each)
    zeros = example[:each] * 0 if example.dtype not in (torch.bool, np.bool_) else example[:each] & False
    return joined([zeros if value is None else value for value in values])

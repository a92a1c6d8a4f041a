"""Gymnasium's convention for the infos of a batch: every key has a mask `_key` of the environments that it speaks of.

Values are dense tensors (num_envs, ...) with zeros where the mask is False; a key that speaks of nobody is left out.
"""

from typing import Any

import torch

Info = dict[str, Any]


def whole(info: Info, num_envs: int, device: torch.device) -> Info:
    """Copy every value, present for all environments."""
    return masked(
        {key: value.clone() for key, value in info.items()}, torch.ones(num_envs, dtype=torch.bool, device=device)
    )


def only(info: Info, mask: torch.Tensor) -> Info:
    """Keep what concerns the environments in `mask` (num_envs,)."""
    kept = {key: torch.where(_beside(mask, value), value, 0) for key, value in info.items()}
    return masked(kept, mask) if mask.any() else {}


def narrow(info: Info, mask: torch.Tensor) -> Info:
    """Keep, of an info with masks, what concerns the environments in `mask` (num_envs,)."""
    kept: Info = {}
    for key, value in info.items():
        if not key.startswith("_"):
            kept |= only({key: value}, info[f"_{key}"] & mask)
    return kept


def spread(info: Info, rows: torch.Tensor, num_envs: int) -> Info:
    """Bring values of the environments `rows` (k,) into their places among all."""
    mask = torch.zeros(num_envs, dtype=torch.bool, device=rows.device)
    mask[rows] = True
    dense = {}
    for key, value in info.items():
        dense[key] = value.new_zeros((num_envs, *value.shape[1:]))
        dense[key][rows] = value
    return masked(dense, mask)


def merge(first: Info, second: Info) -> Info:
    """Join two infos with masks; where both speak of an environment the second is right."""
    merged = dict(first)
    for key, value in second.items():
        if key.startswith("_") or key not in first:
            merged[key] = first[key] | value if key in first else value
        else:
            merged[key] = torch.where(_beside(second[f"_{key}"], value), value, first[key])
    return merged


def masked(info: Info, mask: torch.Tensor) -> Info:
    """Put a copy of the mask beside every value."""
    return info | {f"_{key}": mask.clone() for key in info}


def _beside(mask: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Shape a mask (n,) so that it goes with a value (n, ...)."""
    return mask.reshape(-1, *[1] * (value.dim() - 1))

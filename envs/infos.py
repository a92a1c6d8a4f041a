"""Gymnasium's convention for the infos of a batch: every key has a mask `_key` of the environments that it speaks of.

Values are dense tensors (num_envs, ...) with zeros where the mask is False; a key that speaks of nobody is left out.
"""

from collections.abc import Callable
from typing import Any

from .arrays import Array, blank, copy, indices, nobody, stack, where

Info = dict[str, Any]  # of arrays (num_envs, ...), or of infos


def whole(info: Info, like: Array) -> Info:
    """Copy every value, present for all environments; `like` is any array (num_envs, ...)."""
    return masked(_each(info, copy), ~nobody(like))


def only(info: Info, mask: Array) -> Info:
    """Keep what concerns the environments in `mask` (num_envs,)."""
    kept, others = indices(mask), indices(~mask)
    if not len(kept):
        return {}

    def clear(value: Array) -> Array:
        if len(kept) < len(others):
            cleared = blank(value, len(value))
            cleared[kept] = value[kept]
        else:
            cleared = copy(value)
            cleared[others] = 0
        return cleared

    return masked({key: clear(value) for key, value in info.items()}, mask)


def narrow(info: Info, mask: Array) -> Info:
    """Keep, of an info with masks, what concerns the environments in `mask` (num_envs,)."""
    kept: Info = {}
    for key, value in info.items():
        if not key.startswith("_"):
            kept |= only({key: value}, info[f"_{key}"] & mask)
    return kept


def spread(info: Info, rows: Array, num_envs: int) -> Info:
    """Bring values of the environments `rows` (k,) into their places among all."""

    def place(value: Array) -> Array:
        dense = blank(value, num_envs)
        dense[rows] = value
        return dense

    return masked(_each(info, place), place(~nobody(rows)))


def merge(first: Info, second: Info) -> Info:
    """Join two infos with masks; where both speak of an environment the second is right."""
    merged = dict(first)
    for key, value in second.items():
        if key.startswith("_") or key not in first:
            merged[key] = first[key] | value if key in first else value
        else:
            merged[key] = where(_beside(second[f"_{key}"], value), value, first[key])
    return merged


def masked(info: Info, mask: Array) -> Info:
    """Put a copy of the mask beside every value."""
    return info | {f"_{key}": copy(mask) for key in info}


def _each(info: Info, change: Callable[[Array], Array]) -> Info:
    """Apply `change`, (n, ...) -> (m, ...), to every value; plain numbers go through it side by side, as (n, keys)."""
    alike: dict[Any, list[str]] = {}
    for key, value in info.items():
        alike.setdefault(value.dtype if value.ndim == 1 else key, []).append(key)
    changed: Info = {}
    for keys in alike.values():
        if len(keys) == 1:
            changed[keys[0]] = change(info[keys[0]])
        else:
            changed.update(zip(keys, change(stack([info[key] for key in keys]).T).T, strict=True))
    return {key: changed[key] for key in info}


def _beside(mask: Array, value: Array) -> Array:
    """Shape a mask (n,) so that it goes with a value (n, ...)."""
    return mask.reshape(-1, *[1] * (value.ndim - 1))

"""The options of `reset(options=...)`, with their checks: vector environments have two, single ones have none."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ..arrays import Array, ArrayKind, copy

Options = dict[str, Any] | None
KNOWN = ("reset_mask", "elapsed_steps")
"""Names of the options of vector environments."""


def require_known(options: Any, known: Sequence[str], whose: str) -> None:
    """Refuse options that nothing would look at.

    Args:
        options: as a user gave them.
        known: names of the options that exist.
        whose: the kind of environment, for the message.

    Raises:
        TypeError: the options are no dictionary.
        ValueError: an option is unknown; the message lists the known ones.
    """
    if options is None:
        return
    if not isinstance(options, Mapping):
        raise TypeError(f"reset: options must be a dictionary or None, got {type(options).__name__}")
    if unknown := [name for name in options if name not in known]:
        there = ", ".join(map(repr, known)) or f"none (vector environments take {', '.join(map(repr, KNOWN))})"
        raise ValueError(f"reset: no option {', '.join(map(repr, unknown))}; {whose} take {there}")


def reset_mask(options: Options, num_envs: int, kind: ArrayKind) -> Array:
    """Return which environments are to be reset, (num_envs,) bool: a copy of "reset_mask", or True everywhere.

    Raises:
        TypeError, ValueError: the mask is not a bool array (num_envs,).
    """
    mask = (options or {}).get("reset_mask")
    if mask is None:
        return ~kind.zeros((num_envs,), kind.xp.bool)
    if not isinstance(mask, torch.Tensor | np.ndarray):
        raise TypeError(f"options['reset_mask'] must be a torch tensor or numpy array, got {type(mask).__name__}")
    if tuple(mask.shape) != (num_envs,):
        raise ValueError(f"options['reset_mask'] must have shape ({num_envs},), got {tuple(mask.shape)}")
    if mask.dtype not in (torch.bool, np.bool_):
        raise TypeError(f"options['reset_mask'] must be of bool, got {mask.dtype}")
    return copy(kind.from_tensor(torch.as_tensor(mask, device=kind.device)))


def elapsed_steps(options: Options, num_envs: int, limit: int, kind: ArrayKind) -> Array:
    """Return how many steps of the time limit count as taken, (num_envs,) int64: "elapsed_steps", or zeros.

    Raises:
        TypeError, ValueError: not integers (num_envs,) from 0 to below the limit.
    """
    steps = (options or {}).get("elapsed_steps")
    if steps is None:
        return kind.zeros((num_envs,), kind.xp.int64)
    return whole_steps("options['elapsed_steps']", steps, num_envs, limit, kind)


def whole_steps(name: str, given: Any, num_envs: int, limit: int, kind: ArrayKind) -> Array:
    """Return a checked copy of counts of steps, (num_envs,) int64.

    Raises:
        TypeError, ValueError: not integers (num_envs,) from 0 to below the limit.
    """
    steps = torch.as_tensor(given, device=kind.device)
    if steps.dtype.is_floating_point or steps.dtype.is_complex or steps.dtype == torch.bool:
        raise TypeError(f"{name} must be integers, got {steps.dtype}")
    steps = steps.to(torch.int64)
    if tuple(steps.shape) != (num_envs,):
        raise ValueError(f"{name} must have shape ({num_envs},), got {tuple(steps.shape)}")
    outside = ((steps < 0) | (steps >= limit)).nonzero()[:, 0]
    if len(outside):
        env = int(outside[0])
        raise ValueError(
            f"{name} of environment {env} is {int(steps[env])}; it must be at least 0 and below max_episode_steps, "
            f"{limit}"
        )
    return copy(kind.from_tensor(steps))

"""Random numbers that depend only on a key, so that a search is the same whatever else is searched in the batch.

The hash is PCG's (Jarzynski and Olano, "Hash functions for GPU rendering", JCGT 2020), on 32 bits in int64.
"""

import numpy as np
import torch

from ...machine.scalars import as_whole

_MASK = 0xFFFFFFFF


def mixed(keys: torch.Tensor) -> torch.Tensor:
    """Return the bits of keys, int64 below 2^32, mixed."""
    state = (keys * 747796405 + 2891336453) & _MASK
    word = (((state >> ((state >> 28) + 4)) ^ state) * 277803737) & _MASK
    return (word >> 22) ^ word


def combined(keys: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """Return keys made of others and of whole numbers, which are broadcast against each other."""
    return mixed((keys + mixed(numbers & _MASK)) & _MASK)


def uniform(keys: torch.Tensor, count: int) -> torch.Tensor:
    """Return `count` numbers in (0, 1) for each key, float64 in a last axis."""
    each = combined(keys[..., None], torch.arange(count, device=keys.device))
    return (each.double() + 0.5) / 4294967296.0


def env_streams(seed: int | None, envs: np.ndarray, device: torch.device) -> torch.Tensor:
    """Return a key of random numbers for each environment, (n,) int32."""
    number = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else as_whole("seed", seed)
    own = (number & 0xFFFFFFFF) * 0x85EBCA77 & 0xFFFFFFFF  # in Python's numbers: it may be above an int64
    keys = (envs.astype(np.int64) + 1) * 0x9E3779B1 + own
    return torch.as_tensor((keys & 0xFFFFFFFF).astype(np.uint32).view(np.int32), device=device)

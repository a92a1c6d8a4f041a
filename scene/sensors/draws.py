"""Random numbers of sensors: a hash of seed, sensor, environment and moment, so that none depends on another.

There is no generator whose state others could advance: an environment draws the same numbers whatever the batch size,
and whatever is reset beside it (`physics/base/draws.py`).
"""

import math

import torch

from ...physics.base.draws import GOLDEN, fractions, hashed_key, mix

WALK, NOISE, JITTER, ROUNDING = 1, 2, 3, 4
"""Purposes of draws: draws of different purposes are independent."""


def keys(seed: int, sensor: int, envs: torch.Tensor) -> torch.Tensor:
    """Return the keys from which environments draw, (n,) int64.

    Args:
        seed: of the scene.
        sensor: number of the sensor in the scene.
        envs: numbers of the environments, (n,) int64; that of number i draws with seed + i.
    """
    return mix(mix(envs + _signed(seed)) + _signed(sensor * GOLDEN))


def at(key: torch.Tensor, tick: torch.Tensor, purpose: int) -> torch.Tensor:
    """Return the keys of a moment, (n,) int64, from keys and counts of moments (n,)."""
    return mix(hashed_key(key, tick) + _signed(purpose * GOLDEN))


def uniform(key: torch.Tensor, count: int) -> torch.Tensor:
    """Draw (n, count) float64 numbers, multiples of 2^-53, evenly from [0, 1)."""
    return fractions(key[:, None], torch.arange(1, count + 1, device=key.device))


def normal(key: torch.Tensor, count: int) -> torch.Tensor:
    """Draw (n, count) float64 numbers with mean 0 and variance 1, by Box and Muller's method."""
    pairs = (count + 1) // 2
    both = uniform(key, 2 * pairs)
    radius = (-2.0 * (1.0 - both[:, :pairs]).log()).sqrt()
    angle = 2.0 * math.pi * both[:, pairs:]
    return torch.cat((radius * angle.cos(), radius * angle.sin()), 1)[:, :count]


def _signed(x: int) -> int:
    """Return a whole number of any size as one of 64 bits with a sign."""
    return (x + 2**63) % 2**64 - 2**63

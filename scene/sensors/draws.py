"""Random numbers of sensors: a hash of seed, sensor, environment and moment, so that none depends on another.

There is no generator whose state others could advance: an environment draws the same numbers whatever the batch size,
and whatever is reset beside it. The hash is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), in torch on the device.
"""

import math

import torch

_GOLDEN = 0x9E3779B97F4A7C15 - 2**64  # 2^64 divided by the golden ratio, made odd; as a signed number
_FIRST, _SECOND = 0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64  # SplitMix64's multipliers, likewise
WALK, NOISE, JITTER, ROUNDING = 1, 2, 3, 4
"""Purposes of draws: those of one are independent of those of another."""


def keys(seed: int, sensor: int, envs: torch.Tensor) -> torch.Tensor:
    """Return the keys from which environments draw, (n,) int64.

    Args:
        seed: of the scene.
        sensor: number of the sensor in the scene.
        envs: numbers of the environments, (n,) int64; that of number i draws with seed + i.
    """
    return _mix(_mix(envs + _signed(seed)) + _signed(sensor * _GOLDEN))


def at(key: torch.Tensor, tick: torch.Tensor, purpose: int) -> torch.Tensor:
    """Return the keys of a moment, (n,) int64, from keys and counts of moments (n,)."""
    return _mix(_mix(key + tick * _GOLDEN) + _signed(purpose * _GOLDEN))


def uniform(key: torch.Tensor, count: int) -> torch.Tensor:
    """Draw (n, count) float64 numbers, multiples of 2^-53, evenly from [0, 1)."""
    number = torch.arange(1, count + 1, device=key.device)
    return (_mix(key[:, None] + number * _GOLDEN) >> 11 & 2**53 - 1).to(torch.float64) * 2.0**-53


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


def _mix(x: torch.Tensor) -> torch.Tensor:
    """Scramble int64 numbers: SplitMix64's finalizer; the products wrap modulo 2^64, as they should."""
    x = (x ^ _shift(x, 30)) * _FIRST
    x = (x ^ _shift(x, 27)) * _SECOND
    return x ^ _shift(x, 31)


def _shift(x: torch.Tensor, bits: int) -> torch.Tensor:
    """Shift int64 numbers to the right as if they had no sign."""
    return x >> bits & 2 ** (64 - bits) - 1

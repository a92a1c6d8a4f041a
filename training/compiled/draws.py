"""Random numbers in compiled functions: hashes of a key and a number, as those of tasks are (`physics.base.draws`).

All take a number or a vector of them.
"""

import math
from typing import Any

from ...physics.machine.codegen.functions import horner, log
from ...physics.machine.codegen.words import FLOAT, INT32, Function

_GOLDEN, _FIRST, _SECOND = (x - 2**64 for x in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def draw_key(seed: int | None, count: int) -> int:
    """Return the key of a launch's draws, a hash of a seed (None: 0) and of a count, as a signed number; in Python."""
    bits = ((seed or 0) * 0x9E3779B97F4A7C15 + count * 0xD1B54A32D192ED03 + 0x2545F4914F6CDD1D) % 2**64
    return bits - 2**64 if bits >= 2**63 else bits


def random_bits(key: Any, j: Any) -> Any:
    """Return SplitMix64's number j of a key (Steele, Lea and Flood, OOPSLA 2014)."""
    x = key + j * _GOLDEN
    x = (x ^ (x >> 30)) * _FIRST
    x = (x ^ (x >> 27)) * _SECOND
    return x ^ (x >> 31)


def fraction(f: Function, bits: Any) -> Any:
    """Return 24 bits as a multiple of 2^-24 below 1."""
    return f.convert(f.convert(bits, INT32), FLOAT) * 2.0**-24


def normal(f: Function, bits: Any) -> Any:
    """Return a number of the normal distribution by Box and Muller, from 64 random bits."""
    radius = f.sqrt(log(f, fraction(f, (bits >> 40) + 1)) * -2.0)
    turn = fraction(f, bits & (2**24 - 1))
    v = 0.25 - f.abs(turn - 0.5)  # cos(2 pi turn) = -sin(2 pi v), |v| <= 1/4
    angle = v * (2 * math.pi)
    sine = angle * horner(f, angle * angle, [(-1) ** k / math.factorial(2 * k + 1) for k in range(6)])
    return -(radius * sine)

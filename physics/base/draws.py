"""Counter-based random numbers over the array API: a hash of a key and a count, so that no draw depends on another.

The hash is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): three
multiplications of 64-bit integers, with the same bits in every library and on every device.
"""

from .array_api import Array, is_tensor, namespace

GOLDEN = 0x9E3779B97F4A7C15 - 2**64
"""2^64 divided by the golden ratio, made odd; as a signed number."""
_FIRST, _SECOND = 0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64  # multipliers of SplitMix64, as signed numbers


def mix(x: Array) -> Array:
    """Scramble int64 numbers: SplitMix64's finaliser, a bijection (the products wrap modulo 2^64, as they should)."""
    x = (x ^ _shift(x, 30)) * _FIRST
    x = (x ^ _shift(x, 27)) * _SECOND
    return x ^ _shift(x, 31)


def hashed_key(bases: Array, counts: Array) -> Array:
    """Return the keys to draw from, int64, of hashed bases and counts, int64 each."""
    return mix(bases + counts * GOLDEN)


def fractions(keys: Array, counts: Array) -> Array:
    """Return float64 multiples of 2^-53 in [0, 1), of keys and of the counts of their numbers, from 1 on."""
    bits = _shift(hashed_key(keys, counts), 11)
    if is_tensor(bits):
        return bits.double() * 2.0**-53
    xp = namespace(bits)
    return xp.astype(bits, xp.float64) * 2.0**-53


def _shift(x: Array, bits: int) -> Array:
    """Shift int64 numbers to the right as if they had no sign."""
    return (x >> bits) & (2 ** (64 - bits) - 1)

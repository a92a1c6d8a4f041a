"""Functions of the suite's observations, with the same bits in any batch and in every library."""

from ..arrays import Array, log, namespace


def log1p(x: Array) -> Array:
    """Return log(1 + x) of numbers >= 0."""
    return log(1 + x)


def arcsinh(x: Array) -> Array:
    """Return the inverse hyperbolic sine."""
    xp, size = namespace(x), abs(x)
    return xp.sign(x) * log(size + xp.sqrt(size * size + 1))

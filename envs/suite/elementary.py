"""Functions of the suite's observations, with the same bits in any batch and in every library."""

from ..arrays import Array, namespace


def log1p(x: Array) -> Array:
    """Return log(1 + x) of numbers >= 0, good to 32 roundings, with the same bits in any batch.

    Five roots bring numbers up to 1e10 below 2.1, where the series of the inverse hyperbolic tangent needs few terms.
    """
    xp, root = namespace(x), 1 + x
    for _ in range(5):
        root = xp.sqrt(root)
    z = (root - 1) / (root + 1)
    square, series = z * z, 0 * z
    for k in range(14, -1, -1):
        series = series * square + 1 / (2 * k + 1)
    return 64 * z * series


def arcsinh(x: Array) -> Array:
    """Return the inverse hyperbolic sine, by `log1p`."""
    xp, size = namespace(x), abs(x)
    return xp.sign(x) * log1p(size + size * size / (1 + xp.sqrt(size * size + 1)))

"""Quaternions as Meta-World's observations have them: of rotation matrices, with the scalar last."""

from ..arrays import Array, namespace, row_norm


def scalar_last(matrix: Array) -> Array:
    """Return the quaternions of rotation matrices (n, 9) by rows, (n, 4), with the scalar last.

    The largest component is positive, as SciPy has it: of x, y, z and w the first that is largest.
    """
    xp = namespace(matrix)
    m = [[matrix[:, 3 * row + column] for column in range(3)] for row in range(3)]
    trace = m[0][0] + m[1][1] + m[2][2]
    size, best = m[0][0], _with_largest(m, 0, trace)
    for axis in (1, 2):
        larger = m[axis][axis] > size
        size = xp.where(larger, m[axis][axis], size)
        best = xp.where(larger[:, None], _with_largest(m, axis, trace), best)
    scalar = xp.stack((m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1], 1 + trace), axis=1)
    best = xp.where((trace > size)[:, None], scalar, best)
    return best / row_norm(best)[:, None]


def _with_largest(m: list[list[Array]], axis: int, trace: Array) -> Array:
    """Return multiples of the quaternions (n, 4), by a formula that is exact where the component `axis` is largest."""
    second, third = (axis + 1) % 3, (axis + 2) % 3
    numbers = {
        axis: 1 - trace + 2 * m[axis][axis],
        second: m[second][axis] + m[axis][second],
        third: m[third][axis] + m[axis][third],
        3: m[third][second] - m[second][third],
    }
    return namespace(trace).stack([numbers[k] for k in range(4)], axis=1)

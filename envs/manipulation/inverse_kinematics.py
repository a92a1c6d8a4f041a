"""Damped least squares on the Jacobian of an arm of hinges: small motions of a hand become motions of the joints.

Arrays are (numbers, n), environments last: what is computed then runs along all of them. Sums have a fixed order.
"""

from collections.abc import Sequence
from functools import reduce
from operator import add

from ..arrays import Array, namespace


def cross(a: Sequence[Array], b: Sequence[Array]) -> list[Array]:
    """Return the cross product of two vectors, three arrays each."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def jacobian(axes: Array, anchors: Array, point: Array) -> Array:
    """Return how a point and the frame about it move with hinges, (6, k, n): m/rad, then rad/rad.

    Args:
        axes: unit axes of k hinges in the world, (3, k, n).
        anchors: a point on each axis, (3, k, n) m.
        point: the point, which the last hinge carries, (3, n) m.
    """
    xp, axis = namespace(axes), [axes[i, ...] for i in range(3)]
    arm = [point[i, ...][None, ...] - anchors[i, ...] for i in range(3)]
    return xp.stack((*cross(axis, arm), *axis))


def damped_steps(jac: Array, error: Array, wish: Array, damping: float) -> Array:
    """Return the joints' steps (k, n) that move the hand by `error` and otherwise come closest to `wish`.

    The step is q = w + Jᵀ (J Jᵀ + damping² I)⁻¹ (e - J w): Buss, "Introduction to inverse kinematics with Jacobian
    transpose, pseudoinverse and damped least squares methods", 2004, equations 11 and 12.

    Args:
        jac: (rows, k, n).
        error: wished motion of the hand, (rows, n).
        wish: wished motion of the joints, (k, n), followed where the hand leaves them free.
        damping: in the unit of the Jacobian.
    """
    rows, joints = jac.shape[0], range(jac.shape[1])
    gram = reduce(add, (jac[:, None, k, :] * jac[None, :, k, :] for k in joints))  # (rows, rows, n)
    rest = error - reduce(add, (jac[:, k, :] * wish[k, ...][None, ...] for k in joints))
    diagonal = [gram[i, i, ...] + damping * damping for i in range(rows)]
    lower = [[diagonal[i] if i == j else gram[i, j, ...] for j in range(i + 1)] for i in range(rows)]
    force = solve(lower, [rest[i, ...] for i in range(rows)])
    return wish + reduce(add, (jac[i, ...] * force[i][None, ...] for i in range(rows)))


def solve(lower: list[list[Array]], right: list[Array]) -> list[Array]:
    """Solve A x = b for symmetric positive definite A, of which row i has the entries 0 to i, by A = L D Lᵀ."""
    size = len(right)
    factor: list[list[Array]] = []  # the rows of L, without its diagonal of ones
    pivots: list[Array] = []
    for i in range(size):
        scaled: list[Array] = []  # row i of L D
        for j in range(i):
            scaled.append(_less(lower[i][j], scaled, factor[j]))
        factor.append([scaled[j] / pivots[j] for j in range(i)])
        pivots.append(_less(lower[i][i], scaled, factor[i]))
    x: list[Array] = []
    for i in range(size):
        x.append(_less(right[i], x, factor[i]))
    x = [x[i] / pivots[i] for i in range(size)]
    for i in range(size - 2, -1, -1):
        x[i] = _less(x[i], x[i + 1 :], [factor[k][i] for k in range(i + 1, size)])
    return x


def _less(x: Array, a: Sequence[Array], b: Sequence[Array]) -> Array:
    """Return x less the products of two sequences, as far as both go."""
    return reduce(lambda rest, pair: rest - pair[0] * pair[1], zip(a, b, strict=False), x)

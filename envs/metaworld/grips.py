"""Measures of how well the gripper holds an object, which lead its fingers around it."""

from ..arrays import Array, namespace, row_norm
from .rewards import both, distance, near, shut, tolerance
from .sawyer import Glimpse

PAD = 0.05  # m from the middle of an object to a pad that counts as beside it


def cage(
    now: Glimpse, obj: Array, radius: float, pad: float, xz: float, *, most: float = 1.0, extra: float | str = "caging"
) -> Array:
    """Return how well an object is between the pads and gripped, (n,) from 0 to 1.

    Args:
        now: the moment.
        obj: the object, (n, 3) m.
        radius: of the object, m.
        pad: distance along y within which a pad counts as beside the object, m.
        xz: distance in x and z within which the fingertips count as at the object, m.
        most: the effort that counts as closed.
        extra: half of the result is how well it is caged ("caging"); or how near the fingertips are, where a number
            is the distance (m) that is near enough; or none ("").
    """
    sides = []
    for side in (now.left, now.right):
        margin = abs(abs(side[:, 1] - now.start[:, 1]) - pad)
        sides.append(tolerance(abs(side[:, 1] - obj[:, 1]), radius, pad, margin))
    caging = both(both(*sides), _level(now, obj, xz))
    gripping = both(caging, _where_caged(caging, 0.97, shut(now.effort, most)))
    if extra == "caging":
        return (gripping + caging) / 2
    if isinstance(extra, float):
        margin = abs(distance(now.start, now.tcp_start) - extra)
        return (gripping + near(distance(obj, now.tcp), extra, margin)) / 2
    return gripping


def pinch(now: Glimpse, radius: float, rim: float, xz: float) -> Array:
    """Return how well the object is between the pads, and how close these are to it, (n,) from 0 to 1.

    Args:
        now: the moment.
        radius: of the object, m.
        rim: distance from the object within which a pad counts as at it, m.
        xz: as in `cage`.
    """
    caging = both(_between(now, radius, PAD), _level(now, now.obj, xz))
    return (caging + _where_caged(caging, 0.95, _between(now, radius, radius + rim))) / 2


def clasp(now: Glimpse, radius: float, xz: float) -> Array:
    """Return how well the object is between the pads and gripped: `cage` with the margins of `pinch`."""
    caging = both(_between(now, radius, PAD), _level(now, now.obj, xz))
    return (both(caging, _where_caged(caging, 0.97, shut(now.effort))) + caging) / 2


def _between(now: Glimpse, radius: float, pad: float) -> Array:
    """Return how well the object is beside both pads along y."""
    y, sides = now.obj[:, 1], []
    for side, gap in ((now.left, now.left[:, 1] - y), (now.right, y - now.right[:, 1])):
        sides.append(tolerance(gap, radius, pad, abs(abs(y - side[:, 1]) - PAD)))
    return both(*sides)


def _level(now: Glimpse, obj: Array, xz: float) -> Array:
    """Return how near the fingertips are to an object in x and z."""
    plane = slice(0, 3, 2)
    margin = row_norm(now.start[:, plane] - now.tcp_start[:, plane]) - xz
    return near(row_norm(now.tcp[:, plane] - obj[:, plane]), xz, margin)


def _where_caged(caging: Array, least: float, value: Array) -> Array:
    return namespace(caging).where(caging > least, value, 0.0)

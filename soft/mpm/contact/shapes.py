"""Signed distances of points from shapes, in any arithmetic: distance (m, negative inside) and the direction away.

Points are in the frame of the shape, as lists x, y, z; sizes are MuJoCo's `geom_size`.
"""

from collections.abc import Callable, Sequence
from typing import Any

_SHORT = 1e-9
"""m: less is taken as this, where a direction is divided by a length."""
_ELLIPSOID_STEPS = 8

Distance = Callable[[Any, Sequence[Any], list], tuple[Any, list]]


def _length(m: Any, x: Sequence[Any]) -> Any:
    total = x[0] * x[0]
    for one in x[1:]:
        total = total + one * one
    return m.sqrt(total)


def _sign(m: Any, x: Any) -> Any:
    return m.select(x < 0.0, x * 0.0 - 1.0, x * 0.0 + 1.0)


def plane(m: Any, size: Sequence[Any], p: list) -> tuple[Any, list]:
    """The plane z = 0; below it is inside."""
    zero = p[2] * 0.0
    return p[2], [zero, zero, zero + 1.0]


def _from_center(m: Any, offset: list, radius: Any) -> tuple[Any, list]:
    """Return the distance from a ball, and the direction of an offset from its middle; z where there is no offset."""
    far = _length(m, offset)
    inverse = 1.0 / m.maximum(far, _SHORT)
    away = [x * inverse for x in offset]
    away[2] = m.select(far > _SHORT, away[2], far * 0.0 + 1.0)
    return far - radius, away


def sphere(m: Any, size: Sequence[Any], p: list) -> tuple[Any, list]:
    """A ball of radius size[0]."""
    return _from_center(m, list(p), size[0])


def capsule(m: Any, size: Sequence[Any], p: list) -> tuple[Any, list]:
    """A capsule of radius size[0] along z, whose half length is size[1]."""
    along = m.maximum(m.minimum(p[2], size[1]), size[1] * -1.0)
    return _from_center(m, [p[0], p[1], p[2] - along], size[0])


def _between(m: Any, beyond: Sequence[Any], away: Sequence[list]) -> tuple[Any, list]:
    """Return the distance from what lies inside of some orthogonal sides.

    Args:
        m: arithmetic.
        beyond: how far a point is beyond each pair of sides, m; negative inside.
        away: the outward direction of the nearer side of each pair.
    """
    zero = beyond[0] * 0.0
    out = [m.maximum(x, zero) for x in beyond]
    far = _length(m, out)
    inverse = 1.0 / m.maximum(far, _SHORT)
    deepest = beyond[0]
    for x in beyond[1:]:
        deepest = m.maximum(deepest, x)
    outside, taken, weights = far > _SHORT, zero, []
    for k, x in enumerate(beyond):
        nearest = m.select(x < deepest, zero, 1.0 - taken)
        taken = taken + nearest
        weights.append(m.select(outside, out[k] * inverse, nearest))
    direction = [sum_over(w * side[c] for w, side in zip(weights, away, strict=True)) for c in range(3)]
    return m.select(outside, far, deepest), direction


def sum_over(terms: Any) -> Any:
    """Return the sum of some terms in their order."""
    first, *others = terms
    for term in others:
        first = first + term
    return first


def box(m: Any, size: Sequence[Any], p: list) -> tuple[Any, list]:
    """A box of half sides `size`."""
    zero = p[0] * 0.0
    away = [[_sign(m, p[k]) if c == k else zero for c in range(3)] for k in range(3)]
    return _between(m, [m.abs(x) - s for x, s in zip(p, size, strict=False)], away)


def cylinder(m: Any, size: Sequence[Any], p: list) -> tuple[Any, list]:
    """A cylinder of radius size[0] along z, whose half length is size[1]."""
    zero, far = p[0] * 0.0, _length(m, p[:2])
    inverse = 1.0 / m.maximum(far, _SHORT)
    around = [m.select(far > _SHORT, p[0] * inverse, zero + 1.0), p[1] * inverse, zero]
    return _between(m, [far - size[0], m.abs(p[2]) - size[1]], [around, [zero, zero, _sign(m, p[2])]])


def ellipsoid(m: Any, size: Sequence[Any], p: list) -> tuple[Any, list]:
    """An ellipsoid of radii `size`: the nearest point of one outside by Newton's method; inside to first order.

    Source: Eberly, "Distance from a point to an ellipse, an ellipsoid, or a hyperellipsoid", section 3.
    """
    scaled = [x / s for x, s in zip(p, size, strict=False)]
    level = _length(m, scaled)
    slope = [x / s for x, s in zip(scaled, size, strict=False)]
    steep = _length(m, slope)
    # First order: value over slope of the level function, which is exact at the surface.
    distance = (level - 1.0) * level / m.maximum(steep, _SHORT)
    # Newton: t with sum (s p / (t + s^2))^2 = 1, from where the function is above 0.
    least = m.minimum(size[0], m.minimum(size[1], size[2]))
    t = m.maximum(least * least * (level - 1.0), p[0] * 0.0)
    for _ in range(_ELLIPSOID_STEPS):
        ratios = [s * x / (t + s * s) for x, s in zip(p, size, strict=False)]
        value = sum_over(r * r for r in ratios) - 1.0
        fall = sum_over(r * r * 2.0 / (t + s * s) for r, s in zip(ratios, size, strict=False))
        t = m.maximum(t + value / m.maximum(fall, 1e-12), p[0] * 0.0)
    nearest = [s * s * x / (t + s * s) for x, s in zip(p, size, strict=False)]
    offset = [x - y for x, y in zip(p, nearest, strict=True)]
    outside = level > 1.0
    distance = m.select(outside, _length(m, offset), distance)
    at = [m.select(outside, y, x) for x, y in zip(p, nearest, strict=True)]
    _, away = _from_center(m, [x / (s * s) for x, s in zip(at, size, strict=False)], p[0] * 0.0)
    return distance, away


CLOSED: dict[str, Distance] = {
    "plane": plane,
    "sphere": sphere,
    "capsule": capsule,
    "ellipsoid": ellipsoid,
    "cylinder": cylinder,
    "box": box,
}
"""Shapes with a closed form, by MuJoCo's names of types."""
_EDGED = {"box": 3, "cylinder": 2}
"""Shapes with edges, and how many of their sizes are lengths across."""


def rounded(m: Any, kind: str, size: Sequence[Any], radius: Any, p: list) -> tuple[Any, list]:
    """Return distance and direction of a shape whose edges have a radius (m), or less where it is thinner."""
    if kind not in _EDGED:
        return CLOSED[kind](m, size, p)
    for across in size[: _EDGED[kind]]:
        radius = m.minimum(radius, across)
    distance, away = CLOSED[kind](m, [across - radius for across in size], p)
    return distance - radius, away

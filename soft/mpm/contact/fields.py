"""Distances from meshes and height fields: values between the nodes of a field, in any arithmetic, one point at a time.

A mesh has a grid of signed distances (`physics.files.geometry.distance_field`), a height field its heights, between
which the ground is bilinear.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ....physics.machine.codegen.words import FLOATS, Function, Module
from ..kernels.layout import GEOM, LANES, geom_numbers
from ..laws.arithmetic import Compiled

_SHORT = 1e-9


class SampledField(NamedTuple):
    """A field of a geom, in any arithmetic.

    Attributes:
        low, cell: place of the first value and distance between two, (3,) m.
        counts: of values along each axis, integers.
        value: returns the value of a number, an integer; the last axis of a mesh, the first of a height field counts
            fastest.
    """

    low: Sequence[Any]
    cell: Sequence[Any]
    counts: Sequence[Any]
    value: Callable[[Any], Any]


class Fields:
    """The compiled functions: they turn local places (3, LANES) into distances and directions (4, LANES).

    Attributes:
        mesh: from the grid of a mesh.
        ground: from a height field.
    """

    def __init__(self, module: Module) -> None:
        self.mesh = _compiled(module, "from_mesh", mesh)
        self.ground = _compiled(module, "from_ground", ground)


def _compiled(module: Module, name: str, distance: Callable[..., tuple]) -> Function:
    """Write a function that computes the distances of eight points."""
    with module.function(name, geom=GEOM, places=FLOATS, found=FLOATS) as (f, geom, places, found):
        m = Compiled(f)
        low, cell = geom_numbers(geom, "low"), geom_numbers(geom, "cell")
        field = SampledField(low, cell, (geom.nx, geom.ny, geom.nz), lambda n: geom.values[n])
        with f.loop(0, LANES) as lane:
            far, away = distance(m, field, [places[lane + LANES * c] for c in range(3)])
            for n, x in enumerate((far, *away)):
                found[lane + LANES * n] = x
    return f


def _in_field(m: Any, field: SampledField, axis: int, x: Any) -> tuple[Any, Any, Any]:
    """Return the cell of a place or next to it, how far it is through the cell, and how far beyond the field, m."""
    place = (x - field.low[axis]) / field.cell[axis]
    last = m.real(field.counts[axis] - 1)
    inside = m.minimum(m.maximum(place, 0.0), last)
    first = m.whole(m.minimum(inside, last - 1.0))
    return first, inside - m.real(first), (place - inside) * field.cell[axis]


def mesh(m: Any, field: SampledField, p: Sequence[Any]) -> tuple[Any, list]:
    """Return the distance (m) of a point from a mesh, and the direction away from it."""
    cell, counts = field.cell, field.counts
    (i, u, bx), (j, v, by), (k, w, bz) = (_in_field(m, field, c, p[c]) for c in range(3))
    at = (i * counts[1] + j) * counts[2] + k
    corner = [
        field.value(at + (counts[1] * counts[2] * a + counts[2] * b + c))
        for a in (0, 1)
        for b in (0, 1)
        for c in (0, 1)
    ]
    along = [_mix(corner[n], corner[n + 1], w) for n in (0, 2, 4, 6)]
    near, far = _mix(along[0], along[1], v), _mix(along[2], along[3], v)
    value = _mix(near, far, u)
    gz = [corner[n + 1] - corner[n] for n in (0, 2, 4, 6)]
    gradient = [
        (far - near) / cell[0],
        _mix(along[1] - along[0], along[3] - along[2], u) / cell[1],
        _mix(_mix(gz[0], gz[1], v), _mix(gz[2], gz[3], v), u) / cell[2],
    ]
    inverse = 1.0 / m.maximum(_length(m, gradient), _SHORT)
    away = [g * inverse for g in gradient]
    # Outside of the grid the surface is about `value` below the nearest place of the grid.
    beyond = [b + a * value for b, a in zip((bx, by, bz), away, strict=True)]
    out = _length(m, [bx, by, bz]) > _SHORT
    far_out = _length(m, beyond)
    inverse = 1.0 / m.maximum(far_out, _SHORT)
    return m.select(out, far_out, value), [m.select(out, b * inverse, a) for b, a in zip(beyond, away, strict=True)]


def ground(m: Any, field: SampledField, p: Sequence[Any]) -> tuple[Any, list]:
    """Return the distance (m) of a point from a height field, and the direction away from it."""
    x, y, z = p
    cell, nx = field.cell, field.counts[0]
    (i, u, _), (j, v, _) = _in_field(m, field, 0, x), _in_field(m, field, 1, y)
    a, b, c, d = (field.value((j + k) * nx + i + n) for k in (0, 1) for n in (0, 1))
    height = a + (b - a) * u + (c - a) * v + (d - c - b + a) * u * v
    slope_x = ((b - a) * (1.0 - v) + (d - c) * v) / cell[0]
    slope_y = ((c - a) * (1.0 - u) + (d - b) * u) / cell[1]
    inverse = 1.0 / m.sqrt(slope_x * slope_x + slope_y * slope_y + 1.0)
    return (z - height) * inverse, [slope_x * inverse * -1.0, slope_y * inverse * -1.0, inverse]


FIELDS = {"mesh": mesh, "hfield": ground}
"""Shapes with a field, by the names of `touching.KINDS`."""


def _mix(a: Any, b: Any, t: Any) -> Any:
    """Return the number between two: a at t = 0, b at t = 1."""
    return a + (b - a) * t


def _length(m: Any, x: Sequence[Any]) -> Any:
    return m.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])

"""Distances from meshes and height fields, in compiled code: values between the nodes of a field, one point at a time.

A mesh has a grid of signed distances (`physics.files.geometry.distance_field`), a height field its heights, between
which the ground is bilinear.
"""

from typing import Any

from ....physics.machine.codegen.words import FLOAT, FLOATS, INT, Function, Module
from ..kernels.layout import GEOM, LANES, geom_numbers

_SHORT = 1e-9


class Fields:
    """The compiled functions: they turn local places (3, LANES) into distances and directions (4, LANES).

    Attributes:
        mesh: from the grid of a mesh.
        ground: from a height field.
    """

    def __init__(self, module: Module) -> None:
        self.mesh = _mesh(module)
        self.ground = _ground(module)


def _in_field(f: Function, x: Any, low: Any, cell: Any, count: Any) -> tuple[Any, Any, Any]:
    """Return the cell of a place or next to it, how far it is through the cell, and how far beyond the field, m."""
    place = (x - low) / cell
    last = f.convert(count - 1, FLOAT)
    inside = f.minimum(f.maximum(place, 0.0), last)
    first = f.convert(f.floor(f.minimum(inside, last - 1.0)), INT)
    return first, inside - f.convert(first, FLOAT), (place - inside) * cell


def _mesh(module: Module) -> Function:
    with module.function("from_mesh", geom=GEOM, places=FLOATS, found=FLOATS) as (f, geom, places, found):
        low, cell = geom_numbers(geom, "low"), geom_numbers(geom, "cell")
        counts = geom.nx, geom.ny, geom.nz
        with f.loop(0, LANES) as lane:
            p = [places[lane + LANES * c] for c in range(3)]
            (i, u, bx), (j, v, by), (k, w, bz) = (_in_field(f, p[c], low[c], cell[c], counts[c]) for c in range(3))
            at = (i * counts[1] + j) * counts[2] + k
            corner = [
                geom.values[at + (counts[1] * counts[2] * a + counts[2] * b + c)]
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
            inverse = 1.0 / f.maximum(_length(f, gradient), _SHORT)
            away = [g * inverse for g in gradient]
            # Outside of the grid the surface is about `value` below the nearest place of the grid.
            beyond = [b + a * value for b, a in zip((bx, by, bz), away, strict=True)]
            out = _length(f, [bx, by, bz]) > _SHORT
            far_out = _length(f, beyond)
            inverse = 1.0 / f.maximum(far_out, _SHORT)
            found[lane] = f.select(out, far_out, value)
            for c in range(3):
                found[lane + LANES * (1 + c)] = f.select(out, beyond[c] * inverse, away[c])
    return f


def _ground(module: Module) -> Function:
    with module.function("from_ground", geom=GEOM, places=FLOATS, found=FLOATS) as (f, geom, places, found):
        low, cell = geom_numbers(geom, "low"), geom_numbers(geom, "cell")
        with f.loop(0, LANES) as lane:
            x, y, z = (places[lane + LANES * c] for c in range(3))
            (i, u, _), (j, v, _) = _in_field(f, x, low[0], cell[0], geom.nx), _in_field(f, y, low[1], cell[1], geom.ny)
            a, b, c, d = (geom.values[(j + m) * geom.nx + i + n] for m in (0, 1) for n in (0, 1))
            height = a + (b - a) * u + (c - a) * v + (d - c - b + a) * u * v
            slope_x = ((b - a) * (1.0 - v) + (d - c) * v) / cell[0]
            slope_y = ((c - a) * (1.0 - u) + (d - b) * u) / cell[1]
            inverse = 1.0 / f.sqrt(slope_x * slope_x + slope_y * slope_y + 1.0)
            found[lane] = (z - height) * inverse
            for n, away in enumerate((slope_x * inverse * -1.0, slope_y * inverse * -1.0, inverse)):
                found[lane + LANES * (1 + n)] = away
    return f


def _mix(a: Any, b: Any, t: Any) -> Any:
    """Return the number between two: a at t = 0, b at t = 1."""
    return a + (b - a) * t


def _length(f: Function, x: list[Any]) -> Any:
    return f.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])

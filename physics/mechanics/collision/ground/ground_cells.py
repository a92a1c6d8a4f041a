"""The surface of a height field in one lane: cells, triangles, columns, and convex edges, in the frame of the field.

Triangle 0 of cell (r, c) has the vertices (r, c), (r, c + 1), (r + 1, c + 1), triangle 1 the vertices (r, c),
(r + 1, c + 1), (r + 1, c). Over a triangle the surface is z = h + slope_x (x - x0) + slope_y (y - y0).
"""

from typing import Any

import taichi as ti

from ....base.math import Vec3, func
from ....base.math.lanes import LaneValue, let


class GroundCells(LaneValue):
    """The numbers of a height field, and a range of its cells.

    Attributes:
        dx, dy: sides of a cell along x and y (m).
        per_x, per_y: 1 / dx and 1 / dy (1/m).
        x, y: coordinates of vertex (0, 0) (m).
        slack: angle (rad) up to which two triangles count as flat.
        adr: index of the first height.
        nrow, ncol: numbers of heights.
        r0, r1, c0, c1: first and last row and column of the cells in the range; none if r0 > r1 or c0 > c1.
    """

    def __init__(self, dx: Any, dy: Any, per_x: Any, per_y: Any, x: Any, y: Any, slack: Any, *counts: Any) -> None:
        self.dx, self.dy, self.per_x, self.per_y = map(let, (dx, dy, per_x, per_y))
        self.x, self.y, self.slack = map(let, (x, y, slack))
        self.adr, self.nrow, self.ncol, self.r0, self.r1, self.c0, self.c1 = map(let, counts)

    def parts(self) -> tuple:
        """Return the components."""
        counts = self.adr, self.nrow, self.ncol, self.r0, self.r1, self.c0, self.c1
        return self.dx, self.dy, self.per_x, self.per_y, self.x, self.y, self.slack, *counts


class Slope(LaneValue):
    """The plane of a triangle: its height at vertex (r, c) of the cell (m), and its slopes along x and y."""

    def __init__(self, height: Any, along_x: Any, along_y: Any) -> None:
        self.height, self.along_x, self.along_y = map(let, (height, along_x, along_y))

    def parts(self) -> tuple:
        """Return the components."""
        return self.height, self.along_x, self.along_y

    def square(self) -> Any:
        """Return the squared length of (slopes, 1)."""
        return 1.0 + self.along_x * self.along_x + self.along_y * self.along_y

    def normal(self) -> Vec3:
        """Return the unit normal, upward."""
        scale = let(1.0 / ti.sqrt(self.square()))
        return Vec3(-self.along_x * scale, -self.along_y * scale, scale)


@func
def ground_under(model, lanes, g: ti.i32, low, high):
    """Return the height field of geom g, with the range of cells under a box from `low` to `high`."""
    k = model.geom_hfieldid[g]
    dx, dy = lanes.real(model.hfield_step.at(k, 0)), lanes.real(model.hfield_step.at(k, 1))
    x, y = -lanes.real(model.hfield_size.at(k, 0)), -lanes.real(model.hfield_size.at(k, 1))
    nrow, ncol = model.hfield_nrow[k], model.hfield_ncol[k]
    # Bounds are clamped as real numbers, which may be beyond any integer.
    per_x, per_y = 1.0 / dx, 1.0 / dy
    c0, c1 = _cells(ncol, (low.x - x) * per_x, (high.x - x) * per_x)
    r0, r1 = _cells(nrow, (low.y - y) * per_y, (high.y - y) * per_y)
    return GroundCells(
        dx, dy, per_x, per_y, x, y, model.hfield_slack[k], model.hfield_adr[k], nrow, ncol, r0, r1, c0, c1
    )


@func
def _cells(count: ti.i32, low, high):
    """Return the first and the last cell between two coordinates (cells) in a row of `count` vertices.

    The first is after the last if no cell is in range, as for coordinates that are not numbers.
    """
    first, last = 1, 0
    if low <= count - 1.0 and high >= 0.0:
        first = ti.cast(ti.floor(ti.max(low, 0.0)), ti.i32)
        last = ti.cast(ti.floor(ti.min(high, count - 2.0)), ti.i32)
    return ti.min(first, count - 2), last


@func
def highest_below(model, lanes, g: ti.i32, low, high):
    """Return an upper bound of the heights under a box, from four entries of the pyramid; -1e30 beside the field."""
    ground = ground_under(model, lanes, g, low, high)
    top = lanes.real(-1e30)
    if ground.r0 <= ground.r1 and ground.c0 <= ground.c1:
        # The level on which the range is at most two entries wide and high.
        k, level = model.geom_hfieldid[g], 0
        span = ti.max(ground.r1 - ground.r0, ground.c1 - ground.c0)
        while (span >> level) > 0:
            level += 1
        first = model.level_peakadr[model.hfield_leveladr[k] + level]
        width = ((ground.ncol - 2) >> level) + 1
        for corner in range(4):
            r, c = ground.r0, ground.c0
            if corner & 1 == 1:
                r = ground.r1
            if corner & 2 == 2:
                c = ground.c1
            top = ti.max(top, lanes.real(model.hfield_peak[first + (r >> level) * width + (c >> level)]))
    return top


@func
def reaches(model, lanes, g: ti.i32, ground, r: ti.i32, c: ti.i32, low):
    """Return True if the ground of a cell reaches a height, or if r, c lies beyond the last cell."""
    high = True
    if r <= ground.nrow - 2 and c <= ground.ncol - 2:
        first = model.level_peakadr[model.hfield_leveladr[model.geom_hfieldid[g]]]
        high = lanes.real(model.hfield_peak[first + r * (ground.ncol - 1) + c]) >= low
    return high


@func
def height_of(model, lanes, ground, r: ti.i32, c: ti.i32):
    """Return the height of a vertex (m)."""
    return lanes.real(model.hfield_height[ground.adr + r * ground.ncol + c])


@func
def vertex(model, lanes, ground, r: ti.i32, c: ti.i32):
    """Return the position of a vertex (m)."""
    return Vec3(ground.x + ground.dx * c, ground.y + ground.dy * r, height_of(model, lanes, ground, r, c))


@func
def slope_of(model, lanes, ground, r: ti.i32, c: ti.i32, side: ti.i32):
    """Return the plane of triangle `side` of a cell."""
    h00, h11 = height_of(model, lanes, ground, r, c), height_of(model, lanes, ground, r + 1, c + 1)
    along_x, along_y = lanes.real(0.0), lanes.real(0.0)
    if side == 0:
        h01 = height_of(model, lanes, ground, r, c + 1)
        along_x, along_y = (h01 - h00) * ground.per_x, (h11 - h01) * ground.per_y
    else:
        h10 = height_of(model, lanes, ground, r + 1, c)
        along_x, along_y = (h11 - h10) * ground.per_x, (h10 - h00) * ground.per_y
    return Slope(h00, along_x, along_y)


@func
def over(ground, r: ti.i32, c: ti.i32, slope, point):
    """Return how far a point is vertically over the plane of a triangle of cell (r, c), negative below it (m)."""
    x, y = point.x - (ground.x + ground.dx * c), point.y - (ground.y + ground.dy * r)
    return point.z - slope.height - slope.along_x * x - slope.along_y * y


@func
def is_over(ground, r: ti.i32, c: ti.i32, side: ti.i32, point, slack):
    """Return True if a point is vertically over a triangle, or beside it by at most `slack` (m)."""
    u, v = (point.x - ground.x) * ground.per_x - c, (point.y - ground.y) * ground.per_y - r
    wide = slack * ti.max(ground.per_x, ground.per_y) + 1e-9
    low, high = v, u
    if side == 1:
        low, high = u, v
    return low >= -wide and low <= high + wide and high <= 1.0 + wide


@func
def column_at(ground, point):
    """Return row, column and number of the triangle under a point, or -1 three times if no triangle is there."""
    u, v = (point.x - ground.x) * ground.per_x, (point.y - ground.y) * ground.per_y
    r, c, side = -1, -1, -1
    if u >= 0.0 and v >= 0.0 and u <= ground.ncol - 1.0 and v <= ground.nrow - 1.0:
        r = ti.min(ti.cast(ti.floor(v), ti.i32), ground.nrow - 2)
        c = ti.min(ti.cast(ti.floor(u), ti.i32), ground.ncol - 2)
        side = ti.cast(v - r > u - c, ti.i32)
    return r, c, side

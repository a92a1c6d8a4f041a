"""Rays through height fields.

A ray walks over the cells below it. Wherever it crosses an edge of the triangles, its height above the edge is computed
once, for the triangles on both sides: it goes through a surface where that number changes its sign. So no ray slips
through between two triangles, and no triangle is met by a formula of its own. Blocks of cells that lie all below the
ray, or all above it, are passed at once (`field_tables.py`; after Tevs, Ihrke and Seidel, Maximum mipmaps for fast,
accurate, and scalable dynamic height field rendering, I3D 2008).

Coordinates along the rows and columns are in cells, and count from the cell where the walk begins: in single precision,
too, a large field loses no digits there.
"""

import taichi as ti

from ..shapes.ray import MISS
from .field_tables import (
    BASE,
    COLUMNS,
    ELEVATION,
    FIRST_BLOCK,
    FIRST_HEIGHT,
    LEVELS,
    PER_X,
    PER_Y,
    RADIUS_X,
    RADIUS_Y,
    ROWS,
    STEP,
)
from .traced import Traced

# what of a field is met: triangle n >= 0, or one of these; -1 is nothing
LEFT, RIGHT, FRONT, BACK, BOTTOM, BASE_TOP = range(-2, -8, -1)  # x, x, y, y, z; z = 0, which is met from inside only
_PARALLEL = 1.0e-15  # component of a direction below which it does not count, as MuJoCo has it
_TINY = 1.0e-30
_FAR = 1.0e15  # farther than anything is


@ti.func
def interval(origin, along, low, high):
    """Return where a coordinate of a ray is between two numbers: from, to; from > to if it never is."""
    first, last = origin * 0.0 - _FAR, origin * 0.0 + _FAR
    if ti.abs(along) > _PARALLEL:
        a, b = (low - origin) / along, (high - origin) / along
        first, last = ti.min(a, b), ti.max(a, b)
    elif origin < low or origin > high:
        first, last = last, first
    return first, last


@ti.func
def surface(corners, x, y):
    """Height (m) at a place in a cell: of the triangle of its corners 0, 1, 3 where x >= y, else of 0, 3, 2."""
    height = corners[0] + x * (corners[1] - corners[0]) + y * (corners[3] - corners[1])
    if y > x:
        height = corners[0] + y * (corners[2] - corners[0]) + x * (corners[3] - corners[2])
    return height


@ti.func
def within(value, low, high):
    """Return the number from low to high that is nearest to a value."""
    return ti.max(low, ti.min(high, value))


class Fields(Traced):
    """The height fields of `FieldTables`, in the precision `real`; `row` is the number of one of them.

    Rays are in the field's frame, with a unit direction; distances are metres.
    """

    def __init__(self, shapes, measures, heights, blocks, real):
        self.shapes, self.measures, self.heights, self.blocks = shapes, measures, heights, blocks
        self.real = real

    @ti.func
    def measure(self, row, column: ti.template()):
        """A number of `FieldTables.measures`."""
        return ti.cast(self.measures[row, column], self.real)

    @ti.func
    def height(self, row, j, i):
        """Height (m) of the vertex in row j and column i."""
        at = self.shapes[row, FIRST_HEIGHT] + j * self.shapes[row, COLUMNS] + i
        return ti.cast(self.heights[at], self.real) * self.measure(row, ELEVATION)

    @ti.func
    def corners(self, row, j, i):
        """Heights (m) of the corners of a cell: at (x, y) = (0, 0), (1, 0), (0, 1), (1, 1)."""
        return ti.Vector([self.height(row, j, i), self.height(row, j, i + 1), self.height(row, j + 1, i), self.height(row, j + 1, i + 1)])

    @ti.func
    def block(self, row, level, j, i):
        """Least and greatest height (m) in the block of a level that has the cell in row j and column i."""
        shift = STEP * level
        wide = ((self.shapes[row, COLUMNS] - 2) >> shift) + 1
        at = self.shapes[row, FIRST_BLOCK + level - 1] + (j >> shift) * wide + (i >> shift)
        elevation = self.measure(row, ELEVATION)
        return ti.cast(self.blocks[at, 0], self.real) * elevation, ti.cast(self.blocks[at, 1], self.real) * elevation

    @ti.func
    def normal(self, row, met):
        """Outward direction, of any length, of a triangle or another of the surfaces."""
        outward = ti.Vector([0.0, 0.0, 1.0]) * self.measure(row, BASE)
        if met >= 0:
            cell, wide = met >> 1, self.shapes[row, COLUMNS] - 1
            z = self.corners(row, cell // wide, cell % wide)
            slope_x, slope_y = z[1] - z[0], z[3] - z[1]
            if met % 2 == 1:
                slope_x, slope_y = z[3] - z[2], z[2] - z[0]
            outward.x, outward.y = -slope_x * self.measure(row, PER_X), -slope_y * self.measure(row, PER_Y)
            outward.z = outward.z * 0.0 + 1.0
        elif met != BASE_TOP:
            side = ti.select(met == LEFT or met == FRONT or met == BOTTOM, -1.0, 1.0)
            outward.x = ti.select(met == LEFT or met == RIGHT, side, 0.0)
            outward.y = ti.select(met == FRONT or met == BACK, side, 0.0)
            outward.z = ti.select(met == BOTTOM, side, 0.0)
        return outward

    @ti.func
    def place(self, row, at):
        """Row and column of the cell that a point is above, and where it is in it, from (0, 0) to (1, 1).

        In double precision: the place in the cell is the small difference of large numbers.
        """
        u = (ti.cast(at.x, ti.f64) + self.measures[row, RADIUS_X]) * self.measures[row, PER_X]
        v = (ti.cast(at.y, ti.f64) + self.measures[row, RADIUS_Y]) * self.measures[row, PER_Y]
        i = within(ti.cast(ti.floor(u), ti.i32), 0, self.shapes[row, COLUMNS] - 2)
        j = within(ti.cast(ti.floor(v), ti.i32), 0, self.shapes[row, ROWS] - 2)
        x, y = ti.cast(u - i, self.real), ti.cast(v - j, self.real)
        zero, one = at.x * 0.0, at.x * 0.0 + 1.0
        return j, i, within(x, zero, one), within(y, zero, one)

    @ti.func
    def hull(self, row, origin, direction, top):
        """Return where a ray is in the box around the field: from, to, and the faces there; -1 for the lid."""
        x_in, x_out = interval(origin.x, direction.x, -self.measure(row, RADIUS_X), self.measure(row, RADIUS_X))
        y_in, y_out = interval(origin.y, direction.y, -self.measure(row, RADIUS_Y), self.measure(row, RADIUS_Y))
        z_in, z_out = interval(origin.z, direction.z, -self.measure(row, BASE), top)
        t_in, face_in = z_in, ti.select(direction.z > 0.0, BOTTOM, -1)
        t_out, face_out = z_out, ti.select(direction.z > 0.0, -1, BOTTOM)
        if y_in > t_in:
            t_in, face_in = y_in, ti.select(direction.y > 0.0, FRONT, BACK)
        if x_in > t_in:
            t_in, face_in = x_in, ti.select(direction.x > 0.0, LEFT, RIGHT)
        if y_out < t_out:
            t_out, face_out = y_out, ti.select(direction.y > 0.0, BACK, FRONT)
        if x_out < t_out:
            t_out, face_out = x_out, ti.select(direction.x > 0.0, RIGHT, LEFT)
        return t_in, t_out, face_in, face_out

    @ti.func
    def nearest(self, row, origin, direction, start, limit, both_sides: ti.template()):
        """The first surface from `start` (m) to before `limit`: distance and what it is, (limit, -1) if none.

        The field is the solid between its base and its heights. Only where a ray goes into it does it meet a surface,
        unless `both_sides`: then it also meets what it comes out of, and from inside the top of the base, z = 0.
        """
        t, met = limit, -1
        lowest, top = self.block(row, self.shapes[row, LEVELS], 0, 0)
        t_in, t_out, face_in, face_out = self.hull(row, origin, direction, top)
        first = ti.max(start, t_in)
        if first <= t_out and first < limit:
            at = origin + first * direction
            j, i, x, y = self.place(row, at)
            gap = at.z - surface(self.corners(row, j, i), x, y)
            if t_in >= start and face_in == -1:
                gap = ti.max(gap, 0.0)  # on the lid
            if t_in >= start and gap < 0.0:
                t, met = first, face_in
            else:
                length = ti.min(limit, t_out) - first
                if ti.static(both_sides):
                    down = at.z * 0.0 + _FAR
                    if ti.abs(direction.z) > _PARALLEL:
                        down = -at.z / direction.z
                    if gap < 0.0 and 0.0 <= down <= length:
                        length, face_out = down, BASE_TOP
                way, found = self.walk(row, at.z, direction, j, i, x, y, gap, length, lowest, top, both_sides)
                if ti.static(both_sides):
                    if found == -1 and gap < 0.0:
                        way, found = length, face_out
                if found != -1 and first + way < limit:
                    t, met = first + way, found
        return t, met

    @ti.func
    def first_level(self, row, cells):
        """Return the level of the pyramid whose blocks are about half as long as a way of that many cells."""
        level = 0
        while level < self.shapes[row, LEVELS] and ti.cast(2 << (STEP * (level + 1)), self.real) <= cells:
            level += 1
        return level

    @ti.func
    def walk(self, row, z, direction, j0, i0, x0, y0, gap, length, lowest, top, both_sides: ti.template()):
        """Find the first triangle within a length (m) from (x0, y0) in a cell, at the height z.

        Args:
            z: height (m) where the ray begins.
            direction: unit vector.
            j0: row of the cell where it begins.
            i0: column.
            x0: place in the cell.
            y0: place in the cell.
            gap: height (m) above the triangle there.
            length: of the way (m).
            lowest: height (m) of the lowest vertex.
            top: height (m) of the highest vertex.
            both_sides: whether triangles are met from below.

        Returns:
            The way to it (m) and its number; -1: none.
        """
        # below the lowest and above the highest vertex there is nothing to find; see `ends` in `cross`
        end, ends = length, 0
        if ti.abs(direction.z) > _PARALLEL:
            border = (ti.select(direction.z < 0.0, lowest, top) - z) / direction.z
            if border <= length:
                end, ends = ti.max(border, 0.0), ti.select(direction.z < 0.0, -1, 1)
        du, dv = direction.x * self.measure(row, PER_X), direction.y * self.measure(row, PER_Y)
        ahead_x, ahead_y = ti.cast(du > 0.0, ti.i32), ti.cast(dv > 0.0, ti.i32)
        along_x, along_y = ti.abs(direction.x) > _PARALLEL, ti.abs(direction.y) > _PARALLEL
        each_x, each_y = 1.0 / ti.select(along_x, du, 1.0), 1.0 / ti.select(along_y, dv, 1.0)
        level = self.first_level(row, end * ti.max(ti.abs(du), ti.abs(dv)))
        j, i, way, found = j0, i0, z * 0.0, -1
        inside, known = gap < 0.0, True
        going = True
        while going:
            # where the ray leaves the block
            shift = STEP * level
            next_i, next_j = ((i >> shift) + ahead_x) << shift, ((j >> shift) + ahead_y) << shift
            to_x = ti.select(along_x, (ti.cast(next_i - i0, self.real) - x0) * each_x, _FAR)
            to_y = ti.select(along_y, (ti.cast(next_j - j0, self.real) - y0) * each_y, _FAR)
            leave = ti.max(way, ti.min(end, to_x, to_y))
            is_last = end <= to_x and end <= to_y
            passed = True
            if level > 0:
                low, high = self.block(row, level, j, i)
                begin_z, leave_z = z + way * direction.z, z + leave * direction.z
                passed = ti.select(inside, ti.max(begin_z, leave_z) < low, ti.min(begin_z, leave_z) > high)
                known = known and not passed
            else:
                x, y = x0 - ti.cast(i - i0, self.real), y0 - ti.cast(j - j0, self.real)
                last = ti.select(is_last, ends, 0)
                t, triangle, gap_out = self.cross(row, 
                    j, i, x, y, du, dv, z, direction.z, way, leave, gap, inside, known, last, both_sides
                )
                gap, inside, known = gap_out, gap_out < 0.0, True
                if triangle >= 0:
                    way, found, going = t, triangle, False
            if going and passed:
                # to the block behind the edge
                wide, deep = self.shapes[row, COLUMNS] - 1, self.shapes[row, ROWS] - 1
                to_i, to_j = i, j
                if to_x <= to_y:
                    to_i = next_i - 1 + ahead_x
                    deeper = j0 + ti.cast(ti.floor(y0 + leave * dv), ti.i32)
                    to_j = within(deeper, (j >> shift) << shift, ti.min(((j >> shift) + 1) << shift, deep) - 1)
                else:
                    to_j = next_j - 1 + ahead_y
                    farther = i0 + ti.cast(ti.floor(x0 + leave * du), ti.i32)
                    to_i = within(farther, (i >> shift) << shift, ti.min(((i >> shift) + 1) << shift, wide) - 1)
                going = not is_last and 0 <= to_i < wide and 0 <= to_j < deep
                above = shift + STEP
                if level < self.shapes[row, LEVELS] and (to_i >> above != i >> above or to_j >> above != j >> above):
                    level += 1
                i, j, way = to_i, to_j, leave
            elif going and level > 0:
                level -= 1
        return way, found

    @ti.func
    def cross(self, row, j, i, x, y, du, dv, z, dz, way, leave, gap, inside, known, last, both_sides: ti.template()):
        """Find where a ray goes through the triangles of a cell between two ways (m): the way, the triangle, the gap.

        The ray is at (x + t du, y + t dv) in the cell and at the height z + t dz; `gap` is its height above the field
        at `way`, if that is `known`, and `inside` is its sign. The gap that is returned is the one at `leave`, which is
        negative if `last` is -1 and not if it is 1, whatever rounding says. Triangle -1: it goes through none.
        """
        corners, zero = self.corners(row, j, i), x * 0.0
        from_x, to_x = within(x + way * du, zero, zero + 1.0), within(x + leave * du, zero, zero + 1.0)
        from_y, to_y = within(y + way * dv, zero, zero + 1.0), within(y + leave * dv, zero, zero + 1.0)
        first_gap, last_gap = gap, z + leave * dz - surface(corners, to_x, to_y)
        if not known:
            first_gap = z + way * dz - surface(corners, from_x, from_y)
        if last != 0:
            last_gap = ti.select(last == -1, ti.min(last_gap, -_TINY), ti.max(last_gap, 0.0))
        # the diagonal between the triangles
        first_side, last_side = from_x - from_y, to_x - to_y
        middle, middle_gap = leave, last_gap
        if (first_side < 0.0) != (last_side < 0.0):
            share = first_side / (first_side - last_side)
            middle = way + share * (leave - way)
            across = from_x + share * (to_x - from_x)
            middle_gap = z + middle * dz - (corners[0] + across * (corners[3] - corners[0]))
        # the first change of sign; one at the beginning where rounding makes blocks and triangles differ
        t, triangle = leave, -1
        below = 2 * (j * (self.shapes[row, COLUMNS] - 1) + i)
        if (first_gap < 0.0) != inside and (both_sides or not inside):
            t, triangle = way, below + ti.cast(first_side < 0.0, ti.i32)
        elif (first_gap < 0.0) != (middle_gap < 0.0) and (both_sides or middle_gap < 0.0):
            t = way + (middle - way) * first_gap / (first_gap - middle_gap)
            triangle = below + ti.cast(first_side < 0.0, ti.i32)
        elif (middle_gap < 0.0) != (last_gap < 0.0) and (both_sides or last_gap < 0.0):
            t = middle + (leave - middle) * middle_gap / (middle_gap - last_gap)
            triangle = below + ti.cast(last_side < 0.0, ti.i32)
        return t, triangle, last_gap

"""Rays through height fields.

A ray walks over the cells below it. Wherever it crosses an edge of the triangles, its height above the edge is computed
once, for the triangles on both sides: it goes through a surface where that number changes its sign. So no ray slips
through between two triangles, and all triangles are met by the same formula. Blocks of cells that lie all below the
ray, or all above it, are passed at once (`field_tables.py`; after Tevs, Ihrke and Seidel, Maximum mipmaps for fast,
accurate, and scalable dynamic height field rendering, I3D 2008).

Coordinates along the rows and columns are in cells, and count from the cell where the walk begins: in single precision,
too, a large field loses no digits there.
"""

import taichi as ti

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
)
from .traced import Traced

# parts of a field: triangle n >= 0, or one of these; -1 is nothing
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


class Line(Traced):
    """A ray over the cells of a field, by the way (m) from where it begins.

    It begins at (x, y) in the cell in row j and column i, at the height z (m), and goes du and dv cells and dz metres
    each metre. `along_x` and `along_y` say whether it goes along these axes at all.
    """

    def __init__(self, j, i, x, y, z, du, dv, dz, along_x, along_y, real):
        self.j, self.i, self.x, self.y, self.z = j, i, x, y, z
        self.du, self.dv, self.dz = du, dv, dz
        self.along_x, self.along_y, self.real = along_x, along_y, real

    @ti.func
    def leaves(self, j, i, level):
        """Ways to where it leaves the columns and the rows of the block of 2^level cells a side that has this cell."""
        next_i = ((i >> level) + ti.cast(self.du > 0.0, ti.i32)) << level
        next_j = ((j >> level) + ti.cast(self.dv > 0.0, ti.i32)) << level
        to_x = (ti.cast(next_i - self.i, self.real) - self.x) / ti.select(self.along_x, self.du, 1.0)
        to_y = (ti.cast(next_j - self.j, self.real) - self.y) / ti.select(self.along_y, self.dv, 1.0)
        return ti.select(self.along_x, to_x, _FAR), ti.select(self.along_y, to_y, _FAR)

    @ti.func
    def enters(self, j, i, level, by_x, way, deep, wide):
        """Row and column of the cell behind a block that it leaves at a way, along x or else y."""
        to_j, to_i = j, i
        first_j, first_i, size = (j >> level) << level, (i >> level) << level, 1 << level
        if by_x:
            to_i = ti.select(self.du > 0.0, first_i + size, first_i - 1)
            to_j = within(self.j + ti.cast(ti.floor(self.y + way * self.dv), ti.i32), first_j, first_j + size - 1)
            to_j = ti.min(to_j, deep - 1)
        else:
            to_j = ti.select(self.dv > 0.0, first_j + size, first_j - 1)
            to_i = within(self.i + ti.cast(ti.floor(self.x + way * self.du), ti.i32), first_i, first_i + size - 1)
            to_i = ti.min(to_i, wide - 1)
        return to_j, to_i

    @ti.func
    def place(self, j, i, way):
        """The place of a point in a cell, at its edge if rounding puts it beyond."""
        zero = way * 0.0
        x = self.x - ti.cast(i - self.i, self.real) + way * self.du
        y = self.y - ti.cast(j - self.j, self.real) + way * self.dv
        return within(x, zero, zero + 1.0), within(y, zero, zero + 1.0)

    @ti.func
    def height(self, way):
        """Its height (m)."""
        return self.z + way * self.dz


class TracedHeightFields(Traced):
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
        first, second = self.height(row, j, i), self.height(row, j, i + 1)
        return ti.Vector([first, second, self.height(row, j + 1, i), self.height(row, j + 1, i + 1)])

    @ti.func
    def block(self, row, level, j, i):
        """Least and greatest height (m) in the block of a level that has the cell in row j and column i."""
        wide = ((self.shapes[row, COLUMNS] - 2) >> level) + 1
        at = self.shapes[row, FIRST_BLOCK + level - 1] + (j >> level) * wide + (i >> level)
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
    def place(self, row, origin, direction, way):
        """Row and column of the cell below a point of a ray, and where it is in that cell, from (0, 0) to (1, 1).

        In double precision: the place in the cell is the small difference of large numbers.
        """
        at_x = ti.cast(origin.x, ti.f64) + ti.cast(way, ti.f64) * ti.cast(direction.x, ti.f64)
        at_y = ti.cast(origin.y, ti.f64) + ti.cast(way, ti.f64) * ti.cast(direction.y, ti.f64)
        u = (at_x + self.measures[row, RADIUS_X]) * self.measures[row, PER_X]
        v = (at_y + self.measures[row, RADIUS_Y]) * self.measures[row, PER_Y]
        i = within(ti.cast(ti.floor(u), ti.i32), 0, self.shapes[row, COLUMNS] - 2)
        j = within(ti.cast(ti.floor(v), ti.i32), 0, self.shapes[row, ROWS] - 2)
        x, y = ti.cast(u - i, self.real), ti.cast(v - j, self.real)
        zero, one = way * 0.0, way * 0.0 + 1.0
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
        """The first surface from `start` (m) to before `limit`: distance and part of the field; (limit, -1) if none.

        The field is the solid between its base and its heights. Only where a ray goes into it does it meet a surface,
        unless `both_sides`: then it also meets the surface where it leaves, and from inside the top of the base, z = 0.
        """
        t, met = limit, -1
        lowest, top = self.block(row, self.shapes[row, LEVELS], 0, 0)
        t_in, t_out, face_in, face_out = self.hull(row, origin, direction, top)
        first = ti.max(start, t_in)
        if first <= t_out and first < limit:
            j, i, x, y = self.place(row, origin, direction, first)
            z = origin.z + first * direction.z
            gap = z - surface(self.corners(row, j, i), x, y)
            if t_in >= start and face_in == -1:
                gap = ti.max(gap, 0.0)  # on the lid
            if t_in >= start and gap < 0.0:
                t, met = first, face_in
            elif ti.static(both_sides) and gap == 0.0 and t_in < start:
                t, met = first, 2 * (j * (self.shapes[row, COLUMNS] - 1) + i) + ti.cast(y > x, ti.i32)
            else:
                out = t_out - first
                if ti.static(both_sides):
                    down = z * 0.0 + _FAR
                    if ti.abs(direction.z) > _PARALLEL:
                        down = -z / direction.z
                    if gap < 0.0 and 0.0 <= down <= out:
                        out, face_out = down, BASE_TOP
                du, dv = direction.x * self.measure(row, PER_X), direction.y * self.measure(row, PER_Y)
                along_x, along_y = ti.abs(direction.x) > _PARALLEL, ti.abs(direction.y) > _PARALLEL
                dz = direction.z
                line = Line(j, i, x, y, z, du, dv, dz, along_x, along_y, self.real)
                way, found = self.walk(row, line, gap, ti.min(out, limit - first), lowest, top, both_sides)
                if ti.static(both_sides):
                    if found == -1 and gap < 0.0:
                        way, found = out, face_out
                if found != -1 and first + way < limit:
                    t, met = first + way, found
        return t, met

    @ti.func
    def first_level(self, row, cells):
        """Return the level of the pyramid whose blocks are about half as long as a way of that many cells."""
        level = 0
        while level < self.shapes[row, LEVELS] and ti.cast(4 << level, self.real) <= cells:
            level += 1
        return level

    @ti.func
    def walk(self, row, line, gap, length, lowest, top, both_sides: ti.template()):
        """Find the first triangle along a line within a length (m): the way to it (m) and its number; -1: none.

        `gap` (m) is the line's height above the field where it begins, `lowest` and `top` are the field's extremes.
        """
        # The line ends at the height of the lowest vertex, or of the highest: there it has crossed the surface.
        end, sign = length, 0
        if ti.abs(line.dz) > _PARALLEL:
            border = (ti.select(line.dz < 0.0, lowest, top) - line.z) / line.dz
            if border <= length:
                end, sign = ti.max(border, 0.0), ti.select(line.dz < 0.0, -1, 1)
        level = self.first_level(row, end * ti.max(ti.abs(line.du), ti.abs(line.dv)))
        levels, deep, wide = self.shapes[row, LEVELS], self.shapes[row, ROWS] - 1, self.shapes[row, COLUMNS] - 1
        j, i, way, found = line.j, line.i, gap * 0.0, -1
        inside, known, going = gap < 0.0, True, True
        while going:
            to_x, to_y = line.leaves(j, i, level)
            leave = ti.max(way, ti.min(end, to_x, to_y))
            is_last, passed = end <= to_x and end <= to_y, True
            if level > 0:
                low, high = self.block(row, level, j, i)
                at, then = line.height(way), line.height(leave)
                passed = ti.select(inside, ti.max(at, then) < low, ti.min(at, then) > high)
                passed = passed and not (is_last and sign == ti.select(inside, 1, -1))
                known = known and not passed
            else:
                last = ti.select(is_last, sign, 0)
                t, triangle, gap_there = self.cross(row, line, j, i, way, leave, gap, inside, known, last, both_sides)
                gap, inside, known = gap_there, gap_there < 0.0, True
                if triangle >= 0:
                    way, found, going = t, triangle, False
            if going and passed:
                # Go to the block behind the edge: to a larger one, if it is in another block of the next level.
                to_j, to_i = line.enters(j, i, level, to_x <= to_y, leave, deep, wide)
                going = not is_last and 0 <= to_i < wide and 0 <= to_j < deep
                above = level + 1
                if level < levels and (to_i >> above != i >> above or to_j >> above != j >> above):
                    level += 1
                j, i, way = to_j, to_i, leave
            elif going:
                level -= 1
        return way, found

    @ti.func
    def cross(self, row, line, j, i, way, leave, gap, inside, known, last, both_sides: ti.template()):
        """Find where a line goes through the triangles of a cell between two ways (m): the way, the triangle, the gap.

        `gap` is its height above the field at `way`, if that is `known`, and `inside` is whether it is negative. The
        gap that is returned is the one at `leave`: negative if `last` is -1 and not if it is 1, whatever rounding says.
        Triangle -1: it goes through none.
        """
        corners = self.corners(row, j, i)
        from_x, from_y = line.place(j, i, way)
        to_x, to_y = line.place(j, i, leave)
        first_gap, last_gap = gap, line.height(leave) - surface(corners, to_x, to_y)
        if not known:
            first_gap = line.height(way) - surface(corners, from_x, from_y)
        if last != 0:
            last_gap = ti.select(last == -1, ti.min(last_gap, -_TINY), ti.max(last_gap, 0.0))
        # Between the triangles is the diagonal from corner 0 to corner 3.
        first_side, last_side = from_x - from_y, to_x - to_y
        middle, middle_gap = leave, last_gap
        if (first_side < 0.0) != (last_side < 0.0):
            share = first_side / (first_side - last_side)
            middle = way + share * (leave - way)
            across = from_x + share * (to_x - from_x)
            middle_gap = line.height(middle) - (corners[0] + across * (corners[3] - corners[0]))
        # Take the first change of sign; one at the beginning is where rounding makes blocks and triangles differ.
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

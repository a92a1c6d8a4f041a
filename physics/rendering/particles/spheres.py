"""Rays through the spheres of a group, and the light that spheres leave to a point near them.

A ray goes from slab to slab of cells (`cells.py`), along the axis that it follows most. In each of them it looks at the
cells that it comes near to by the largest radius, as a sphere is only in the cell of its center.
"""

import taichi as ti

from ...base.shapes import sphere
from ...base.shapes.ray import MISS, slope
from ..rays.mesh_tree import FIRST_NODE, FIRST_TRIANGLE
from ..rays.traced import Traced

# columns of the first row of a grid's numbers among the nodes of trees
LOW = 0  # 3 columns: the lower corner, from the middle of the environment's group, m
WIDTH = 3  # of a cell, m
LARGEST = 4  # radius, m
# and of the second row
COUNTS = 0  # 3 columns: cells along x, y and z
GRID_ROWS, GRID_COLUMNS = 2, 6

IN_ROW = 4
"""Starts of cells that are in a row of the table of trees."""

FIRST_CELL = 1
"""The column of a group of spheres, in the table of trees, with the row of that table where its cells start."""
# columns of a sphere among the corners of triangles, one row each
CENTER = 0  # 3 columns: from the middle of the environment's group, m
RADIUS = 3  # m
NUMBER = 4  # among the particles of all groups of the environment
COLOUR = 5  # 3 columns: linear light
_DARK = 1.0 / 512.0  # share of light below which no more spheres are asked
_WIDER = 1.001  # rounding must not take the edge of a sphere off

vec3 = ti.types.vector(3, ti.f32)
ivec3 = ti.types.vector(3, ti.i32)


class TracedSpheres(Traced):
    """Spheres in the arrays of meshes, single precision: `corners` has a row for each of them.

    Rays begin anywhere, and have a unit direction; distances are metres.
    """

    def __init__(self, trees, nodes, corners):
        self.trees, self.nodes, self.corners = trees, nodes, corners

    @ti.func
    def centre(self, item):
        """Centre of a sphere."""
        return vec3(self.corners[item, CENTER], self.corners[item, CENTER + 1], self.corners[item, CENTER + 2])

    @ti.func
    def colour(self, item):
        """Colour of a sphere, linear light."""
        return vec3(self.corners[item, COLOUR], self.corners[item, COLOUR + 1], self.corners[item, COLOUR + 2])

    @ti.func
    def number(self, item):
        """Return the number of a sphere among the particles of the environment."""
        return ti.cast(self.corners[item, NUMBER], ti.i32)

    @ti.func
    def start(self, cells, cell):
        """Return the place of the first sphere of a cell in the order of the group."""
        return self.trees[cells + cell // IN_ROW, cell % IN_ROW]

    @ti.func
    def meet(self, item, origin, direction, leaves):
        """Distance at which a ray enters a sphere, or else leaves it, MISS if it does not; may be negative."""
        away = self.centre(item) - origin
        slide = away.dot(direction)
        t = sphere.entry(vec3(self.corners[item, RADIUS], 0.0, 0.0), slide * direction - away, direction)
        if t < MISS:
            t = slide + ti.select(leaves, -t, t)
        return t

    @ti.func
    def nearest(self, group, origin, direction, start, limit, leaves, first_met):
        """The nearest sphere from `start` (m) to before `limit`: distance and row, (limit, -1) without a hit.

        The ray enters it, or leaves it if `leaves`. If `first_met`, it is any sphere between.
        """
        node, first = self.trees[group, FIRST_NODE], self.trees[group, FIRST_TRIANGLE]
        cells, width, room = self.trees[group, FIRST_CELL], self.nodes[node, WIDTH], _WIDER * self.nodes[node, LARGEST]
        low, counts = vec3(0.0, 0.0, 0.0), ivec3(0, 0, 0)
        t_in, t_out, inverse, main = start, limit, 1.0 / slope(direction), 0
        for c in ti.static(range(3)):
            low[c], counts[c] = self.nodes[node, LOW + c], ti.cast(self.nodes[node + 1, COUNTS + c], ti.i32)
            a = (low[c] - room - origin[c]) * inverse[c]
            b = (low[c] + width * ti.cast(counts[c], ti.f32) + room - origin[c]) * inverse[c]
            t_in, t_out = ti.max(t_in, ti.min(a, b)), ti.min(t_out, ti.max(a, b))
        best, found = limit, -1
        if t_in <= t_out:
            main = ti.select(ti.abs(direction.y) > ti.abs(direction.x), 1, 0)
            main = ti.select(ti.abs(direction.z) > ti.max(ti.abs(direction.x), ti.abs(direction.y)), 2, main)
            along, ahead, count = ti.f32(0.0), ti.f32(0.0), 0  # along the main axis
            for c in ti.static(range(3)):
                if c == main:
                    along, ahead, count = direction[c], (origin[c] - low[c]) / width, counts[c]
            room_cells, pace, step = room / width, width / ti.abs(along), ti.select(along > 0.0, 1, -1)
            slab = ti.cast(ti.floor(ahead + t_in * along / width - ti.cast(step, ti.f32) * room_cells), ti.i32)
            slab = ti.max(0, ti.min(count - 1, slab))
            while 0 <= slab < count:
                edge = ti.cast(ti.select(step > 0, slab, slab + 1), ti.f32) - ahead  # cells to where the slab begins
                enters = edge * ti.cast(step, ti.f32) * pace - room_cells * pace
                near, far = ti.max(t_in, enters), ti.min(t_out, enters + pace * (1.0 + 2.0 * room_cells))
                if enters > ti.min(best, t_out) or (first_met and found >= 0):
                    break
                lows, highs = ivec3(0, 0, 0), ivec3(0, 0, 0)
                for c in ti.static(range(3)):
                    p, q = origin[c] - low[c] + near * direction[c], origin[c] - low[c] + far * direction[c]
                    lows[c] = ti.max(0, ti.cast(ti.floor((ti.min(p, q) - room) / width), ti.i32))
                    highs[c] = ti.min(counts[c] - 1, ti.cast(ti.floor((ti.max(p, q) + room) / width), ti.i32))
                    if c == main:
                        lows[c], highs[c] = slab, slab
                for z in range(lows.z, highs.z + 1):
                    for y in range(lows.y, highs.y + 1):
                        row = (z * counts.y + y) * counts.x
                        for item in range(
                            first + self.start(cells, row + lows.x), first + self.start(cells, row + highs.x + 1)
                        ):
                            t = self.meet(item, origin, direction, leaves)
                            if t >= start and t < best:
                                best, found = t, item
                slab += step
        return best, found

    @ti.func
    def openness(self, group, point, normal, strength, reach, own):
        """Share of the sky's light that spheres near a point let through; the sphere `own` does not count.

        Each dims it out to `reach` of its radii.
        """
        node, first = self.trees[group, FIRST_NODE], self.trees[group, FIRST_TRIANGLE]
        cells, width, far = self.trees[group, FIRST_CELL], self.nodes[node, WIDTH], reach * self.nodes[node, LARGEST]
        lows, highs, counts = ivec3(0, 0, 0), ivec3(0, 0, 0), ivec3(0, 0, 0)
        for c in ti.static(range(3)):
            counts[c] = ti.cast(self.nodes[node + 1, COUNTS + c], ti.i32)
            off = point[c] - self.nodes[node, LOW + c]
            lows[c] = ti.max(0, ti.cast(ti.floor((off - far) / width), ti.i32))
            highs[c] = ti.min(counts[c] - 1, ti.cast(ti.floor((off + far) / width), ti.i32))
        light = ti.f32(1.0)
        for z in range(lows.z, highs.z + 1):
            for y in range(lows.y, highs.y + 1):
                row = (z * counts.y + y) * counts.x
                if lows.x <= highs.x and light > _DARK:
                    for item in range(
                        first + self.start(cells, row + lows.x), first + self.start(cells, row + highs.x + 1)
                    ):
                        if item != own:
                            light *= self.light_past(item, point, normal, strength, reach)
        return light

    @ti.func
    def light_past(self, item, point, normal, strength, reach):
        """Share of the sky's light that a sphere lets through, as `DrawnScene.openness` has it of solids."""
        away, radius = self.centre(item) - point, self.corners[item, RADIUS]
        light, limit = ti.f32(1.0), reach * radius
        if away.dot(away) < limit * limit:
            square = ti.max(away.dot(away), radius * radius)
            facing = ti.max(0.0, away.dot(normal)) / ti.sqrt(square)
            covered = ti.max(0.0, radius * radius / square - 1.0 / (reach * reach))
            light = 1.0 - strength * facing * covered
        return light

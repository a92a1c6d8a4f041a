"""Height fields in a kernel: where rays enter them, and how they look. Rays and points are in the geom's frame.

They are lit by normals that turn smoothly from vertex to vertex, except over creases, such as the edges of steps; their
hollows see less of the sky (`appearance.openness`).
"""

import taichi as ti

from ...base.shapes.ray import MISS
from ..rays.field_tables import COLUMNS, FIRST_HEIGHT, PER_X, PER_Y, ROWS
from ..rays.field_walk import within
from ..rays.traced import Traced
from ..shading import mix, vec3
from .appearance import TREE

# Sines between edges in line: up to the first their vertex is smooth, from the second on it is a crease.
_ROUND, _CREASE = 0.35, 0.65


class ShadedHeightFields(Traced):
    """The height fields of `DrawnAppearance`, with `appearance.openness`."""

    def __init__(self, fields, dressed, openness):
        self.fields, self.dressed, self.openness = fields, dressed, openness

    @ti.func
    def entry(self, row, origin, direction, start):
        """Distance to where a ray first goes into a field from `start` on, and the surface; (MISS, -1) if nowhere."""
        return self.fields.nearest(self.dressed.rows[row, TREE], origin, direction, start, ti.f32(MISS), False)

    @ti.func
    def normals(self, row, met, point):
        """Outward directions, of any length, at a point of a surface: as it is lit, and as it is."""
        field = self.dressed.rows[row, TREE]
        flat = self.fields.normal(field, met)
        outward = flat
        if met >= 0:
            j, i, x, y = self.fields.place(field, point, point, ti.f32(0.0))
            along_x = mix(
                mix(self.slope(field, j, i, 0, 1), self.slope(field, j, i + 1, 0, -1), x),
                mix(self.slope(field, j + 1, i, 0, 1), self.slope(field, j + 1, i + 1, 0, -1), x),
                y,
            )
            along_y = mix(
                mix(self.slope(field, j, i, 1, 0), self.slope(field, j, i + 1, 1, 0), x),
                mix(self.slope(field, j + 1, i, -1, 0), self.slope(field, j + 1, i + 1, -1, 0), x),
                y,
            )
            outward = vec3(-along_x, -along_y, 1.0)
        return outward, flat

    @ti.func
    def slope(self, field, j, i, down, right):
        """Slope of a field at a vertex, along the edge to the next vertex `down` the rows or to the `right`.

        It is the mean of that edge's and of the one behind the vertex, but where both make a crease it is the edge's.
        """
        per_metre = self.fields.measure(field, PER_X) * right + self.fields.measure(field, PER_Y) * down
        middle = self.fields.height(field, j, i)
        ahead = (self.fields.height(field, j + down, i + right) - middle) * per_metre
        slope = ahead
        last_j, last_i = self.fields.shapes[field, ROWS] - 1, self.fields.shapes[field, COLUMNS] - 1
        if 0 <= j - down <= last_j and 0 <= i - right <= last_i:
            behind = (middle - self.fields.height(field, j - down, i - right)) * per_metre
            sine = ti.abs(ahead - behind) / ti.sqrt((1.0 + ahead * ahead) * (1.0 + behind * behind))
            share = within((_CREASE - sine) / (_CREASE - _ROUND), ti.f32(0.0), ti.f32(1.0))
            slope = mix(ahead, behind, 0.5 * share)
        return slope

    @ti.func
    def light(self, row, point):
        """Share of the sky's light that reaches a point of the ground past the ground's hills."""
        field = self.dressed.rows[row, TREE]
        j, i, x, y = self.fields.place(field, point, point, ti.f32(0.0))
        wide = self.fields.shapes[field, COLUMNS]
        at = self.fields.shapes[field, FIRST_HEIGHT] + j * wide + i
        return mix(
            mix(self.openness[at], self.openness[at + 1], x),
            mix(self.openness[at + wide], self.openness[at + wide + 1], x),
            y,
        )

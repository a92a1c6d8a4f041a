"""Views of cameras, one for each environment, and the rays through their pixels.

Everything is relative to the camera, along the world's axes.
"""

import taichi as ti

from ...base.shapes.ray import unit
from ..rays.traced import Traced
from ..shading import mix, vec3

# columns of a view, after the sphere around all solids: its centre and radius, m
AXES = 4  # 9 columns: camera-to-world rotation, row by row
FRUSTUM = 13  # 5 columns: left, right, bottom, top at unit distance; 1 if orthographic


class Lens(Traced):
    """Rays of environment `env`'s picture, by its row of `views`."""

    def __init__(self, views, width, height, env):
        self.views, self.env = views, env
        self.width, self.height = width, height

    @ti.func
    def axis(self, i: ti.template()):
        """World direction of the camera's i-th axis: right, up, backward."""
        return vec3(
            self.views[self.env, AXES + i], self.views[self.env, AXES + 3 + i], self.views[self.env, AXES + 6 + i]
        )

    @ti.func
    def edge(self, i: ti.template()):
        """Left, right, bottom or top of the field of view, at unit distance."""
        return self.views[self.env, FRUSTUM + i]

    @ti.func
    def is_parallel(self):
        """Return True if all rays have one direction (orthographic)."""
        return self.edge(4) > 0.5

    @ti.func
    def ray(self, x, y):
        """Origin and unit direction of the ray at (x, y) in pixels from the upper left corner."""
        u = mix(self.edge(0), self.edge(1), x / ti.cast(self.width, ti.f32))
        v = mix(self.edge(3), self.edge(2), y / ti.cast(self.height, ti.f32))
        offset = u * self.axis(0) + v * self.axis(1)
        origin, direction = offset, -self.axis(2)
        if not self.is_parallel():
            origin, direction = vec3(0.0, 0.0, 0.0), unit(offset - self.axis(2))
        return origin, direction

    @ti.func
    def footprint(self, distance):
        """Height (m) of a pixel at a distance along the optical axis."""
        height = (self.edge(3) - self.edge(2)) / ti.cast(self.height, ti.f32)
        if not self.is_parallel():
            height *= distance
        return height

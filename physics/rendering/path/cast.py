"""Rays of paths through a scene: the nearest surface, from outside or from within glass, and what a shadow ray meets.

Planes and height fields have one side; meshes have two but for rays of the camera, which look out of a mesh that the
camera is in, as the ray caster's do. Other geoms are seen from outside; a ray in glass meets its geom from within.
"""

import taichi as ti

from ...shapes import HFIELD, MESH, PLANE, SPHERE, sphere
from ...shapes.by_kind import by_kind
from ...shapes.ray import MISS
from .. import render_model as columns
from ..dress import TREE
from ..scene import TURNED, Scene

_CLEARLY = 1.00001  # how much nearer a later geom must be to be seen: surfaces that coincide would speckle at 1


class World(Scene):
    """The geoms of an environment, for paths."""

    @ti.func
    def meet(self, row, origin, direction, start, limit, inside, looks_out):
        """Distance (m) between `start` and `limit` to a geom, MISS if there is none, and a mesh's triangle.

        `inside` is the row of the geom of glass that the ray is in, -1: none. `looks_out`: it comes from the camera.
        """
        t, triangle = ti.f32(MISS), -1
        away = self.position(row) - origin
        kind = self.kind[row]
        if kind == PLANE:
            t = self.meet_plane(row, away, direction, start, limit)
        else:
            slide = away.dot(direction)
            nearest = slide * direction - away
            bound = self.shape[self.own(), row, columns.BOUND]
            if nearest.dot(nearest) < bound * bound and slide + bound > start and slide - bound < limit:
                side = ti.select(row == inside, -1.0, 1.0)
                if kind == SPHERE:
                    t = sphere.entry(self.size(row), nearest, direction)
                else:
                    turn, size = self.turn(row), self.size(row)
                    o, d = turn @ nearest, turn @ direction
                    t = by_kind(kind, TURNED, size.x * 0.0 + MISS, size, o, side * d)
                    if ti.static(self.has.meshes):
                        if kind == MESH:
                            t, triangle = self.meet_mesh(row, o, d, start - slide, limit - slide, looks_out)
                            side = 1.0
                if t < MISS:
                    t = slide + side * t
                if ti.static(self.has.fields):
                    if kind == HFIELD:
                        t, triangle = self.ground.entry(row, self.turn(row) @ -away, self.turn(row) @ direction, start)
        return t, triangle

    @ti.func
    def meet_plane(self, row, away, direction, start, limit):
        """The same for a plane whose middle is `away` from the origin; its sides are looked at where it may be met."""
        t = ti.f32(MISS)
        up, size = self.axis(row, 2), self.size(row)
        fall = up.dot(direction)
        if fall < -1.0e-15:
            reach = away.dot(up) / fall
            if start < reach < limit:
                place = reach * direction - away
                if size.x <= 0.0 or ti.abs(place.dot(self.axis(row, 0))) <= size.x:
                    if size.y <= 0.0 or ti.abs(place.dot(self.axis(row, 1))) <= size.y:
                        t = reach
        return t

    @ti.func
    def meet_mesh(self, row, origin, direction, start, limit, looks_out):
        """The same for a mesh, in its frame."""
        tree = self.dressed.rows[row, TREE]
        both_sides = not looks_out or not self.dressed.meshes.holds(tree, origin + start * direction)
        t, triangle = self.dressed.meshes.nearest(tree, origin, direction, start, limit, both_sides)
        if triangle < 0:
            t = MISS
        return t, triangle

    @ti.func
    def first(self, origin, direction, start, rows, inside, looks_out):
        """The nearest surface of the first `rows`: distance (m), row and triangle; (MISS, -1, -1) if none."""
        nearest, hit, hit_triangle = ti.f32(MISS), -1, -1
        for row in range(rows):
            t, triangle = self.meet(row, origin, direction, start, nearest, inside, looks_out)
            if t > start and t * _CLEARLY < nearest:
                nearest, hit, hit_triangle = t, row, triangle
        return nearest, hit, hit_triangle

    @ti.func
    def passing(self, origin, direction, start, limit, rows, target):
        """Share of light that comes along a ray from `limit` (m) to `start`: 0 in shadow, between if geoms are clear.

        It comes from the geom `target` (-1: another light), which is in its own way only if it is a mesh: where a ray
        touches an edge of a round one, its distance is not sure. Of a clear mesh only the nearest side counts.
        """
        light, row = ti.f32(1.0), 0
        while row < rows and light > 0.0:
            t = ti.f32(MISS)
            if row != target or self.kind[row] == MESH:
                t, _ = self.meet(row, origin, direction, start, limit, -1, False)
            if start < t < limit:
                light *= 1.0 - self.paint[row, columns.ALPHA]
                if self.paint[row, columns.IOR] > 0.0:
                    light = 0.0
            row += 1
        return light

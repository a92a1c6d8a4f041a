"""Rays of paths through a scene: the nearest surface, from outside or from within glass, and hits of shadow rays.

Planes and height fields have one side; meshes have two but for rays of the camera, which look out of a mesh that the
camera is in, as the ray caster's do. Other geoms are seen from outside; a ray in glass meets its geom from within.
"""

import taichi as ti

from ...base.shapes import BOX, HFIELD, MESH, PLANE, SPHERE, box, sphere
from ...base.shapes.by_kind import by_kind
from ...base.shapes.ray import MISS
from ..cast.scene import TURNED, DrawnScene
from ..shown import render_model as columns
from .packets_of_eight import CLEARLY, smallest

_OTHERS = {kind: entry for kind, entry in TURNED.items() if kind != BOX}


class PathWorld(DrawnScene):
    """The geoms of an environment, for paths; `placed` has them in eights."""

    def __init__(self, kind, shape, paint, pose, bound, env, dressed, ground, has, placed):
        super().__init__(kind, shape, paint, kind, pose, bound, env, dressed, ground, has)
        self.placed = placed

    @ti.func
    def meet(self, row, origin, direction, start, limit, inside, looks_out, to_light):
        """Distance (m) between `start` and `limit` to a geom that is no plane and no box, MISS without a hit.

        The second number is a mesh's triangle or a sphere of particles, else -1. `inside` is the row of the geom of
        glass that the ray is in, -1: none. `looks_out`: it comes from the camera; `to_light`: any sphere of particles
        will do.
        """
        t, triangle = ti.f32(MISS), -1
        away = self.position(row) - origin
        kind = self.kind[row]
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
                t = by_kind(kind, _OTHERS, size.x * 0.0 + MISS, size, o, side * d)
                if ti.static(self.has.particles):
                    if kind == columns.SPHERES:
                        t, triangle = self.spheres.nearest(
                            self.tree(row), o, d, start - slide, limit - slide, row == inside, to_light
                        )
                        side = 1.0
                        t = ti.select(triangle >= 0, t, MISS)
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
    def leave_box(self, row, origin, direction):
        """Distance (m) at which a ray leaves the box that it is in."""
        away = self.position(row) - origin
        slide = away.dot(direction)
        turn = self.turn(row)
        return slide - box.entry(self.size(row), turn @ (slide * direction - away), -(turn @ direction))

    @ti.func
    def meet_mesh(self, row, origin, direction, start, limit, looks_out):
        """The same for a mesh, in its frame."""
        tree = self.tree(row)
        both_sides = not looks_out or not self.dressed.meshes.holds(tree, origin + start * direction)
        t, triangle = self.dressed.meshes.nearest(tree, origin, direction, start, limit, both_sides)
        if triangle < 0:
            t = MISS
        return t, triangle

    @ti.func
    def facing(self, row, point, triangle):
        """Outward unit normals as `normals` has them, which of a plane are its axis."""
        normal = self.axis(row, 2)
        flat = normal
        if self.kind[row] != PLANE:
            normal, flat = self.normals(row, point, triangle)
        return normal, flat

    @ti.func
    def trace(self, origin, direction, start, limit, groups, inside, looks_out, to_light, target):
        """Follow a ray through the first `groups` of eights, to the nearest surface, or to a light.

        Returned are the distance (m) of the nearest surface, its row and triangle, and (`limit`, -1, -1) if there is
        none; and 1. Of a ray to a light at `limit` the last is the share of it that comes: 0 in shadow, between if
        geoms are clear. The light comes from the geom `target` (-1: another light), which blocks itself only if it
        is a mesh: where a ray touches an edge of a round one, its distance is not sure. Of a clear mesh only the
        nearest side counts.
        """
        nearest, hit, hit_triangle, light, group = limit, -1, -1, ti.f32(1.0), 0
        while group < groups:
            reach = self.placed.reach(group, origin, direction, start, nearest)
            as_it_is = group < self.placed.ends[1]
            t, k = smallest(reach)
            while t < nearest:
                row, triangle = self.placed.row(group, k), -1
                is_met = not to_light or row != target or self.kind[row] == MESH
                if is_met and not as_it_is:
                    t, triangle = self.meet(row, origin, direction, start, nearest, inside, looks_out, to_light)
                if to_light:
                    if is_met and start < t < limit:
                        through = 1.0 - self.paint[row, columns.ALPHA]
                        light *= ti.select(self.paint[row, columns.IOR] > 0.0, 0.0, through)
                elif t > start and t * CLEARLY < nearest:
                    nearest, hit, hit_triangle = t, row, triangle
                if light == 0.0:
                    t, group = MISS, groups
                elif as_it_is and not to_light:
                    t = MISS
                else:
                    reach[k] = MISS
                    t, k = smallest(reach)
            group += 1
        if inside >= 0 and self.kind[inside] == BOX:  # of other boxes it is the outside that is met
            t = self.leave_box(inside, origin, direction)
            if t > start and t * CLEARLY < nearest:
                nearest, hit, hit_triangle = t, inside, -1
        return nearest, hit, hit_triangle, light

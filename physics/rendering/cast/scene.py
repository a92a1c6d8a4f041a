"""One environment's geoms as the ray caster sees them: hits of rays, and colour and light at a point.

`DrawnScene` exists only while a kernel is traced: it bundles the tables (rows as in `Drawables`) with the environment's
index, so that kernels read ``scene.entry(row, origin, direction)``. Positions are relative to the camera (m), axes are
the world's.
"""

import taichi as ti

from ...base.shapes import ENTRIES, HFIELD, MESH, NORMALS, PLANE, SPHERE, plane, sphere
from ...base.shapes.by_kind import by_kind
from ...base.shapes.ray import MISS, unit
from ..particles.spheres import TracedSpheres
from ..rays.traced import Traced
from ..rays.traverse import beside
from ..shading import checker, grid_lines, mix, vec3
from ..shown import render_model as columns
from ..shown.appearance import BY_ENV, COORDINATES, TEXTURE, TREE

mat3 = ti.types.matrix(3, 3, ti.f32)

OCCLUSION_REACH = 5.0  # bodies dim the sky's light out to this many of their radii
PARTICLE_REACH = 3.0  # and particles out to this many, as a point has dozens of them around it
TURNED = {kind: entry for kind, entry in ENTRIES.items() if kind != SPHERE}  # look different when turned
GOLDEN_ANGLE = 2.3999632
SURFACE_GAP = 1.0e-4  # m by which a ray that leaves a surface starts above it


class DrawnScene(Traced):
    """The geoms of environment `env`; `has` (`raycast.Has`) leaves out code for features that the model lacks.

    The triangle of a geom is a mesh's triangle, the surface of a height field (`field_walk.py`), or a sphere of a group
    of particles (`particles/spheres.py`).
    """

    def __init__(self, kind, shape, paint, solids, pose, bound, env, dressed, ground, has):
        self.kind, self.shape, self.paint, self.solids = kind, shape, paint, solids
        self.pose, self.bound, self.env = pose, bound, env
        self.dressed, self.ground, self.has = dressed, ground, has
        self.spheres = TracedSpheres(dressed.meshes.trees, dressed.meshes.nodes, dressed.meshes.corners)

    @ti.func
    def position(self, row):
        """Centre of a geom."""
        return vec3(self.pose[self.env, row, 0], self.pose[self.env, row, 1], self.pose[self.env, row, 2])

    @ti.func
    def axis(self, row, i: ti.template()):
        """World direction of a geom's i-th axis."""
        return vec3(self.pose[self.env, row, 3 + i], self.pose[self.env, row, 6 + i], self.pose[self.env, row, 9 + i])

    @ti.func
    def turn(self, row):
        """World-to-geom rotation."""
        return mat3([self.axis(row, 0), self.axis(row, 1), self.axis(row, 2)])

    @ti.func
    def size(self, row):
        """MuJoCo's three sizes (m)."""
        own = self.own()
        return vec3(self.shape[own, row, 0], self.shape[own, row, 1], self.shape[own, row, 2])

    @ti.func
    def own(self):
        """Row of the environment's sizes: all share one, unless overlays have per-environment sizes."""
        return ti.min(self.env, self.shape.shape[0] - 1)

    @ti.func
    def tree(self, row):
        """Number of the tree of a mesh or a group of particles."""
        found = self.dressed.rows[row, TREE]
        if ti.static(self.has.particles):
            found += self.env * self.dressed.rows[row, BY_ENV]
        return found

    @ti.func
    def number(self, row, triangle):
        """Return a row, or the number of rows plus that of a particle, if it is met, or its surface is."""
        found = row
        if ti.static(self.has.particles):
            if row >= 0:
                if self.kind[row] == columns.SPHERES:
                    found = self.kind.shape[0] + self.spheres.number(triangle)
                if ti.static(self.has.meshes):
                    if self.dressed.rows[row, BY_ENV] > 0 and self.kind[row] == MESH:
                        found = self.kind.shape[0] + ti.cast(self.dressed.skin[triangle, COORDINATES], ti.i32)
        return found

    @ti.func
    def colour(self, row, column: ti.template()):
        """Three columns of the paint table."""
        return vec3(self.paint[row, column], self.paint[row, column + 1], self.paint[row, column + 2])

    @ti.func
    def entry(self, row, origin, direction, start, limit, first_met: ti.template()):
        """Distance along a ray to the front of a geom, and the triangle of a mesh (else -1).

        MISS if it is not hit. Of meshes it is the nearest front from `start` on; of spheres of a group it is that
        before `limit`, or any if `first_met`; of others there is only one, which may be nearer, or behind the origin.
        """
        t, triangle = ti.f32(MISS), -1
        away = self.position(row) - origin
        if self.kind[row] == PLANE:
            turn = self.turn(row)
            t = plane.crossing(self.size(row), turn @ -away, turn @ direction)
        else:
            slide = away.dot(direction)
            nearest = slide * direction - away
            bound = self.shape[self.own(), row, columns.BOUND]
            if nearest.dot(nearest) < bound * bound:
                if self.kind[row] == SPHERE:
                    t = sphere.entry(self.size(row), nearest, direction)
                else:
                    turn = self.turn(row)
                    size, o, d = self.size(row), turn @ nearest, turn @ direction
                    t = by_kind(self.kind[row], TURNED, size.x * 0.0 + MISS, size, o, d)
                    if ti.static(self.has.meshes):
                        if self.kind[row] == MESH:
                            t, triangle = self.dressed.entry(self.tree(row), o, d, start - slide)
                    if ti.static(self.has.particles):
                        if self.kind[row] == columns.SPHERES:
                            t, triangle = self.spheres.nearest(
                                self.tree(row), o, d, start - slide, limit - slide, False, first_met
                            )
                            t = ti.select(triangle >= 0, t, MISS)
                if t < MISS:
                    t += slide
                if ti.static(self.has.fields):
                    if self.kind[row] == HFIELD:
                        # from the origin, where the ray has its digits, not from beside the middle of the field
                        t, triangle = self.ground.entry(row, self.turn(row) @ -away, self.turn(row) @ direction, start)
        return t, triangle

    @ti.func
    def normals(self, row, point, triangle):
        """Outward unit normals (world) of a geom at a point of its surface, or of its triangle: as it is lit, and true.

        Meshes and height fields are lit by normals blended between corners.
        """
        turn = self.turn(row)
        local = turn @ (point - self.position(row))
        size, up = self.size(row), vec3(0.0, 0.0, 1.0)
        outward = by_kind(self.kind[row], NORMALS, up, size, local)
        flat = outward
        if ti.static(self.has.meshes):
            if self.is_of_mesh(row, triangle):
                outward, flat = self.dressed.normal(triangle, local), self.dressed.meshes.outward(triangle)
        if ti.static(self.has.particles):
            if self.kind[row] == columns.SPHERES:
                outward = local - self.spheres.centre(triangle)
                flat = outward
        if ti.static(self.has.fields):
            if self.kind[row] == HFIELD:
                outward, flat = self.ground.normals(row, triangle, local)
        return unit(turn.transpose() @ outward), unit(turn.transpose() @ flat)

    @ti.func
    def albedo(self, row, point, triangle, normal, direction, footprint):
        """Colour of a geom at a point of its surface, or of its triangle, and its mean colour.

        Checkers and textures are averaged over the pixel's footprint (m across the ray); `normal` is the true one.
        """
        colour = self.colour(row, columns.ALBEDO)
        if ti.static(self.has.particles):
            if self.kind[row] == columns.SPHERES:
                colour = self.spheres.colour(triangle)
        mean = colour
        cell_x, cell_y = self.paint[row, columns.CELL], self.paint[row, columns.CELL + 1]
        if cell_x > 0.0:
            turn = self.turn(row)
            local = turn @ (point - self.position(row))
            along = turn @ direction
            flat = ti.sqrt(ti.max(along.x * along.x + along.y * along.y, 1.0e-12))
            stretch = 1.0 / ti.max(ti.abs(along.z), 1.0e-4) - 1.0
            wide_x = footprint * (1.0 + stretch * ti.abs(along.x) / flat)
            wide_y = footprint * (1.0 + stretch * ti.abs(along.y) / flat)
            share = checker(local.x / cell_x, local.y / cell_y, wide_x / cell_x, wide_y / cell_y)
            second = self.colour(row, columns.SECOND)
            mean = mix(colour, second, 0.5)
            colour = mix(colour, second, share)
            width = self.paint[row, columns.LINE_WIDTH]
            if width > 0.0:
                line = self.colour(row, columns.LINE)
                mean = mix(mean, line, 2.0 * width)
                colour = mix(
                    colour,
                    line,
                    grid_lines(local.x / cell_x, local.y / cell_y, wide_x / cell_x, wide_y / cell_y, width),
                )
        if ti.static(self.has.fields):
            if self.kind[row] == HFIELD and triangle < 0:
                colour = mean  # walls have no checker
        if ti.static(self.has.textures):
            if self.dressed.rows[row, TEXTURE] >= 0:
                turn = self.turn(row)
                local, along, outward = turn @ (point - self.position(row)), turn @ direction, turn @ normal
                kind, size = self.kind[row], self.size(row)
                tint, mean_tint = self.dressed.tint(row, kind, size, triangle, local, outward, along, footprint)
                colour, mean = colour * tint, mean * mean_tint
        return colour, mean

    @ti.func
    def is_of_mesh(self, row, triangle):
        """Return True for the triangle of a mesh."""
        found = triangle >= 0
        if ti.static(self.has.fields or self.has.particles):
            found = found and self.kind[row] == MESH
        return found

    @ti.func
    def centre(self):
        """Centre of the sphere around all solids."""
        return vec3(self.bound[self.env, 0], self.bound[self.env, 1], self.bound[self.env, 2])

    @ti.func
    def may_hit(self, origin, direction):
        """Return True if a ray meets the sphere around all solids."""
        radius = self.bound[self.env, 3]
        away = self.centre() - origin
        along = away.dot(direction)
        return along > -radius and away.dot(away) - along * along < radius * radius

    @ti.func
    def sunlight(self, point, sun, far):
        """Share of a light that reaches a point past the solids: 0 in shadow, between if they are clear.

        The light is in the direction `sun`, at a distance `far` (m).
        """
        light = ti.f32(1.0)
        if self.may_hit(point, sun):
            for k in range(self.solids.shape[0]):
                row = self.solids[k]
                if light > 0.0:
                    t, _ = self.entry(row, point, sun, SURFACE_GAP, far, True)
                    if SURFACE_GAP < t < far:
                        light *= 1.0 - self.paint[row, columns.ALPHA]
        return light

    @ti.func
    def unshaded(self, point, sun, far, spread, rays, turn):
        """The same for a light of some size: the mean over rays to a disc whose radius is `spread` from afar (rad).

        They lie on a spiral, `turn` (rad) from pixel to pixel, after Vogel (Mathematical Biosciences 44, 1979). Without
        rays there are no shadows.
        """
        light, first, second = ti.select(rays > 0, ti.f32(0.0), ti.f32(1.0)), vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0)
        if rays > 1:
            first, second = beside(sun)
        for k in range(rays):
            towards = sun
            if rays > 1:
                radius = spread * ti.sqrt((ti.cast(k, ti.f32) + 0.5) / ti.cast(rays, ti.f32))
                angle = turn + GOLDEN_ANGLE * ti.cast(k, ti.f32)
                towards = unit(sun + radius * (ti.cos(angle) * first + ti.sin(angle) * second))
            light += self.sunlight(point, towards, far)
        return light / ti.cast(ti.max(rays, 1), ti.f32)

    @ti.func
    def openness(self, own_row, triangle, point, normal, strength, reach):
        """Share of the sky's light that nearby solids let through, each taken as a capsule of roughly its bulk.

        `reach` (m): no solid dims anything farther away than this.
        """
        light = ti.f32(1.0)
        if ti.static(self.has.fields):
            if self.kind[own_row] == HFIELD and triangle >= 0:
                light = self.ground.light(own_row, self.turn(own_row) @ (point - self.position(own_row)))
        if (self.centre() - point).norm() < self.bound[self.env, 3] + reach:
            for k in range(self.solids.shape[0]):
                row = self.solids[k]
                is_other = row != own_row
                if ti.static(self.has.particles):
                    if self.kind[row] == columns.SPHERES:
                        light *= self.light_past(row, own_row, triangle, point, normal, strength)
                        is_other = False
                if is_other:
                    half, radius = (
                        self.shape[self.own(), row, columns.CORE],
                        self.shape[self.own(), row, columns.CORE + 1],
                    )
                    away = self.position(row) - point
                    limit = half + OCCLUSION_REACH * radius
                    if away.dot(away) < limit * limit:
                        axis = self.axis(row, 2)
                        away += axis * ti.max(-half, ti.min(half, -away.dot(axis)))
                        square = ti.max(away.dot(away), radius * radius)
                        facing = ti.max(0.0, away.dot(normal)) / ti.sqrt(square)
                        covered = ti.max(0.0, radius * radius / square - 1.0 / OCCLUSION_REACH**2)
                        light *= 1.0 - strength * facing * covered
        return light

    @ti.func
    def light_past(self, row, own_row, own, point, normal, strength):
        """Share of the sky's light that the spheres of a group let through; `own` of them does not count there."""
        local, skipped = point - self.position(row), ti.select(row == own_row, own, -1)
        return self.spheres.openness(self.tree(row), local, normal, strength, ti.f32(PARTICLE_REACH), skipped)

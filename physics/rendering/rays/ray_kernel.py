"""The kernel of `RigidSolver.ray`: one thread takes one ray of one environment.

As MuJoCo's mj_ray has it: solids, meshes and height fields are met from inside too, planes from above only and within
the rectangle that is drawn; of geoms equally near the one with the smaller id counts.
"""

from typing import Any

import mujoco
import taichi as ti

from ...base.shapes import ENTRIES, HFIELD, MESH, NORMALS, PLANE, plane
from ...base.shapes.by_kind import by_kind
from ...base.shapes.ray import MISS, unit
from .field_walk import TracedHeightFields
from .traced import Traced
from .traverse import TracedMeshes

_SHORTEST = mujoco.mjMINVAL  # m: a shorter vector has no direction


@ti.func
def three(array: ti.template(), i, j):
    """A vector in an array."""
    return ti.Vector([array[i, j, c] for c in ti.static(range(3))])


@ti.func
def to_frame(array: ti.template(), i, j):
    """The transpose of a rotation in an array: from the world to the frame."""
    return ti.Matrix([[array[i, j, 3 * c + r] for c in ti.static(range(3))] for r in ti.static(range(3))])


class Geoms(Traced):
    """The geoms of one environment, as `RayCaster` lays them out: poses in row `at`, sizes in row `own`.

    Rays begin at `start` and have a unit direction. `meshes` and `fields` say whether the model has such geoms: without
    them no code is made for them. `tree` has the row of a geom there.
    """

    def __init__(self, kinds, sizes, position, rotation, tree, meshes, fields, at, own, has_meshes, has_fields):
        self.kinds, self.sizes, self.position, self.rotation = kinds, sizes, position, rotation
        self.tree, self.meshes, self.fields, self.at, self.own = tree, meshes, fields, at, own
        self.has_meshes, self.has_fields = has_meshes, has_fields

    @ti.func
    def hit(self, g, start, direction, limit):
        """Distance (m) to where a ray first goes in or comes out before `limit`, and which triangle it meets there.

        The triangle is a mesh's, or the part of a height field (`field_walk.py`), else -1. (limit, -1) for no hit.
        """
        t, triangle = limit, -1
        away = three(self.position, self.at, g) - start
        kind = self.kinds[g]
        if kind == PLANE:
            turn = to_frame(self.rotation, self.at, g)
            t = plane.crossing(three(self.sizes, self.own, g), turn @ -away, turn @ direction)
        else:
            slide = away.dot(direction)
            nearest = slide * direction - away
            bound = self.sizes[self.own, g, 3]
            if nearest.dot(nearest) <= bound * bound and -bound <= slide <= limit + bound:
                turn = to_frame(self.rotation, self.at, g)
                o, d = turn @ nearest, turn @ direction
                if ti.static(self.has_meshes):
                    if kind == MESH:
                        t, triangle = self.meshes.nearest(self.tree[g], o, d, -slide, limit - slide, True)
                        t = ti.select(triangle >= 0, t, MISS)  # else rounding might make it nearer than the limit
                if kind != MESH:
                    t = self.hit_solid(kind, three(self.sizes, self.own, g), o, d, -slide)
                t += slide
                if ti.static(self.has_fields):
                    if kind == HFIELD:
                        # from where the ray begins, as it has its digits there, not at the middle of the field
                        t, triangle = self.fields.nearest(self.tree[g], turn @ -away, d, t * 0.0, limit, True)
        found = 0.0 <= t < limit
        return ti.select(found, t, limit), ti.select(found, triangle, -1)

    @ti.func
    def hit_solid(self, kind, size, origin, direction, start):
        """Return the distance at which a ray first enters or leaves a convex solid, from `start` on; MISS if never."""
        t = size.x * 0.0 + MISS
        for side in range(2):
            if t >= MISS:
                forward = ti.select(side == 0, direction, -direction)
                met = by_kind(kind, ENTRIES, size.x * 0.0 + MISS, size, origin, forward)
                if met < MISS:
                    met = ti.select(side == 0, met, -met)
                    if met >= start:
                        t = met
        return t

    @ti.func
    def normal(self, g, point, triangle):
        """Unit vector out of the surface at a point (world), or of a triangle."""
        turn = to_frame(self.rotation, self.at, g)
        local = turn @ (point - three(self.position, self.at, g))
        size, up = three(self.sizes, self.own, g), ti.Vector([0.0, 0.0, 1.0])
        outward = by_kind(self.kinds[g], NORMALS, up, size, local)
        if ti.static(self.has_meshes):
            of_mesh = triangle >= 0
            if ti.static(self.has_fields):
                of_mesh = of_mesh and self.kinds[g] == MESH
            if of_mesh:
                outward = self.meshes.outward(triangle)
        if ti.static(self.has_fields):
            if self.kinds[g] == HFIELD:
                outward = self.fields.normal(self.tree[g], triangle)
        return unit(turn.transpose() @ outward)


def make_ray_kernel(precision: str, has_meshes: bool, has_fields: bool) -> Any:
    """The kernel for one precision, "f32" or "f64", with or without the code for meshes and for height fields."""
    dtype = getattr(ti, precision)
    r2, r3 = (ti.types.ndarray(dtype, ndim) for ndim in (2, 3))
    i1, i2 = (ti.types.ndarray(ti.i32, ndim) for ndim in (1, 2))
    f1, f2, d2 = ti.types.ndarray(ti.f32, 1), ti.types.ndarray(ti.f32, 2), ti.types.ndarray(ti.f64, 2)

    @ti.kernel
    def solver_rays(
        chosen: i1,
        sizes: r3,
        position: r3,
        rotation: r3,
        pnt: r3,
        vec: r3,
        kinds: i1,
        tree: i1,
        trees: i2,
        nodes: f2,
        corners: f2,
        normals: ti.i32,
        distance: r2,
        geom: i2,
        normal: r3,
        shapes: i2,
        measures: d2,
        heights: f1,
        blocks: f2,
    ):
        for env, ray in ti.ndrange(pnt.shape[0], pnt.shape[1]):
            meshes = TracedMeshes(trees, nodes, corners, dtype)
            fields = TracedHeightFields(shapes, measures, heights, blocks, dtype)
            at, own = ti.min(env, position.shape[0] - 1), ti.min(env, sizes.shape[0] - 1)
            geoms = Geoms(kinds, sizes, position, rotation, tree, meshes, fields, at, own, has_meshes, has_fields)
            start, along = three(pnt, env, ray), three(vec, env, ray)
            largest = ti.max(ti.abs(along.x), ti.abs(along.y), ti.abs(along.z))
            scaled = along / ti.max(largest, ti.cast(_SHORTEST, dtype))
            length = largest * scaled.norm()
            best, found, found_triangle = ti.cast(MISS, dtype), -1, -1
            if length >= ti.cast(_SHORTEST, dtype):
                direction = unit(scaled)
                for k in range(chosen.shape[0]):
                    t, triangle = geoms.hit(chosen[k], start, direction, best)
                    if t < best:
                        best, found, found_triangle = t, chosen[k], triangle
            if found >= 0:
                distance[env, ray] = best / length
                geom[env, ray] = found
                if normals == 1:
                    outward = geoms.normal(found, start + best / length * along, found_triangle)
                    for c in ti.static(range(3)):
                        normal[env, ray, c] = outward[c]

    return solver_rays

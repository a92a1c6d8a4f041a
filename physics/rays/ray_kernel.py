"""The kernel of `RigidSolver.ray`: one thread takes one ray of one environment.

As MuJoCo's mj_ray has it: solids and meshes are met from inside too, planes from above only and within the rectangle
that is drawn; of geoms equally near the one with the smaller id counts.
"""

from typing import Any

import mujoco
import taichi as ti

from .intersect import MISS, plane_entry, unit
from .shapes import KIND_MESH, KIND_PLANE, solid_entry, solid_normal
from .traced import Traced
from .traverse import Meshes

_SHORTEST = mujoco.mjMINVAL  # m: what is shorter has no direction


class Target(Traced):
    """A geom as a ray sees it that begins at 0, in the world's axes; `meshes` are the model's, `tree` is its own."""

    def __init__(self, kind, size, bound, away, turn, meshes, tree, has_meshes):
        self.kind, self.size, self.bound, self.away, self.turn = kind, size, bound, away, turn
        self.meshes, self.tree, self.has_meshes = meshes, tree, has_meshes

    @ti.func
    def hit(self, direction):
        """Distance (m) to where a ray first goes in or comes out, and the triangle if it is a mesh's; (MISS, -1)."""
        t, triangle = self.size.x * 0.0 + MISS, -1
        if self.kind == KIND_PLANE:
            t = plane_entry(self.turn @ -self.away, self.turn @ direction, self.size)
        else:
            slide = self.away.dot(direction)
            nearest = slide * direction - self.away
            if nearest.dot(nearest) <= self.bound * self.bound and slide >= -self.bound:
                o, d = self.turn @ nearest, self.turn @ direction
                if ti.static(self.has_meshes):
                    if self.kind == KIND_MESH:
                        t, triangle = self.meshes.nearest(self.tree, o, d, -slide, t, True)
                if self.kind != KIND_MESH:
                    t = self.hit_solid(o, d, -slide)
                if t < MISS:
                    t += slide
        return ti.select(t >= 0.0, t, MISS), triangle

    @ti.func
    def hit_solid(self, origin, direction, start):
        """Where a ray first goes into a convex solid or comes out of it, from `start` on; MISS if never."""
        t = self.size.x * 0.0 + MISS
        for side in range(2):
            if t >= MISS:
                forward = ti.select(side == 0, direction, -direction)
                met = solid_entry(self.kind, self.size, origin, forward)
                if met < MISS:
                    met = ti.select(side == 0, met, -met)
                    if met >= start:
                        t = met
        return t

    @ti.func
    def normal(self, point, triangle):
        """Unit vector out of the surface at a point, or of a triangle."""
        outward = solid_normal(self.kind, self.size, self.turn @ (point - self.away))
        if ti.static(self.has_meshes):
            if triangle >= 0:
                outward = outward * 0.0 + self.meshes.outward(triangle)
        return unit(self.turn.transpose() @ outward)


@ti.func
def three(array: ti.template(), i, j):
    """A vector in an array."""
    return ti.Vector([array[i, j, c] for c in ti.static(range(3))])


@ti.func
def to_frame(array: ti.template(), i, j):
    """The transpose of a rotation in an array: from the world to the frame."""
    return ti.Matrix([[array[i, j, 3 * c + r] for c in ti.static(range(3))] for r in ti.static(range(3))])


def make_ray_kernel(dtype: Any, meshes: bool) -> Any:
    """The kernel for one precision, with or without the code for meshes."""
    r2, r3 = (ti.types.ndarray(dtype, ndim) for ndim in (2, 3))
    i1, i2 = (ti.types.ndarray(ti.i32, ndim) for ndim in (1, 2))
    f2 = ti.types.ndarray(ti.f32, 2)

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
    ):
        for env, ray in ti.ndrange(pnt.shape[0], pnt.shape[1]):
            start, along = three(pnt, env, ray), three(vec, env, ray)
            own = ti.min(env, sizes.shape[0] - 1)
            largest = ti.max(ti.abs(along.x), ti.abs(along.y), ti.abs(along.z))
            scaled = along / ti.max(largest, ti.cast(_SHORTEST, dtype))
            length = largest * scaled.norm()
            best, found, outward = ti.cast(MISS, dtype), -1, along * 0.0
            if length >= ti.cast(_SHORTEST, dtype):
                direction = unit(scaled)
                for k in range(chosen.shape[0]):
                    g = chosen[k]
                    size = three(sizes, own, g)
                    away = three(position, env, g) - start
                    table = Meshes(trees, nodes, corners, dtype)
                    turn = to_frame(rotation, env, g)
                    target = Target(kinds[g], size, sizes[own, g, 3], away, turn, table, tree[g], meshes)
                    t, triangle = target.hit(direction)
                    if t < best:
                        best, found = t, g
                        if normals == 1:
                            outward = target.normal(t * direction, triangle)
            if found >= 0:
                distance[env, ray] = best / length
                geom[env, ray] = found
                if normals == 1:
                    for c in ti.static(range(3)):
                        normal[env, ray, c] = outward[c]

    return solver_rays

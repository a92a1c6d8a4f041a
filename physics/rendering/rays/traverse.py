"""Rays through the triangles of a mesh.

A ray descends the mesh's tree (`mesh_tree.py`), nearer box first, without a stack: the bits of one integer, a level
each, say where the sibling of the node on the way down still waits (after Áfra and Szirmay-Kalos, Stackless multi-BVH
traversal, Computer Graphics Forum 33, 2014). Triangles are met in a frame whose third axis is the ray, by the signs of
the areas that their edges span with it: two triangles that share an edge compute the same number for it, so that no ray
slips through between them (after Woop, Benthin and Wald, Watertight ray/triangle intersection, JCGT 2, 2013). A GPU
rounds only one of the two products of an area, so that there both triangles take the edge's ends in one order.
"""

from typing import Any

import taichi as ti

from ...base.shapes.ray import MISS, slope, unit
from .mesh_tree import DEPTH, FIRST_NODE, FIRST_TRIANGLE, TRIANGLES
from .traced import Traced, for_gpu


@ti.func
def beside(direction):
    """Two unit vectors that make a right-handed frame with a unit vector: first, second, direction."""
    first = ti.Vector([0.0, -direction.z, direction.y])
    if ti.abs(direction.x) > 0.5:
        first = ti.Vector([direction.z, 0.0, -direction.x])
    first = unit(first)
    return first, direction.cross(first)


def fuses_products() -> bool:
    """Return True if the kernel being traced is for a device that adds a product without rounding it first."""
    return for_gpu()


def is_false(flag: Any) -> bool:
    """Return True for False itself, and not for a number of the kernel being traced."""
    return flag is False


@ti.func
def spanned(ax, ay, bx, by):
    """Twice the area that an edge from a to b spans with the origin; from b to a it has the same bits, negated."""
    area = ax * by - ay * bx
    if ti.static(fuses_products()):
        if ax > bx or (ax == bx and ay > by):
            area = -(bx * ay - by * ax)
    return area


class TracedMeshes(Traced):
    """Meshes of `MeshTrees`, in the precision `real`.

    Rays are in the mesh's frame, with a unit direction; distances are metres.
    """

    def __init__(self, trees, nodes, corners, real):
        self.trees, self.nodes, self.corners, self.real = trees, nodes, corners, real

    @ti.func
    def corner(self, triangle, i: ti.template()):
        """The i-th corner of a triangle."""
        return ti.Vector([ti.cast(self.corners[triangle, 3 * i + c], self.real) for c in ti.static(range(3))])

    @ti.func
    def outward(self, triangle):
        """Unit normal of a triangle, to the side from which its corners go counterclockwise; 0 if it has no area."""
        first = self.corner(triangle, 0)
        across = (self.corner(triangle, 1) - first).cross(self.corner(triangle, 2) - first)
        return across / ti.max(across.norm(), 1.0e-30)

    @ti.func
    def box(self, node, origin, inverse, start, limit):
        """Return the distance at which a ray enters a node's box between `start` and `limit`; MISS if it does not."""
        t_in, t_out = start, limit
        for c in ti.static(range(3)):
            a = (self.nodes[node, c] - origin[c]) * inverse[c]
            b = (self.nodes[node, 3 + c] - origin[c]) * inverse[c]
            t_in, t_out = ti.max(t_in, ti.min(a, b)), ti.min(t_out, ti.max(a, b))
        return ti.select(t_in <= t_out, t_in, MISS)

    @ti.func
    def holds(self, mesh, point):
        """Return True if a point is in the box around a mesh."""
        root = self.trees[mesh, FIRST_NODE]
        found = True
        for c in ti.static(range(3)):
            found = found and self.nodes[root, c] <= point[c] <= self.nodes[root, 3 + c]
        return found

    @ti.func
    def meet(self, triangle, origin, across, up, direction, both_sides: ti.template()):
        """Distance at which a ray meets a triangle, MISS if it does not; may be negative, behind the origin.

        `across`, `up` and `direction` are a right-handed frame, in which a triangle seen from outside goes clockwise.
        """
        a, b, c = (
            self.corner(triangle, 0) - origin,
            self.corner(triangle, 1) - origin,
            self.corner(triangle, 2) - origin,
        )
        ax, bx, cx = a.dot(across), b.dot(across), c.dot(across)
        ay, by, cy = a.dot(up), b.dot(up), c.dot(up)
        of_a, of_b, of_c = spanned(bx, by, cx, cy), spanned(cx, cy, ax, ay), spanned(ax, ay, bx, by)
        area = of_a + of_b + of_c
        inside = of_a <= 0.0 and of_b <= 0.0 and of_c <= 0.0 and area < 0.0
        if ti.static(not is_false(both_sides)):
            inside = inside or (both_sides and of_a >= 0.0 and of_b >= 0.0 and of_c >= 0.0 and area > 0.0)
        t = a.x * 0.0 + MISS
        if inside:
            t = (of_a * a.dot(direction) + of_b * b.dot(direction) + of_c * c.dot(direction)) / area
        return t

    @ti.func
    def nearest(self, mesh, origin, direction, start, limit, both_sides: ti.template()):
        """The nearest triangle from `start` (m) to before `limit`: distance and triangle, (limit, -1) without a hit.

        Only outer sides are seen unless `both_sides`, which may be a number of the kernel.
        """
        root = self.trees[mesh, FIRST_NODE] - 1  # nodes are counted from 1
        depth, count = self.trees[mesh, DEPTH], self.trees[mesh, TRIANGLES]
        inverse = 1.0 / slope(direction)
        across, up = beside(direction)
        best, found = limit, -1
        node, waiting = 1, 0
        while node > 0:
            child = 0
            if node >> depth == 0:
                left = self.box(root + 2 * node, origin, inverse, start, best)
                right = self.box(root + 2 * node + 1, origin, inverse, start, best)
                if left < MISS or right < MISS:
                    child = 2 * node + ti.cast(right < left, ti.i32)
                    waiting = 2 * waiting + ti.cast(left < MISS and right < MISS, ti.i32)
            else:
                leaf = ti.cast(node - (1 << depth), ti.i64)
                first = ti.cast((leaf * count) >> depth, ti.i32)
                last = ti.cast(((leaf + 1) * count) >> depth, ti.i32)
                for k in range(first, last):
                    triangle = self.trees[mesh, FIRST_TRIANGLE] + k
                    t = self.meet(triangle, origin, across, up, direction, both_sides)
                    if t >= start and t < best:
                        best, found = t, triangle
            if child == 0 and waiting > 0:
                while waiting % 2 == 0:
                    waiting, node = waiting >> 1, node >> 1
                waiting, child = waiting - 1, node ^ 1
            node = child
        return best, found

    @ti.func
    def shares(self, triangle, point):
        """Weights of a triangle's corners whose mean is the point of its plane nearest to a point; they add up to 1."""
        a = self.corner(triangle, 0)
        u, v, w = self.corner(triangle, 1) - a, self.corner(triangle, 2) - a, point - a
        normal = u.cross(v)
        square = ti.max(normal.dot(normal), 1.0e-37)
        second, third = w.cross(v).dot(normal) / square, u.cross(w).dot(normal) / square
        return ti.Vector([1.0 - second - third, second, third])

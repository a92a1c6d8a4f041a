"""Rays through the spheres of a group, and the light that the spheres leave to a point near them."""

import taichi as ti

from ...base.shapes import sphere
from ...base.shapes.ray import MISS
from ..rays.mesh_tree import DEPTH, FIRST_NODE, FIRST_TRIANGLE
from ..rays.traverse import TracedMeshes
from .trees import IN_LEAF

# columns of a sphere among the corners of triangles, one row each
CENTER = 0  # 3 columns: from the middle of the environment's group, m
RADIUS = 3  # m
NUMBER = 4  # among the particles of all groups of the environment
COLOUR = 5  # 3 columns: linear light
_DARK = 1.0 / 512.0  # share of light below which no more spheres are asked


class TracedSpheres(TracedMeshes):
    """Spheres in the arrays of meshes, which have a row of `corners` for each of them.

    Rays begin where they are nearest to the middle of the group, or anywhere; distances are metres.
    """

    @ti.func
    def centre(self, item):
        """Centre of a sphere."""
        return ti.Vector([ti.cast(self.corners[item, CENTER + c], self.real) for c in ti.static(range(3))])

    @ti.func
    def colour(self, item):
        """Colour of a sphere, linear light."""
        return ti.Vector([self.corners[item, COLOUR + c] for c in ti.static(range(3))])

    @ti.func
    def number(self, item):
        """Return the number of a sphere among the particles of the environment."""
        return ti.cast(self.corners[item, NUMBER], ti.i32)

    @ti.func
    def meet(self, item, origin, across, up, direction, leaves: ti.template()):
        """Distance at which a ray enters a sphere, or else leaves it, MISS if it does not; may be negative."""
        away = self.centre(item) - origin
        slide = away.dot(direction)
        size = ti.Vector([self.corners[item, RADIUS], 0.0, 0.0])
        t = sphere.entry(size, slide * direction - away, direction)
        if t < MISS:
            t = slide + ti.select(leaves, -t, t)
        return t

    @ti.func
    def is_near(self, node, point, reach):
        """Return True if a node's box is nearer to a point than a distance."""
        square = reach * 0.0
        for c in ti.static(range(3)):
            off = ti.max(self.nodes[node, c] - point[c], point[c] - self.nodes[node, 3 + c], 0.0)
            square += off * off
        return square < reach * reach

    @ti.func
    def openness(self, tree, point, normal, strength, reach, largest, own):
        """Share of the sky's light that spheres near a point let through; the sphere `own` does not count.

        Each dims it out to `reach` of its radii, of which `largest` (m) is the largest.
        """
        root, depth = self.trees[tree, FIRST_NODE] - 1, self.trees[tree, DEPTH]
        light, far = reach * 0.0 + 1.0, reach * largest
        node, waiting = 1, 0
        while node > 0:
            child = 0
            if node >> depth == 0:
                left = self.is_near(root + 2 * node, point, far)
                right = self.is_near(root + 2 * node + 1, point, far)
                if left or right:
                    child = ti.select(left, 2 * node, 2 * node + 1)
                    waiting = 2 * waiting + ti.cast(left and right, ti.i32)
            else:
                first = self.trees[tree, FIRST_TRIANGLE] + (node - (1 << depth)) * IN_LEAF
                for item in range(first, first + IN_LEAF):
                    if item != own:
                        light *= self.light_past(item, point, normal, strength, reach)
            if light < _DARK:
                waiting, child = 0, 0
            if child == 0 and waiting > 0:
                while waiting % 2 == 0:
                    waiting, node = waiting >> 1, node >> 1
                waiting, child = waiting - 1, node ^ 1
            node = child
        return light

    @ti.func
    def light_past(self, item, point, normal, strength, reach):
        """Share of the sky's light that a sphere lets through, as `DrawnScene.openness` has it of solids."""
        away, radius = self.centre(item) - point, self.corners[item, RADIUS]
        light, limit = reach * 0.0 + 1.0, reach * radius
        if away.dot(away) < limit * limit:
            square = ti.max(away.dot(away), radius * radius)
            facing = ti.max(0.0, away.dot(normal)) / ti.sqrt(square)
            covered = ti.max(0.0, radius * radius / square - 1.0 / (reach * reach))
            light = 1.0 - strength * facing * covered
        return light

"""Geoms that shine: which one to look at, and a random point of its surface.

A geom shines outwards, evenly, with the radiance of its colour times its material's emission. Each is looked at as
often as it sends out light. Points are even over the surface, except on ellipsoids, where they are even over the sphere
that is stretched to it, and on spheres, where they are even over the directions in which a point sees the sphere. Areas
follow from the model's sizes.
"""

from dataclasses import dataclass

import numpy as np
import taichi as ti

from ...base.shapes import AREAS, MESH, SPHERE, SPOT_DENSITIES, SPOTS
from ...base.shapes.by_kind import by_kind
from ...base.shapes.ray import unit
from ..rays.mesh_tree import FIRST_TRIANGLE, TRIANGLES
from ..rays.traced import Traced
from ..shading import vec3
from ..shown import render_model as columns
from ..shown.appearance import BY_ENV, TREE
from .sampling import cone_density, in_cone

# columns of `emitter_table`: of the render model's row with that number
CHANCE = 0  # probability with which it is looked at; 0 if it does not shine, or no point of it can be found
AREA = 1  # m^2
# and of the emitter with that number
ROW = 2
UP_TO = 3  # sum of the probabilities up to this one
COLUMNS = 4
_BRIGHTNESS = np.array([0.3, 0.5, 0.2])


@dataclass(frozen=True, eq=False)
class Emitters:
    """The geoms of a model that shine.

    Attributes:
        table: (rows, COLUMNS) float32.
        count: how many there are.
        areas: (t,) float32: sums of the areas of a mesh's triangles up to each, m^2, for all triangles of all meshes.
    """

    table: np.ndarray
    count: int
    areas: np.ndarray

    def copied(self, rows: np.ndarray) -> "Emitters":
        """Return the emitters of rows that are copies of these rows."""
        return _chosen_by(self.table[rows, CHANCE].astype(np.float64), self.table[rows, AREA], self.areas)


def emitters(drawn: columns.RenderModel) -> Emitters:
    """Collect the geoms that shine."""
    rows = len(drawn.kind)
    table, areas = np.zeros((rows, COLUMNS)), _triangle_sums(drawn)
    power = np.zeros(rows)
    for row in np.flatnonzero((drawn.geom >= 0) & (drawn.paint[:, columns.EMISSION] > 0)):
        table[row, AREA] = _area(drawn, int(row), areas)
        colour = drawn.paint[row, columns.ALBEDO : columns.ALBEDO + 3] @ _BRIGHTNESS
        power[row] = table[row, AREA] * drawn.paint[row, columns.EMISSION] * colour
    return _chosen_by(power, table[:, AREA], areas)


def _chosen_by(power: np.ndarray, area: np.ndarray, areas: np.ndarray) -> Emitters:
    """Return the table by which rows of these powers and areas are chosen."""
    table, shining = np.zeros((len(power), COLUMNS)), np.flatnonzero(power)
    table[:, AREA] = area
    if len(shining):
        table[:, CHANCE] = power / power.sum()
        table[: len(shining), ROW] = shining
        table[: len(shining), UP_TO] = np.cumsum(table[shining, CHANCE])
        table[len(shining) - 1, UP_TO] = 2.0  # beyond any number in [0, 1)
    return Emitters(table.astype(np.float32), len(shining), areas.astype(np.float32))


def _triangle_sums(drawn: columns.RenderModel) -> np.ndarray:
    corners = drawn.appearance.trees.corners.astype(np.float64).reshape(-1, 3, 3)
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=-1)
    sums = np.zeros(len(area))
    for first, count in drawn.appearance.trees.trees[:, [FIRST_TRIANGLE, TRIANGLES]]:
        sums[first : first + count] = np.cumsum(area[first : first + count])
    return sums


def _area(drawn: columns.RenderModel, row: int, areas: np.ndarray) -> float:
    """Area (m^2) of a row's surface; 0 for height fields, planes without end and particles, hit only by chance."""
    kind = int(drawn.kind[row])
    if drawn.appearance.rows[row, BY_ENV]:
        return 0.0
    if kind == MESH:
        tree = drawn.appearance.trees.trees[drawn.appearance.rows[row, TREE]]
        return float(areas[tree[FIRST_TRIANGLE] + tree[TRIANGLES] - 1])
    return AREAS[kind](drawn.shape[row, :3].astype(np.float64)) if kind in AREAS else 0.0


_SPOTS = {kind: spot for kind, spot in SPOTS.items() if kind != SPHERE}


class EmitterKernels(Traced):
    """`Emitters` in a kernel."""

    def __init__(self, world, table, areas):
        self.world, self.table, self.areas = world, table, areas

    @ti.func
    def density(self, row, local):
        """Density per area (1/m^2), times the chance to look there, with which a point of a geom is chosen."""
        even = 1.0 / ti.max(self.table[row, AREA], 1.0e-30)
        return self.table[row, CHANCE] * by_kind(
            self.world.kind[row], SPOT_DENSITIES, even, self.world.size(row), local
        )

    @ti.func
    def seen_spread(self, row, vertex):
        """Return 1 - cosine of half the angle of a sphere as seen from a point, 2 from within."""
        radius = self.world.size(row).x
        away = self.world.position(row) - vertex
        square = radius * radius / ti.max(away.dot(away), 1.0e-20)
        found = ti.f32(2.0)
        if square < 1.0:
            found = square / (1.0 + ti.sqrt(1.0 - square))
        return found

    @ti.func
    def chance(self, row, point, normal, vertex):
        """Density per solid angle, at `vertex`, of looking at a point of a geom that shines, by `choose`."""
        away = point - vertex
        square = away.dot(away)
        facing = ti.abs(away.dot(normal)) / ti.sqrt(ti.max(square, 1.0e-20))
        found = ti.f32(0.0)
        if self.world.kind[row] == SPHERE:
            found = self.table[row, CHANCE] * cone_density(self.seen_spread(row, vertex))
        elif facing > 1.0e-6:
            turn = self.world.turn(row)
            local = turn @ (point - self.world.position(row))
            found = self.density(row, local) * square / facing
        return found

    @ti.func
    def choose(self, vertex, which, u, v):
        """Look for light from a point: the geom, the direction, its distance (m) and its density; 0: none."""
        k, below = 0, ti.f32(0.0)
        while which >= self.table[k, UP_TO]:
            below = self.table[k, UP_TO]
            k += 1
        row = ti.cast(self.table[k, ROW], ti.i32)
        within = ti.min((which - below) / ti.max(self.table[row, CHANCE], 1.0e-20), 0.9999999)
        size, centre, turn = self.world.size(row), self.world.position(row), self.world.turn(row)
        towards, far, density = vec3(0.0, 0.0, 1.0), ti.f32(0.0), ti.f32(0.0)
        if self.world.kind[row] == SPHERE:
            spread = self.seen_spread(row, vertex)
            if spread < 1.0:
                away = centre - vertex
                towards = in_cone(unit(away), spread, u, v)
                along = away.dot(towards)
                beside = away - along * towards
                far = along - ti.sqrt(ti.max(0.0, size.x * size.x - beside.dot(beside)))
                density = self.table[row, CHANCE] * cone_density(spread)
        else:
            usual = vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 1.0)
            local, out = by_kind(self.world.kind[row], _SPOTS, usual, size, within, u, v)
            if ti.static(self.world.has.meshes):
                if self.world.kind[row] == MESH:
                    local, out = self.of_mesh(row, within, u, v)
            point, normal = centre + turn.transpose() @ local, turn.transpose() @ out
            away = point - vertex
            far = away.norm()
            towards = away / ti.max(far, 1.0e-20)
            facing = -towards.dot(normal)
            if facing > 1.0e-6:
                density = self.density(row, local) * far * far / facing
        return row, towards, far, density

    @ti.func
    def of_mesh(self, row, which, u, v):
        """Return a random point of a mesh, and its outward direction."""
        meshes, tree = self.world.dressed.meshes, self.world.dressed.rows[row, TREE]
        first = meshes.trees[tree, FIRST_TRIANGLE]
        low, high = first, first + meshes.trees[tree, TRIANGLES] - 1
        wanted = which * self.areas[high]
        while low < high:
            middle = (low + high) // 2
            if self.areas[middle] > wanted:
                high = middle
            else:
                low = middle + 1
        root = ti.sqrt(u)
        a, b, c = meshes.corner(low, 0), meshes.corner(low, 1), meshes.corner(low, 2)
        return (1.0 - root) * a + root * (1.0 - v) * b + root * v * c, meshes.outward(low)

"""Exact depths of two overlapping convex shapes: qhull for hulls, roots of derivatives where a shape is curved.

The depth of two shapes is the least width, over all directions, of their overlap: by how much the planes across a
direction, each at the farthest point of its shape, overlap. Where the least width is, the surface of the difference of
both shapes is smooth, so it is one of these:

- a flat side of one shape, or an edge of each: finitely many directions, all tried;
- an edge of one shape along a curved part of the other: directions across that edge, one angle; the derivative of the
  width changes its sign there, and Brent's method finds where;
- two curved parts: two angles; the gradient of the width is zero there, found from the least widths of a grid.

The side of a cylinder counts as an edge along the axis. Hulls alone need none of this: the facets of the difference of
their corners are qhull's, and the nearest one to the origin is the depth.
"""

from typing import NamedTuple

import mujoco
import numpy as np
from scipy.optimize import brentq, root
from scipy.spatial import ConvexHull

CURVED = (mujoco.mjtGeom.mjGEOM_ELLIPSOID, mujoco.mjtGeom.mjGEOM_CYLINDER)
ANGLES, SPREAD, STARTS = 512, 2000, 4
"""Angles of an edge's directions, directions of the grid, and minima of the grid that are followed."""
AXES = np.eye(3)


class Shape(NamedTuple):
    """A geom where it is.

    Attributes:
        kind: its type.
        size: its half sizes; a sphere's and a capsule's radius comes first.
        center: (3,).
        axes: (3, 3), in columns.
        corners: (n, 3) of a box, a mesh, a capsule's axis or a sphere's center, in the world.
        flats: (n, 3) outward normals of flat sides.
        edges: (n, 3) directions of edges.
    """

    kind: int
    size: np.ndarray
    center: np.ndarray
    axes: np.ndarray
    corners: np.ndarray
    flats: np.ndarray
    edges: np.ndarray

    @property
    def radius(self) -> float:
        """Distance of the surface from the corners' hull (m)."""
        round_kinds = (mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_CAPSULE)
        return float(self.size[0]) if self.kind in round_kinds else 0.0

    def reach(self, way: np.ndarray) -> np.ndarray:
        """How far the shape reaches along unit directions (..., 3), and where: (...,), (..., 3)."""
        local = way @ self.axes
        if self.kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
            point = self.size**2 * local / np.linalg.norm(self.size * local, axis=-1, keepdims=True)
        elif self.kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
            across = local[..., :2] / np.maximum(np.linalg.norm(local[..., :2], axis=-1, keepdims=True), 1e-30)
            point = np.concatenate([self.size[0] * across, self.size[1] * np.sign(local[..., 2:])], -1)
        else:
            point = (self.corners[(way @ self.corners.T).argmax(-1)] - self.center) @ self.axes + self.radius * local
        return self.center + point @ self.axes.T


def shape_of(mjm: mujoco.MjModel, data: mujoco.MjData, g: int) -> Shape:
    """Geom g of a model, at the pose of `data`."""
    kind, size = int(mjm.geom_type[g]), np.array(mjm.geom_size[g])
    center, axes = np.array(data.geom_xpos[g]), np.array(data.geom_xmat[g]).reshape(3, 3)
    local, flats, edges = np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3))
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        local = size * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        flats, edges = np.concatenate([AXES, -AXES]), AXES
    elif kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = mjm.geom_dataid[g]
        local = mjm.mesh_vert[mjm.mesh_vertadr[mesh] :][: mjm.mesh_vertnum[mesh]].astype(float)
        hull = ConvexHull(local)
        flats = np.unique(np.round(hull.equations[:, :3], 12), axis=0)
        sides = np.concatenate([hull.simplices[:, [i, (i + 1) % 3]] for i in range(3)])
        edges = local[sides[:, 1]] - local[sides[:, 0]]
        edges /= np.linalg.norm(edges, axis=1)[:, None]
    elif kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        flats, edges = np.array([AXES[2], -AXES[2]]), AXES[2:]
    elif kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        local, edges = size[1] * np.array([AXES[2], -AXES[2]]), AXES[2:]
    elif kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        local = np.zeros((1, 3))
    return Shape(kind, size, center, axes, center + local @ axes.T, flats @ axes.T, edges @ axes.T)


def width(one: Shape, other: Shape, way: np.ndarray) -> np.ndarray:
    """By how much the shapes overlap along unit directions from `one` to `other`, (..., 3) -> (...,)."""
    return ((one.reach(way) - other.reach(-way)) * way).sum(-1)


def depth(one: Shape, other: Shape) -> tuple[float, np.ndarray]:
    """The depth of two overlapping shapes (m, positive), and the normal from `one` to `other` (3,)."""
    if one.kind in CURVED or other.kind in CURVED:
        ways = np.concatenate([one.flats, -other.flats, _across_edges(one, other), _along_edges(one, other)])
        if _round(one) and _round(other):
            ways = np.concatenate([ways, _between_curves(one, other)])
        widths = width(one, other, ways)
        best = int(widths.argmin())
        return float(widths[best]), ways[best]
    points = (one.corners[:, None] - other.corners[None]).reshape(-1, 3)
    hull, radii = ConvexHull(points), one.radius + other.radius
    best = int(hull.equations[:, 3].argmax())
    if hull.equations[best, 3] <= 0:
        return float(radii - hull.equations[best, 3]), hull.equations[best, :3]
    near = min((_nearest(points[corners]) for corners in hull.simplices), key=np.linalg.norm)  # the cores are apart
    length = float(np.linalg.norm(near))
    return radii - length, -near / length


def _nearest(corners: np.ndarray) -> np.ndarray:
    """The point of a triangle (3, 3) that is nearest to the origin: within it, or on a side."""
    a, b, c = corners
    normal = np.cross(b - a, c - a)
    foot = normal * (normal @ a) / (normal @ normal)
    sides = [normal @ np.cross(q - p, foot - p) for p, q in ((a, b), (b, c), (c, a))]
    if min(sides) >= 0:
        return foot
    found = []
    for p, q in ((a, b), (b, c), (c, a)):
        found.append(p + (q - p) * np.clip(-p @ (q - p) / ((q - p) @ (q - p)), 0, 1))
    return min(found, key=np.linalg.norm)


def _round(shape: Shape) -> bool:
    """Whether the surface has a part that is curved, or a point that looks so: there two angles are free."""
    return shape.kind in CURVED or len(shape.corners) > 0


def _across_edges(one: Shape, other: Shape) -> np.ndarray:
    """Directions across an edge of each shape, (n, 3)."""
    ways = np.cross(one.edges[:, None], other.edges[None]).reshape(-1, 3)
    length = np.linalg.norm(ways, axis=1)
    ways = ways[length > 1e-9] / length[length > 1e-9, None]
    return np.concatenate([ways, -ways])


def _along_edges(one: Shape, other: Shape) -> np.ndarray:
    """Directions across an edge of either shape at which the width is least among them, (n, 3)."""
    found = []
    for edge in np.concatenate([one.edges, other.edges]):
        first = np.cross(edge, AXES[np.abs(edge).argmin()])
        first /= np.linalg.norm(first)
        second = np.cross(edge, first)

        def slope(angle: float, first: np.ndarray = first, second: np.ndarray = second) -> float:
            way, turn = np.cos(angle) * first + np.sin(angle) * second, np.cos(angle) * second - np.sin(angle) * first
            return float((one.reach(way) - other.reach(-way)) @ turn)

        angles = np.linspace(0.1, 0.1 + 2 * np.pi, ANGLES + 1)
        ways = np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * second
        turns = np.cos(angles)[:, None] * second - np.sin(angles)[:, None] * first
        slopes = ((one.reach(ways) - other.reach(-ways)) * turns).sum(-1)
        for k in np.flatnonzero((slopes[:-1] < 0) & (slopes[1:] >= 0)):
            angle = brentq(slope, angles[k], angles[k + 1], xtol=1e-15, rtol=1e-15)
            found.append(np.cos(angle) * first + np.sin(angle) * second)
    return np.reshape(found, (-1, 3))


def _between_curves(one: Shape, other: Shape) -> np.ndarray:
    """Directions at which the gradient of the width is zero, from the least widths of a grid, (n, 3)."""
    k = np.arange(SPREAD) + 0.5
    z, turn = 1 - 2 * k / SPREAD, np.pi * (1 + 5**0.5) * k
    grid = np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], 1)
    found = []
    for start in grid[np.argsort(width(one, other, grid))[:STARTS]]:
        first = np.cross(start, AXES[np.abs(start).argmin()])
        first /= np.linalg.norm(first)
        base = np.stack([first, np.cross(start, first)])

        def way_of(x: np.ndarray, start: np.ndarray = start, base: np.ndarray = base) -> np.ndarray:
            way = start + x @ base
            return way / np.linalg.norm(way)

        def gradient(x: np.ndarray, way_of=way_of, base: np.ndarray = base) -> np.ndarray:
            way = way_of(x)
            point = one.reach(way) - other.reach(-way)
            return base @ (point - way * (point @ way))

        solved = root(gradient, np.zeros(2), tol=1e-14)
        found.append(way_of(solved.x))
    return np.reshape(found, (-1, 3))

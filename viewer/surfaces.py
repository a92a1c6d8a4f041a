"""Triangles of geoms, in the geom's own frame: vertices (m), unit normals and faces, counter-clockwise from outside."""

from collections.abc import Callable
from typing import NamedTuple

import mujoco
import numpy as np

from ..physics.files.geometry.compiled_mesh import surface_of

ROUND = 24
"""Corners of a circle, unless another number is asked for: a multiple of 4."""
MOST_SAMPLES = 400
"""Vertices along a side of a height field; of a finer one, only every second or third is shown."""


class GeomSurface(NamedTuple):
    """The surface of a geom."""

    vertices: np.ndarray  # (v, 3) float32
    normals: np.ndarray  # (v, 3) float32
    faces: np.ndarray  # (f, 3) int32


def sphere(size: np.ndarray, corners: int = ROUND) -> GeomSurface:
    """Return the surface of a sphere of radius size[0]."""
    return _ball(size[0], 0.0, corners)


def capsule(size: np.ndarray, corners: int = ROUND) -> GeomSurface:
    """Return the surface of a capsule about z with radius size[0] and half length size[1]."""
    return _ball(size[0], size[1], corners)


def ellipsoid(size: np.ndarray, corners: int = ROUND) -> GeomSurface:
    """Return the surface of an ellipsoid with half axes `size`."""
    ball = _ball(1.0, 0.0, corners)
    return _surface(ball.vertices * size, ball.normals / size, ball.faces)


def cylinder(size: np.ndarray, corners: int = ROUND) -> GeomSurface:
    """Return the surface of a cylinder about z with radius size[0] and half length size[1]."""
    angle = np.linspace(0, 2 * np.pi, corners + 1)
    circle = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    up = np.array([0.0, 0.0, 1.0])
    side = _grid(2, corners + 1)
    rings = [size[0] * circle + z * size[1] * up for z in (-1, 1)]
    vertices, normals, faces = [*rings], [circle, circle], [side]
    for z in (-1, 1):
        first = sum(map(len, vertices))
        vertices.append(np.concatenate([[z * size[1] * up], size[0] * circle + z * size[1] * up]))
        normals.append(np.tile(z * up, (corners + 2, 1)))
        rim = first + 1 + np.arange(corners)
        faces.append(np.stack([np.full(corners, first), rim, rim + 1][::z], axis=1))
    return _surface(np.concatenate(vertices), np.concatenate(normals), np.concatenate(faces))


def box(size: np.ndarray, corners: int = ROUND) -> GeomSurface:
    """Return the surface of a box with half sides `size`; it has no circles."""
    vertices: list = []
    normals: list = []
    faces: list = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            normal, right, up = np.zeros(3), np.zeros(3), np.zeros(3)
            normal[axis], right[(axis + 1) % 3], up[(axis + 2) % 3] = sign, 1.0, sign
            first = 4 * len(vertices)
            vertices.append([(normal + x * right + y * up) * size for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
            normals.append([normal] * 4)
            faces.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]])
    return _surface(np.concatenate(vertices), np.concatenate(normals), np.array(faces))


def height_field(mj: mujoco.MjModel, field: int) -> GeomSurface:
    """Return the top of a height field, and its walls down to the base."""
    nrow, ncol = int(mj.hfield_nrow[field]), int(mj.hfield_ncol[field])
    first = int(mj.hfield_adr[field])
    heights = mj.hfield_data[first : first + nrow * ncol].reshape(nrow, ncol)
    rx, ry, elevation, base = mj.hfield_size[field]
    rows, columns = _samples(nrow), _samples(ncol)
    x, y = (2 * columns / (ncol - 1) - 1) * rx, (2 * rows / (nrow - 1) - 1) * ry
    z = heights[np.ix_(rows, columns)] * elevation
    slope_y, slope_x = np.gradient(z, y, x)
    top = np.stack([*np.broadcast_arrays(x[None, :], y[:, None]), z], axis=-1)
    vertices = [top.reshape(-1, 3)]
    normals = [np.stack([-slope_x, -slope_y, np.ones_like(z)], axis=-1).reshape(-1, 3)]
    faces = [_grid(len(rows), len(columns))]
    walls = ((top[0], (0, -1, 0)), (top[:, -1], (1, 0, 0)), (top[-1, ::-1], (0, 1, 0)), (top[::-1, 0], (-1, 0, 0)))
    for edge, normal in walls:
        foot = edge.copy()
        foot[:, 2] = -base
        faces.append(_grid(2, len(edge)) + sum(map(len, vertices)))
        vertices += [foot, edge]
        normals += [np.tile(np.array(normal, float), (2 * len(edge), 1))]
    return _surface(np.concatenate(vertices), np.concatenate(normals), np.concatenate(faces))


def mesh(mj: mujoco.MjModel, which: int) -> GeomSurface:
    """Return the surface of a compiled mesh."""
    vertices, normals, _, faces = surface_of(mj, which)
    return _surface(vertices, normals, faces)


PRIMITIVES: dict[str, Callable[..., GeomSurface]] = {
    "sphere": sphere,
    "capsule": capsule,
    "ellipsoid": ellipsoid,
    "cylinder": cylinder,
    "box": box,
}
"""Surfaces that follow from a geom's sizes, by the lower-case name of the type."""


def _ball(radius: float, half: float, corners: int) -> GeomSurface:
    """A sphere, whose halves are `half` above and below the origin."""
    rings = corners // 2 + 2  # the equator is there twice
    polar = np.concatenate([np.linspace(-np.pi / 2, 0, rings // 2), np.linspace(0, np.pi / 2, rings // 2)])
    around = np.linspace(0, 2 * np.pi, corners + 1)
    normals = np.stack(
        [np.cos(polar)[:, None] * np.cos(around), np.cos(polar)[:, None] * np.sin(around),
         np.broadcast_to(np.sin(polar)[:, None], (rings, corners + 1))], axis=-1,
    )  # fmt: skip
    vertices = radius * normals
    vertices[..., 2] += half * np.repeat([-1.0, 1.0], rings // 2)[:, None]
    faces = _grid(rings, corners + 1).reshape(rings - 1, corners, 2, 3)
    belt = slice(1, -1) if half else np.delete(np.arange(1, rings - 2), rings // 2 - 2)
    parts = faces[0, :, 1], faces[belt], faces[-1, :, 0]  # at the poles, the other triangles have no area
    return _surface(vertices.reshape(-1, 3), normals.reshape(-1, 3), np.concatenate([p.reshape(-1, 3) for p in parts]))


def _grid(rows: int, columns: int) -> np.ndarray:
    """Return two triangles (f, 3) for each cell of a grid of vertices, which turn from x (columns) to y (rows)."""
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    right, above = corner + 1, corner + columns
    cells = [[corner, right, above + 1], [corner, above + 1, above]]
    return np.moveaxis(np.array(cells), 2, 0).reshape(-1, 3)


def _samples(count: int) -> np.ndarray:
    """Return the rows of a height field that are shown, its borders included."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST_SAMPLES)).round().astype(int))


def _surface(vertices: np.ndarray, normals: np.ndarray, faces: np.ndarray) -> GeomSurface:
    length = np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    return GeomSurface(vertices.astype(np.float32), (normals / length).astype(np.float32), faces.astype(np.int32))

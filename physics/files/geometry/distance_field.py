"""Signed distance fields of meshes: a dense grid, as fine as its error near the surface has to be.

A field is found once for a mesh and kept on disk (`baked.py`). Between nodes it is interpolated linearly along each
axis. Distances are metres in the frame of the vertices given, negative inside.

Resolution: the error is measured where it matters, as the field's values at points of the surface, where it should be
0; the mean of its size over the area has to be below `error`. By default that is the longest side over 5,000, or the
thinnest wall over 800 if that is less. A cell is never wider than a quarter of the thinnest wall, nor than the longest
side over 32. The error falls with the square of the cell, so that two or three grids are tried.
"""

from dataclasses import dataclass

import numpy as np

from .baked import Arrays, baked
from .distance_grid import DistanceGrid, grid_of
from .files import MeshFileError
from .surface import ClosedSurface, closed_surface
from .surface_samples import Binned, binned, contact_edges, contact_points
from .triangle_distance import Triangles

RECIPE = "distance field 1"
MOST_NODES = 1 << 23
"""Nodes of a field: 34 MB in single precision."""
LEAST_CELLS, OF_LENGTH, OF_WALL, CELLS_A_WALL = 32, 5000.0, 800.0, 4.0
ROOM = 2.0
"""Cells between the mesh's box and the outermost nodes."""
_POINTS, _RAYS, _TRIALS = 8192, 256, 5
_PAIRS = 4_000_000


@dataclass(frozen=True, eq=False)
class DistanceField:
    """Signed distances at the nodes of a grid: node (i, j, k) lies at `low + cell * (i, j, k)`.

    Attributes:
        low: the lowest corner of the grid, (3,) m.
        cell: the distance between two nodes, m.
        values: the distances, (x, y, z) float32, m; negative inside.
        error: the mean error at the surface, where the distance should be 0, m.
        worst: the largest error at the surface, m.
        wall: the thickness of the thinnest walls, m: the 5th percentile over the area.
        points: points of the surface that are tested for contacts in other fields, in bins.
        edges: edges that are tested in the same way, by their ends, in bins.
    """

    low: np.ndarray
    cell: float
    values: np.ndarray
    error: float
    worst: float
    wall: float
    points: Binned
    edges: Binned

    def at(self, points: np.ndarray) -> np.ndarray:
        """Return the values (n,) at points (n, 3); for a point outside of the grid, at the nearest point inside."""
        return interpolated(self.values, (points - self.low) / self.cell)


def interpolated(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return values (n,) between the nodes of a grid (x, y, z), at places (n, 3) in cells."""
    places = np.clip(places, 0.0, np.array(values.shape) - 1.0)
    first = np.minimum(places.astype(np.int64), np.array(values.shape) - 2)
    part = places - first
    total = np.zeros(len(places))
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(corner, part, 1.0 - part), axis=1)
        total += weight * values[tuple((first + corner).T)]
    return total


def distance_field(
    vertices: np.ndarray, faces: np.ndarray, error: float | None = None, resolution: int | None = None
) -> DistanceField:
    """Return the distance field of a mesh, from the disk or computed.

    Args:
        vertices: (n, 3) m.
        faces: (m, 3).
        error: m, mean error at the surface; by default chosen by the mesh's size and its thinnest wall.
        resolution: cells along the longest side, in place of a choice by error.

    Raises:
        MeshFileError: the mesh has no inside, or the field would be too large.
        ValueError: both options are given, or one makes no sense.
    """
    if error is not None and resolution is not None:
        raise ValueError("a distance field has an error or a resolution, not both")
    if error is not None and not 0 < error < np.inf:
        raise ValueError(f"the error of a distance field is a length in metres, not {error!r}")
    if resolution is not None and (isinstance(resolution, bool) or int(resolution) != resolution or resolution < 4):
        raise ValueError(f"the resolution of a distance field is a whole number of cells from 4, not {resolution!r}")
    vertices, faces = np.ascontiguousarray(vertices, np.float64), np.ascontiguousarray(faces, np.int32)
    options = {"error": error, "resolution": resolution}
    arrays = baked(
        RECIPE,
        {"vertices": vertices, "faces": faces},
        options,
        lambda: _baked(vertices, faces, error, resolution),
        _sound,
    )
    numbers = arrays["numbers"]
    error, worst, wall = numbers[4:7].tolist()
    samples = binned(arrays["points"]), binned(arrays["edges"])
    return DistanceField(numbers[:3], float(numbers[3]), arrays["values"], error, worst, wall, *samples)


def _sound(arrays: Arrays) -> bool:
    """True for arrays that are a field: seven numbers, values in three dimensions, points and edges, all finite."""
    if set(arrays) != {"numbers", "values", "points", "edges"}:
        return False
    numbers, values, points, edges = (arrays[name] for name in ("numbers", "values", "points", "edges"))
    if numbers.shape != (7,) or values.ndim != 3 or min(values.shape) < 2 or not numbers[3] > 0:
        return False
    shapes = points.shape[1:] == (3,) and len(points) > 0 and edges.shape[1:] == (6,)
    return shapes and all(bool(np.isfinite(array).all()) for array in arrays.values())


def _baked(vertices: np.ndarray, faces: np.ndarray, error: float | None, resolution: int | None) -> Arrays:
    surface = closed_surface(vertices, faces)
    triangles = Triangles(surface.corners)
    length = float(np.ptp(surface.vertices, axis=0).max())
    points, normals = surface_points(surface, _POINTS)
    wall = _wall(surface, points, normals)
    if resolution is not None:
        grid = _grid(surface, triangles, length / resolution)
        errors = _errors(grid, points)
    else:
        if error is None:
            error = min(length / OF_LENGTH, wall / OF_WALL)
        cell = min(length / LEAST_CELLS, wall / CELLS_A_WALL)
        for _ in range(_TRIALS):
            cell = max(cell, _finest(surface))
            grid = _grid(surface, triangles, cell)
            errors = _errors(grid, points)
            if errors.mean() <= error or cell <= 1.001 * _finest(surface):
                break
            cell *= float(np.clip(0.97 * (error / errors.mean()) ** 0.5, 0.3, 0.9))
    numbers = np.array([*grid.low, grid.cell, errors.mean(), errors.max(), wall])
    return {
        "numbers": numbers,
        "values": grid.distance.reshape(grid.counts).astype(np.float32),
        "points": binned(contact_points(surface)).items,
        "edges": binned(contact_edges(surface)).items,
    }


def _grid(surface: ClosedSurface, triangles: Triangles, cell: float) -> DistanceGrid:
    """Return a grid around a surface, its middle in the middle."""
    low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
    cells = np.ceil((high - low) / cell + 2 * ROOM)
    if np.prod(cells + 1) > 1.02 * MOST_NODES:
        raise MeshFileError(
            f"its distance field would have {np.prod(cells + 1):.3g} nodes, and {MOST_NODES} are the most"
        )
    return grid_of(surface, triangles, (low + high - cells * cell) / 2, cell, cells.astype(np.int64) + 1)


def _finest(surface: ClosedSurface) -> float:
    """Return the cell with which a grid has the most nodes, m."""
    sides = np.ptp(surface.vertices, axis=0)
    low, high = sides.max() / 4096, sides.max()
    for _ in range(50):
        cell = np.sqrt(low * high)
        low, high = (cell, high) if np.prod(np.ceil(sides / cell + 2 * ROOM) + 1) > MOST_NODES else (low, cell)
    return float(high)


def surface_points(surface: ClosedSurface, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points (count, 3) spread evenly over the area, and their faces' unit normals; the same at every call."""
    corners = surface.corners
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(cross, axis=1)
    rng = np.random.default_rng(0)
    ends = np.cumsum(area)
    face = np.searchsorted(ends, ends[-1] * (np.arange(count) + rng.random(count)) / count).clip(0, len(area) - 1)
    u, v = np.sqrt(rng.random(count)), rng.random(count)
    weights = np.stack([1 - u, u * (1 - v), u * v], axis=1)
    return np.einsum("ij,ijk->ik", weights, corners[face]), cross[face] / np.maximum(area[face], 1e-300)[:, None]


def _errors(grid: DistanceGrid, points: np.ndarray) -> np.ndarray:
    return np.abs(interpolated(grid.distance.reshape(grid.counts), (points - grid.low) / grid.cell))


def _wall(surface: ClosedSurface, points: np.ndarray, normals: np.ndarray) -> float:
    """Return the thinnest wall, m: the 5th percentile over the area of the way inwards to the next face."""
    count = int(np.clip(_PAIRS // len(surface.faces), 32, _RAYS))
    rows = np.linspace(0, len(points) - 1, count).astype(int)
    corners = surface.corners
    one, other = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    length = np.ptp(surface.vertices, axis=0).max()
    ways = np.full(count, length)
    for k, row in enumerate(rows):
        towards = -normals[row]
        start = points[row] + 1e-6 * length * towards - corners[:, 0]
        across = np.cross(towards, other)
        det = np.einsum("ij,ij->i", one, across)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            u = np.einsum("ij,ij->i", start, across) / det
            turned = np.cross(start, one)
            v = turned @ towards / det
            way = np.einsum("ij,ij->i", other, turned) / det
            met = (u >= 0) & (v >= 0) & (u + v <= 1) & (way > 0)
        ways[k] = way[met].min(initial=length)
    return float(np.percentile(ways, 5))

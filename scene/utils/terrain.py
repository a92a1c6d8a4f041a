"""Heights of meshes, for `gs.morphs.Terrain(height_field=...)`."""

import os
from collections.abc import Sequence

import numpy as np

from ...physics.machine.scalars import as_count
from ...terrain.files import highest_surface, read_triangles
from ..checks import lengths


def mesh_to_heightfield(
    path: str | os.PathLike, spacing: float | Sequence[float], oversample: int = 1, *, up_axis: str = "z"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the highest surface of a mesh over a grid that spans its bounds.

    `tumble.terrain.Terrain.from_mesh` makes ground of a mesh in one call, with cells of one length.

    Args:
        path: of a file that `trimesh` reads.
        spacing: of the grid, one number or one along x and one along y, m: no cell is longer.
        oversample: of how many points along each axis around a grid point the highest counts.
        up_axis: the axis of the file that points up: "x", "y" or "z".

    Returns:
        Heights (nx, ny) m, the mesh's lowest where it has no surface, and x (nx,) and y (ny,) of the grid, m.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: it is no mesh, or an argument is impossible.
    """
    steps = lengths("mesh_to_heightfield", "spacing", [spacing] * 2 if np.isscalar(spacing) else spacing, 2)
    times = as_count("mesh_to_heightfield: oversample", oversample)
    triangles = read_triangles(path, up_axis, 1.0)
    low, high = triangles.reshape(-1, 3).min(0), triangles.reshape(-1, 3).max(0)
    x, y = (np.linspace(low[k], high[k], int(np.ceil((high[k] - low[k]) / steps[k] - 1e-9)) + 1) for k in (0, 1))
    around = (np.arange(times) - (times - 1) / 2) / times
    best = np.full((len(x), len(y)), -np.inf)
    for dx in around * (x[1] - x[0]):
        for dy in around * (y[1] - y[0]):
            heights = highest_surface(triangles, x + dx, y + dy)  # -inf beside the mesh; rows lie along y
            best = np.maximum(best, heights.T)
    return np.where(np.isfinite(best), best, low[2]), x, y

"""Places of particles in shapes: in the middles of cubic cells that fill a shape, or at random, one in each cell.

Shapes stand at the origin of their own frame. `rng` is a generator of numpy for places at random; None: the middles.
"""

from collections.abc import Sequence

import numpy as np

from ...physics.files.geometry.distance_field import distance_field
from ...physics.files.geometry.files import MeshFileError
from ...physics.files.geometry.surface import closed_surface, half_edges

MOST_PARTICLES = 2**24
"""Particles of one shape."""
_CELLS, _MOST_CELLS = 32, 128
"""Cells of the distance field along the longest side of a mesh."""

Generator = np.random.Generator


def require_particles(what: str, count: float) -> None:
    """Refuse more than `MOST_PARTICLES`.

    Raises:
        ValueError: the message has both numbers.
    """
    if not count <= MOST_PARTICLES:
        raise ValueError(
            f"{what} would have {count:.3g} particles, and {MOST_PARTICLES:,} are the most: take larger particles, or "
            "a smaller shape"
        )


def in_box(size: Sequence[float], spacing: float, rng: Generator | None = None) -> np.ndarray:
    """Return places in a box, (n, 3) m.

    Args:
        size: edges, (3,) m; along each lie as many cells as come nearest to the spacing, at least one.
        spacing: side of a cell, m.
        rng: see above.

    Raises:
        ValueError: the spacing is not above 0, or there would be too many particles.
    """
    edges = np.asarray(size, float)
    if not (np.isfinite(spacing) and spacing > 0):
        raise ValueError(f"a particle size of {spacing:g} m: expected a length above 0")
    shape = f"a shape in a box of {edges[0]:g} x {edges[1]:g} x {edges[2]:g} m"
    require_particles(shape, float(np.prod(edges / spacing)))
    counts = np.maximum(1, np.round(edges / spacing)).astype(int)
    cells = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 3)
    within = 0.5 if rng is None else rng.random(cells.shape)
    return (cells + within) * (edges / counts) - edges / 2


def in_ball(radius: float, spacing: float, rng: Generator | None = None, hole: float = 0.0) -> np.ndarray:
    """Return places in a ball, (n, 3) m, without those in a ball of radius `hole` in its middle; errors as `in_box`."""
    places = in_box([2 * radius] * 3, spacing, rng)
    far = np.linalg.norm(places, axis=1)
    return places[(far <= radius) & (far >= hole)]


def in_cylinder(radius: float, height: float, spacing: float, rng: Generator | None = None) -> np.ndarray:
    """Return places in a cylinder along z, (n, 3) m; errors as of `in_box`."""
    places = in_box([2 * radius, 2 * radius, height], spacing, rng)
    return places[np.hypot(places[:, 0], places[:, 1]) <= radius]


def in_mesh(
    vertices: np.ndarray, faces: np.ndarray, spacing: float, rng: Generator | None = None
) -> tuple[np.ndarray, float]:
    """Return places inside of a closed mesh, (n, 3) m, and its volume, m3.

    Args:
        vertices: (v, 3), m.
        faces: (f, 3) indices of vertices; faces that are turned over are turned back.
        spacing: side of a cell, m.
        rng: see above.

    Raises:
        ValueError: the mesh has no inside, or is not closed; or as of `in_box`.
    """
    try:
        surface = closed_surface(vertices, faces)
        open_edges = _open_edges(np.asarray(vertices, float), np.asarray(faces))
        if open_edges:
            raise ValueError(f"it is not closed: {open_edges} of its edges have a face on one side only")
        low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
        places = in_box(high - low, spacing, rng) + (low + high) / 2
        resolution = int(np.clip(2 * np.ceil((high - low).max() / spacing), _CELLS, _MOST_CELLS))
        inside = distance_field(surface.vertices, surface.faces, resolution=resolution).at(places) < 0
    except MeshFileError as error:
        raise ValueError(str(error)) from error
    a, b, c = np.moveaxis(surface.corners - low, 1, 0)
    return places[inside], float((a * np.cross(b, c)).sum() / 6)


def _open_edges(vertices: np.ndarray, faces: np.ndarray) -> int:
    """Return the number of edges that an odd number of faces have; vertices at one place are one."""
    _, number = np.unique(vertices, axis=0, return_inverse=True)
    edges = np.sort(half_edges(number.reshape(-1)[faces]), axis=1)
    _, uses = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0, return_counts=True)
    return int((uses % 2).sum())

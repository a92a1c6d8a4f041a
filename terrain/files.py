"""Ground from pictures, meshes and arrays."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from .checks import number, pair
from .grid import Grid
from .surface import require_heights, sample


def image(
    size: Any, horizontal_scale: float = 0.1, rng: Any = 0, *, path: str | Path, height_range: Any = (0.0, 1.0)
) -> np.ndarray:
    """A grey picture, stretched over the ground. Its upper edge lies at the largest y.

    Args:
        path: of a PNG, JPEG, TIFF or the like; 16 bits are kept, and colours become grey.
        height_range: heights of black and white, m.

    Raises:
        ValueError: the file is no picture.
    """
    low, high = pair("height_range", height_range)
    return low + (high - low) * sample(read_image(path), *Grid(size, horizontal_scale).shape)


def mesh(
    size: Any,
    horizontal_scale: float = 0.1,
    rng: Any = 0,
    *,
    path: Any,
    up: str = "z",
    scale: float = 1.0,
    outside: float = 0.0,
) -> np.ndarray:
    """The highest surface of a mesh over each point, with the middle of its bounds over the middle of the ground.

    Args:
        path: of a file that `trimesh` reads, or a `trimesh.Trimesh`.
        up: its axis that points up: "x", "y" or "z".
        scale: metres in its unit.
        outside: height where there is no mesh, m.

    Raises:
        ValueError: the file is no mesh, or there is no such axis.
    """
    grid = Grid(size, horizontal_scale)
    triangles = read_triangles(path, up, scale)
    bounds = triangles.reshape(-1, 3).min(0), triangles.reshape(-1, 3).max(0)
    middle = np.append(sum(bounds)[:2] / 2, 0.0)
    heights = highest_surface(triangles - middle, grid.x[0], grid.y[:, 0])
    return np.where(np.isfinite(heights), heights, number("outside", outside))


def given(size: Any, horizontal_scale: float = 0.1, rng: Any = 0, *, heights: Any, scale: float = 1.0) -> np.ndarray:
    """Heights that are there already, stretched over the ground.

    Args:
        heights: (any, any), along y and x, m.
        scale: factor of the heights.
    """
    return number("scale", scale) * sample(require_heights("heights", heights), *Grid(size, horizontal_scale).shape)


def read_image(path: str | Path) -> np.ndarray:
    """Return a picture's brightness between 0 and 1, (height, width), its lowest row first.

    Raises:
        FileNotFoundError: no such file.
        ValueError: it is no picture.
    """
    import imageio.v3

    if not os.path.isfile(path):
        raise FileNotFoundError(f"{path}: no such file")
    try:
        picture = np.asarray(imageio.v3.imread(path, plugin="pillow"))
    except Exception as error:  # each format raises others
        raise ValueError(f"{path} is no picture that Pillow reads: {error}") from None
    if picture.dtype.kind == "u":
        picture = picture / np.iinfo(picture.dtype).max
    if picture.ndim == 3 and picture.shape[2] in (1, 2, 3, 4):
        colours = picture.shape[2] - (picture.shape[2] in (2, 4))  # without alpha
        picture = picture[..., :colours].mean(-1)
    return require_heights(str(path), picture)[::-1]


def read_triangles(source: Any, up: str = "z", scale: float = 1.0) -> np.ndarray:
    """Return the corners of a mesh's triangles with z up, (faces, 3, 3), m.

    Raises:
        FileNotFoundError: no such file.
        ValueError: it is no mesh, has no faces or numbers that are not finite, or there is no such axis.
    """
    axes = {"x": (1, 2, 0), "y": (2, 0, 1), "z": (0, 1, 2)}
    if up not in axes:
        raise ValueError(f"up={up!r}: it must be 'x', 'y' or 'z'")
    if isinstance(source, str | Path):
        import trimesh

        if not os.path.isfile(source):
            raise FileNotFoundError(f"{source}: no such file")
        try:
            source = trimesh.load_mesh(source)
        except Exception as error:  # each format raises others
            raise ValueError(f"{source} is no mesh that trimesh reads: {error}") from None
    faces = np.asarray(getattr(source, "faces", ()))
    if not faces.size:
        raise ValueError("path: the mesh has no faces")
    triangles = np.asarray(source.vertices, float)[faces] * number("scale", scale)
    if not np.isfinite(triangles).all():
        raise ValueError("path: the mesh has vertices that are not finite")
    return triangles[..., axes[up]]


def highest_surface(triangles: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return where upright lines meet triangles last from below, (len(y), len(x)), m; -inf where they meet none.

    Args:
        triangles: (n, 3, 3), m.
        x: evenly spaced and rising, m.
        y: the same along y, m.
    """
    heights = np.full((len(y), len(x)), -np.inf)
    step = np.array([x[1] - x[0], y[1] - y[0]])
    first = np.ceil((triangles[..., :2].min(1) - [x[0], y[0]]) / step - 1e-6).astype(int).clip(0)
    last = np.floor((triangles[..., :2].max(1) - [x[0], y[0]]) / step + 1e-6).astype(int)
    counts = (np.minimum(last, [len(x) - 1, len(y) - 1]) - first + 1).clip(0)
    todo = np.flatnonzero(counts.prod(1))
    ends = np.cumsum(counts[todo].prod(1))
    for begin in range(0, int(ends[-1]) if len(todo) else 0, 2_000_000):  # points over the boxes of triangles
        place = np.arange(begin, min(begin + 2_000_000, int(ends[-1])))
        row = np.searchsorted(ends, place, side="right")
        which = todo[row]
        place = place - (ends[row] - counts[which].prod(1))
        at = first[which] + np.stack([place % counts[which, 0], place // counts[which, 0]], -1)
        z = _height_in(triangles[which], np.stack([x[at[:, 0]], y[at[:, 1]]], -1))
        np.maximum.at(heights, (at[:, 1], at[:, 0]), z)
    return heights


def _height_in(triangles: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the height of each triangle (n, 3, 3) over its point (n, 2); -inf outside or if it is upright."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    ab, ac, ap = b - a, c - a, points - a[:, :2]
    twice = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        u = (ap[:, 0] * ac[:, 1] - ap[:, 1] * ac[:, 0]) / twice
        v = (ab[:, 0] * ap[:, 1] - ab[:, 1] * ap[:, 0]) / twice
        inside = (u >= -1e-9) & (v >= -1e-9) & (u + v <= 1.0 + 1e-9)
        return np.where(inside, a[:, 2] + u * ab[:, 2] + v * ac[:, 2], -np.inf)

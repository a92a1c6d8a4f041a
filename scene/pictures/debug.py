"""Lines, arrows, frames, spheres and boxes that are drawn into the pictures of a scene's cameras, and touch nothing.

All are capsules (a sphere is one without a length) but for solid boxes. A camera's rays meet them where nothing of the
scene is nearer; they are laid over the picture with their opacity.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from ..checks import Numbers

RED = (1.0, 0.0, 0.0, 0.5)
_AXES = ((1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0))
_EDGES = [(i, j) for i in range(8) for j in range(i + 1, 8) if bin(i ^ j).count("1") == 1]
_HEAD = 0.25  # length of an arrow's head, as a share of the arrow's


@dataclass(eq=False)
class DebugObject:
    """Something drawn.

    Attributes:
        start, end: (k, 3) m, of the axes of capsules.
        radius: (k, 2) m, at their starts and ends.
        rgba: (k, 4) from 0 to 1.
        boxes: (b, 2, 3) m, lower and upper corners of solid boxes.
        box_rgba: (b, 4).
        pose: (4, 4), moves all of it.
    """

    start: np.ndarray
    end: np.ndarray
    radius: np.ndarray
    rgba: np.ndarray
    boxes: np.ndarray
    box_rgba: np.ndarray
    pose: np.ndarray


class Seen(Protocol):
    """The parts of a camera that say what it sees."""

    fov: float

    @property
    def aspect_ratio(self) -> float:
        """Width over height."""

    @property
    def transform(self) -> np.ndarray:
        """Its pose (4, 4)."""


def capsules(start: Numbers, end: Numbers, radius: Numbers, rgba: Numbers) -> DebugObject:
    """Return capsules from starts (k, 3) to ends (k, 3), of radii (k,), (k, 2) or one, and colours (k, 4) or one."""
    start, end = np.atleast_2d(_points("start", start)), np.atleast_2d(_points("end", end))
    count = len(start)
    radii = np.asarray(radius, float)
    radii = np.broadcast_to(radii[:, None] if radii.ndim == 1 else radii, (count, 2))
    colors = np.broadcast_to(_colors(rgba), (count, 4))
    return DebugObject(start, end, radii, colors, np.zeros((0, 2, 3)), np.zeros((0, 4)), np.eye(4))


def spheres(centers: Numbers, radius: Numbers, rgba: Numbers) -> DebugObject:
    """Return spheres at centres (k, 3) or (3,) m."""
    return capsules(centers, centers, radius, rgba)


def arrow(pos: Numbers, vec: Numbers, radius: float, rgba: Numbers) -> DebugObject:
    """Return an arrow from a point (3,) along a vector (3,) m."""
    pos, vec = _points("pos", pos), _points("vec", vec)
    neck = pos + (1.0 - _HEAD) * vec
    return capsules([pos, neck], [neck, pos + vec], [[radius, radius], [2.5 * radius, 0.1 * radius]], rgba)


def frame(
    pose: Numbers, axis_length: float, origin_size: float, axis_radius: float, color: Numbers | None = None
) -> DebugObject:
    """Return the axes of a frame (4, 4), x in red, y in green, z in blue, or all in one colour."""
    pose = np.asarray(pose, float)
    if pose.shape != (4, 4):
        raise ValueError(f"T: expected a pose (4, 4), got shape {pose.shape}")
    origin = np.zeros((4, 3))
    ends = np.vstack([axis_length * np.eye(3), np.zeros(3)])
    colors = [*_AXES, (0.6, 0.6, 0.6, 1.0)] if color is None else [_colors(color)] * 4
    axes = capsules(origin, ends, np.array([*[axis_radius] * 3, origin_size])[:, None] * [1.0, 1.0], colors)
    axes.pose = pose
    return axes


def box(bounds: Numbers, rgba: Numbers, wireframe: bool, wireframe_radius: float) -> DebugObject:
    """Return a box from its corners (2, 3) m, as twelve edges or solid."""
    bounds = np.asarray(bounds, float)
    if bounds.shape != (2, 3):
        raise ValueError(f"bounds: expected a lower and an upper corner (2, 3), got shape {bounds.shape}")
    if not wireframe:
        shape = spheres(np.zeros((0, 3)), 0.0, rgba)
        shape.boxes, shape.box_rgba = bounds[None], _colors(rgba)[None]
        return shape
    corners = np.array([[bounds[(k >> axis) & 1, axis] for axis in range(3)] for k in range(8)])
    first, second = np.array(_EDGES).T
    return capsules(corners[first], corners[second], wireframe_radius, rgba)


def frustum(camera: Seen, rgba: Numbers) -> DebugObject:
    """Return the edges of the view of a scene's camera, up to a metre away."""
    high = np.tan(np.radians(camera.fov) / 2)
    wide = high * camera.aspect_ratio
    corners = np.array([[x * wide, y * high, -1.0] for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    start = np.vstack([np.zeros((4, 3)), corners])
    edges = capsules(start, np.vstack([corners, np.roll(corners, -1, axis=0)]), 0.005, rgba)
    edges.pose = camera.transform
    return edges


def chain(points: Numbers, radius: float, rgba: Numbers) -> DebugObject:
    """Return a line through points (k, 3) m."""
    points = _points("poss", points)
    return capsules(points[:-1], points[1:], radius, rgba)


def _points(name: str, given: Numbers) -> np.ndarray:
    """Return points (..., 3).

    Raises:
        ValueError: they are invalid.
    """
    points = np.asarray(given.detach().cpu() if isinstance(given, torch.Tensor) else given, float)
    if points.shape[-1:] != (3,) or not np.isfinite(points).all():
        raise ValueError(f"{name}: expected finite points (..., 3), got shape {points.shape}")
    return points


def _colors(given: Numbers) -> np.ndarray:
    """Return colours (..., 4); three numbers are opaque."""
    colors = np.asarray(given, float)
    if colors.shape[-1:] == (3,):
        colors = np.concatenate([colors, np.ones((*colors.shape[:-1], 1))], axis=-1)
    if colors.shape[-1:] != (4,):
        raise ValueError(f"color: expected red, green, blue and opacity, got shape {colors.shape}")
    return colors

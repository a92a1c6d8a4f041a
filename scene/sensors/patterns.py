"""Patterns of rays in a sensor's frame: x ahead, y to the left, z up."""

import inspect
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...physics.machine.scalars import as_count
from ..checks import lengths, number, numbers

Span = float | tuple[float, float]


class RayPattern:
    """Rays in a sensor's frame.

    Attributes:
        starts: where they begin, (*shape, 3) m.
        directions: of length 1, (*shape, 3).
    """

    given: dict[str, Any]
    """The arguments as they were given, from which the same pattern is made again."""

    def __new__(cls, *args: Any, **named: Any) -> "RayPattern":
        """Keep the arguments."""
        made = super().__new__(cls)
        names = list(inspect.signature(cls.__init__).parameters)[1:]
        made.given = dict(zip(names, args, strict=False)) | named
        return made

    def __init__(self, starts: np.ndarray, directions: np.ndarray) -> None:
        self.starts, directions = np.broadcast_arrays(starts, directions)
        self.directions = directions / np.linalg.norm(directions, axis=-1, keepdims=True)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the readings: that of the rays."""
        return self.starts.shape[:-1]

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.shape}"


class GridPattern(RayPattern):
    """Parallel rays from a grid in the plane z = 0, (nx, ny): a height scan.

    Args:
        resolution: distance of neighbors, m.
        size: lengths along x and y, m.
        direction: of all rays, of any length but 0.

    Raises:
        ValueError: with the argument that is wrong.
    """

    def __init__(
        self, resolution: float = 0.1, size: Sequence[float] = (2.0, 2.0), direction: Sequence[float] = (0.0, 0.0, -1.0)
    ) -> None:
        resolution = number("GridPattern", "resolution", resolution, least=1e-3)
        along = [
            (np.arange(n := math.floor(length / resolution + 1e-9) + 1) - (n - 1) / 2) * resolution
            for length in lengths("GridPattern", "size", size, 2)
        ]
        towards = numbers("GridPattern", "direction", direction, 3)
        if not any(towards):
            raise ValueError(f"GridPattern: direction={direction!r}: it must have a length")
        x, y = np.meshgrid(*along, indexing="ij")
        super().__init__(np.stack((x, y, np.zeros_like(x)), -1), np.array(towards))


class SphericalPattern(RayPattern):
    """Rays in all directions of a lidar, (horizontal, vertical).

    Args:
        fov: horizontal and vertical field of view, degrees: a width about 0, or the least and the largest angle. A full
            turn has no direction twice.
        n_points: number of directions of each.
        angular_resolution: degrees between them, instead of `n_points`.
        angles: the angles themselves, degrees, instead of the others.

    Raises:
        ValueError: with the argument that is wrong.
    """

    def __init__(
        self,
        fov: Sequence[Any] = (360.0, 60.0),
        n_points: Sequence[int] = (128, 64),
        angular_resolution: Sequence[float | None] = (None, None),
        angles: Sequence[Sequence[float] | None] = (None, None),
    ) -> None:
        for name, pair in (("fov", fov), ("n_points", n_points), ("angular_resolution", angular_resolution)):
            if not isinstance(pair, Sequence) or len(pair) != 2:
                raise ValueError(f"SphericalPattern: {name}={pair!r}: expected two, horizontal and vertical")
        both = [_angles(*each) for each in zip(fov, n_points, angular_resolution, angles, strict=True)]
        azimuth, elevation = np.meshgrid(*map(np.radians, both), indexing="ij")
        level = np.cos(elevation)
        directions = np.stack((level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)), -1)
        super().__init__(np.zeros(3), directions)


class DepthCameraPattern(RayPattern):
    """Rays through the middles of the pixels of a pinhole camera that looks along x, (height, width).

    Args:
        res: width and height, pixels.
        fx, fy: focal lengths, pixels; None: as the other one, or from the fields of view.
        cx, cy: principal point, pixels; None: the middle.
        fov_horizontal: degrees; None: from `fov_vertical`, with square pixels.
        fov_vertical: degrees; None: from `fov_horizontal`, with square pixels.

    Attributes:
        width, height, fx, fy, cx, cy: as they are used.

    Raises:
        ValueError: with the argument that is wrong.
    """

    def __init__(
        self,
        res: Sequence[int] = (128, 96),
        fx: float | None = None,
        fy: float | None = None,
        cx: float | None = None,
        cy: float | None = None,
        fov_horizontal: float | None = 90.0,
        fov_vertical: float | None = None,
    ) -> None:
        self.width, self.height = (as_count("DepthCameraPattern: res", pixels) for pixels in res)
        if fx is None and fy is None:
            wide = _focal("fov_horizontal", fov_horizontal, self.width)
            high = _focal("fov_vertical", fov_vertical, self.height)
            fx, fy = wide if wide is not None else high, high if high is not None else wide
        else:
            fx, fy = fx if fx is not None else fy, fy if fy is not None else fx
        if fx is None or fy is None:
            raise ValueError("DepthCameraPattern: give fov_horizontal, fov_vertical, fx or fy")
        self.fx, self.fy = float(fx), float(fy)
        for name, focal in (("fx", self.fx), ("fy", self.fy)):
            number("DepthCameraPattern", name, focal, above=0.0)
        self.cx = self.width / 2 if cx is None else number("DepthCameraPattern", "cx", cx)
        self.cy = self.height / 2 if cy is None else number("DepthCameraPattern", "cy", cy)
        right, down = np.meshgrid(np.arange(self.width) + 0.5, np.arange(self.height) + 0.5)
        directions = np.stack((np.ones_like(right), (self.cx - right) / self.fx, (self.cy - down) / self.fy), -1)
        super().__init__(np.zeros(3), directions)


def _angles(fov: Any, count: int, step: float | None, angles: Sequence[float] | None) -> np.ndarray:
    """Return the angles of one direction, degrees."""
    owner = "SphericalPattern"
    if angles is not None:
        return np.array(numbers(owner, "angles", angles, len(angles)))
    if np.ndim(fov):
        low, high = numbers(owner, "fov", fov, 2)
    else:
        high = number(owner, "fov", fov, least=0.0, most=360.0) / 2
        low = -high
    if not 0.0 <= high - low <= 360.0:
        raise ValueError(f"{owner}: fov={fov!r}: from the least to the largest angle, at most 360 degrees")
    if step is not None:
        count = math.ceil((high - low) / number(owner, "angular_resolution", step, above=0.0) - 1e-9) + 1
    count = as_count(f"{owner}: n_points", count)
    if high - low == 360.0:
        return low + 360.0 * np.arange(count - (step is not None)) / (count - (step is not None))
    return np.linspace(low, high, count)


def _focal(name: str, degrees: float | None, pixels: int) -> float | None:
    """Return the focal length of a field of view, pixels; None for none."""
    if degrees is None:
        return None
    wide = number("DepthCameraPattern", name, degrees, above=0.0)
    if wide >= 180.0:
        raise ValueError(f"DepthCameraPattern: {name}={degrees!r}: it must be below 180 degrees")
    return pixels / (2.0 * math.tan(math.radians(wide) / 2.0))

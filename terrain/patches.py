"""Flat patches: places where a robot may start, found on the ground itself."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .checks import interval, number, positive, whole


@dataclass(frozen=True, kw_only=True)
class FlatPatches:
    """The flat patches to look for in a sub-terrain.

    Every disc of `patch_radius` about a point is judged by all points of the cells that it meets, so that the ground
    in a patch differs by `max_height_diff` at most, everywhere.

    Attributes:
        num_patches: how many to draw; places are drawn twice only if there are fewer.
        patch_radius: m.
        max_height_diff: m.
        x_range: where centres may lie, m from the middle of the sub-terrain; None: everywhere.
        y_range: the same along y.
        z_range: heights of centres, m; None: all.
        resolution: distance of centres, m; None: a cell.
    """

    num_patches: int = 10
    patch_radius: float = 0.5
    max_height_diff: float = 0.05
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    z_range: tuple[float, float] | None = None
    resolution: float | None = None

    def __post_init__(self) -> None:
        """Refuse impossible numbers.

        Raises:
            ValueError: with the name of the argument.
        """
        whole("num_patches", self.num_patches)
        positive("patch_radius", self.patch_radius)
        number("max_height_diff", self.max_height_diff, least=0.0)
        for name in ("x_range", "y_range", "z_range"):
            if getattr(self, name) is not None:
                interval(name, getattr(self, name))
        if self.resolution is not None:
            positive("resolution", self.resolution)

    def flat(self, heights: np.ndarray, horizontal_scale: float) -> np.ndarray:
        """Return True for the points that may be a centre, (nrow, ncol) bool.

        Args:
            heights: of the sub-terrain, (nrow, ncol), m.
            horizontal_scale: length of a cell, m.
        """
        nrow, ncol = heights.shape
        lowest, highest = _lowest_and_highest(heights, self.patch_radius / horizontal_scale)
        found = highest - lowest <= self.max_height_diff + 1e-12
        for count, axis, span in ((ncol, 1, self.x_range), (nrow, 0, self.y_range)):
            place = (np.arange(count) - (count - 1) / 2) * horizontal_scale
            inside = place.max() - abs(place) >= self.patch_radius - 1e-9
            if span is not None:
                inside &= (place >= span[0] - 1e-9) & (place <= span[1] + 1e-9)
            found &= np.expand_dims(inside, 1 - axis)
        if self.z_range is not None:
            found &= (heights >= self.z_range[0] - 1e-9) & (heights <= self.z_range[1] + 1e-9)
        apart = max(round((self.resolution or horizontal_scale) / horizontal_scale), 1)
        row, col = abs(np.arange(nrow) - nrow // 2)[:, None], abs(np.arange(ncol) - ncol // 2)
        return found & (row % apart == 0) & (col % apart == 0)

    def draw(self, heights: np.ndarray, horizontal_scale: float, rng: Any, name: str) -> np.ndarray:
        """Return the centres of patches, (num_patches, 3), m from the middle of the sub-terrain.

        Args:
            heights: (nrow, ncol), m.
            horizontal_scale: length of a cell, m.
            rng: seed or generator.
            name: of the sub-terrain, for the message.

        Raises:
            ValueError: no such patch exists.
        """
        places = np.argwhere(self.flat(heights, horizontal_scale))
        if not len(places):
            raise ValueError(
                f"{name} has no flat patch of patch_radius={self.patch_radius:g} and max_height_diff="
                f"{self.max_height_diff:g}; take a smaller radius, a larger difference or wider ranges"
            )
        again = len(places) < self.num_patches
        row, col = np.random.default_rng(rng).choice(places, self.num_patches, replace=again).T
        middle = (np.array(heights.shape) - 1) / 2
        x, y = (col - middle[1]) * horizontal_scale, (row - middle[0]) * horizontal_scale
        return np.stack([x, y, heights[row, col]], -1)


def _lowest_and_highest(heights: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the extremes over the corners of all cells that a disc about each point meets, each (nrow, ncol).

    Args:
        heights: (nrow, ncol).
        radius: in cells.
    """
    reach = int(np.ceil(radius))
    across = np.arange(-reach, reach)  # cells left of, right of, below and above the centre
    gap = np.maximum(np.maximum(across, -1 - across), 0)  # from the centre to the nearer side of a cell
    cells = gap[:, None] ** 2 + gap[None] ** 2 < radius**2
    corners = np.zeros((2 * reach + 1,) * 2, bool)
    for down in (0, 1):
        for right in (0, 1):
            corners[down : down + 2 * reach, right : right + 2 * reach] |= cells
    padded = np.pad(heights, reach, mode="edge")
    lowest, highest = heights.copy(), heights.copy()
    for row, col in np.argwhere(corners):
        moved = padded[row : row + heights.shape[0], col : col + heights.shape[1]]
        np.minimum(lowest, moved, out=lowest)
        np.maximum(highest, moved, out=highest)
    return lowest, highest

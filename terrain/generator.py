"""A field of sub-terrains: difficulty grows from row to row, and columns have kinds."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .checks import interval, number, positive, require_room, whole
from .colors import SCHEMES, colors_of
from .grid import Grid, exact_cells
from .kinds import SubTerrain
from .shares import share_out
from .terrain import Terrain

ORIGIN_RADIUS = 0.5
"""An origin is as high as the highest ground within this distance along x and y, m."""


@dataclass(frozen=True, kw_only=True)
class TerrainGenerator:
    """The parts of a field and their arrangement; `generate` makes the field.

    Neighbours share their border points, which have the higher of both heights. A sub-terrain depends on the seed and
    and only on its row and column: `heights(row, col)` makes one separately.

    With `curriculum`, row i of n has the difficulty low + (high - low) i/(n - 1), and columns have kinds in the order
    of `sub_terrains`: each at least one, and shares by the largest remainders. Without, each sub-terrain draws both.

    A wall in a field is one cell wide: a smaller `horizontal_scale` makes it steeper, and there is no
    `slope_threshold`, which moves the points of a mesh.

    Attributes:
        sub_terrains: by name, a `SubTerrain`, or the name of a kind with default parameters.
        size: lengths of a sub-terrain along x and y, m.
        num_rows: number of rows.
        num_cols: number of columns.
        border_width: width of the ground around all, m.
        border_height: its height, m.
        horizontal_scale: length of a cell, m.
        vertical_scale: heights are whole numbers of these, m; 0: as they are.
        curriculum: whether rows have difficulties, and columns kinds.
        difficulty_range: lowest and highest, from 0 to 1.
        color_scheme: "height", "random" (a colour for each sub-terrain) or "none".
        seed: a whole number.
    """

    sub_terrains: Mapping[str, SubTerrain | str]
    size: tuple[float, float] = (8.0, 8.0)
    num_rows: int = 10
    num_cols: int = 20
    border_width: float = 0.0
    border_height: float = 0.0
    horizontal_scale: float = 0.1
    vertical_scale: float = 0.005
    curriculum: bool = True
    difficulty_range: tuple[float, float] = (0.0, 1.0)
    color_scheme: str = "none"
    seed: int = 0
    _parts: Mapping[str, SubTerrain] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raise if parameters are impossible.

        Raises:
            ValueError: the message has the name of the argument, and what to do.
            TypeError: a sub-terrain is neither a `SubTerrain` nor a name.
        """
        if not self.sub_terrains:
            raise ValueError("sub_terrains is empty: it needs at least one, as in {'flat': SubTerrain('flat')}")
        parts = {}
        for name, part in self.sub_terrains.items():
            if not isinstance(part, SubTerrain | str):
                raise TypeError(f"sub_terrains[{name!r}] is {part!r}: it must be a SubTerrain, or the name of a kind")
            parts[name] = SubTerrain(part) if isinstance(part, str) else part
        object.__setattr__(self, "_parts", parts)
        for name in ("num_rows", "num_cols"):
            whole(name, getattr(self, name))
        whole("seed", self.seed, least=0)
        low, high = interval("difficulty_range", self.difficulty_range)
        if low < 0.0 or high > 1.0:
            raise ValueError(f"difficulty_range={self.difficulty_range!r}: difficulties are from 0 to 1")
        number("border_height", self.border_height)
        number("vertical_scale", self.vertical_scale, least=0.0)
        if self.color_scheme not in SCHEMES:
            raise ValueError(f"color_scheme={self.color_scheme!r}: it must be one of {', '.join(map(repr, SCHEMES))}")
        if self.curriculum and self.num_cols < len(parts):
            raise ValueError(
                f"num_cols={self.num_cols}: with a curriculum each of the {len(parts)} sub_terrains needs a column"
            )
        grid, frame = Grid(self.size, self.horizontal_scale), self._frame
        rows, cols = (n * k + 2 * frame + 1 for n, k in ((grid.rows, self.num_rows), (grid.cols, self.num_cols)))
        require_room("num_rows and num_cols", rows, cols)

    @property
    def _frame(self) -> int:
        scale = positive("horizontal_scale", self.horizontal_scale)
        return exact_cells("border_width", number("border_width", self.border_width, least=0.0), scale)

    @property
    def proportions(self) -> dict[str, float]:
        """The share of each sub-terrain, of sum 1."""
        total = sum(part.proportion for part in self._parts.values())
        return {name: part.proportion / total for name, part in self._parts.items()}

    def columns(self) -> list[str]:
        """Return the name of the sub-terrain in each column, with a curriculum."""
        shares = share_out([part.proportion for part in self._parts.values()], self.num_cols)
        return [name for name, count in zip(self._parts, shares, strict=True) for _ in range(count)]

    def part(self, row: int, col: int) -> tuple[str, float, np.ndarray]:
        """Return the name, difficulty and heights (nrow, ncol), m, of one sub-terrain, as `generate` has it.

        Raises:
            ValueError: its parameters are impossible.
        """
        draw = np.random.default_rng([self.seed, row, col])
        low, high = self.difficulty_range
        if self.curriculum:
            name, difficulty = self.columns()[col], low + (high - low) * row / max(self.num_rows - 1, 1)
        else:
            name = str(draw.choice([*self._parts], p=[*self.proportions.values()]))
            difficulty = float(draw.uniform(low, high))
        try:
            heights = self._parts[name].heights(self.size, self.horizontal_scale, draw, difficulty)
        except ValueError as error:
            raise ValueError(f"sub_terrains[{name!r}]: {error}") from None
        if self.vertical_scale:
            heights = np.round(heights / self.vertical_scale) * self.vertical_scale
        return name, difficulty, heights

    def heights(self, row: int, col: int) -> np.ndarray:
        """Return the heights of one sub-terrain, (nrow, ncol), m."""
        return self.part(row, col)[2]

    def generate(self, seed: int | None = None) -> Terrain:
        """Make the field.

        Args:
            seed: in place of the generator's own; None: that.

        Raises:
            ValueError: a parameter is impossible, or a sub-terrain lacks one of the requested flat patches.
        """
        if seed is not None:
            return replace(self, seed=whole("seed", seed, least=0)).generate()
        grid, frame, counts = Grid(self.size, self.horizontal_scale), self._frame, (self.num_rows, self.num_cols)
        cells = (grid.rows, grid.cols)
        whole_shape = [n * k + 1 for n, k in zip(cells, counts, strict=True)]
        heights = np.full(whole_shape, -np.inf)
        kinds, difficulties, origins = np.empty(counts, object), np.zeros(counts), np.zeros((*counts, 3))
        patches: dict[str, np.ndarray] = {}
        for row, col in np.ndindex(*counts):
            name, difficulty, own = self.part(row, col)
            kinds[row, col], difficulties[row, col] = name, difficulty
            place = tuple(slice(k * n, (k + 1) * n + 1) for k, n in zip((row, col), cells, strict=True))
            np.maximum(heights[place], own, out=heights[place])
            origins[row, col] = self._origin(row, col, own)
            self._find_patches(patches, (row, col), name, own, origins)
        for found in patches.values():
            unset = np.isnan(found).all((-1, -2))
            found[unset] = origins[unset][:, None]
        framed = np.pad(heights, frame, constant_values=self.border_height)
        if frame:
            edge = framed[frame:-frame, frame:-frame]
            for side in (edge[0], edge[-1], edge[:, 0], edge[:, -1]):
                np.maximum(side, self.border_height, out=side)
        return Terrain(
            heights=framed,
            size=tuple((count - 1) * self.horizontal_scale for count in framed.shape[::-1]),
            sub_size=grid.size,
            origins=origins,
            kinds=kinds.astype(str),
            difficulties=difficulties,
            proportions=self.proportions,
            flat_patches=patches,
            colors=colors_of(self.color_scheme, framed, counts, frame, self.seed),
        )

    def _origin(self, row: int, col: int, heights: np.ndarray) -> np.ndarray:
        """Return the origin of a sub-terrain, (3,), m."""
        x = (col - (self.num_cols - 1) / 2) * self.size[0]
        y = (row - (self.num_rows - 1) / 2) * self.size[1]
        near = []
        for count in heights.shape:
            away = abs(np.arange(count) - (count - 1) / 2) * self.horizontal_scale
            near.append(away <= max(ORIGIN_RADIUS, 0.5 * self.horizontal_scale) + 1e-9)
        return np.array([x, y, heights[near[0]][:, near[1]].max()])

    def _find_patches(
        self, patches: dict[str, np.ndarray], place: tuple[int, int], name: str, heights: np.ndarray, origins: Any
    ) -> None:
        """Add the flat patches of one sub-terrain to the dictionary, by their name (rows, cols, num_patches, 3)."""
        for number_of_kind, (label, wanted) in enumerate(self._parts[name].flat_patches.items()):
            rng = [self.seed, *place, 1 + number_of_kind]
            found = wanted.draw(heights, self.horizontal_scale, rng, f"sub_terrains[{name!r}]")
            found[:, :2] += origins[place][:2]
            shape = (self.num_rows, self.num_cols, wanted.num_patches, 3)
            every = patches.setdefault(label, np.full(shape, np.nan))
            if every.shape != shape:
                raise ValueError(f"flat_patches[{label!r}]: every sub-terrain must have the same num_patches")
            every[place] = found

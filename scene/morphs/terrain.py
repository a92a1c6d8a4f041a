"""Ground that is not flat."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...physics.machine.scalars import as_count
from ...terrain import SubTerrain
from ...terrain import Terrain as Ground
from ..checks import lengths
from ..records import put, put_numbers, record
from .morph import Morph

DEFAULT_TYPES = (
    ("flat_terrain", "random_uniform_terrain", "stepping_stones_terrain"),
    ("pyramid_sloped_terrain", "discrete_obstacles_terrain", "wave_terrain"),
    ("random_uniform_terrain", "pyramid_stairs_terrain", "sloped_terrain"),
)


@record
class Terrain(Morph):
    """A field of heights, from a grid of sub-terrains or from numbers. Its lowest corner in x and y is at `pos`.

    Attributes:
        n_subterrains: how many sub-terrains lie along x and y.
        subterrain_size: lengths of each along x and y, (2,) m.
        horizontal_scale: length of a cell, m.
        vertical_scale: heights of sub-terrains are whole numbers of these, m.
        subterrain_types: the kind of all, or of each: `subterrain_types[i][j]` is the i-th along x and j-th along y.
            Kinds are `tumble.terrain`'s, by their names or by names such as "wave_terrain".
        subterrain_parameters: arguments of kinds, by the name of the kind.
        height_field: (nx, ny) heights in `vertical_scale`, the first index along x; instead of sub-terrains.
        randomize: whether sub-terrains are redrawn each time (by numpy's random numbers); else always the same.
    """

    n_subterrains: Any = (3, 3)
    subterrain_size: Any = (12.0, 12.0)
    horizontal_scale: float = 0.25
    vertical_scale: float = 0.005
    subterrain_types: Any = DEFAULT_TYPES
    subterrain_parameters: Mapping[str, Mapping[str, Any]] | None = None
    height_field: Any = None
    randomize: bool = False
    NAME: ClassVar[str] = "terrain"

    def __post_init__(self) -> None:
        """Refuse ground that cannot be made; errors as in `Morph`."""
        super().__post_init__()
        put_numbers(self, "horizontal_scale", "vertical_scale", above=0.0)
        put(self, subterrain_size=lengths("Terrain", "subterrain_size", self.subterrain_size, 2))
        if not isinstance(self.n_subterrains, Sequence) or len(self.n_subterrains) != 2:
            raise ValueError(f"Terrain: n_subterrains={self.n_subterrains!r}: expected two numbers, along x and y")
        counts = tuple(as_count("Terrain: n_subterrains", count) for count in self.n_subterrains)
        put(self, n_subterrains=counts)
        if self.height_field is not None:
            heights = np.asarray(self.height_field, float)
            if heights.ndim != 2 or min(heights.shape) < 2 or not np.isfinite(heights).all():
                raise ValueError(
                    "Terrain: height_field: expected finite numbers (nx, ny), two at least along each axis"
                )
            put(self, height_field=heights)
            return
        types = self.subterrain_types
        if isinstance(types, str):
            types = ((types,) * counts[1],) * counts[0]
        if len(types) != counts[0] or any(len(row) != counts[1] for row in types):
            raise ValueError(f"Terrain: subterrain_types: expected one kind, or {counts[0]} rows of {counts[1]} kinds")
        put(self, subterrain_types=tuple(tuple(row) for row in types))
        for parameters in self._kinds().values():
            SubTerrain(parameters[0], **parameters[1])  # refuses unknown kinds and parameters

    def _kinds(self) -> dict[str, tuple[str, Mapping[str, Any]]]:
        """Return the kinds that occur, with their parameters."""
        parameters = self.subterrain_parameters or {}
        for kind in parameters:
            if not any(kind in row for row in self.subterrain_types):
                raise ValueError(f"Terrain: subterrain_parameters: no sub-terrain is of kind {kind!r}")
        return {kind: (kind, parameters.get(kind, {})) for row in self.subterrain_types for kind in row}

    def ground(self) -> Ground:
        """Return the field; its middle is at the origin, and rows of its heights lie along y."""
        if self.height_field is not None:
            heights = self.height_field.T * self.vertical_scale
        else:
            heights = np.round(self._heights() / self.vertical_scale) * self.vertical_scale
        return Ground.from_heights(heights, horizontal_scale=self.horizontal_scale, name=self.NAME)

    def _heights(self) -> np.ndarray:
        """Return the heights of all sub-terrains, (ny, nx) m; at borders the higher one counts."""
        cells = [round(length / self.horizontal_scale) for length in self.subterrain_size]
        across, along = self.n_subterrains
        field = np.full((along * cells[1] + 1, across * cells[0] + 1), -np.inf)
        for i, row in enumerate(self.subterrain_types):
            for j, kind in enumerate(row):
                seed = int(np.random.randint(2**31)) if self.randomize else [i, j]
                part = SubTerrain(kind, **self._kinds()[kind][1])
                own = part.heights(self.subterrain_size, self.horizontal_scale, seed)
                place = (slice(j * cells[1], (j + 1) * cells[1] + 1), slice(i * cells[0], (i + 1) * cells[0] + 1))
                np.maximum(field[place], own, out=field[place])
        return field

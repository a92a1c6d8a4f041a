"""Kinds of ground by name, and how their numbers grow with difficulty."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from . import files, gaps, noise, obstacles, slopes, staircases, stones
from .checks import nearest, number, pair, positive
from .genesis_names import GENESIS_KINDS
from .grid import Grid, exact_cells
from .patches import FlatPatches
from .surface import require_heights

Generator = Callable[..., np.ndarray]
"""A function (size, horizontal_scale, rng, **parameters) -> heights (nrow, ncol), metres."""

KINDS: dict[str, Generator] = {
    function.__name__: function
    for function in (
        *(slopes.flat, slopes.slope, slopes.pyramid_slope, slopes.tilted_grid),
        *(staircases.stairs, staircases.pyramid_stairs, staircases.random_stairs, staircases.open_stairs),
        *(noise.random_uniform, noise.wave, noise.fractal, noise.perlin_noise),
        *(obstacles.discrete_obstacles, obstacles.random_grid),
        *(obstacles.repeated_boxes, obstacles.repeated_cylinders, obstacles.repeated_pyramids),
        *(gaps.gap, gaps.pit, gaps.box, gaps.rails, gaps.ring, gaps.nested_rings),
        *(stones.stepping_stones, stones.beams, stones.star),
        *(files.image, files.mesh, files.given),
    )
}
"""All kinds, by the names of their functions; `genesis_names` has the rest."""


class Ramp(NamedTuple):
    """A parameter that grows with difficulty, from `easy` at 0 to `hard` at 1: `step_height=Ramp(0.05, 0.23)`.

    Both are numbers, or ranges of the same length.
    """

    easy: Any
    hard: Any

    def at(self, difficulty: float) -> Any:
        """Return the value at a difficulty."""
        if np.ndim(self.easy):
            return tuple(Ramp(*ends).at(difficulty) for ends in zip(self.easy, self.hard, strict=True))
        if isinstance(self.easy, int) and isinstance(self.hard, int):
            return round(self.easy + (self.hard - self.easy) * difficulty)
        return self.easy + (self.hard - self.easy) * difficulty


class SubTerrain:
    """A kind of ground with its parameters, as one part of a field.

    Attributes:
        function: makes the heights.
        parameters: its arguments by name: values, or a `Ramp` of them.
        proportion: the share of columns, relative to that of other kinds.
        border_width: metres of flat ground at height 0 around the sub-terrain.
        flat_patches: by name, the patches to look for in `Terrain.flat_patches`.
    """

    def __init__(
        self,
        kind: str | Generator,
        *,
        proportion: float = 1.0,
        border_width: float = 0.0,
        flat_patches: Mapping[str, FlatPatches] | None = None,
        **parameters: Any,
    ) -> None:
        """Take a kind by its name in `KINDS` or `GENESIS_KINDS`, or a user's function, and its parameters.

        Raises:
            ValueError: no such kind or parameter, or a proportion that is not above zero.
            TypeError: the kind is neither a name nor a function.
        """
        if isinstance(kind, str):
            named = KINDS | GENESIS_KINDS
            if kind not in named:
                raise ValueError(f"there is no kind of ground {kind!r}: {nearest(kind, named)}")
            kind = named[kind]
        if not callable(kind):
            raise TypeError(f"{kind!r}: a kind of ground is a name or a function (size, horizontal_scale, rng, ...)")
        self.function, self.parameters = kind, parameters
        self.name = getattr(kind, "__name__", type(kind).__name__)
        if not number("proportion", proportion) > 0.0:
            raise ValueError(f"proportion={proportion!r}: it must be above zero; leave {self.name} out instead")
        self.proportion = float(proportion)
        self.border_width = number("border_width", border_width, least=0.0)
        self.flat_patches = dict(flat_patches or {})
        known = inspect.signature(kind).parameters
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
            own = [*known][3:]
            for given in parameters:
                if given not in own:
                    hint = nearest(given, own) if own else "it has none"
                    raise ValueError(f"{self.name} has no parameter {given!r}: {hint}")

    def __repr__(self) -> str:
        arguments = [f"proportion={self.proportion:g}", *(f"{name}={value}" for name, value in self.parameters.items())]
        return f"SubTerrain({self.name}, {', '.join(arguments)})"

    def heights(self, size: Any, horizontal_scale: float, rng: Any, difficulty: float = 0.5) -> np.ndarray:
        """Return the heights of one such ground, (nrow, ncol), metres.

        Args:
            size: lengths along x and y, m.
            horizontal_scale: length of a cell, m.
            rng: seed or generator.
            difficulty: from 0 to 1.

        Raises:
            ValueError: a parameter is impossible, or the function returned something else than finite heights of
                the grid's shape.
        """
        grid = Grid(size, horizontal_scale)
        rim = exact_cells("border_width", self.border_width, positive("horizontal_scale", horizontal_scale))
        inner = tuple(length - 2.0 * rim * horizontal_scale for length in pair("size", size))
        if min(inner) <= 0.5 * horizontal_scale:
            raise ValueError(f"border_width={self.border_width:g}: it leaves no ground of size={size}")
        values = {name: value.at(difficulty) if isinstance(value, Ramp) else value for name, value in
                  self.parameters.items()}  # fmt: skip
        heights = require_heights(self.name, self.function(inner, horizontal_scale, rng, **values))
        shape = tuple(count - 2 * rim for count in grid.shape)
        if heights.shape != shape:
            raise ValueError(f"{self.name} returned heights of shape {heights.shape}; this ground has {shape}")
        if not rim:
            return heights
        framed = np.pad(heights, rim)
        edge = np.zeros(grid.shape, bool)
        edge[rim:-rim, rim:-rim] = True
        edge[rim + 1 : -rim - 1, rim + 1 : -rim - 1] = False
        return np.where(edge, np.maximum(framed, 0.0), framed)

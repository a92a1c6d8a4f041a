"""Ground that is not flat: kinds of terrain as functions, fields made of them, and their place in a model.

A kind is a function (size, horizontal_scale, rng, ...) that returns heights (nrow, ncol) in metres: x runs along
columns, y along rows, as in MuJoCo's height fields, and the middle of the piece is (0, 0).

- size: lengths along x and y, metres; whole numbers of cells.
- horizontal_scale: length of a cell, metres.
- rng: a seed or a `numpy.random.Generator`; kinds without chance do not use it.
- the rest are keyword arguments of the kind. A width is rounded to whole cells, and the width of an object in the
  middle to a number of cells that can be centred.

A point of the field has one height, so that a wall is one cell wide: the higher part has its full width, and the wall
lies in the cell next to it (`grid.tops`). A field has no holes, but low ground.
"""

from .colors import by_height
from .files import given, image, mesh
from .gaps import box, gap, nested_rings, pit, rails, ring
from .generator import TerrainGenerator
from .grid import Grid, tops
from .kinds import KINDS, Ramp, SubTerrain
from .noise import fractal, perlin_noise, random_uniform, wave
from .obstacles import discrete_obstacles, random_grid, repeated_boxes, repeated_cylinders, repeated_pyramids
from .patches import FlatPatches
from .presets import ALL_TERRAINS, MJLAB_TERRAINS, PRESETS, ROUGH_TERRAINS
from .shares import share_out
from .slopes import flat, pyramid_slope, slope, tilted_grid
from .staircases import open_stairs, pyramid_stairs, random_stairs, stairs
from .stones import beams, star, stepping_stones
from .terrain import Terrain

__all__ = [
    "ALL_TERRAINS",
    "KINDS",
    "MJLAB_TERRAINS",
    "PRESETS",
    "ROUGH_TERRAINS",
    "FlatPatches",
    "Grid",
    "Ramp",
    "SubTerrain",
    "Terrain",
    "TerrainGenerator",
    "beams",
    "box",
    "by_height",
    "discrete_obstacles",
    "flat",
    "fractal",
    "gap",
    "given",
    "image",
    "mesh",
    "nested_rings",
    "open_stairs",
    "perlin_noise",
    "pit",
    "pyramid_slope",
    "pyramid_stairs",
    "rails",
    "random_grid",
    "random_stairs",
    "random_uniform",
    "repeated_boxes",
    "repeated_cylinders",
    "repeated_pyramids",
    "ring",
    "share_out",
    "slope",
    "stairs",
    "star",
    "stepping_stones",
    "tilted_grid",
    "tops",
    "wave",
]

"""Height fields for rays: heights, and a pyramid of their extremes, which numpy builds once for all environments.

A field has (nrow - 1) (ncol - 1) cells between its vertices; column c is at x = -radius_x + c / per_x. Level k of its
pyramid has a block for each square of 2^k cells a side, from level 1 to the first that has only one block. A ray
passes over a block whose highest vertex is below it, or under one whose lowest is above it (`field_walk.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import mujoco
import numpy as np

# columns of `FieldTables.shapes`
FIRST_HEIGHT, ROWS, COLUMNS, LEVELS, FIRST_BLOCK = range(5)  # then the first blocks of levels 2, 3, ...
MOST_LEVELS = 31
SHAPE_COLUMNS = FIRST_BLOCK + MOST_LEVELS

# columns of `FieldTables.measures`
RADIUS_X, RADIUS_Y, ELEVATION, BASE, PER_X, PER_Y = range(6)
MEASURES = 6


@dataclass(frozen=True, eq=False)
class FieldTables:
    """Some height fields of a model, one after the other; without any each table has one row that is not read.

    Attributes:
        fields: MuJoCo's ids of the fields, (m,).
        shapes: (m, SHAPE_COLUMNS) int32: where a field's heights and blocks begin, and how many there are.
        measures: (m, MEASURES) float64: MuJoCo's four sizes, metres, and the cells per metre along x and y.
        heights: (h,) float32: of each vertex, row by row, as shares of the elevation.
        blocks: (b, 2) float32: the least and the greatest height in every block.
        reach: (m,) distance of the farthest point from the field's origin, metres.
    """

    fields: tuple[int, ...]
    shapes: np.ndarray
    measures: np.ndarray
    heights: np.ndarray
    blocks: np.ndarray
    reach: np.ndarray


_kept: "WeakKeyDictionary[mujoco.MjModel, dict[tuple[int, ...], FieldTables]]" = WeakKeyDictionary()


def field_tables(mj: mujoco.MjModel, fields: Sequence[int]) -> FieldTables:
    """Tables of these height fields; built once for a model."""
    kept = _kept.setdefault(mj, {})
    key = tuple(dict.fromkeys(int(field) for field in fields))
    if key not in kept:
        kept[key] = _built(mj, key)
    return kept[key]


def _built(mj: mujoco.MjModel, fields: tuple[int, ...]) -> FieldTables:
    if not fields:
        empty = np.zeros((1, SHAPE_COLUMNS), np.int32), np.zeros((1, MEASURES))
        return FieldTables((), *empty, np.zeros(1, np.float32), np.zeros((1, 2), np.float32), np.zeros(1))
    shapes = np.zeros((len(fields), SHAPE_COLUMNS), np.int32)
    measures, heights, blocks, reach = np.zeros((len(fields), MEASURES)), [], [], []
    height_count = block_count = 0
    for row, field in enumerate(fields):
        nrow, ncol, first = int(mj.hfield_nrow[field]), int(mj.hfield_ncol[field]), int(mj.hfield_adr[field])
        own = mj.hfield_data[first : first + nrow * ncol].astype(np.float32).reshape(nrow, ncol)
        levels = pyramid(own)
        radius_x, radius_y, elevation, base = size = mj.hfield_size[field]
        measures[row] = [*size, (ncol - 1) / (2 * radius_x), (nrow - 1) / (2 * radius_y)]
        reach.append(float(np.linalg.norm([radius_x, radius_y, max(base, elevation * float(own.max()))])))
        shapes[row, :FIRST_BLOCK] = height_count, nrow, ncol, len(levels)
        for k, level in enumerate(levels):
            shapes[row, FIRST_BLOCK + k] = block_count
            block_count += level.shape[0] * level.shape[1]
            blocks.append(level.reshape(-1, 2))
        heights.append(own.reshape(-1))
        height_count += own.size
    return FieldTables(fields, shapes, measures, np.concatenate(heights), np.concatenate(blocks), np.array(reach))


def pyramid(heights: np.ndarray) -> list[np.ndarray]:
    """Least and greatest heights of the vertices in the blocks of each level, (rows, columns, 2), level 1 first."""
    low, high = (
        extreme(extreme(heights[:-1, :-1], heights[:-1, 1:]), extreme(heights[1:, :-1], heights[1:, 1:]))
        for extreme in (np.minimum, np.maximum)
    )
    levels: list[np.ndarray] = []
    while not levels or low.size > 1:
        low, high = _merged(low, np.minimum), _merged(high, np.maximum)
        levels.append(np.stack([low, high], axis=-1))
    return levels


def _merged(grid: np.ndarray, extreme: np.ufunc) -> np.ndarray:
    """Extremes of squares of two by two; at the end of a row or column squares may be smaller."""
    starts = [np.arange(0, count, 2) for count in grid.shape]
    return extreme.reduceat(extreme.reduceat(grid, starts[0], axis=0), starts[1], axis=1)

"""Static geoms in a grid, so that a moving geom meets only its neighbours, however many static geoms there are.

Terrains of boxes have thousands of static geoms, and a list of their pairs with the geoms of a robot grows with them.
Here the world is divided into columns of square cells; each cell knows the static geoms in it, and kernels look up the
cells under a moving geom (`collision.static_grid`).

Static geoms are sorted into *classes*: geoms of a class have the same type or mesh, body and contact numbers, and meet
the same moving geoms. Kernels treat a moving geom and a class as a pair. So a contact slot belongs to such a
pair, and environments whose robots stand on different boxes share it.
"""

from typing import NamedTuple

import mujoco
import numpy as np

from ....base.shapes import ROUNDED, of_kinds
from ....files.mjmodel.contact_sensors import GEOM, contact_sensor_values
from ....files.mjmodel.pairs import explicit_pair_number, never_moves
from ..pair_table import NO_ROW, PAIR_TABLE, rows_of

WARM = 4
"""The number of axes that a pair of a moving geom and a class keeps (`collision.convex`), for as many hits."""
ALIGNED = 1e-4
"""The share of a geom's width by which it may reach into a cell without being listed there."""
LARGER = 1.25
"""The factor by which cells become larger, as long as there are too many of them."""
MOST_CELLS, MOST_ENTRIES = 16, 64
"""The most cells, and entries in all cells, for every static geom."""
SPARE = 4096
"""Cells and entries that there may be besides."""
BLOCK = 2
"""The side of a block of cells, in cells: kernels look first at the blocks under a whole robot."""
FAR = 1e15
"""Metres: the z of an absent geom."""
CAREFUL = 1e-5
"""The growth of a static geom's box: this share of its size, and a tenth of it of its distance from the origin. Single
precision rounds less."""
GROUPS = ("solids", "convex")
"""Groups of the pair table whose pairs may be found by the grid; other pairs are cheap, or with planes."""
_BY_GRID = np.array([row.group in GROUPS for row in PAIR_TABLE] + [False])
_TABLES = (
    *("grid_geom", "grid_shape", "grid_frame", "cell_start", "cell_entry", "static_geom"),
    *("static_class", "static_box", "class_pair", "class_start", "class_geom1"),
    *(
        "class_geom2",
        "class_static",
        "class_place",
        "class_side",
        "static_frame",
        "grid_core",
        "group_start",
        "block_low",
    ),
    *("block_high", "static_numbers"),
)
POINT, SEGMENT, SOLID = range(3)
"""Cores of moving geoms, around which a radius lies: that of a sphere, of a capsule, and the box around any other."""
_CORES = np.full(int(mujoco.mjtGeom.mjNGEOMTYPES), SOLID)
for _kind in ROUNDED:  # one size is a radius, and a second one half the length of a segment
    _CORES[_kind] = (POINT, SEGMENT)[len(of_kinds("NUMBERS")[_kind]) - 1]
_NUMBERS = ("condim", "priority", "solmix", "margin", "gap", "friction", "solref", "solimp")


class Gridded(NamedTuple):
    """The pairs that a grid finds.

    Attributes:
        pairs: geom ids (n, 2), as `contact_pairs` has them.
        static: which of both is static (n,): 0 or 1.
    """

    pairs: np.ndarray
    static: np.ndarray


def static_pairs(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return a mask of the pairs (n, 2) that a grid can find: of a moving geom and one that never moves.

    Left out are explicit pairs, and static geoms with properties that kernels read for each geom.
    """
    body = mjm.geom_bodyid[pairs]
    fixed = never_moves(mjm)[body]
    plain = np.ones(mjm.ngeom, bool)
    for name in ("geom_surfacevel", "geom_adhesion"):
        numbers = np.asarray(getattr(mjm, name))
        plain &= ~numbers.any(axis=tuple(range(1, numbers.ndim)))
    plain[_named_by_sensors(mjm)] = False
    static = np.where(fixed[:, 0], pairs[:, 0], pairs[:, 1])
    row = rows_of(mjm.geom_type[pairs[:, 0]], mjm.geom_type[pairs[:, 1]])
    return (
        fixed.any(axis=1) & plain[static] & _BY_GRID[np.minimum(row, NO_ROW)] & (explicit_pair_number(mjm, pairs) < 0)
    )


def _named_by_sensors(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the ids of geoms whose contacts sensors read."""
    values = contact_sensor_values(mjm)
    return np.concatenate([values[f"sense_id{k}"][values[f"sense_match{k}"] == GEOM] for k in (1, 2)])


def gridded(mjm: mujoco.MjModel, pairs: np.ndarray) -> Gridded:
    """Return the given pairs (n, 2) of moving and static geoms with the side of the static one."""
    fixed = never_moves(mjm)[mjm.geom_bodyid[pairs]]
    return Gridded(pairs, np.where(fixed[:, 0], 0, 1))


def grid_tables(mjm: mujoco.MjModel, of: Gridded, half: np.ndarray) -> dict[str, np.ndarray]:
    """Return the fields of `model.fields` for a grid that finds exactly these pairs.

    Args:
        mjm: the model.
        of: the pairs.
        half: half sides of a box around each geom, (ngeom, 3), in metres.
    """
    if not len(of.pairs):
        return {name: np.zeros(0, int) for name in _TABLES} | {"class_start": np.zeros(len(PAIR_TABLE) + 1, int)}
    rows = np.arange(len(of.pairs))
    statics, s = np.unique(of.pairs[rows, of.static], return_inverse=True)
    movers, m = np.unique(of.pairs[rows, 1 - of.static], return_inverse=True)
    kind, classes = _classes(mjm, statics, movers, (s, m, of.static))
    low, high, reach, frames = _bounds(mjm, statics, half)
    return {
        "grid_geom": movers,
        "static_geom": statics,
        "static_class": kind,
        **_class_pairs(mjm, movers, statics[classes], (m, kind[s], of.static)),
        **_cells(low, high, reach, float(np.median(mjm.geom_rbound[movers]))),
        "static_box": np.column_stack((low, high)),
        "static_frame": frames,
        "static_numbers": _numbers(mjm, statics, half),
        "grid_core": _CORES[mjm.geom_type[movers]],
        "group_start": _groups(mjm, movers),
    }


def _numbers(mjm: mujoco.MjModel, statics: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Return the numbers of static geoms for collision routines, (n, 16); a last column fills up cache lines."""
    columns = (mjm.geom_pos, mjm.geom_quat, mjm.geom_size, half, mjm.geom_rbound, mjm.geom_margin + mjm.geom_gap)
    return np.column_stack([values[statics] for values in columns] + [np.zeros(len(statics))])


def _groups(mjm: mujoco.MjModel, movers: np.ndarray) -> np.ndarray:
    """Return the first of each group of successive moving geoms that belong to one tree, and the number of all."""
    tree = mjm.body_treeid[mjm.geom_bodyid[movers]]
    return np.append(np.flatnonzero(np.diff(tree, prepend=-1)), len(movers))


def _classes(
    mjm: mujoco.MjModel, statics: np.ndarray, movers: np.ndarray, places: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the class of each static geom, and the place of the first member of each class."""
    meets = np.zeros((len(statics), len(movers)), np.int8)
    meets[places[0], places[1]] = 1 + places[2]
    numbers = [np.asarray(getattr(mjm, f"geom_{name}"), float)[statics] for name in _NUMBERS]
    whole = [getattr(mjm, f"geom_{name}")[statics] for name in ("type", "bodyid", "dataid")]
    key = np.column_stack((*whole, *numbers))
    _, same = np.unique(key, axis=0, return_inverse=True)
    _, alike = np.unique(meets, axis=0, return_inverse=True)
    _, first, kind = np.unique(np.column_stack((same, alike)), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # classes in the order of their first members
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[kind.reshape(-1)], first[order]


def _class_pairs(
    mjm: mujoco.MjModel, movers: np.ndarray, firsts: np.ndarray, places: tuple[np.ndarray, ...]
) -> dict[str, np.ndarray]:
    """Return the pairs of a moving geom and a class, sorted by the row of the pair table, moving geom and class."""
    m, c, side = np.unique(np.column_stack(places), axis=0).reshape(-1, 3).T
    geoms = np.column_stack((movers[m], firsts[c]))  # the moving one, and the class's first
    swap = side == 0
    geoms[swap] = geoms[swap, ::-1]
    row = rows_of(mjm.geom_type[geoms[:, 0]], mjm.geom_type[geoms[:, 1]])
    order = np.lexsort((c, m, row))
    pair_of = np.zeros((len(movers), len(firsts)), int)
    pair_of[m[order], c[order]] = 1 + np.arange(len(order))
    return {
        "class_start": np.searchsorted(row[order], np.arange(len(PAIR_TABLE) + 1)),
        "class_geom1": geoms[order, 0],
        "class_geom2": geoms[order, 1],
        "class_static": np.where(side, geoms[:, 1], geoms[:, 0])[order],
        "class_place": m[order],
        "class_side": side[order],
        "class_pair": pair_of,
    }


def _bounds(
    mjm: mujoco.MjModel, statics: np.ndarray, half: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return boxes that hold all contacts of static geoms (m): along the world's axes, and along the geoms' own.

    Returns:
        (low, high, reach, frames): corners (n, 3), (n, 3); how far they are from the geom (n,); positions, axes and
        half sides (n, 15).
    """
    data = mujoco.MjData(mjm)
    mujoco.mj_kinematics(mjm, data)
    pos, turn = data.geom_xpos[statics], data.geom_xmat[statics].reshape(-1, 3, 3)
    away = np.abs(pos).sum(axis=1) + np.ptp(pos, axis=0).sum()
    reach = np.maximum((mjm.geom_margin + mjm.geom_gap)[statics], 0.0) + CAREFUL * (
        half[statics].sum(axis=1) + 0.1 * away
    )
    own = half[statics] + reach[:, None]
    size = (np.abs(turn) @ half[statics][..., None])[..., 0] + reach[:, None]
    axes = turn.transpose(0, 2, 1).reshape(-1, 9)
    return pos - size, pos + size, reach, np.column_stack((pos, axes, own))


def _cells(low: np.ndarray, high: np.ndarray, reach: np.ndarray, least: float) -> dict[str, np.ndarray]:
    """Return the cells of a grid, seen from above, and the places of the static geoms in each.

    Cells are as wide as most geoms: if these stand side by side, each lies in one cell. So geoms count without their
    reach, by which kernels look farther instead.

    Args:
        low: lower corners of boxes around the static geoms (n, 3), in metres.
        high: upper corners (n, 3).
        reach: how much of these boxes lies beyond the geom (n,), in metres.
        least: the least width of a cell (m).
    """
    # a little less than the geom itself, so that rounding does not put it into a second cell
    within = reach + ALIGNED * (high - low)[:, :2].T
    low2, high2 = low[:, :2] + within.T, high[:, :2] - within.T
    origin, end = (low[:, :2] + reach[:, None]).min(0), high2.max(0)
    side = np.maximum(np.median(high2 - low2, axis=0) * (1 + 2 * ALIGNED), least)
    while True:
        shape = np.floor((end - origin) / side).astype(int) + 1
        first = np.floor((low2 - origin) / side).astype(int)
        last = np.floor((high2 - origin) / side).astype(int)
        entries = (last - first + 1).prod(axis=1, dtype=float)
        few = shape.prod(dtype=float) <= MOST_CELLS * len(low) + SPARE
        if few and entries.sum() <= MOST_ENTRIES * len(low) + SPARE:
            break
        side *= LARGER
    # an entry for each cell of each geom, sorted by cell, then by place; bits tell its first column and row of cells
    count = entries.astype(int)
    place = np.repeat(np.arange(len(low)), count)
    number = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    wide = (last - first + 1)[place, 0]
    cell = (first[place, 1] + number // wide) * shape[0] + first[place, 0] + number % wide
    order = np.argsort(cell, kind="stable")
    cells = int(shape.prod())
    bottom, top = np.full(cells, np.inf), np.full(cells, -np.inf)
    np.minimum.at(bottom, cell, low[place, 2])
    np.maximum.at(top, cell, high[place, 2])
    return _blocks(shape, bottom, top) | {
        "grid_shape": shape,
        "grid_frame": np.array([*origin, *(1.0 / side), within.max()]),
        "cell_start": np.searchsorted(cell[order], np.arange(cells + 1)),
        "cell_entry": (4 * place + 2 * (number < wide) + (number % wide == 0))[order],
    }


def _blocks(shape: np.ndarray, bottom: np.ndarray, top: np.ndarray) -> dict[str, np.ndarray]:
    """Return the ranges of z in blocks of `BLOCK` x `BLOCK` cells, row by row."""
    count = -(-shape // BLOCK)
    x, y = np.arange(shape[0]) // BLOCK, np.arange(shape[1]) // BLOCK
    block = (y[:, None] * count[0] + x).reshape(-1)
    low, high = np.full(count.prod(), np.inf), np.full(count.prod(), -np.inf)
    np.minimum.at(low, block, bottom)
    np.maximum.at(high, block, top)
    return {"block_low": np.where(np.isfinite(low), low, FAR), "block_high": np.where(np.isfinite(high), high, -FAR)}


def grid_sizes(tables: dict[str, np.ndarray]) -> dict[str, int]:
    """Return the named sizes that follow from the tables."""
    movers = len(tables["grid_geom"])
    return {
        "nstatic": len(tables["static_geom"]),
        "ngridgeom": movers,
        "nstaticclass": tables["class_pair"].size // max(1, movers),
        "nclasspair": len(tables["class_geom1"]),
        "ngridone": int(movers > 0),
        "ngridgroup": max(0, len(tables["group_start"]) - 1),
        "ngroupend": len(tables["group_start"]),
        "nblockofcells": len(tables["block_low"]),
        "ncellend": len(tables["cell_start"]),
        "ncellentry": len(tables["cell_entry"]),
    }

"""The broad phase of a model: a list of all pairs of geoms that can touch, a sweep, or a grid of static geoms.

Kernels test a list in lanes, so each pair costs little, but their number grows with the square of the geoms. If the
list would be long, a model keeps only pairs with planes and height fields, which are near everything. Kernels sweep
over all other geoms (`collision.sweep`), and find by masks, bodies and a short list of exceptions which pairs can
touch.

If most of the pairs are of moving geoms with static ones, such as the boxes of a terrain, a grid has these
(`static_grid`). The rest is a list, or a sweep if it is still long.
"""

from typing import NamedTuple

import mujoco
import numpy as np

from ....base.shapes import HFIELD, PLANE
from ....files.mjmodel.pairs import explicit_pair_number
from ..pair_table import PAIR_TABLE, rows_of
from .static_grid_model import static_pairs

LIST, SWEEP, GRID = "pairs", "sweep", "grid"
MOST_LISTED = (1 << 19) - 1
"""The most pairs of a list, as each costs time in every step."""
LONG = 20_000
"""The number of pairs without planes from which a sweep is quicker (measured: `tumble bench broad_phase`)."""
MANY = 2000
"""The number of pairs with static geoms from which a grid is quicker (measured: `tumble bench static_geoms`)."""
WORD = 32
"""Pairs whose bits are in one integer."""
GROUND = (PLANE, HFIELD)
"""The kinds of geoms that are near everything."""
WITH_GROUND = tuple(row.types[0] in GROUND for row in PAIR_TABLE)
"""True for each row of the table with such geoms, whose pairs stay a list in either case."""


class Split(NamedTuple):
    """The pairs (n, 2) of geoms that can touch, by how they are found: in a list, by a sweep, and by a grid."""

    listed: np.ndarray
    swept: np.ndarray
    gridded: np.ndarray


def split(mjm: mujoco.MjModel, pairs: np.ndarray, chosen: str) -> Split:
    """Return the pairs (n, 2) by how the chosen broad phase finds them."""
    gridded = static_pairs(mjm, pairs) if chosen == GRID else np.zeros(len(pairs), bool)
    solid = ~np.isin(mjm.geom_type[pairs], GROUND).any(axis=1) & ~gridded
    sweeps = chosen == SWEEP or (chosen == GRID and np.count_nonzero(solid) >= LONG)
    swept = solid & sweeps
    return Split(pairs[~gridded & ~swept], pairs[swept], pairs[gridded])


def choose_broad_phase(mjm: mujoco.MjModel, pairs: np.ndarray, asked: str | None) -> str:
    """Return LIST, SWEEP or GRID, for the pairs (n, 2) of geoms that can touch.

    With noslip the user must ask for a grid: MuJoCo's order of the contacts decides the result of a few iterations.

    Raises:
        ValueError: the user asked for a list that is too long.
    """
    if asked == LIST and len(pairs) > MOST_LISTED:
        raise ValueError(
            f"option broad_phase='{LIST}': {len(pairs):,} pairs of geoms can touch, and {MOST_LISTED:,} are the most; "
            f"broad_phase='{SWEEP}' does without a list"
        )
    if asked is not None:
        return asked
    if mjm.opt.noslip_iterations == 0 and np.count_nonzero(static_pairs(mjm, pairs)) >= MANY:
        return GRID
    return SWEEP if len(between_solids(mjm, pairs)) >= LONG else LIST


def between_solids(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return the rows of the pairs (n, 2) in which no geom is a plane or a height field."""
    return pairs[~np.isin(mjm.geom_type[pairs], GROUND).any(axis=1)]


def sweep_tables(mjm: mujoco.MjModel, pairs: np.ndarray) -> dict[str, np.ndarray]:
    """Return integer fields of `model.fields` for a sweep that finds exactly these pairs (n, 2), none with a plane."""
    geoms = np.unique(pairs)
    weld = mjm.body_weldid[mjm.geom_bodyid[geoms]]
    kind, affinity = mjm.geom_contype[geoms], mjm.geom_conaffinity[geoms]
    # pairs that masks and bodies let pass, but are not among the given ones, are listed as exceptions
    passes = (kind[:, None] & affinity) != 0
    passes |= passes.T
    passes &= weld[:, None] != weld
    place = np.searchsorted(geoms, np.sort(pairs, axis=1))
    passes[tuple(place.T)] = False
    skipped = np.argwhere(np.triu(passes, 1))  # by the first, as a kernel looks them up
    explicit = place[explicit_pair_number(mjm, pairs) >= 0]
    kinds = int(mujoco.mjtGeom.mjNGEOMTYPES)
    return {
        "sweep_geom": geoms,
        "sweep_weldid": weld,
        "sweep_contype": kind,
        "sweep_conaffinity": affinity,
        "sweep_skipadr": np.searchsorted(skipped[:, 0], np.arange(len(geoms))),
        "sweep_skipnum": np.bincount(skipped[:, 0], minlength=len(geoms)),
        "skip_place": skipped[:, 1],
        "explicit_place": explicit.reshape(-1),
        "type_row": rows_of(*np.indices((kinds, kinds)).reshape(2, -1)) if len(geoms) else np.zeros(0, int),
    }


def sweep_sizes(tables: dict[str, np.ndarray]) -> dict[str, int]:
    """Return the named sizes that follow from the tables."""
    count = len(tables["sweep_geom"])
    return {
        "nsweep": count,
        "nskip": len(tables["skip_place"]),
        "nexplicitplace": len(tables["explicit_place"]),
        "ntyperow": len(tables["type_row"]),
        "nword": -(-count // WORD),
        "nsweepone": int(count > 0),
    }


def reference_order(mjm: mujoco.MjModel, geoms: np.ndarray) -> np.ndarray:
    """Return the order of geoms along x at qpos0, by their lower bounds, in which a sweep starts."""
    if not len(geoms):
        return np.zeros(0, int)
    data = mujoco.MjData(mjm)
    mujoco.mj_kinematics(mjm, data)
    return np.argsort(data.geom_xpos[geoms, 0] - mjm.geom_rbound[geoms], kind="stable")

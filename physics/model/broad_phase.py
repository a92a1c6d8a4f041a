"""The broad phase of a model: a list of all pairs of geoms, or a sweep over geoms that finds those that are near.

A list is looked through in lanes, so a pair costs little, and there are as many as the square of the geoms. Where the
list would be long, a model keeps only the pairs with planes, which are near everything; kernels sweep over all other
geoms (`collision.sweep`), and know from masks, bodies and a short list of exceptions which pairs can touch.
"""

import mujoco
import numpy as np

from ..mjmodel.pairs import number_by_hand
from ..shapes import PLANE
from .pair_table import PAIR_TABLE, rows_of

LIST, SWEEP = "pairs", "sweep"
MOST_LISTED = (1 << 19) - 1
"""Pairs of a list, at most: each costs time in every step."""
LONG = 20_000
"""Pairs without planes from which on a sweep is quicker (measured: `tumble bench broad_phase`)."""
WORD = 32
"""Pairs whose bits are in one integer."""
WITH_PLANE = tuple(row.types[0] == PLANE for row in PAIR_TABLE)
"""Whether a row of the table stays a list in either case."""


def choose_broad_phase(mjm: mujoco.MjModel, pairs: np.ndarray, asked: str | None) -> str:
    """LIST or SWEEP, for the pairs that can touch, (n, 2).

    Raises:
        ValueError: the user asked for a list that is too long.
    """
    if asked == LIST and len(pairs) > MOST_LISTED:
        raise ValueError(
            f"option broad_phase='{LIST}': {len(pairs):,} pairs of geoms can touch, and {MOST_LISTED:,} are the most; "
            f"broad_phase='{SWEEP}' does without a list"
        )
    return asked or (SWEEP if len(between_solids(mjm, pairs)) >= LONG else LIST)


def between_solids(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Those of the pairs (n, 2) in which no geom is a plane."""
    return pairs[(mjm.geom_type[pairs] != PLANE).all(axis=1)]


def sweep_tables(mjm: mujoco.MjModel, pairs: np.ndarray) -> dict[str, np.ndarray]:
    """Integer fields of `model.fields` for a sweep that finds just these pairs, (n, 2); none of them has a plane."""
    geoms = np.unique(pairs)
    weld = mjm.body_weldid[mjm.geom_bodyid[geoms]]
    kind, affinity = mjm.geom_contype[geoms], mjm.geom_conaffinity[geoms]
    passes = (kind[:, None] & affinity) != 0
    passes |= passes.T
    passes &= weld[:, None] != weld
    place = np.searchsorted(geoms, np.sort(pairs, axis=1))
    passes[tuple(place.T)] = False
    skipped = np.argwhere(np.triu(passes, 1))  # by the first, as a kernel looks them up
    by_hand = place[number_by_hand(mjm, pairs) >= 0]
    kinds = int(mujoco.mjtGeom.mjNGEOMTYPES)
    return {
        "sweep_geom": geoms,
        "sweep_weldid": weld,
        "sweep_contype": kind,
        "sweep_conaffinity": affinity,
        "sweep_skipadr": np.searchsorted(skipped[:, 0], np.arange(len(geoms))),
        "sweep_skipnum": np.bincount(skipped[:, 0], minlength=len(geoms)),
        "skip_place": skipped[:, 1],
        "hand_place": by_hand.reshape(-1),
        "type_row": rows_of(*np.indices((kinds, kinds)).reshape(2, -1)) if len(geoms) else np.zeros(0, int),
    }


def sweep_sizes(tables: dict[str, np.ndarray]) -> dict[str, int]:
    """Named sizes that follow from the tables."""
    count = len(tables["sweep_geom"])
    return {
        "nsweep": count,
        "nskip": len(tables["skip_place"]),
        "nhandplace": len(tables["hand_place"]),
        "ntyperow": len(tables["type_row"]),
        "nword": -(-count // WORD),
        "nsweepone": int(count > 0),
    }


def reference_order(mjm: mujoco.MjModel, geoms: np.ndarray) -> np.ndarray:
    """Places of geoms in their order along x at qpos0, where a sweep begins."""
    if not len(geoms):
        return np.zeros(0, int)
    data = mujoco.MjData(mjm)
    mujoco.mj_kinematics(mjm, data)
    return np.argsort(data.geom_xpos[geoms, 0] - mjm.geom_rbound[geoms], kind="stable")

"""Pairs of geoms and the table of narrow phases: those that have one, and those by hand that ask too much of it."""

import mujoco
import numpy as np

from ..mjmodel.pairs import number_by_hand, pairs_by_hand, repeated_by_hand
from .pair_table import NO_ROW, PAIR_TABLE, rows_of


def has_narrow_phase(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return for each row of ``pairs`` whether Tumble can compute its contacts; bool array (n,)."""
    types = mjm.geom_type[pairs].reshape(-1, 2)
    return rows_of(types[:, 0], types[:, 1]) != NO_ROW


def repeated_with_another_reach(mjm: mujoco.MjModel) -> np.ndarray:
    """Return those of them with another sum of margin and gap than the first, and geoms with corners.

    Where such geoms touch may depend on how far contacts are sought, and they are sought once for all pairs.
    """
    own, again = pairs_by_hand(mjm), repeated_by_hand(mjm)
    reach = mjm.pair_margin + mjm.pair_gap
    first = number_by_hand(mjm, own[again])
    types = mjm.geom_type[own[again]].reshape(-1, 2)
    cornered = np.array([row == NO_ROW or bool(PAIR_TABLE[row].group) for row in rows_of(types[:, 0], types[:, 1])])
    return again[(reach[again] != reach[first]) & cornered.astype(bool)]

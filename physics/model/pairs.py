"""Checks of pairs of geoms against the table of narrow phases, and of repeated explicit pairs."""

import mujoco
import numpy as np

from ..files.mjmodel.pairs import explicit_pair_number, explicit_pairs, repeated_explicit_pairs
from ..mechanics.collision.pair_table import NO_ROW, PAIR_TABLE, rows_of


def has_narrow_phase(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return bool (n,), True for each pair (n, 2) of geoms whose contacts Tumble can compute."""
    types = mjm.geom_type[pairs].reshape(-1, 2)
    return rows_of(types[:, 0], types[:, 1]) != NO_ROW


def repeated_with_another_reach(mjm: mujoco.MjModel) -> np.ndarray:
    """Return repeated explicit pairs of geoms with corners whose detection distance differs from the first one's.

    The contacts of such geoms may depend on the detection distance, and are computed once for all pairs of two geoms.
    """
    own, again = explicit_pairs(mjm), repeated_explicit_pairs(mjm)
    reach = mjm.pair_margin + mjm.pair_gap
    first = explicit_pair_number(mjm, own[again])
    types = mjm.geom_type[own[again]].reshape(-1, 2)
    cornered = np.array([row == NO_ROW or bool(PAIR_TABLE[row].group) for row in rows_of(types[:, 0], types[:, 1])])
    return again[(reach[again] != reach[first]) & cornered.astype(bool)]

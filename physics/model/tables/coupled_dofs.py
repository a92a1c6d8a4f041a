"""The tree of dofs that gives the pattern of the Hessian without contacts."""

from collections.abc import Iterable
from itertools import pairwise

import mujoco
import numpy as np

from ..parts import ROWS


def coupled_parents(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the parent (nv,) of each dof in the tree that gives the Hessian's pattern; -1 for a root.

    It is the kinematic tree, with two branches merged into one path if a constraint row couples them. Contacts merge
    branches in the same way at run time (`constraint.hessian_pattern`).
    """
    return joined_paths(mjm.dof_parentid, (dofs for rows in ROWS for dofs in rows.couples(mjm)))


def joined_paths(parents: np.ndarray, coupled: Iterable[np.ndarray]) -> np.ndarray:
    """Return the parents (nv,) of a tree in which the dofs of each array in `coupled` are on one path to the root."""
    parent = np.array(parents)
    for dofs in coupled:
        for i, j in pairwise(dofs):
            _join(parent, int(i), int(j))
    return parent


def _join(parent: np.ndarray, i: int, j: int) -> None:
    """Merge the paths from i and from j to the root into one, in descending order."""
    low, high = min(i, j), max(i, j)
    while low != high:
        up = int(parent[high])
        if up < low:
            parent[high] = low
            low, high = up, low
        else:
            high = up

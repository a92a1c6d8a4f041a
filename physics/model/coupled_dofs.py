"""The tree of dofs that the Hessian's pattern follows when nothing touches."""

from collections.abc import Iterable
from itertools import pairwise

import mujoco
import numpy as np

from ..parts import ROWS


def coupled_parents(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the parent of every dof in that tree, -1 for none, (nv,).

    It is the dofs' own tree with the branches made one path that constraint rows of parts couple, as contacts do at run
    time (`constraint.hessian_pattern`).
    """
    return joined_paths(mjm.dof_parentid, (dofs for rows in ROWS for dofs in rows.couples(mjm)))


def joined_paths(parents: np.ndarray, coupled: Iterable[np.ndarray]) -> np.ndarray:
    """Return the parents (nv,) of a tree in which the dofs of each of the arrays `coupled` are on one path."""
    parent = np.array(parents)
    for dofs in coupled:
        for i, j in pairwise(dofs):
            _join(parent, int(i), int(j))
    return parent


def _join(parent: np.ndarray, i: int, j: int) -> None:
    """Make one path of those from i and from j to the root, in descending order."""
    low, high = min(i, j), max(i, j)
    while low != high:
        up = int(parent[high])
        if up < low:
            parent[high] = low
            low, high = up, low
        else:
            high = up

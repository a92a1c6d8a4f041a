"""Dofs that move a body."""

import mujoco
import numpy as np


def dofs_of_body(mjm: mujoco.MjModel, b: int) -> np.ndarray:
    """Return the dofs that move body b, of the body and its parents, ascending."""
    while b > 0 and mjm.body_dofnum[b] == 0:
        b = mjm.body_parentid[b]
    dof, found = int(mjm.body_dofadr[b] + mjm.body_dofnum[b]) - 1 if b > 0 else -1, []
    while dof >= 0:
        found.append(dof)
        dof = int(mjm.dof_parentid[dof])
    return np.array(found[::-1], int)

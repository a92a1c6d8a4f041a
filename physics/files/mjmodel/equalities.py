"""Equality constraints of a compiled model: bodies, joints, tendons and dofs of each."""

import mujoco
import numpy as np

from .dofs import dofs_of_body
from .flags import disabled
from .tendons import tendon_dofs

_D, _EQ = mujoco.mjtDisableBit, mujoco.mjtEq
CONNECT, WELD, JOINT = int(_EQ.mjEQ_CONNECT), int(_EQ.mjEQ_WELD), int(_EQ.mjEQ_JOINT)
TENDON = int(_EQ.mjEQ_TENDON)
EQUALITY_ROWS = {CONNECT: 3, WELD: 6, JOINT: 1, TENDON: 1}
"""Rows of each type that Tumble has."""
SITE = int(mujoco.mjtObj.mjOBJ_SITE)


def equality_rows(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the rows of every equality (neq,), whether it is active or not; 0 where it couples nothing that moves."""
    if disabled(mjm, _D.mjDSBL_EQUALITY, _D.mjDSBL_CONSTRAINT):
        return np.zeros(mjm.neq, int)
    rows = [EQUALITY_ROWS.get(int(kind), 0) for kind in mjm.eq_type]
    return np.array([n if len(equality_dofs(mjm, e)) else 0 for e, n in enumerate(rows)], int)


def holds_bodies(mjm: mujoco.MjModel) -> bool:
    """Return True if connects or welds have anchors in the frames of bodies, not at sites."""
    return bool((np.isin(mjm.eq_type, (CONNECT, WELD)) & (mjm.eq_objtype != SITE)).any())


def equality_bodies(mjm: mujoco.MjModel) -> np.ndarray:
    """Return both bodies of every equality (neq, 2); 0 where it is not between bodies."""
    both = np.stack((mjm.eq_obj1id, mjm.eq_obj2id), axis=1)
    if mjm.nsite:
        both = np.where((mjm.eq_objtype == SITE)[:, None], mjm.site_bodyid[np.clip(both, 0, mjm.nsite - 1)], both)
    return np.where(np.isin(mjm.eq_type, (CONNECT, WELD))[:, None], both, 0)


def equality_joints(mjm: mujoco.MjModel) -> np.ndarray:
    """Return both joints of every equality (neq, 2); -1 where it has none."""
    both = np.stack((mjm.eq_obj1id, mjm.eq_obj2id), axis=1)
    return np.where((mjm.eq_type == JOINT)[:, None], both, -1)


def equality_tendons(mjm: mujoco.MjModel) -> np.ndarray:
    """Return both tendons of every equality (neq, 2); -1 where it has none."""
    both = np.stack((mjm.eq_obj1id, mjm.eq_obj2id), axis=1)
    return np.where((mjm.eq_type == TENDON)[:, None], both, -1)


def equality_dofs(mjm: mujoco.MjModel, e: int) -> np.ndarray:
    """Return the dofs that equality `e` acts on, descending."""
    return np.unique(np.concatenate([dofs_of_side(mjm, e, side) for side in (0, 1)]))[::-1]


def dofs_of_side(mjm: mujoco.MjModel, e: int, side: int) -> np.ndarray:
    """Return the dofs that move the first (0) or second (1) body, joint or tendon of equality `e`, ascending."""
    if mjm.eq_type[e] == TENDON:
        tendon = equality_tendons(mjm)[e, side]
        return tendon_dofs(mjm, tendon)[::-1] if tendon >= 0 else np.zeros(0, int)
    if mjm.eq_type[e] == JOINT:
        joint = equality_joints(mjm)[e, side]
        return mjm.jnt_dofadr[[joint]] if joint >= 0 else np.zeros(0, int)
    return dofs_of_body(mjm, equality_bodies(mjm)[e, side])

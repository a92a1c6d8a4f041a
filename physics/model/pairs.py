"""Which pairs of geoms can ever touch: MuJoCo's static collision filters, and the pairs that have a narrow phase here.

The rules are those of ``filterBodyPair`` and ``filterBitmask`` in MuJoCo's ``engine_collision_driver.c``, checked
against contacts that MuJoCo itself reports. Explicit ``<contact><pair>`` elements are not part of this.
"""

import mujoco
import numpy as np

from .pair_table import NO_ROW, rows_of

_G = mujoco.mjtGeom
_DISABLED = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mujoco.mjtDisableBit.mjDSBL_CONTACT)

_FLAT = (int(_G.mjGEOM_PLANE), int(_G.mjGEOM_HFIELD))  # flat against flat never collides in MuJoCo


def contacts_disabled(mjm: mujoco.MjModel) -> bool:
    """Return whether the model's flags switch all contacts off."""
    return bool(int(mjm.opt.disableflags) & _DISABLED)


def possible_pairs(mjm: mujoco.MjModel) -> np.ndarray:
    """Return every pair of geoms that MuJoCo's filters let through in some pose.

    Returns:
        int array (n, 2): geom ids, the smaller geom type first, ordered by body pair and then by geom ids.
    """
    if contacts_disabled(mjm) or mjm.ngeom < 2:
        return np.zeros((0, 2), dtype=np.int32)
    solid = np.flatnonzero(mjm.geom_contype | mjm.geom_conaffinity)
    body = mjm.geom_bodyid
    of = body[solid]
    first, second = np.nonzero(_bodies_may_touch(mjm)[np.ix_(of, of)] & (of[:, None] < of[None, :]))
    first, second = solid[first], solid[second]
    mask = (mjm.geom_contype[first] & mjm.geom_conaffinity[second]) != 0
    mask |= (mjm.geom_contype[second] & mjm.geom_conaffinity[first]) != 0
    mask &= ~(np.isin(mjm.geom_type[first], _FLAT) & np.isin(mjm.geom_type[second], _FLAT))
    first, second = first[mask], second[mask]
    order = np.lexsort((second, first, body[second], body[first]))
    first, second = first[order], second[order]
    swap = mjm.geom_type[first] > mjm.geom_type[second]
    return np.stack([np.where(swap, second, first), np.where(swap, first, second)], axis=1).astype(np.int32)


def _bodies_may_touch(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the (nbody, nbody) matrix of body pairs that pass the weld, parent and exclude filters."""
    weld = mjm.body_weldid
    parent = weld[mjm.body_parentid[weld]]
    moves = mjm.body_dofnum[weld] > 0
    touch = (weld[:, None] != weld[None, :]) & (moves[:, None] | moves[None, :])
    if not int(mjm.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT):
        is_parent = weld[:, None] == parent[None, :]
        touch &= ~((is_parent | is_parent.T) & (weld[:, None] != 0) & (weld[None, :] != 0))
    for signature in mjm.exclude_signature:
        low, high = int(signature) >> 16, int(signature) & 0xFFFF
        touch[low, high] = touch[high, low] = False
    return touch


def has_narrow_phase(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return for each row of ``pairs`` whether Tumble can compute its contacts; bool array (n,)."""
    types = mjm.geom_type[pairs].reshape(-1, 2)
    return rows_of(types[:, 0], types[:, 1]) != NO_ROW


def pair_condim(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return the contact dimension of each pair: that of the geom of higher priority, else the larger one."""
    condim, priority = mjm.geom_condim[pairs], mjm.geom_priority[pairs]
    largest = condim.max(axis=1, initial=1)
    chosen = np.where(priority[:, 0] > priority[:, 1], condim[:, 0], condim[:, 1])
    return np.where(priority[:, 0] == priority[:, 1], largest, chosen)


def type_name(geom_type: int) -> str:
    """Return MJCF's name of a geom type."""
    return mujoco.mjtGeom(int(geom_type)).name.removeprefix("mjGEOM_").lower()

"""The pairs of geoms that can have contacts: MuJoCo's static collision filters.

The rules follow ``filterBodyPair`` and ``filterBitmask`` in MuJoCo's ``engine_collision_driver.c``, checked
against contacts that MuJoCo itself reports. Explicit pairs (``<contact><pair>``) pass all filters, and have contact
parameters that replace their geoms'.
"""

import mujoco
import numpy as np

_G = mujoco.mjtGeom
_DISABLED = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mujoco.mjtDisableBit.mjDSBL_CONTACT)

OVERLAP = 1e-6
"""Metres: the depth by which bodies that rest on each other may overlap through rounding."""
_FLAT = (int(_G.mjGEOM_PLANE), int(_G.mjGEOM_HFIELD))  # flat against flat never collides in MuJoCo


def never_moves(mjm: mujoco.MjModel) -> np.ndarray:
    """Return True for each body that is fixed in the world, which mocap bodies are not; bool array (nbody,)."""
    fixed = mjm.body_weldid == 0
    for b in range(1, mjm.nbody):  # parents come before their children
        fixed[b] &= mjm.body_mocapid[b] < 0 and fixed[mjm.body_parentid[b]]
    return fixed


def contacts_disabled(mjm: mujoco.MjModel) -> bool:
    """Return True if the model's flags disable all contacts."""
    return bool(int(mjm.opt.disableflags) & _DISABLED)


def possible_pairs(mjm: mujoco.MjModel) -> np.ndarray:
    """Return every pair of geoms that can have contacts: pairs that pass the filters, and explicit pairs.

    Returns:
        int array (n, 2): geom ids, the smaller geom type first, ordered by the smaller geom id, then by the larger one.
    """
    if contacts_disabled(mjm) or mjm.ngeom < 2:
        return np.zeros((0, 2), dtype=np.int32)
    first, second = _filtered(mjm)
    if mjm.npair:
        own = explicit_pairs(mjm)[_pushes(mjm)]
        both = np.concatenate((np.column_stack((first, second)), np.sort(own, axis=1)))  # geom ids grow with bodies'
        first, second = np.unique(both, axis=0).T
    order = np.lexsort((second, first))
    return _smaller_type_first(mjm, np.column_stack((first, second))[order]).astype(np.int32)


def _filtered(mjm: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Return both geoms of every pair that MuJoCo's filters let through, that of the smaller body id first."""
    solid = np.flatnonzero(mjm.geom_contype | mjm.geom_conaffinity)
    of = mjm.geom_bodyid[solid]
    # only rows of geoms that move: two static geoms never collide, and there may be many thousands
    moves = (mjm.body_dofnum[mjm.body_weldid] > 0)[of]
    touch = _bodies_may_touch(mjm)[np.ix_(of[moves], of)]
    touch &= ~moves[None, :] | (of[moves][:, None] < of[None, :])
    row, column = np.nonzero(touch)
    mine, other = solid[moves][row], solid[column]
    swap = mjm.geom_bodyid[mine] > mjm.geom_bodyid[other]
    first, second = np.where(swap, other, mine), np.where(swap, mine, other)
    mask = (mjm.geom_contype[first] & mjm.geom_conaffinity[second]) != 0
    mask |= (mjm.geom_contype[second] & mjm.geom_conaffinity[first]) != 0
    mask &= ~(np.isin(mjm.geom_type[first], _FLAT) & np.isin(mjm.geom_type[second], _FLAT))
    return first[mask], second[mask]


def _smaller_type_first(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    swap = mjm.geom_type[pairs[:, 0]] > mjm.geom_type[pairs[:, 1]]
    return np.where(swap[:, None], pairs[:, ::-1], pairs)


def reference_overlaps(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the pairs of geoms, (n, 2), that overlap at qpos0 by MuJoCo's contacts, except explicit pairs."""
    data = mujoco.MjData(mjm)
    mujoco.mj_fwdPosition(mjm, data)
    pairs = data.contact.geom[data.contact.dist < -OVERLAP].reshape(-1, 2)
    return np.unique(pairs[explicit_pair_number(mjm, pairs) < 0], axis=0)


def without(mjm: mujoco.MjModel, pairs: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the rows of ``pairs`` that are not among ``others``."""
    keys, dropped = (np.sort(p.reshape(-1, 2), axis=1).astype(np.int64) @ [mjm.ngeom, 1] for p in (pairs, others))
    return pairs[~np.isin(keys, dropped)]


def explicit_pairs(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the geoms of every ``<pair>``, (npair, 2), in the order in which a contact has them."""
    return _smaller_type_first(mjm, np.column_stack((mjm.pair_geom1, mjm.pair_geom2)))


def explicit_pair_number(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return for each row of ``pairs`` the number of its ``<pair>``, -1 where it has none; int array (n,)."""
    if not mjm.npair:
        return np.full(len(pairs), -1)
    key, own = (np.sort(p.reshape(-1, 2), axis=1) @ [mjm.ngeom, 1] for p in (pairs, explicit_pairs(mjm)))
    order = np.argsort(own, kind="stable")
    place = np.minimum(np.searchsorted(own[order], key), mjm.npair - 1)
    return np.where(own[order[place]] == key, order[place], -1)


def largest_explicit(mjm: mujoco.MjModel, own: np.ndarray, pairs: np.ndarray, mixed: np.ndarray) -> np.ndarray:
    """Return for each row of ``pairs`` the largest number that its ``<pair>``s have in ``own``, or ``mixed`` (n,)."""
    found, number = np.array(mixed), explicit_pair_number(mjm, pairs)
    row = np.full(mjm.npair, -1)
    row[number[number >= 0]] = np.flatnonzero(number >= 0)
    row = row[explicit_pair_number(mjm, explicit_pairs(mjm))] if mjm.npair else row
    found[row[row >= 0]] = own[explicit_pair_number(mjm, pairs[row[row >= 0]])]
    np.maximum.at(found, row[row >= 0], own[row >= 0])
    return found


def repeated_explicit_pairs(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the numbers of ``<pair>``s whose geoms an earlier one has too: MuJoCo makes contacts of both."""
    _, first = np.unique(np.sort(explicit_pairs(mjm), axis=1), axis=0, return_index=True)
    return np.setdiff1d(np.arange(mjm.npair), first)


def idle_explicit_pairs(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the numbers of ``<pair>``s whose contacts push nothing, as both geoms move together or not."""
    return np.flatnonzero(~_pushes(mjm))


def _pushes(mjm: mujoco.MjModel) -> np.ndarray:
    """Return a mask of the ``<pair>``s whose geoms are not welded to each other, and not both flat."""
    own = explicit_pairs(mjm)
    weld = mjm.body_weldid[mjm.geom_bodyid[own]]
    return (weld[:, 0] != weld[:, 1]) & ~np.isin(mjm.geom_type[own], _FLAT).all(axis=1)


def collides(mjm: mujoco.MjModel) -> np.ndarray:
    """Return True for each geom with contacts by its masks or in an explicit pair; bool array (ngeom,)."""
    asks = (mjm.geom_contype | mjm.geom_conaffinity) != 0
    asks[explicit_pairs(mjm)] = True
    return asks


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


def pair_condim(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return the contact dimension of each pair: its own, or from the geom of higher priority, or the larger one.

    Geoms with several explicit pairs have the largest of their dimensions.
    """
    condim, priority = mjm.geom_condim[pairs], mjm.geom_priority[pairs]
    largest = condim.max(axis=1, initial=1)
    chosen = np.where(priority[:, 0] > priority[:, 1], condim[:, 0], condim[:, 1])
    mixed = np.where(priority[:, 0] == priority[:, 1], largest, chosen)
    return largest_explicit(mjm, mjm.pair_dim, pairs, mixed)


def pair_margin(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return the margin of each pair (m): contacts that are nearer are constraints."""
    number = explicit_pair_number(mjm, pairs)
    mixed = mjm.geom_margin[pairs].sum(axis=1)
    return np.where(number < 0, mixed, mjm.pair_margin[number]) if mjm.npair else mixed

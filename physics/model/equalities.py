"""Equality constraints of a model: bodies, joints, tendons and dofs of each, and which dofs they couple."""

from itertools import pairwise

import mujoco
import numpy as np

from .solver_params import impedance_params, reference_params
from .tendons import coupling_tendons, dofs_of_body, tendon_dofs

_D, _EQ = mujoco.mjtDisableBit, mujoco.mjtEq
CONNECT, WELD, JOINT = int(_EQ.mjEQ_CONNECT), int(_EQ.mjEQ_WELD), int(_EQ.mjEQ_JOINT)
TENDON = int(_EQ.mjEQ_TENDON)
ROWS = {CONNECT: 3, WELD: 6, JOINT: 1, TENDON: 1}
"""Rows of every type that Tumble has."""
_SITE = int(mujoco.mjtObj.mjOBJ_SITE)


def equality_rows(mjm: mujoco.MjModel) -> np.ndarray:
    """Rows of every equality (neq,), whether it is active or not; 0 where it couples nothing that moves."""
    off = int(_D.mjDSBL_EQUALITY) | int(_D.mjDSBL_CONSTRAINT)
    if int(mjm.opt.disableflags) & off:
        return np.zeros(mjm.neq, int)
    rows = [ROWS.get(int(kind), 0) for kind in mjm.eq_type]
    return np.array([n if len(equality_dofs(mjm, e)) else 0 for e, n in enumerate(rows)], int)


def equality_bodies(mjm: mujoco.MjModel) -> np.ndarray:
    """Both bodies of every equality (neq, 2); 0 where it is not between bodies."""
    both = np.stack((mjm.eq_obj1id, mjm.eq_obj2id), axis=1)
    if mjm.nsite:
        both = np.where((mjm.eq_objtype == _SITE)[:, None], mjm.site_bodyid[np.clip(both, 0, mjm.nsite - 1)], both)
    return np.where(np.isin(mjm.eq_type, (CONNECT, WELD))[:, None], both, 0)


def equality_joints(mjm: mujoco.MjModel) -> np.ndarray:
    """Both joints of every equality (neq, 2); -1 where it has none."""
    both = np.stack((mjm.eq_obj1id, mjm.eq_obj2id), axis=1)
    return np.where((mjm.eq_type == JOINT)[:, None], both, -1)


def equality_tendons(mjm: mujoco.MjModel) -> np.ndarray:
    """Both tendons of every equality (neq, 2); -1 where it has none."""
    both = np.stack((mjm.eq_obj1id, mjm.eq_obj2id), axis=1)
    return np.where((mjm.eq_type == TENDON)[:, None], both, -1)


def equality_dofs(mjm: mujoco.MjModel, e: int) -> np.ndarray:
    """Dofs that equality `e` acts on, descending."""
    return np.unique(np.concatenate([_dofs_of_side(mjm, e, side) for side in (0, 1)]))[::-1]


def _dofs_of_side(mjm: mujoco.MjModel, e: int, side: int) -> np.ndarray:
    """Dofs that move the first (0) or second (1) body, joint or tendon of equality `e`, ascending."""
    if mjm.eq_type[e] == TENDON:
        tendon = equality_tendons(mjm)[e, side]
        return tendon_dofs(mjm, tendon)[::-1] if tendon >= 0 else np.zeros(0, int)
    if mjm.eq_type[e] == JOINT:
        joint = equality_joints(mjm)[e, side]
        return mjm.jnt_dofadr[[joint]] if joint >= 0 else np.zeros(0, int)
    return dofs_of_body(mjm, equality_bodies(mjm)[e, side])


def equality_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """The integer fields of `model.fields` that describe equalities."""
    rows, bodies, joints = equality_rows(mjm), equality_bodies(mjm), equality_joints(mjm)
    dofs = [equality_dofs(mjm, e) if rows[e] else np.zeros(0, int) for e in range(mjm.neq)]
    sides = [sum((1 << s) * np.isin(dofs[e], _dofs_of_side(mjm, e, s)) for s in (0, 1)) for e in range(mjm.neq)]
    held = np.where(joints >= 0, joints, 0)
    return {
        "eq_rows": rows,
        "eq_body1": bodies[:, 0],
        "eq_body2": bodies[:, 1],
        "eq_qpos1": mjm.jnt_qposadr[held[:, 0]] if mjm.njnt else np.zeros(mjm.neq, int),
        "eq_qpos2": np.where(joints[:, 1] >= 0, mjm.jnt_qposadr[held[:, 1]], -1) if mjm.njnt else joints[:, 1],
        "eq_tendon1": equality_tendons(mjm)[:, 0],
        "eq_tendon2": equality_tendons(mjm)[:, 1],
        "eq_dofadr": np.cumsum([0, *map(len, dofs)])[:-1],
        "eq_dofnum": np.array([len(of) for of in dofs], int),
        "eq_dof": np.concatenate([*dofs, np.zeros(0, int)]).astype(int),
        "eq_side": np.concatenate([*sides, np.zeros(0, int)]).astype(int),
    }


def coupled_parents(mjm: mujoco.MjModel) -> np.ndarray:
    """Parent of every dof, -1 for none, in the tree that the Hessian's pattern follows when nothing touches (nv,).

    It is the dofs' own tree with the branches made one path that equalities, and limits and friction losses of
    tendons, couple, as contacts do at run time (`constraint.hessian_pattern`).
    """
    parent = np.array(mjm.dof_parentid)
    coupled = [equality_dofs(mjm, int(e)) for e in np.flatnonzero(equality_rows(mjm))]
    coupled += [tendon_dofs(mjm, int(t)) for t in coupling_tendons(mjm)]
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


def _anchors(mjm: mujoco.MjModel, data: np.ndarray) -> np.ndarray:
    """Points that are held together, in the frames of both bodies, (environments, neq, 6): MuJoCo's order differs."""
    first, second = data[..., 0:3], data[..., 3:6]
    weld = (mjm.eq_type == WELD)[:, None]
    anchors = np.concatenate((np.where(weld, second, first), np.where(weld, first, second)), axis=-1)
    for e in np.flatnonzero(_between_sites(mjm)):
        anchors[:, e] = mjm.site_pos[[mjm.eq_obj1id[e], mjm.eq_obj2id[e]]].ravel()
    return anchors


def _orientations(mjm: mujoco.MjModel, data: np.ndarray) -> np.ndarray:
    """Frames that a weld holds alike, in the frames of both bodies: two quaternions (environments, neq, 8)."""
    turned = np.zeros((*data.shape[:2], 8))
    turned[..., :4], turned[..., 4] = data[..., 6:10], 1.0
    for e in np.flatnonzero(_between_sites(mjm)):
        turned[:, e] = mjm.site_quat[[mjm.eq_obj1id[e], mjm.eq_obj2id[e]]].ravel()
    return turned


def _between_sites(mjm: mujoco.MjModel) -> np.ndarray:
    return (mjm.eq_objtype == _SITE) & np.isin(mjm.eq_type, (CONNECT, WELD))


def _diagonal(mjm: mujoco.MjModel, of_body: np.ndarray, of_dof: np.ndarray, of_tendon: np.ndarray) -> np.ndarray:
    """Approximate inverse inertia along the rows that slide, and those that turn, (environments, neq, 2)."""
    bodies, joints = equality_bodies(mjm), equality_joints(mjm)
    found = of_body[:, bodies[:, 0]] + of_body[:, bodies[:, 1]]
    for e in np.flatnonzero(mjm.eq_type == JOINT):
        found[:, e] = of_dof[:, mjm.jnt_dofadr[joints[e][joints[e] >= 0]]].sum(axis=1)[:, None]
    tendons = equality_tendons(mjm)
    for e in np.flatnonzero(mjm.eq_type == TENDON):
        found[:, e] = of_tendon[:, tendons[e][tendons[e] >= 0]].sum(axis=1)[:, None]
    return found


def _solimp(mjm: mujoco.MjModel, solimp: np.ndarray) -> np.ndarray:
    return impedance_params(solimp)


def _reference(k: int):
    def compute(mjm: mujoco.MjModel, solref: np.ndarray, solimp: np.ndarray) -> np.ndarray:
        return reference_params(mjm, solref, impedance_params(solimp)[..., 1])[k]

    return compute


EQUALITY_RULES = {
    "eq_polycoef": (("eq_data",), lambda mjm, data: data[..., :5]),
    "eq_anchor": (("eq_data",), _anchors),
    "eq_orientation": (("eq_data",), _orientations),
    "eq_torquescale": (("eq_data",), lambda mjm, data: data[..., 10]),
    "eq_diagonal": (("body_invweight0", "dof_invweight0", "tendon_invweight0"), _diagonal),
    "eq_solimp": (("eq_solimp",), _solimp),
    "eq_stiffness": (("eq_solref", "eq_solimp"), _reference(0)),
    "eq_damping": (("eq_solref", "eq_solimp"), _reference(1)),
}
"""How fields of `model.fields` follow from MuJoCo's numbers (`kernel_numbers.RULES`)."""

"""The tendons that a compiled model needs, and the ones among them that have a path."""

import mujoco
import numpy as np

_JOINT = int(mujoco.mjtWrap.mjWRAP_JOINT)
_ON_TENDONS = int(mujoco.mjtTrn.mjTRN_TENDON)


def acting_tendons(mjm: mujoco.MjModel) -> bool:
    """Return True if kernels need tendons: some act on the motion, or have a path. Others only measure qpos."""
    if not mjm.ntendon:
        return False
    acts = [mjm.tendon_stiffness, mjm.tendon_stiffnesspoly, mjm.tendon_damping, mjm.tendon_dampingpoly]
    acts += [mjm.tendon_limited, mjm.tendon_frictionloss, mjm.tendon_armature]
    acts += [mjm.tendon_plasticadr >= 0]
    held = (mjm.eq_type == int(mujoco.mjtEq.mjEQ_TENDON)).any()
    driven = (mjm.actuator_trntype == _ON_TENDONS).any()
    return bool(held or driven or any(np.any(numbers) for numbers in acts) or spatial(mjm).any())


def spatial(mjm: mujoco.MjModel) -> np.ndarray:
    """Return a mask of the tendons with a path (ntendon,)."""
    return mjm.wrap_type[mjm.tendon_adr] != _JOINT if mjm.ntendon else np.zeros(0, bool)


def tendon_dofs(mjm: mujoco.MjModel, t: int) -> np.ndarray:
    """Return the dofs that tendon `t` pulls on, descending."""
    first = mjm.ten_J_rowadr[t]
    return np.sort(mjm.ten_J_colind[first : first + mjm.ten_J_rownnz[t]])[::-1].astype(int)


def dofs_of_rows(dofnum: np.ndarray, tendon: np.ndarray) -> np.ndarray:
    """Return the number of dofs of rows: one where `tendon` (rows,) is -1, else its entry of `dofnum` (ntendon,)."""
    return np.append(dofnum, 1)[tendon]


def joined(joints: np.ndarray, tendons: np.ndarray) -> np.ndarray:
    """Return numbers of rows of joints or dofs, then of tendons, (environments, rows, ...)."""
    count = max(len(joints), len(tendons))
    return np.concatenate([np.broadcast_to(x, (count, *x.shape[1:])) for x in (joints, tendons)], axis=1)


def measured(mjm: mujoco.MjModel, positions: bool) -> np.ndarray:
    """Return the coefficients of fixed tendons by the coordinates (ntendon, nq), or by the dofs (ntendon, nv)."""
    found = np.zeros((mjm.ntendon, mjm.nq if positions else mjm.nv))
    for t in range(mjm.ntendon):
        dofs = tendon_dofs(mjm, t)
        at = mjm.jnt_qposadr[mjm.dof_jntid[dofs]] if positions else dofs
        found[t, at] = coefficients(mjm, t, dofs)
    return found


def coefficients(mjm: mujoco.MjModel, t: int, dofs: np.ndarray) -> np.ndarray:
    """Return the coefficient of each dof of a fixed tendon; 0 for a path."""
    if spatial(mjm)[t]:
        return np.zeros(len(dofs))
    wraps = slice(mjm.tendon_adr[t], mjm.tendon_adr[t] + mjm.tendon_num[t])
    of = dict(zip(mjm.jnt_dofadr[mjm.wrap_objid[wraps]].tolist(), mjm.wrap_prm[wraps].tolist(), strict=True))
    return np.array([of[dof] for dof in dofs.tolist()])

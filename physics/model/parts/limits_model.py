"""Loading limits: the joint or tendon and the side of each, and their numbers, as `limits` reads them."""

from collections.abc import Callable, Mapping

import mujoco
import numpy as np

from ...base.joints import is_free, is_scalar
from ...files.mjmodel.flags import disabled
from ...files.mjmodel.solver_params import impedance_params, reference_of
from ...files.mjmodel.tendons import dofs_of_rows, joined
from .part import Rule

_D = mujoco.mjtDisableBit
LOWER, BALL_JOINT, UPPER = -1, 0, 1
"""Values of `limit_side`."""


def joint_limits(mjm: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Return joint and side of every one-sided limit of a joint."""
    rows: list[tuple[int, int]] = []
    if not disabled(mjm, _D.mjDSBL_LIMIT, _D.mjDSBL_CONSTRAINT):
        for j in np.flatnonzero(mjm.jnt_limited).tolist():
            if is_scalar(mjm.jnt_type[j]):
                rows += [(j, LOWER), (j, UPPER)]
            elif not is_free(mjm.jnt_type[j]):
                rows.append((j, BALL_JOINT))
    joint, side = np.array(rows, int).reshape(-1, 2).T
    return joint, side


def tendon_limits(mjm: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Return tendon and side of every one-sided limit of a tendon that moves."""
    off = disabled(mjm, _D.mjDSBL_LIMIT, _D.mjDSBL_CONSTRAINT)
    found = [t for t in np.flatnonzero(mjm.tendon_limited) if mjm.ten_J_rownnz[t] and not off]
    return np.repeat(np.array(found, int), 2), np.tile([LOWER, UPPER], len(found))


def limit_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the integer fields: limits of joints, then of tendons."""
    (joint, side), (tendon, tendon_side) = joint_limits(mjm), tendon_limits(mjm)
    none = np.zeros(len(tendon), int)
    return {
        "limit_jnt": np.concatenate((joint, none)),
        "limit_qposadr": np.concatenate((mjm.jnt_qposadr[joint], none)),
        "limit_dofadr": np.concatenate((mjm.jnt_dofadr[joint], none)),
        "limit_side": np.concatenate((side, tendon_side)),
        "limit_tendon": np.concatenate((np.full(len(joint), -1), tendon)),
    }


def limit_dofs(values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the number of dofs that each limit acts on: three of a ball joint."""
    others = dofs_of_rows(values["tendon_dofnum"], values["limit_tendon"])
    return np.where(values["limit_side"] == BALL_JOINT, 3, others)


def _bound(side: np.ndarray, ranges: np.ndarray) -> np.ndarray:
    """Return the end on the given side of ranges, (environments, rows), and of balls the larger one."""
    lower, upper = ranges[..., 0], ranges[..., 1]
    return np.where(side == BALL_JOINT, np.maximum(lower, upper), np.where(side == LOWER, lower, upper))


def _value(mjm: mujoco.MjModel, ranges: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    (joint, side), (tendon, tendon_side) = joint_limits(mjm), tendon_limits(mjm)
    return joined(_bound(side, ranges[:, joint]), _bound(tendon_side, lengths[:, tendon]))


def _of_limits(mjm: mujoco.MjModel, of_joints: np.ndarray, of_tendons: np.ndarray) -> np.ndarray:
    """Return numbers of joints and of tendons at every limit."""
    return joined(of_joints[:, joint_limits(mjm)[0]], of_tendons[:, tendon_limits(mjm)[0]])


def _solimp(mjm: mujoco.MjModel, solimp: np.ndarray, of_tendons: np.ndarray) -> np.ndarray:
    return impedance_params(_of_limits(mjm, solimp, of_tendons))


def _reference(k: int) -> Callable[..., np.ndarray]:
    def compute(mjm: mujoco.MjModel, solref: np.ndarray, solimp: np.ndarray, *of_tendons: np.ndarray) -> np.ndarray:
        joint, tendon = joint_limits(mjm)[0], tendon_limits(mjm)[0]
        own = reference_of(k, mjm, solref[:, joint], solimp[:, joint])
        return joined(own, reference_of(k, mjm, *(x[:, tendon] for x in of_tendons)))

    return compute


def _diagonal(mjm: mujoco.MjModel, of_dofs: np.ndarray, of_tendons: np.ndarray) -> np.ndarray:
    return joined(of_dofs[:, mjm.jnt_dofadr[joint_limits(mjm)[0]]], of_tendons[:, tendon_limits(mjm)[0]])


_SOURCES = ("jnt_solref", "jnt_solimp", "tendon_solref_lim", "tendon_solimp_lim")
LIMIT_RULES: dict[str, Rule] = {
    "limit_value": (("jnt_range", "tendon_range"), _value),
    "limit_margin": (("jnt_margin", "tendon_margin"), _of_limits),
    "limit_solimp": (("jnt_solimp", "tendon_solimp_lim"), _solimp),
    "limit_stiffness": (_SOURCES, _reference(0)),
    "limit_damping": (_SOURCES, _reference(1)),
    "limit_diagonal": (("dof_invweight0", "tendon_invweight0"), _diagonal),
}
"""Rules of the real fields: the names of MuJoCo's numbers, and the function of them."""

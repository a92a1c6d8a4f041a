"""The condition number of a model's mass matrix, which measures the digits lost by solving in single precision."""

import mujoco
import numpy as np

from ..kinematics.joints import QUATERNION, is_scalar, is_slide

_POSES = 16
WORST = 1e8  # beyond it no digit of single precision is left
_WIDEST = 1e10  # m or rad: a range beyond it limits nothing, as no state of an environment goes so far


def worst_condition(mjm: mujoco.MjModel) -> float:
    """Return the largest `condition` in the reference pose and 15 random ones, at most 1e8.

    The relative error of a solution in single precision is about this number times 6e-8 (seen in docs/parity.md).
    """
    rng = np.random.default_rng(0)
    data = mujoco.MjData(mjm)
    worst = condition(mjm, data)
    for _ in range(_POSES - 1):
        data.qpos[:] = _random_pose(mjm, rng)
        worst = max(worst, condition(mjm, data))
    return worst


def condition(mjm: mujoco.MjModel, data: mujoco.MjData) -> float:
    """Return the condition number of M at data.qpos, scaled to a unit diagonal; the largest of all kinematic trees.

    It does not depend on units and sizes of bodies, nor does the error of a factorisation (van der Sluis 1969).
    """
    mujoco.mj_kinematics(mjm, data)
    mujoco.mj_comPos(mjm, data)
    mujoco.mj_tendon(mjm, data)
    mujoco.mj_makeM(mjm, data)
    worst = 1.0
    for first, count in zip(mjm.tree_dofadr.tolist(), mjm.tree_dofnum.tolist(), strict=True):
        block = _mass_of_tree(mjm, data, first, count)
        scale = 1.0 / np.sqrt(np.diag(block))
        values = np.linalg.eigvalsh(block * scale[:, None] * scale)
        worst = max(worst, float(values[-1] / values[0])) if values[0] > 0 else WORST
    return min(worst, WORST)


def _mass_of_tree(mjm: mujoco.MjModel, data: mujoco.MjData, first: int, count: int) -> np.ndarray:
    """Return M of the dofs of one tree (count, count); the whole matrix of many trees would be too large."""
    block = np.zeros((count, count))
    for i in range(count):
        row = mjm.M_rowadr[first + i] + np.arange(mjm.M_rownnz[first + i])
        columns = mjm.M_colind[row] - first
        block[i, columns] = block[columns, i] = data.M[row]
    return block


def _random_pose(mjm: mujoco.MjModel, rng: np.random.Generator) -> np.ndarray:
    """Return qpos in the ranges of limited joints; unlimited ones at most half a turn, or about 1 m, away."""
    qpos = np.array(mjm.qpos0)
    for j in range(mjm.njnt):
        adr, kind = mjm.jnt_qposadr[j], mjm.jnt_type[j]
        if not is_scalar(kind):
            at = adr + QUATERNION[kind]
            qpos[at : at + 4] = rng.normal(size=4)  # MuJoCo normalises it
            continue
        low, high = mjm.jnt_range[j] if mjm.jnt_limited[j] else (-np.inf, np.inf)
        if high - low <= _WIDEST:
            qpos[adr] = rng.uniform(low, high)
        else:  # no limit, or on one side alone
            away = rng.normal() if is_slide(kind) else rng.uniform(-np.pi, np.pi)
            qpos[adr] = min(max(qpos[adr] + away, low), high)
    return qpos

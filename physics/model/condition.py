"""Condition numbers of a model's matrices, which measure the digits lost by solving in single precision."""

import mujoco
import numpy as np

from ..base.joints import QUATERNION, is_scalar, is_slide

_POSES = 16
WORST = 1e8  # beyond it no digit of single precision is left
LOST = 1e7
"""The `closed_condition` beyond which single precision does not suffice: chains that welds and connects close move as
MuJoCo's up to 3e7, and end in non-finite numbers from 3.2e7 on. Robots with loops and followers have 1e2 to 5e3."""
MOST_WORK = 1e9
"""The third powers of the sizes of matrices, summed, after which no further pose is looked at: a tenth of a second."""
_WIDEST = 1e10  # m or rad: a range beyond it limits nothing, as no state of an environment goes so far


def worst_condition(mjm: mujoco.MjModel) -> float:
    """Return the largest `condition` in the reference pose and 15 random ones, at most 1e8.

    The relative error of a solution in single precision is about this number times 6e-8
    (docs/reference/parity.md).
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
    evaluate_mass(mjm, data)
    return float(conditions(mjm, data.M[None])[0])


def conditions(mjm: mujoco.MjModel, masses: np.ndarray) -> np.ndarray:
    """Return `condition` of mass matrices as in MjData.M, (n, nM): (n,)."""
    worst = np.ones(len(masses))
    for first, count in zip(mjm.tree_dofadr.tolist(), mjm.tree_dofnum.tolist(), strict=True):
        worst = np.maximum(worst, _scaled(_masses_of_tree(mjm, masses, first, count)))
    return worst


def closed_condition(mjm: mujoco.MjModel) -> float:
    """Return the largest condition number of M + J' D J with the rows of all equalities, scaled; 1.0 without any.

    It is that of Newton's Hessian, in the poses of `worst_condition`, of large matrices in fewer: 1e8 at most.
    """
    if not mjm.neq or not mjm.nv:
        return 1.0
    rng, data, worst, work = np.random.default_rng(0), mujoco.MjData(mjm), 1.0, 0
    data.eq_active[:] = 1
    for k in range(_POSES):
        if k:
            data.qpos[:] = _random_pose(mjm, rng)
        evaluate_mass(mjm, data)
        mujoco.mj_makeConstraint(mjm, data)
        blocks = _hessians(mjm, data)
        worst = max(worst, *(float(_scaled(block)) for block in blocks))
        work += sum(len(block) ** 3 for block in blocks)
        if work > MOST_WORK:
            break
    return worst


def evaluate_mass(mjm: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Set data.M, and the quantities that it follows from, at data.qpos."""
    mujoco.mj_kinematics(mjm, data)
    mujoco.mj_comPos(mjm, data)
    mujoco.mj_tendon(mjm, data)
    mujoco.mj_makeM(mjm, data)


def _scaled(blocks: np.ndarray) -> np.ndarray:
    """Return the condition numbers (...) of positive definite matrices (..., n, n), scaled to a unit diagonal.

    They are at most 1e8.
    """
    scale = 1.0 / np.sqrt(np.diagonal(blocks, axis1=-2, axis2=-1))
    values = np.linalg.eigvalsh(blocks * scale[..., None] * scale[..., None, :])
    least, largest = values[..., 0], values[..., -1]
    definite = least > 0
    return np.where(definite, np.minimum(largest / np.where(definite, least, 1.0), WORST), WORST)


def _hessians(mjm: mujoco.MjModel, data: mujoco.MjData) -> list[np.ndarray]:
    """Return M + J' D J of the dofs of each tree, or of trees that equalities join."""
    rows = [_row(mjm, data, int(k)) for k in np.flatnonzero(data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY)]
    island = np.arange(mjm.ntree)
    for columns, _, _ in rows:
        joined = island[mjm.dof_treeid[columns]]
        island[np.isin(island, joined)] = joined.min(initial=mjm.ntree)
    blocks: dict[int, np.ndarray] = {}
    place = np.zeros(mjm.nv, int)
    for label in np.unique(island).tolist():
        dofs = np.flatnonzero(island[mjm.dof_treeid] == label)
        blocks[label], place[dofs] = np.zeros((len(dofs), len(dofs))), np.arange(len(dofs))
    for tree, (first, count) in enumerate(zip(mjm.tree_dofadr.tolist(), mjm.tree_dofnum.tolist(), strict=True)):
        at = slice(place[first], place[first] + count)
        blocks[island[tree]][at, at] = _masses_of_tree(mjm, data.M[None], first, count)[0]
    for columns, J, D in rows:
        if len(columns):
            at = place[columns]
            blocks[island[mjm.dof_treeid[columns[0]]]][np.ix_(at, at)] += D * np.outer(J, J)
    return list(blocks.values())


def _row(mjm: mujoco.MjModel, data: mujoco.MjData, k: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the dofs of row k of the constraints, its entries of J, and its D."""
    if mujoco.mj_isSparse(mjm):
        at = slice(data.efc_J_rowadr[k], data.efc_J_rowadr[k] + data.efc_J_rownnz[k])
        return data.efc_J_colind[at], data.efc_J[at], float(data.efc_D[k])
    dense = data.efc_J.reshape(-1, mjm.nv)[k]
    columns = np.flatnonzero(dense)
    return columns, dense[columns], float(data.efc_D[k])


def _masses_of_tree(mjm: mujoco.MjModel, masses: np.ndarray, first: int, count: int) -> np.ndarray:
    """Return M of the dofs of one tree (n, count, count); the whole matrix of many trees would be too large."""
    begin, sizes = int(mjm.M_rowadr[first]), mjm.M_rownnz[first : first + count]
    entries = slice(begin, begin + int(sizes.sum()))
    rows, columns = np.repeat(np.arange(count), sizes), mjm.M_colind[entries] - first
    blocks = np.zeros((len(masses), count, count))
    blocks[:, rows, columns] = blocks[:, columns, rows] = masses[:, entries]
    return blocks


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
        else:  # no limit, or only on one side
            away = rng.normal() if is_slide(kind) else rng.uniform(-np.pi, np.pi)
            qpos[adr] = min(max(qpos[adr] + away, low), high)
    return qpos

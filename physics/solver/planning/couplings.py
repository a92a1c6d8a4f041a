"""Joint equalities as laws: the coordinate of a joint that follows is a polynomial of the coordinate of another.

MuJoCo's law is q1 - qpos0_1 = c0 + c1 x + c2 x^2 + c3 x^3 + c4 x^4 with x = q2 - qpos0_2, or c0 without a second joint.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass

import mujoco
import numpy as np
import torch

from ...base.joints import is_free, is_slide
from ...files.mjmodel.dofs import dofs_of_body
from ...files.mjmodel.equalities import CONNECT, JOINT, TENDON, WELD, dofs_of_side, equality_tendons
from ...files.mjmodel.flags import disabled

TERMS = 5
"""Coefficients of a law."""
BEYOND = 1e-6
"""The distance (rad or m) by which rounding may put a joint that follows another beyond its limits."""
LINEAR = 2
"""Coefficients of a law that can be inverted."""
_TORQUE_SCALE = 10  # of a weld, in eq_data


@dataclass(frozen=True)
class Couplings:
    """The laws of a model, in the order in which they are applied: a leader is set before its followers.

    Attributes:
        follower: (k,) joints.
        leader: (k,) joints; the follower itself where the law is a constant.
        equality: (k,) numbers of the equalities.
        inverted: (k,) bool, True where the second joint of the equality follows the first.
    """

    follower: np.ndarray
    leader: np.ndarray
    equality: np.ndarray
    inverted: np.ndarray

    def subset(self, index: np.ndarray) -> "Couplings":
        """Return some of the laws, by a mask (k,)."""
        return Couplings(self.follower[index], self.leader[index], self.equality[index], self.inverted[index])

    def laws(self, eq_data: torch.Tensor) -> torch.Tensor:
        """Return coefficients (n, k, TERMS) from equality data (n, neq, mjNEQDATA)."""
        table = eq_data[:, self.equality, :TERMS].clone()
        table[:, self.follower == self.leader, 1:] = 0.0
        slope = table[:, self.inverted, 1]
        slope = torch.where(slope == 0.0, torch.inf, slope)  # of an environment's own law: the follower stays
        table[:, self.inverted, 0] /= -slope
        table[:, self.inverted, 1] = 1.0 / slope
        return table

    def obey(self, mj: mujoco.MjModel, laws: torch.Tensor, qpos0: torch.Tensor, qpos: torch.Tensor) -> None:
        """Set the coordinates (n, nq) of all followers by the laws (n or 1, k, TERMS), in place."""
        for k, (follower, leader) in enumerate(zip(self.follower, self.leader, strict=True)):
            at, by = int(mj.jnt_qposadr[follower]), int(mj.jnt_qposadr[leader])
            qpos[:, at] = qpos0[:, at] + _polynomial(laws[:, k], qpos[:, by] - qpos0[:, by])

    def narrow(
        self, mj: mujoco.MjModel, laws: torch.Tensor, qpos0: torch.Tensor
    ) -> tuple[np.ndarray, torch.Tensor, torch.Tensor]:
        """Return limits of joints that also keep their linear followers within their limits.

        Args:
            mj: the model.
            laws: (n, k, TERMS).
            qpos0: (n or 1, nq).

        Returns:
            Which joints have limits (njnt,); their least and largest coordinates (n, njnt), infinite without limits.
        """
        limited = mj.jnt_limited == 1
        ends = np.where(limited[:, None], mj.jnt_range, (-np.inf, np.inf))
        lower, upper = (torch.as_tensor(end.copy(), device=laws.device).repeat(len(laws), 1) for end in ends.T)
        for k in reversed(range(len(self.follower))):
            follower, leader = int(self.follower[k]), int(self.leader[k])
            law, (at, by) = laws[:, k], mj.jnt_qposadr[[follower, leader]]
            if (
                follower == leader
                or not limited[follower]
                or bool((law[:, LINEAR:] != 0).any() | (law[:, 1] == 0).any())
            ):
                continue
            both = torch.stack([(end[:, follower] - qpos0[:, at] - law[:, 0]) / law[:, 1] for end in (lower, upper)])
            both += qpos0[:, by]
            limited[leader] = True
            lower[:, leader] = torch.maximum(lower[:, leader], both.amin(0))
            upper[:, leader] = torch.minimum(upper[:, leader], both.amax(0))
        return limited, lower, upper

    def within_limits(self, mj: mujoco.MjModel, qpos: torch.Tensor) -> torch.Tensor:
        """Return where all followers are within their limits in configurations (n, nq): (n,) bool."""
        limited = self.follower[mj.jnt_limited[self.follower] == 1]
        least, most = torch.as_tensor(mj.jnt_range[limited].T.copy(), device=qpos.device)
        where = qpos[:, torch.as_tensor(mj.jnt_qposadr[limited], dtype=torch.int64, device=qpos.device)]
        return ((where >= least - BEYOND) & (where <= most + BEYOND)).all(1)


def joint_couplings(mj: mujoco.MjModel, active: np.ndarray, preferred: np.ndarray | None = None) -> Couplings:
    """Return the joint equalities of a model as laws; equalities that close circles or set a joint twice have none.

    Args:
        mj: the model.
        active: (neq,) bool.
        preferred: (njnt,) bool, joints that rather lead than follow; None: all alike.
    """
    led: dict[int, tuple[int, int, bool]] = {}

    def root(joint: int) -> int:
        while joint in led and led[joint][0] != joint:
            joint = led[joint][0]
        return joint

    for each in _in_force(mj, active, of_joints=True):
        first, second = int(mj.eq_obj1id[each]), int(mj.eq_obj2id[each])
        ways = [(first, first if second < 0 else second, False)]
        if second >= 0 and mj.eq_data[each, 1] != 0.0 and not mj.eq_data[each, LINEAR:TERMS].any():
            ways.append((second, first, True))
            if preferred is not None and preferred[first] and not preferred[second]:
                ways.reverse()
        for follower, leader, inverted in ways:
            if follower not in led and (leader == follower or root(leader) != follower):
                led[follower] = (leader, int(each), inverted)
                break
    order: list[int] = []
    while len(order) < len(led):
        order += [j for j, (by, _, _) in led.items() if j not in order and (by == j or by not in led or by in order)]
    rows = np.array([(joint, *led[joint]) for joint in order], np.int64).reshape(-1, 4)
    return Couplings(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3] == 1)


def joint_residuals(
    mj: mujoco.MjModel, equalities: np.ndarray, eq_data: torch.Tensor, qpos0: torch.Tensor, qpos: torch.Tensor
) -> torch.Tensor:
    """Return how far coordinates (n, nq) are from joint equalities (m,): (n, m) rad or m of their first joints."""
    found = qpos.new_zeros((len(qpos), len(equalities)))
    for k, each in enumerate(equalities):
        first, second = int(mj.eq_obj1id[each]), int(mj.eq_obj2id[each])
        at = int(mj.jnt_qposadr[first])
        wanted = eq_data[:, each, 0]
        if second >= 0:
            by = int(mj.jnt_qposadr[second])
            wanted = _polynomial(eq_data[:, each, :TERMS], qpos[:, by] - qpos0[:, by])
        found[:, k] = qpos[:, at] - qpos0[:, at] - wanted
    return found


def coupled_joints(mj: mujoco.MjModel, active: np.ndarray, changed: np.ndarray) -> np.ndarray:
    """Return the active equalities of joints that couple a dof that is changed, (nv,) bool."""
    found = _in_force(mj, active, of_joints=True)
    return np.array([each for each in found if (_coupled_dofs(mj, int(each)) & changed).any()], np.int64)


def other_equalities(mj: mujoco.MjModel, active: np.ndarray, changed: np.ndarray) -> np.ndarray:
    """Return the other active equalities that changes of dofs (nv,) bool may break.

    Equalities with a free joint that is not changed are left out: a floating body, such as one that is held, can
        follow.
    """
    floats = is_free(mj.jnt_type[mj.dof_jntid])
    coupled = [(each, _coupled_dofs(mj, int(each))) for each in _in_force(mj, active, of_joints=False)]
    return np.array([e for e, dofs in coupled if (dofs & changed).any() and not (dofs & floats & ~changed).any()], int)


def _in_force(mj: mujoco.MjModel, active: np.ndarray, of_joints: bool) -> np.ndarray:
    """Return the active equalities of joints, or the other active ones; none if the model disables all."""
    off = disabled(mj, mujoco.mjtDisableBit.mjDSBL_EQUALITY, mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    return np.flatnonzero(active & ((mj.eq_type == JOINT) == of_joints) & (not off))


def equality_errors(
    mj: mujoco.MjModel, equalities: np.ndarray, own: Mapping[str, np.ndarray], state: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Return how far connects, welds and equalities of tendons are from holding, as MuJoCo measures it.

    Args:
        mj: the model.
        equalities: (m,) their numbers; they count as active.
        own: numbers of the model that differ between environments, by name, (n, *shape) each.
        state: "qpos" (n, nq) and poses of mocap bodies, by their names in `mujoco.MjData`, (n, ...) each.

    Returns:
        (n, m, 2): a distance (m) and an angle (rad).
    """
    mjm = copy.copy(mj)
    mjm.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
    data = mujoco.MjData(mjm)
    data.eq_active[:] = np.isin(np.arange(mj.neq), equalities)
    errors = np.zeros((len(state["qpos"]), len(equalities), 2))
    for env in range(len(errors)):
        for there, numbers in ((mjm, own), (data, state)):
            for name, rows in numbers.items():
                getattr(there, name)[:] = rows[env]
        for stage in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_tendon, mujoco.mj_makeConstraint):
            stage(mjm, data)
        for k, each in enumerate(equalities):
            left = data.efc_pos[: data.ne][data.efc_id[: data.ne] == each]
            if mjm.eq_type[each] == WELD:
                scale = mjm.eq_data[each, _TORQUE_SCALE]
                half = np.linalg.norm(left[3:]) / scale if scale else 0.0  # the vector part of a unit quaternion
                errors[env, k] = np.linalg.norm(left[:3]), 2 * np.arcsin(min(half, 1.0))
            else:
                errors[env, k, int(_is_angle(mjm, int(each)))] = np.linalg.norm(left)
    return errors


def _is_angle(mj: mujoco.MjModel, equality: int) -> bool:
    """Return True for tendons whose length is made of angles of joints."""
    if mj.eq_type[equality] != TENDON:
        return False
    first = int(mj.tendon_adr[mj.eq_obj1id[equality]])
    joint = int(mj.wrap_objid[first])
    return mj.wrap_type[first] == mujoco.mjtWrap.mjWRAP_JOINT and not is_slide(mj.jnt_type[joint])


def _coupled_dofs(mj: mujoco.MjModel, equality: int) -> np.ndarray:
    """Return the dofs (nv,) bool that an equality of two joints, bodies or tendons couples."""
    if mj.eq_type[equality] == TENDON:
        tendons = equality_tendons(mj)[equality]
        return np.any([_tendon_dofs(mj, int(tendon)) for tendon in tendons[tendons >= 0]], axis=0)
    first, second = (_mask(mj, dofs_of_side(mj, equality, side)) for side in (0, 1))
    return first != second if mj.eq_type[equality] in (CONNECT, WELD) else first | second


def _tendon_dofs(mj: mujoco.MjModel, tendon: int) -> np.ndarray:
    """Return the dofs (nv,) bool that change the length of a tendon; dofs that move its whole path do not."""
    coupled, paths = np.zeros(mj.nv, bool), []
    for wrap in range(mj.tendon_adr[tendon], mj.tendon_adr[tendon] + mj.tendon_num[tendon]):
        kind, item = int(mj.wrap_type[wrap]), int(mj.wrap_objid[wrap])
        if kind == mujoco.mjtWrap.mjWRAP_JOINT:
            coupled[mj.jnt_dofadr[item]] = True
        elif kind == mujoco.mjtWrap.mjWRAP_SITE:
            paths.append(_mask(mj, dofs_of_body(mj, mj.site_bodyid[item])))
        elif kind in (mujoco.mjtWrap.mjWRAP_SPHERE, mujoco.mjtWrap.mjWRAP_CYLINDER):
            paths.append(_mask(mj, dofs_of_body(mj, mj.geom_bodyid[item])))
    return coupled | (np.any(paths, axis=0) & ~np.all(paths, axis=0) if paths else coupled)


def _mask(mj: mujoco.MjModel, dofs: np.ndarray) -> np.ndarray:
    """Return the mask (nv,) of some dofs."""
    return np.isin(np.arange(mj.nv), dofs)


def _polynomial(coefficients: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Return polynomials (n,) with coefficients (n or 1, TERMS), the constant first."""
    value = coefficients[:, TERMS - 1] + torch.zeros_like(x)
    for power in reversed(range(TERMS - 1)):
        value = coefficients[:, power] + x * value
    return value

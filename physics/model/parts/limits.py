"""Limits as constraints: one block for each side of a hinge, slide or tendon, and one for the cone of a ball joint.

MuJoCo documentation, Computation: Limit. Size nlimit: one-sided limits of joints and tendons.
"""

from collections.abc import Callable, Mapping

import mujoco
import numpy as np
import taichi as ti

from ...base.fields import Field, ids
from ...base.hooks import ROWS, TENDON_FORCES
from ...base.joints import is_free, is_scalar, unit_quaternion
from ...base.math import func
from ...base.math.elementary import with_limit
from ...base.math.quaternion import rotation_vector
from ...base.stage import piece, stage
from ...files.mjmodel.allowed import MARGIN, RANGE, SOLIMP, SOLREF, Parameter
from ...files.mjmodel.flags import disabled
from ...files.mjmodel.solver_params import has_uncommon_powers, impedance_params, reference_of
from ...files.mjmodel.tendons import dofs_of_rows, joined, tendon_dofs
from ...mechanics.constraint.impedance import MINIMUM, impedance_of, regularizer
from ...mechanics.constraint.rows import append_row, append_tendon, row_times
from ...mechanics.sensor_kernels.motion_readings import forget_limit, note_limit
from .part import LIMIT, ConstraintRows, Part, Rule


@stage(
    when=lambda has: has.limits,
    reads="qpos qvel ten_length ten_J",
    writes="limit_pos limit_vel block_D block_aref block_dim limit_seen limit_block tile_tenadr",
    updates="block_J block_dofnum block_dofadr block_jacadr block_dof tile_conadr tile_ndof tile_njac",
)
def limit_blocks(model, work):
    """Append a block for every limit that is within its margin in some lane, tendons last."""
    if ti.static(model.has.tendons):
        work.tile_tenadr.put(0, work.tile_conadr[0])
    for row in range(model.nlimit):
        if ti.static(model.has.sensors):
            forget_limit(model, work, row)
        if ti.static(model.has.tendons):
            if model.limit_tendon[row] >= 0:
                _tendon_limit(model, work, row)
            else:
                _joint_limit(model, work, row)
                work.tile_tenadr.put(0, work.tile_conadr[0])
        else:
            _joint_limit(model, work, row)


@func
def _tendon_limit(model, work, row: ti.i32):
    """Append the block of a tendon's lower or upper limit of length, if it is within its margin."""
    t, side = model.limit_tendon[row], ti.cast(model.limit_side[row], work.lanes.dtype)
    dist = (model.limit_value[row] - work.ten_length[t]) * side
    work.limit_block[row] = -1
    if _near(model, work, row, dist):
        k = append_tendon(model, work, t, -side)
        work.limit_block[row] = k
        _finish(model, work, k, row, dist)


@func
def _joint_limit(model, work, row: ti.i32):
    """Append the block of one side of a hinge or slide, or of the cone of a ball joint, if it is within its margin."""
    if model.limit_side[row] == 0:
        if ti.static(model.has.ball_joints):
            _ball_limit(model, work, row)
    else:
        side = ti.cast(model.limit_side[row], work.lanes.dtype)
        dist = (model.limit_value[row] - work.qpos[model.limit_qposadr[row]]) * side
        if _near(model, work, row, dist):
            k = _append(model, work, row, 1)
            work.block_J[work.block_jacadr[k]] = work.real(-side)
            _finish(model, work, k, row, dist)


@func
def _ball_limit(model, work, row: ti.i32):
    """Append the block of a ball joint's limit: its rotation angle from the reference stays below it (rad)."""
    q = model.limit_qposadr[row]
    turn = rotation_vector(work.lanes, unit_quaternion(work.lanes, work.qpos, q))
    angle = turn.norm()
    dist = model.limit_value[row] - angle
    if _near(model, work, row, dist):
        k = _append(model, work, row, 3)
        axis, zero = turn * (-1.0 / ti.max(angle, MINIMUM)), work.real(0.0)
        for c in ti.static(range(3)):
            work.block_J[work.block_jacadr[k] + (2 - c)] = with_limit(axis.parts()[c], angle < MINIMUM, zero)
        _finish(model, work, k, row, dist)


@func
def _near(model, work, row: ti.i32, dist):
    """True if the limit is within its margin in some lane."""
    return work.lanes.any(work.lanes.mask(dist < model.limit_margin[row]))


@func
def _append(model, work, row: ti.i32, dofs: ti.i32):
    """Append a row on `dofs` consecutive dofs from the limit's first one, in descending order; return its number."""
    k = append_row(work, dofs)
    for c in range(dofs):
        work.block_dof.put(work.block_dofadr[k] + c, model.limit_dofadr[row] + (dofs - 1 - c))
    return k


@func
def _finish(model, work, k: ti.i32, row: ti.i32, dist):
    """Set block_D and block_aref of block k, whose Jacobian is set; `dist` is the distance to the limit (m, rad)."""
    depth = dist - model.limit_margin[row]
    imp = impedance_of(model, work, model.limit_solimp, row, depth)
    stiffness = 1.0 / regularizer(imp, model.limit_diagonal[row])
    work.block_D[k] = ti.select(depth < 0.0, stiffness, work.real(0.0))
    speed = row_times(work, k, work.qvel, 0.0)
    if ti.static(model.has.sensors):
        note_limit(model, work, row, k, depth, speed)
    pull = imp * depth * model.limit_stiffness[row]
    work.block_aref.at(k, 0)._assign(-(speed * model.limit_damping[row] + pull))


@piece(reads="block_force limit_block", updates="ten_force")
def pull_tendons(model, work):
    """Add the forces of tendons' limits to ten_force."""
    for row in range(model.nlimit):
        t = model.limit_tendon[row]
        if t >= 0:
            block = work.limit_block[row]
            if block >= 0:
                work.ten_force[t] = work.ten_force[t] - work.block_force.at(block, 0) * model.limit_side[row]


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


PART = Part(
    name="limits",
    doc="joints or tendons have limits; kernels always have their code, which nearly all models need",
    wanted=lambda model: True,
    integers=(
        ids("limit_jnt", ("nlimit",), "joint"),
        ids("limit_qposadr", ("nlimit",), "first coordinate of the joint"),
        ids("limit_dofadr", ("nlimit",), "first dof of the joint"),
        Field("limit_side", ("nlimit",), 1, "", "-1 lower, 1 upper, 0 ball joint"),
        Field("limit_tendon", ("nlimit",), 1, "", "tendon; -1: the limit is a joint's"),
    ),
    reals=(
        Field("limit_value", ("nlimit",), 1, "m or rad", "the limit"),
        Field("limit_margin", ("nlimit",), 1, "m or rad", "rows appear within this distance"),
        Field("limit_solimp", ("nlimit",), 5, "", "impedance, as geom_solimp"),
        Field("limit_stiffness", ("nlimit",), 1, "1/s^2", "K of the reference acceleration"),
        Field("limit_damping", ("nlimit",), 1, "1/s", "B of the reference acceleration"),
        Field("limit_diagonal", ("nlimit",), 1, "1/kg or 1/(kg m^2)", "approximate A: invweight0 of the dof or tendon"),
    ),
    values=limit_values,
    rules=LIMIT_RULES,
    sizes=lambda mjm, values: {"nlimit": len(values["limit_jnt"])},
    indices=(
        Field("limit_block", ("nlimit",), 1, "", "block of a tendon limit; -1: none, as it is far in all lanes"),
        ids("tile_tenadr", ("one",), "first block of the limits of tendons"),
    ),
    rows=ConstraintRows(
        kind=LIMIT,
        dofs=limit_dofs,
        couples=lambda mjm: [tendon_dofs(mjm, int(t)) for t in tendon_limits(mjm)[0]],
    ),
    needs={
        "ball_joints": lambda model: bool((model.values["limit_side"] == BALL_JOINT).any()),
        "hulls": lambda model: has_uncommon_powers(model.values["limit_solimp"]),
    },
    hooks={ROWS: limit_blocks, TENDON_FORCES: pull_tendons},
    mujoco="jnt_limited tendon_limited",
    ranges={"jnt_range": "jnt_limited", "tendon_range": "tendon_limited"},
    parameters=(
        Parameter("jnt_range", RANGE, ordered=True),
        Parameter("jnt_margin", MARGIN),
        Parameter("jnt_solref", SOLREF),
        Parameter("jnt_solimp", SOLIMP),
        Parameter("tendon_range", RANGE, ordered=True),
        Parameter("tendon_margin", MARGIN),
        Parameter("tendon_solref_lim", SOLREF),
        Parameter("tendon_solimp_lim", SOLIMP),
    ),
)

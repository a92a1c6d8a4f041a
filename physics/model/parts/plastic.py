"""Plastic springs: if the stretch exceeds `springyield`, the rest position shifts for good.

Ideal plasticity (MuJoCo documentation, XML reference: joint/springyield, tendon/springyield). At the end of a step, a
spring that is stretched by more than its limit rests so that it is stretched by just that. `work.plastic` has one
number of a hinge or slide (m or rad), the quaternion of a ball, and of a tendon both ends of the range in which it is
slack.
"""

import mujoco
import numpy as np
import taichi as ti

from ...base.fields import Field
from ...base.hooks import END_OF_STEP, FIRST_EVALUATION, FROZEN, SPRING_REST, TENDON_REST
from ...base.joints import COORDINATES, is_scalar, turn_since
from ...base.math import Quat, func
from ...base.math.quaternion import integrate
from ...base.stage import piece, stage
from ...files.mjmodel.allowed import NOT_NEGATIVE, AllowedNumbers
from ...files.mjmodel.flags import disabled
from ...files.mjmodel.tendons import acting_tendons
from ...mechanics.dynamics.stage_time import RK4, moving
from .part import Loaded, Memory, Part


@piece(reads="plastic")
def rest_coordinate(model, work, j: ti.i32, q: ti.i32, c: ti.i32, usual):
    """Coordinate c, in qpos number q, at which joint j's spring rests (m, rad, or of a quaternion)."""
    place = work.real(usual)
    if model.jnt_plasticadr[j] >= 0:
        place = work.real(0.0) + work.plastic[model.jnt_plasticadr[j] + c]
    return place


@piece(reads="plastic")
def rest_length(model, work, t: ti.i32, side, usual):
    """Lower (0) or upper (1) end of the lengths at which tendon t's spring rests (m)."""
    end = work.real(usual)
    if model.tendon_plasticadr[t] >= 0:
        end = work.real(0.0) + work.plastic[model.tendon_plasticadr[t] + side]
    return end


@stage(when=lambda has: has.plastic and has.tendons, reads="ten_length ten_J", writes="start_ten_length start_ten_J")
def keep_first_lengths(model, work):
    """Keep lengths of tendons and their derivatives where a step of Runge and Kutta begins."""
    if model.integrator == RK4:
        for t in range(model.ntendon):
            work.start_ten_length[t] = work.ten_length[t]
            for e in range(model.tendon_dofadr[t], model.tendon_dofadr[t] + model.tendon_dofnum[t]):
                work.start_ten_J[e] = work.ten_J[e]


@stage(
    when=lambda has: has.plastic,
    reads="qpos ten_length ten_J start_ten_length start_ten_J drive_qvel fault",
    updates="plastic",
    hooks=(FROZEN,),
)
def yield_springs(model, work):
    """Move the rest positions of springs, at the end of a step, in lanes that were not stopped."""
    for j in range(model.njnt):
        if model.jnt_plasticadr[j] >= 0:
            if is_scalar(model.jnt_type[j]):
                _shift_rest(model, work, j)
            else:
                _turn_rest(model, work, j)
    if ti.static(model.has.tendons):
        for t in range(model.ntendon):
            if model.tendon_plasticadr[t] >= 0:
                _shift_range(model, work, t, model.timestep[0])


@func
def _excess(work, stretch, limit):
    """Return the excess of a stretch over its limit, with its sign."""
    return ti.max(stretch - limit, 0.0) + ti.min(stretch + limit, 0.0)


@func
def _shift_rest(model, work, j: ti.i32):
    at = model.jnt_plasticadr[j]
    stretch = work.qpos[model.jnt_qposadr[j]] - work.plastic[at]
    moves = moving(model, work, model.jnt_dofadr[j])
    work.plastic[at] = work.plastic[at] + moves * _excess(work, stretch, model.jnt_springyield[j])


@func
def _turn_rest(model, work, j: ti.i32):
    """Turn the quaternion that a ball's spring rests at towards where the joint is."""
    q, at = model.jnt_qposadr[j], model.jnt_plasticadr[j]
    rest = Quat(work.plastic[at], work.plastic[at + 1], work.plastic[at + 2], work.plastic[at + 3])
    turn = turn_since(work, q, rest)
    angle = turn.norm()
    excess = ti.max(angle - model.jnt_springyield[j], 0.0)
    yields = (excess > 0.0) & (moving(model, work, model.jnt_dofadr[j]) > 0.5)
    share = excess / ti.select(yields, angle, work.real(1.0))
    turned = integrate(work.lanes, rest, turn * share, 1.0)
    for c in ti.static(range(4)):
        work.plastic[at + c] = ti.select(yields, turned.parts()[c], work.plastic[at + c])


@func
def _shift_range(model, work, t: ti.i32, dt):
    """Shift both ends of a tendon's slack range; a range that begins at 0 still does, and ends at a greater length.

    The length at the step's end is taken along the derivatives at its beginning, as MuJoCo has it.
    """
    first, at = model.tendon_dofadr[t], model.tendon_plasticadr[t]
    moves = 1.0 - work.fault[0]
    change = work.real(0.0)
    length = work.real(0.0)
    if model.integrator == RK4:
        length = length + work.start_ten_length[t]
        for e in range(first, first + model.tendon_dofnum[t]):
            change += work.start_ten_J[e] * work.drive_qvel[model.tendon_dof[e]]
    else:
        length = length + work.ten_length[t]
        for e in range(first, first + model.tendon_dofnum[t]):
            change += work.ten_J[e] * work.drive_qvel[model.tendon_dof[e]]
    if model.tendon_dofnum[t] > 0:
        moves = moving(model, work, model.tendon_dof[first])
    length += change * dt
    low, high = work.real(0.0) + work.plastic[at], work.real(0.0) + work.plastic[at + 1]
    stretch = ti.max(length - high, 0.0) + ti.min(length - low, 0.0)
    shift = moves * _excess(work, stretch, model.tendon_springyield[t])
    pinned = (low == 0.0) & (high > 0.0) & (shift > 0.0)
    work.plastic[at] = ti.select(pinned, low, low + shift)
    work.plastic[at + 1] = high + shift


def _values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the fields of springs that yield; none does where springs are switched off."""
    tendons = mjm.ntendon if acting_tendons(mjm) else 0
    off = disabled(mjm, mujoco.mjtDisableBit.mjDSBL_SPRING)
    return {
        "jnt_plasticadr": np.full(mjm.njnt, -1) if off else mjm.jnt_plasticadr,
        "jnt_springyield": mjm.jnt_springyield,
        "tendon_plasticadr": np.full(tendons, -1) if off else mjm.tendon_plasticadr[:tendons],
        "tendon_springyield": mjm.tendon_springyield[:tendons],
    }


def resting_places(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the source of each number of mjData.plastic in the reference state, (nplastic,).

    Below nq a coordinate of qpos_spring; above, less nq, one of the numbers of tendon_lengthspring.
    """
    places: np.ndarray = np.zeros(mjm.nplastic, int)
    for j in np.flatnonzero(mjm.jnt_plasticadr >= 0):
        count = COORDINATES[mjm.jnt_type[j]]
        places[mjm.jnt_plasticadr[j] + np.arange(count)] = mjm.jnt_qposadr[j] + np.arange(count)
    for t in np.flatnonzero(mjm.tendon_plasticadr >= 0):
        places[mjm.tendon_plasticadr[t] + np.arange(2)] = mjm.nq + 2 * t + np.arange(2)
    return places


def resting(mjm: mujoco.MjModel, qpos_spring: np.ndarray, lengthspring: np.ndarray) -> np.ndarray:
    """mjData.plastic of a reset, (n, nplastic), from qpos_spring (n, nq) and tendon_lengthspring (n, ntendon, 2)."""
    both = np.concatenate((qpos_spring, lengthspring.reshape(len(lengthspring), -1)), axis=1)
    return both[:, resting_places(mjm)]


def _wanted(model: Loaded) -> bool:
    values = model.values
    return bool((values["jnt_plasticadr"] >= 0).any() or (values["tendon_plasticadr"] >= 0).any())


def _room(model: Loaded) -> dict[str, int]:
    """Return sizes of the storage for tendons in a step of Runge and Kutta."""
    has = model.sizes["nplastic"] > 0 and int(model.mj.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_RK4)
    return {"nplastictendon": has * model.sizes["ntendon"], "nplasticdof": has * model.sizes["ntendondof"]}


PART = Part(
    name="plastic",
    doc="springs of joints or tendons yield",
    wanted=_wanted,
    integers=(
        Field(
            "jnt_plasticadr",
            ("njnt",),
            1,
            "",
            "entry in plastic of the spring's rest position; -1: the spring does not yield",
        ),
        Field("tendon_plasticadr", ("ntendon",), 1, "", "the same of a tendon's spring"),
    ),
    reals=(
        Field("jnt_springyield", ("njnt",), 1, "m or rad", "stretch beyond which its spring yields"),
        Field("tendon_springyield", ("ntendon",), 1, "m", "stretch beyond which its spring yields"),
    ),
    values=_values,
    sizes=lambda mjm, values: {"nplastic": mjm.nplastic},
    memory=(
        Memory(
            Field("plastic", ("nplastic",), 1, "m or rad", "rest positions of plastic springs"),
            reset=(("qpos_spring", "tendon_lengthspring"), resting),
            state="plastic",
            keyframe="key_plastic",
            settable=True,
        ),
    ),
    scratch=(
        Field("start_ten_length", ("nplastictendon",), 1, "m", "ten_length at the start of a Runge-Kutta step"),
        Field("start_ten_J", ("nplasticdof",), 1, "m, m/rad", "ten_J there"),
    ),
    room=_room,
    hooks={
        SPRING_REST: rest_coordinate,
        TENDON_REST: rest_length,
        FIRST_EVALUATION: keep_first_lengths,
        END_OF_STEP: yield_springs,
    },
    mujoco="nplastic jnt_plasticadr jnt_springyield tendon_plasticadr tendon_springyield",
    allowed=dict.fromkeys(
        ("jnt_springyield", "tendon_springyield"), AllowedNumbers(NOT_NEGATIVE, "a threshold of yielding")
    ),
)

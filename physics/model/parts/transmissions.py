"""Transmissions that are no single joint or tendon (MuJoCo documentation, Computation: Actuation model, Transmission).

Each output of an actuator has a length, the length's derivative by the dofs, which is its moment, and the length's
rate. The moment is found as the forces on the dofs of a unit force of the actuator: a wrench on one end, and its
opposite on the other. Only dofs that move one of the ends feel it, and those are known when the model is loaded.

Sizes ntrn: outputs of actuators, 0 where all drive joints and tendons; ntrndof: dofs that their lengths depend on.

An actuator of relative orientation has three outputs, all others one.

The moment of an adhesion actuator is minus the mean of the contacts' normals mapped to the dofs, with contacts within
the gap included (MuJoCo documentation, XML reference: actuator/adhesion). It needs the contacts, so it runs after their
constraint blocks.
"""

from typing import NamedTuple

import mujoco
import numpy as np
import taichi as ti

from ...base.fields import Field, ids
from ...base.hooks import MOMENT_ROWS, OUTPUT_LENGTHS, TRANSMISSIONS
from ...base.joints import unit_quaternion
from ...base.math import SpatialMotion, Vec3, func
from ...base.math.lanes import traced
from ...base.math.quaternion import rotation_vector
from ...base.stage import piece, stage
from ...files.mjmodel.actuators import (
    BALL_TURN,
    BODY,
    FIRST,
    REFSITE,
    SECOND,
    SITE,
    SLIDER_CRANK,
    TENDON,
    TURN,
    actuator_types,
)
from ...files.mjmodel.allowed import NOT_NEGATIVE, AllowedNumbers
from ...files.mjmodel.dofs import dofs_of_body
from ...files.mjmodel.pairs import possible_pairs
from ...files.mjmodel.sleep import no_sleep
from ...mechanics.kinematics.tendons import link_end, offset_between
from .part import Part, Variant


@stage(
    when=lambda has: has.transmissions,
    reads=(
        "qpos qvel xpos xquat root_offset com_offset subtree_com cdof con_pos con_frame con_present con_geom1",
        "con_geom2 tile_ncon",
    ),
    writes="trn_length trn_velocity",
    updates="trn_moment",
)
def transmissions(model, work):
    """Set trn_length, trn_moment and trn_velocity."""
    for u in range(model.ntrn):
        kind = model.trn_kind[u]
        if kind == SITE:
            _at_site(model, work, u)
        elif kind == REFSITE:
            _between_sites(model, work, u)
        elif kind == SLIDER_CRANK:
            _slider_crank(model, work, u)
        elif kind == TURN:
            _turn(model, work, u)
        elif kind == BALL_TURN:
            _turn_of_ball(model, work, u)
        elif kind == BODY:
            if ti.static(model.has.adhesive_bodies):
                work.trn_length[u] = work.real(0.0)
                pull_of_contacts(model, work, u)
    for u in range(model.ntrn):
        speed = work.real(0.0)
        for at in range(model.trn_dofadr[u], model.trn_dofadr[u] + model.trn_dofnum[u]):
            speed += work.trn_moment[at] * work.qvel[model.trn_dof[at]]
        work.trn_velocity[u] = speed


@piece(reads="trn_length trn_velocity")
def motion_of_output(model, work, u: ti.i32):
    """Return length and velocity of such an output."""
    return work.real(0.0) + work.trn_length[u], work.real(0.0) + work.trn_velocity[u]


@piece(reads="trn_moment actuator_force", updates="qfrc_actuator")
def push_dofs(model, work, u: ti.i32):
    """Add the force of such an output times its moment to qfrc_actuator."""
    for at in range(model.trn_dofadr[u], model.trn_dofadr[u] + model.trn_dofnum[u]):
        i = model.trn_dof[at]
        work.qfrc_actuator[i] = work.qfrc_actuator[i] + work.actuator_force[u] * work.trn_moment[at]


@piece(reads="trn_moment")
def moment_row(model, work, u: ti.i32):
    """Return the moment of such an output: its first entry, the end of its entries, their dofs, the numbers, and 1."""
    first = model.trn_dofadr[u]
    return first, first + model.trn_dofnum[u], model.trn_dof, work.trn_moment, 1.0


@func
def _at_site(model, work, u: ti.i32):
    """Set the moment of a force and a torque along the axes of a site; there is no length."""
    force, torque = _gears(work, model, u, _site_axes(model, work, u, 0))
    work.trn_length[u] = work.real(0.0)
    _set_moment(model, work, u, _wrench(model, work, u, 0, force, torque), _wrench(model, work, u, 1, force, torque))


@func
def _between_sites(model, work, u: ti.i32):
    """Set length and moment of a site's place and orientation in the frame of another one, each times a gear.

    As MuJoCo has it, the moment leaves out that the frame in which the place is measured turns.
    """
    axes = _site_axes(model, work, u, 1)
    force, torque = _gears(work, model, u, axes)
    turned = rotation_vector(work.lanes, axes.conjugate() * _site_axes(model, work, u, 0))
    gear = model.actuator_gear[u].lin
    work.trn_length[u] = force.dot(_across(model, work, u)) + turned.dot(gear)
    _set_moment(model, work, u, _wrench(model, work, u, 0, force, torque), _wrench(model, work, u, 1, force, torque))


@func
def _slider_crank(model, work, u: ti.i32):
    """Set length and moment: the place at which a rod from the crank's site meets the line of the slider's site.

    With v from the slider's site to the crank's, a the line's direction and p the part of v across it, the length is
    a . v - sqrt(r^2 - p^2); r^2 - p^2 is written as a product, in which nothing cancels. Where the rod is too short
    it is a . v. By the dofs its derivative is that of v along a + p / sqrt, and that of a along -length / sqrt p.
    """
    zero = work.real(0.0)
    axis = _site_axes(model, work, u, 1).rotate(Vec3(zero, zero, work.real(1.0)))
    across = _across(model, work, u)
    along = across.dot(axis)
    beside = across - axis * along
    reach = beside.norm()
    square = (model.trn_rod[u] - reach) * (model.trn_rod[u] + reach)
    root = ti.sqrt(ti.max(square, 0.0))
    inverse = ti.select(square > 0.0, 1.0 / ti.select(square > 0.0, root, work.real(1.0)), zero)
    length = along - root
    gear = model.actuator_gear.at(u, 0)
    work.trn_length[u] = length * gear
    force = (axis + beside * inverse) * gear
    bend = ti.select(square > 0.0, -(length * inverse), work.real(1.0)) * gear
    none = Vec3(zero, zero, zero)
    first = _wrench(model, work, u, 0, force, none)
    _set_moment(model, work, u, first, _wrench(model, work, u, 1, force, axis.cross(beside * bend) * -1.0))


@func
def _turn(model, work, u: ti.i32):
    """Set three outputs: the turn of a site from another one as a vector, and torques about the first one's axes."""
    quat, zero = _site_axes(model, work, u, 0), work.real(0.0)
    _set_turn(work, u, _site_axes(model, work, u, 1).conjugate() * quat)
    axes, none = quat.matrix(), Vec3(zero, zero, zero)
    for k in ti.static(range(3)):
        wrench = SpatialMotion((axes.x, axes.y, axes.z)[k], none)
        _set_moment(model, work, u + k, wrench, wrench)


@func
def _turn_of_ball(model, work, u: ti.i32):
    """Set three outputs: the turn of a ball joint as a vector, and its dofs."""
    q = model.trn_qposadr[u]
    _set_turn(work, u, unit_quaternion(work.lanes, work.qpos, q))
    for k in range(3):
        work.trn_moment[model.trn_dofadr[u + k]] = work.real(1.0)


@func
def _set_turn(work, u: ti.i32, quat):
    """Set the lengths of three outputs to the rotation vector of `quat`."""
    turn = rotation_vector(work.lanes, quat)
    for k in ti.static(range(3)):
        work.trn_length[u + k] = turn.parts()[k]


@func
def _site_axes(model, work, u: ti.i32, side):
    """Return the orientation of the first (0) or second (1) site."""
    b = model.trn_body1[u] if ti.static(side == 0) else model.trn_body2[u]
    quat = model.trn_quat1[u] if ti.static(side == 0) else model.trn_quat2[u]
    return work.lanes.cast(work.xquat[b]) * quat


@func
def _end(model, work, u: ti.i32, side):
    """Return the place of the first or second site, from the root of its tree (m)."""
    b = model.trn_body1[u] if ti.static(side == 0) else model.trn_body2[u]
    pos = model.trn_pos1[u] if ti.static(side == 0) else model.trn_pos2[u]
    return link_end(model, work, b, pos)


@func
def _across(model, work, u: ti.i32):
    """Return the vector from the second site to the first (m)."""
    start, stop = _end(model, work, u, 1), _end(model, work, u, 0)
    return work.lanes.cast(offset_between(model, work, model.trn_body2[u], start, model.trn_body1[u], stop))


@func
def _gears(work, model, u: ti.i32, axes):
    """Return the six gears as a force and a torque along `axes`; `rot` has the first three numbers of an item."""
    gear, zero = model.actuator_gear[u], work.real(0.0)
    force = Vec3(zero + gear.rot.x, zero + gear.rot.y, zero + gear.rot.z)
    torque = Vec3(zero + gear.lin.x, zero + gear.lin.y, zero + gear.lin.z)
    return axes.rotate(force), axes.rotate(torque)


@func
def _wrench(model, work, u: ti.i32, side, force, torque):
    """Return a force at the first or second site and a torque, about the centre of mass of its tree as `cdof` is."""
    b = model.trn_body1[u] if ti.static(side == 0) else model.trn_body2[u]
    arm = work.lanes.cast(_end(model, work, u, side)) - work.com_offset[model.body_rootid[b]]
    return SpatialMotion(torque + arm.cross(force), force)


@func
def _set_moment(model, work, u: ti.i32, first, second):
    """Set trn_moment: the forces on the dofs of a wrench on the first end and the opposite of one on the second."""
    for at in range(model.trn_dofadr[u], model.trn_dofadr[u] + model.trn_dofnum[u]):
        motion, side = work.cdof[model.trn_dof[at]], model.trn_side[at]
        gain = work.real(0.0)
        if side & FIRST != 0:
            gain += motion.dot(first)
        if side & SECOND != 0:
            gain -= motion.dot(second)
        work.trn_moment[at] = gain


class _Output(NamedTuple):
    """One output.

    Attributes:
        kind: of its actuator; 0: that drives a joint or a tendon, or the output is not its first.
        sites: both, -1 for none.
        body: that adheres.
        joint: whose orientation it is, -1 for none.
        rod: length of a slider-crank's rod (m).
        dofs: on which its length may depend, descending.
        side: the site that each of them moves: the first or the second.
    """

    kind: int = 0
    sites: tuple[int, int] = (-1, -1)
    body: int = 0
    joint: int = -1
    rod: float = 0.0
    dofs: np.ndarray = np.zeros(0, int)
    side: np.ndarray = np.zeros(0, int)


def acting_outputs(mjm: mujoco.MjModel) -> int:
    """Return the number of outputs with lengths: all, or none where all actuators drive joints and tendons."""
    return int(mjm.nout) if bool((actuator_types(mjm) > TENDON).any()) else 0


def transmission_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the fields of these transmissions."""
    outputs = [_Output()] * acting_outputs(mjm)
    for a in np.flatnonzero(actuator_types(mjm) > TENDON):
        for k in range(mjm.actuator_outnum[a]):
            outputs[mjm.actuator_outadr[a] + k] = _output(mjm, int(a), k)
    dofs = [o.dofs for o in outputs]
    return {
        "trn_kind": np.array([o.kind for o in outputs], int),
        "trn_body1": np.array([mjm.site_bodyid[o.sites[0]] if o.sites[0] >= 0 else o.body for o in outputs], int),
        "trn_body2": np.array([mjm.site_bodyid[o.sites[1]] if o.sites[1] >= 0 else 0 for o in outputs], int),
        "trn_qposadr": np.array([0 if o.joint < 0 else mjm.jnt_qposadr[o.joint] for o in outputs], int),
        "trn_dofadr": np.cumsum([0, *map(len, dofs)])[:-1],
        "trn_dofnum": np.array([len(of) for of in dofs], int),
        "trn_dof": np.concatenate([*dofs, np.zeros(0, int)]).astype(int),
        "trn_side": np.concatenate([*(o.side for o in outputs), np.zeros(0, int)]).astype(int),
        **{f"trn_pos{n + 1}": _of_sites(mjm.site_pos, outputs, n, [0.0, 0.0, 0.0]) for n in (0, 1)},
        **{f"trn_quat{n + 1}": _of_sites(mjm.site_quat, outputs, n, [1.0, 0.0, 0.0, 0.0]) for n in (0, 1)},
        "trn_rod": np.array([o.rod for o in outputs]),
    }


def tied_trees(mjm: mujoco.MjModel) -> bool:
    """Return True if such an actuator acts between two trees."""
    values = transmission_values(mjm)
    ends = np.cumsum(values["trn_dofnum"])
    trees = [mjm.dof_treeid[of] for of in np.split(values["trn_dof"], ends[:-1])] if len(ends) else []
    return any(len(np.unique(of)) > 1 for of in trees)


def _of_sites(numbers: np.ndarray, outputs: list[_Output], side: int, otherwise: list[float]) -> np.ndarray:
    """Return numbers of the first (0) or second (1) site of each output."""
    found = [numbers[o.sites[side]] if o.sites[side] >= 0 else otherwise for o in outputs]
    return np.array(found, float).reshape(-1, len(otherwise))


def _output(mjm: mujoco.MjModel, a: int, k: int) -> _Output:
    """Return output `k` of actuator `a`."""
    kind, (first, second) = int(actuator_types(mjm)[a]), (int(i) for i in mjm.actuator_trnid[a])
    shown = kind if k == 0 else 0
    if kind == BODY:
        dofs = _dofs_around(mjm, first)
        return _Output(kind, body=first, dofs=dofs, side=np.zeros(len(dofs), int))
    if kind == BALL_TURN:
        return _Output(shown, joint=first, dofs=mjm.jnt_dofadr[[first]] + k, side=np.array([FIRST]))
    moves = [dofs_of_body(mjm, mjm.site_bodyid[s]) if s >= 0 else np.zeros(0, int) for s in (first, second)]
    dofs = np.setxor1d(moves[0], moves[1])[::-1]  # dofs that move both ends do not change their distance
    side = FIRST * np.isin(dofs, moves[0]) + SECOND * np.isin(dofs, moves[1])
    return _Output(shown, (first, second), rod=float(mjm.actuator_cranklength[a]), dofs=dofs, side=side)


def _dofs_around(mjm: mujoco.MjModel, b: int) -> np.ndarray:
    """Return the dofs that move body `b` or one that its geoms may touch, descending."""
    pairs = mjm.geom_bodyid[possible_pairs(mjm)].reshape(-1, 2)
    bodies = np.unique(pairs[(pairs == b).any(axis=1)])
    found = [dofs_of_body(mjm, int(of)) for of in bodies]
    return np.unique(np.concatenate([*found, np.zeros(0, int)]))[::-1]


@func
def pull_of_contacts(model, work, u: ti.i32):
    """Set trn_moment of output `u`."""
    b, first = model.trn_body1[u], model.trn_dofadr[u]
    end = first + model.trn_dofnum[u]
    for at in range(first, end):
        work.trn_moment[at] = work.real(0.0)
    # subtract the normal Jacobian of every contact of body b
    count = work.real(0.0)
    for k in range(work.tile_ncon[0]):
        b1, b2 = model.geom_bodyid[work.con_geom1[k]], model.geom_bodyid[work.con_geom2[k]]
        if b1 == b or b2 == b:
            count += work.con_present[k]
            _subtract_normal(model, work, k, b1, b2, first)
    # divide by the number of contacts in each lane
    share = 1.0 / ti.max(count, 1.0)
    for at in range(first, end):
        work.trn_moment[at] = work.trn_moment[at] * share


@func
def _subtract_normal(model, work, k: ti.i32, b1: ti.i32, b2: ti.i32, first: ti.i32):
    """Subtract from trn_moment, from entry `first` on, the normal row of contact slot k's Jacobian (J' n).

    The loop climbs from both bodies to their common ancestor, in descending order of dofs, as trn_dof lists them.
    """
    # the normal in lanes with this contact, 0 in the others
    normal = Vec3(work.con_frame.at(k, 0), work.con_frame.at(k, 1), work.con_frame.at(k, 2)) * work.con_present[k]
    pos = work.con_pos[k]
    i, j, at = model.body_lastdof[b1], model.body_lastdof[b2], first
    while i != j:
        # the greater dof is below the common ancestor; it moves geom 2 (-1) or geom 1 (1)
        dof, sign = j, -1.0
        if i > j:
            dof, sign = i, 1.0
            i = model.dof_parentid[i]
        else:
            j = model.dof_parentid[j]
        while model.trn_dof[at] != dof:
            at += 1
        # the velocity of the contact point along the normal by this dof
        arm = pos - work.subtree_com[model.body_rootid[model.dof_bodyid[dof]]]
        push = work.cdof[dof].dot(SpatialMotion(arm.cross(normal), normal))
        work.trn_moment[at] = work.trn_moment[at] + push * sign


PART = Part(
    name="transmissions",
    doc="some actuators drive no single joint or tendon",
    wanted=lambda model: model.sizes["ntrn"] > 0,
    variants=(
        Variant(
            "adhesive_bodies",
            "some actuators pull a body onto a surface that it touches",
            lambda model: bool((model.values["trn_kind"] == BODY).any()),
        ),
    ),
    integers=(
        ids(
            "trn_kind", ("ntrn",), "actuator_type, if above 4; 0: another one, or not the first output of the actuator"
        ),
        ids("trn_body1", ("ntrn",), "body of the first site, or the body that adheres"),
        ids("trn_body2", ("ntrn",), "body of the second site: the reference or the slider"),
        ids("trn_qposadr", ("ntrn",), "first coordinate of the ball joint whose orientation is the length"),
        Field("trn_dofadr", ("ntrn",), 1, "", "first dof of the transmission in trn_dof"),
        ids("trn_dofnum", ("ntrn",), "number of dofs of the transmission"),
        ids("trn_dof", ("ntrndof",), "dofs on which the lengths of outputs may depend, in descending order in each"),
        ids("trn_side", ("ntrndof",), "site that the dof moves: 1 the first, 2 the second"),
    ),
    reals=(
        Field("trn_pos1", ("ntrn",), 3, "m", "first site, in its body's frame"),
        Field("trn_pos2", ("ntrn",), 3, "m", "second site, in its body's frame"),
        Field("trn_quat1", ("ntrn",), 4, "", "orientation of the first site in its body's frame"),
        Field("trn_quat2", ("ntrn",), 4, "", "orientation of the second site in its body's frame"),
        Field("trn_rod", ("ntrn",), 1, "m", "length of the rod of a slider-crank"),
    ),
    values=transmission_values,
    sizes=lambda mjm, values: {"ntrn": len(values["trn_kind"]), "ntrndof": len(values["trn_dof"])},
    scratch=(
        Field("trn_length", ("ntrn",), 1, "m or rad", "length of an output"),
        Field("trn_velocity", ("ntrn",), 1, "m/s or rad/s", "rate of trn_length"),
        Field("trn_moment", ("ntrndof",), 1, "", "derivatives of the lengths by the dofs of trn_dof"),
    ),
    hooks={
        OUTPUT_LENGTHS: transmissions,
        TRANSMISSIONS: (motion_of_output, push_dofs),
        MOMENT_ROWS: (traced(lambda model, u: model.actuator_type[u] > TENDON), moment_row),
    },
    mujoco="actuator_cranklength",
    unsupported=(no_sleep("of trees that actuators tie", tied_trees),),
    allowed={
        "actuator_cranklength": AllowedNumbers(NOT_NEGATIVE, "a length"),
    },
)

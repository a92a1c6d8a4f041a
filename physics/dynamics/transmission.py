"""Transmissions that are no single joint or tendon (MuJoCo documentation, Computation: Actuation model, Transmission).

Of each output of an actuator: a length, the length's derivative by the dofs, which is its moment, and the length's
rate. The moment is found as what a unit force of the actuator does: a wrench on one end, and its opposite on the other.
Only dofs that move one of the ends feel it, and those are known when the model is loaded (`model.transmissions`).
"""

import taichi as ti

from ..kinematics.tendons import apart, link_end
from ..math import Motion, Quat, Vec3, func
from ..math.quaternion import rotation_vector
from ..stage import stage
from .adhesive_contacts import pull_of_contacts
from .transmission_types import BALL_TURN, BODY, FIRST, REFSITE, SECOND, SITE, SLIDER_CRANK, TURN


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
    """trn_length, trn_moment and trn_velocity."""
    if ti.static(model.has.transmissions):
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


@func
def push_dofs(model, work, u: ti.i32):
    """qfrc_actuator += moment' force of such an output."""
    for at in range(model.trn_dofadr[u], model.trn_dofadr[u] + model.trn_dofnum[u]):
        i = model.trn_dof[at]
        work.qfrc_actuator[i] = work.qfrc_actuator[i] + work.actuator_force[u] * work.trn_moment[at]


@func
def _at_site(model, work, u: ti.i32):
    """A force and a torque along the axes of a site: there is no length."""
    force, torque = _gears(work, model, u, _site_axes(model, work, u, 0))
    work.trn_length[u] = work.real(0.0)
    _set_moment(model, work, u, _wrench(model, work, u, 0, force, torque), _wrench(model, work, u, 1, force, torque))


@func
def _between_sites(model, work, u: ti.i32):
    """Place and orientation of a site in the frame of another one, each times a gear.

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
    """Where a rod that ends at the crank's site meets the line of the slider's site, the second one.

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
    """Three outputs: the turn of a site from another one as a vector, and torques about the first one's axes."""
    quat, zero = _site_axes(model, work, u, 0), work.real(0.0)
    _set_turn(work, u, _site_axes(model, work, u, 1).conjugate() * quat)
    axes, none = quat.matrix(), Vec3(zero, zero, zero)
    for k in ti.static(range(3)):
        wrench = Motion((axes.x, axes.y, axes.z)[k], none)
        _set_moment(model, work, u + k, wrench, wrench)


@func
def _turn_of_ball(model, work, u: ti.i32):
    """Three outputs: the turn of a ball joint as a vector, and its dofs."""
    q = model.trn_qposadr[u]
    _set_turn(work, u, Quat(work.qpos[q], work.qpos[q + 1], work.qpos[q + 2], work.qpos[q + 3]).normalized())
    for k in range(3):
        work.trn_moment[model.trn_dofadr[u + k]] = work.real(1.0)


@func
def _set_turn(work, u: ti.i32, quat):
    turn = rotation_vector(work.lanes, quat)
    for k in ti.static(range(3)):
        work.trn_length[u + k] = turn.parts()[k]


@func
def _site_axes(model, work, u: ti.i32, side):
    """Orientation of the first (0) or second (1) site."""
    b = model.trn_body1[u] if ti.static(side == 0) else model.trn_body2[u]
    quat = model.trn_quat1[u] if ti.static(side == 0) else model.trn_quat2[u]
    return work.xquat.rounded[b] * quat


@func
def _end(model, work, u: ti.i32, side):
    """Place of the first or second site, from the root of its tree."""
    b = model.trn_body1[u] if ti.static(side == 0) else model.trn_body2[u]
    pos = model.trn_pos1[u] if ti.static(side == 0) else model.trn_pos2[u]
    return link_end(model, work, b, pos)


@func
def _across(model, work, u: ti.i32):
    """From the second site to the first."""
    start, stop = _end(model, work, u, 1), _end(model, work, u, 0)
    return work.lanes.cast(apart(model, work, model.trn_body2[u], start, model.trn_body1[u], stop))


@func
def _gears(work, model, u: ti.i32, axes):
    """The six gears as a force and a torque along `axes`: an item of six numbers has its first three in `rot`."""
    gear, zero = model.actuator_gear[u], work.real(0.0)
    force = Vec3(zero + gear.rot.x, zero + gear.rot.y, zero + gear.rot.z)
    torque = Vec3(zero + gear.lin.x, zero + gear.lin.y, zero + gear.lin.z)
    return axes.rotate(force), axes.rotate(torque)


@func
def _wrench(model, work, u: ti.i32, side, force, torque):
    """A force at the first or second site and a torque, about the centre of mass of its tree as `cdof` is."""
    b = model.trn_body1[u] if ti.static(side == 0) else model.trn_body2[u]
    arm = work.lanes.cast(_end(model, work, u, side)) - work.com_offset[model.body_rootid[b]]
    return Motion(torque + arm.cross(force), force)


@func
def _set_moment(model, work, u: ti.i32, first, second):
    """What a wrench on the first end, and the opposite of one on the second, do to the dofs."""
    for at in range(model.trn_dofadr[u], model.trn_dofadr[u] + model.trn_dofnum[u]):
        motion, side = work.cdof[model.trn_dof[at]], model.trn_side[at]
        gain = work.real(0.0)
        if side & FIRST != 0:
            gain += motion.dot(first)
        if side & SECOND != 0:
            gain -= motion.dot(second)
        work.trn_moment[at] = gain

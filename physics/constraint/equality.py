"""Equality constraints: connect, weld, and polynomials of joints and tendons, a block for each of their rows.

MuJoCo documentation, Computation: Equality. A row holds both ways (`cost`). All rows of a connect or a weld have the
impedance of the length of their position errors, and their reference acceleration takes off what velocities alone do to
the rows, dJ/dt qvel. An equality that an environment has switched off has stiffness 0 there.
"""

import taichi as ti

from ..dynamics.newton_euler import carried, velocity_accelerations
from ..math import Quat, Vec3, func
from ..stage import stage
from .impedance import impedance, regularizer
from .rows import append_row, clear_blocks

ENDLESS = 1e20
"""Reach of a row that holds whatever it takes."""


@stage(
    reads=(
        "qpos qvel eq_active xpos xquat root_offset inertial_offset com_offset anchor_offset cdof ten_length",
        "ten_J cvel",
    ),
    writes="block_reach block_D block_aref block_dim",
    updates="body_acc dqacc block_J block_dofnum block_dofadr block_jacadr block_dof tile_conadr tile_ndof tile_njac",
)
def equality_blocks(model, work):
    """Begin the list of blocks: with `eq_rows` for every equality."""
    clear_blocks(work)
    if ti.static(model.has.equality):
        velocity_accelerations(model, work)
        for e in range(model.neq):
            if model.eq_rows[e] == 1:
                _polynomial(model, work, e)
            elif model.eq_rows[e] > 1:
                _hold_bodies(model, work, e)


@func
def _polynomial(model, work, e: ti.i32):
    """q1 less its reference is a polynomial of fourth degree in q2 less its own; a constant without a second one."""
    zero = work.real(0.0)
    error, x, second = zero, zero, 0
    if ti.static(model.has.tendons):
        if model.eq_tendon1[e] >= 0:
            error, x, second = tendon_lengths(model, work, e)
        else:
            error, x, second = _coordinates(model, work, e)
    else:
        error, x, second = _coordinates(model, work, e)
    error -= model.eq_polycoef.at(e, 0)
    slope = zero
    if second == 1:
        a, b = model.eq_polycoef.at(e, 1), model.eq_polycoef.at(e, 2)
        c, d = model.eq_polycoef.at(e, 3), model.eq_polycoef.at(e, 4)
        error -= x * (a + x * (b + x * (c + x * d)))
        slope = polynomial_slope(model, work, e, x)
    k = _append(model, work, e)
    first = work.block_jacadr[k]
    seen1, seen2 = 0, 0
    for at in range(model.eq_dofnum[e]):
        held = model.eq_side[model.eq_dofadr[e] + at]
        entry = zero
        if ti.static(model.has.tendons):
            gain1, gain2 = work.real(1.0), work.real(1.0)
            if model.eq_tendon1[e] >= 0:
                if held != 2:
                    gain1 = work.ten_J[model.tendon_dofadr[model.eq_tendon1[e]] + seen1]
                    seen1 += 1
                if held != 1:
                    gain2 = work.ten_J[model.tendon_dofadr[model.eq_tendon2[e]] + seen2]
                    seen2 += 1
            if held != 2:
                entry += gain1
            if held != 1:
                entry -= slope * gain2
        else:
            if held != 2:
                entry += 1.0
            if held != 1:
                entry -= slope
        work.block_J[first + at] = entry
    imp = _impedance(model, work, e, ti.abs(error))
    _finish(model, work, e, k, imp, 0, error, zero)


@func
def polynomial_slope(model, work, e: ti.i32, x):
    """Derivative of the polynomial at x."""
    a, b = model.eq_polycoef.at(e, 1), model.eq_polycoef.at(e, 2)
    c, d = model.eq_polycoef.at(e, 3), model.eq_polycoef.at(e, 4)
    return work.real(0.0) + (a + x * (2.0 * b + x * (3.0 * c + x * (4.0 * d))))


@func
def _coordinates(model, work, e: ti.i32):
    """Both joints' coordinates less their references, and whether there is a second one."""
    q1, q2 = model.eq_qpos1[e], model.eq_qpos2[e]
    other, second = work.real(0.0), 0
    if q2 >= 0:
        other, second = work.qpos[q2] - model.qpos0[q2], 1
    return work.qpos[q1] - model.qpos0[q1], other, second


@func
def tendon_lengths(model, work, e: ti.i32):
    """Both tendons' lengths less those at qpos0, and whether there is a second one."""
    t1, t2 = model.eq_tendon1[e], model.eq_tendon2[e]
    other, second = work.real(0.0), 0
    if t2 >= 0:
        other, second = work.ten_length[t2] - model.tendon_length0[t2], 1
    return work.ten_length[t1] - model.tendon_length0[t1], other, second


@func
def _append(model, work, e: ti.i32):
    """A block of one row on the dofs of an equality; its number."""
    count, first = model.eq_dofnum[e], model.eq_dofadr[e]
    k = append_row(work, count)
    for at in range(count):
        work.block_dof.put(work.block_dofadr[k] + at, model.eq_dof[first + at])
    return k


@func
def _hold_bodies(model, work, e: ti.i32):
    """Two points stay together, and with a weld two frames: rows of the world's axes, then of the second frame's."""
    b1, b2 = model.eq_body1[e], model.eq_body2[e]
    lanes, turns = work.precise_lanes, model.eq_rows[e] == 6
    arm1, arm2 = work.xquat[b1].rotate(_anchor(model, work, e, 0)), work.xquat[b2].rotate(_anchor(model, work, e, 3))
    root1, root2 = model.body_rootid[b1], model.body_rootid[b2]
    # between bodies of one tree its place cancels to the last digit
    gap = lanes.cast(work.root_offset[b1] + arm1) - (work.root_offset[b2] + arm2)
    gap = work.lanes.cast(gap + (work.xpos[root1] - work.xpos[root2]))
    turn1, turn2 = _frames(model, work, e, b1, b2)
    twist = (turn2.conjugate() * turn1).vector * model.eq_torquescale[e]
    square = gap.dot(gap)
    if turns:
        square += twist.dot(twist)
    first = work.tile_conadr[0]
    for _row in range(model.eq_rows[e]):
        _append(model, work, e)
    _jacobian(model, work, e, first, work.lanes.cast(arm1), work.lanes.cast(arm2), turn1, turn2)
    imp = _impedance(model, work, e, ti.sqrt(square))
    slides = _point_acceleration(model, work, b1, arm1) - _point_acceleration(model, work, b2, arm2)
    for c in ti.static(range(3)):
        _finish(model, work, e, first + c, imp, 0, gap.parts()[c], slides.parts()[c])
    if turns:
        turning = _turning_acceleration(model, work, e, b1, b2, turn1, turn2)
        for c in ti.static(range(3)):
            _finish(model, work, e, first + 3 + c, imp, 1, twist.parts()[c], turning.parts()[c])


@func
def _anchor(model, work, e: ti.i32, c):
    """The point of the first (c = 0) or second (c = 3) body, in its frame."""
    lanes = work.precise_lanes
    x, y, z = model.eq_anchor.at(e, c), model.eq_anchor.at(e, c + 1), model.eq_anchor.at(e, c + 2)
    return Vec3(lanes.real(x), lanes.real(y), lanes.real(z))


@func
def _frames(model, work, e: ti.i32, b1: ti.i32, b2: ti.i32):
    """Orientations of the two frames that a weld holds alike."""
    turn1 = work.xquat.rounded[b1] * _orientation(model, work, e, 0)
    turn2 = work.xquat.rounded[b2] * _orientation(model, work, e, 4)
    return turn1, turn2


@func
def _orientation(model, work, e: ti.i32, c):
    at = model.eq_orientation
    w, x, y, z = at.at(e, c), at.at(e, c + 1), at.at(e, c + 2), at.at(e, c + 3)
    return Quat(work.real(w), work.real(x), work.real(y), work.real(z))


@func
def _jacobian(model, work, e: ti.i32, k: ti.i32, arm1, arm2, turn1, turn2):
    """Derivatives of the position errors by every dof, to the rows from k on; arms are from the bodies' origins."""
    b1, b2 = model.eq_body1[e], model.eq_body2[e]
    zero = work.real(0.0)
    for at in range(model.eq_dofnum[e]):
        here = model.eq_dofadr[e] + at
        i, side = model.eq_dof[here], model.eq_side[here]
        motion = work.cdof[i]
        slide, turn = Vec3(zero, zero, zero), Vec3(zero, zero, zero)
        com = work.com_offset[model.body_rootid[model.dof_bodyid[i]]]
        if side != 2:
            slide += motion.lin + motion.rot.cross(work.lanes.cast(work.root_offset[b1]) + arm1 - com)
            turn += motion.rot
        if side != 1:
            slide -= motion.lin + motion.rot.cross(work.lanes.cast(work.root_offset[b2]) + arm2 - com)
            turn -= motion.rot
        for c in ti.static(range(3)):
            work.block_J[work.block_jacadr[k + c] + at] = slide.parts()[c]
        if model.eq_rows[e] == 6:
            half = (turn2.conjugate() * Quat(zero, turn.x, turn.y, turn.z) * turn1).vector
            half = half * (0.5 * model.eq_torquescale[e])
            for c in ti.static(range(3)):
                work.block_J[work.block_jacadr[k + 3 + c] + at] = half.parts()[c]


@func
def _point_acceleration(model, work, b: ti.i32, arm):
    """Acceleration of a point of body b, `arm` from its origin, that velocities alone make."""
    lanes, acceleration = work.precise_lanes, work.body_acc[b]
    point = work.root_offset[b] + arm - lanes.cast(work.inertial_offset[b])
    return work.lanes.cast(acceleration.lin + carried(acceleration.rot, work.cvel[b].rot, point))


@func
def _turning_acceleration(model, work, e: ti.i32, b1: ti.i32, b2: ti.i32, turn1, turn2):
    """Second derivative of a weld's error in orientation that velocities alone make.

    The error is the vector of p* q, of frames p and q that turn at w2 and w1. With w = w1 - w2 its derivative is that
    of p* w q / 2, and the second one that of p* (a + w x w2 - w . w / 2) q / 2, a being the bodies' accelerations.
    """
    omega2 = work.lanes.cast(work.cvel[b2].rot)
    omega = work.lanes.cast(work.cvel[b1].rot) - omega2
    alpha = work.lanes.cast(work.body_acc[b1].rot - work.body_acc[b2].rot) + omega.cross(omega2)
    pushed = turn2.conjugate() * Quat(omega.dot(omega) * -0.5, alpha.x, alpha.y, alpha.z) * turn1
    return pushed.vector * (0.5 * model.eq_torquescale[e])


@func
def weld_torque(model, work, e: ti.i32, forces):
    """Torque (N m) on the first body of a weld, of the forces on its rows that turn."""
    turn1, turn2 = _frames(model, work, e, model.eq_body1[e], model.eq_body2[e])
    push = turn2 * Quat(work.real(0.0), forces.x, forces.y, forces.z) * turn1.conjugate()
    return push.vector * (0.5 * model.eq_torquescale[e])


@func
def _impedance(model, work, e: ti.i32, error):
    """Impedance of all rows of an equality at the length of its error."""
    solimp = model.eq_solimp
    dmin, dmax, width = solimp.at(e, 0), solimp.at(e, 1), solimp.at(e, 2)
    return impedance(model, work.lanes, dmin, dmax, width, solimp.at(e, 3), solimp.at(e, 4), error)


@func
def _finish(model, work, e: ti.i32, k: ti.i32, imp, kind, error, product):
    """block_D and block_aref of a row whose Jacobian is known; `product` is that of dJ/dt and qvel."""
    stiffness = 1.0 / regularizer(imp, model.eq_diagonal.at(e, kind))
    work.block_D[k] = ti.select(work.eq_active[e] > 0.5, stiffness, work.real(0.0))
    work.block_reach[k] = work.real(ENDLESS)
    speed = work.real(0.0)
    for at in range(work.block_dofnum[k]):
        speed += work.block_J[work.block_jacadr[k] + at] * work.qvel[work.block_dof[work.block_dofadr[k] + at]]
    pull = imp * error * model.eq_stiffness[e]
    work.block_aref.at(k, 0)._assign(-(speed * model.eq_damping[e] + pull) - product)

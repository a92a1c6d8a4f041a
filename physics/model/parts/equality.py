"""Equality constraints: connect, weld, and polynomials of joints and tendons, a block for each of their rows.

MuJoCo documentation, Computation: Equality. A row is two-sided (`constraint.cost`). All rows of a connect or a weld
have the impedance of the norm of their position errors, and their reference acceleration subtracts dJ/dt qvel, the
acceleration of the rows that is caused by velocities. An equality that an environment has switched off has stiffness 0
there.

Sizes neq: equalities; neqdof: dofs of all of them.
"""

from collections.abc import Callable, Mapping

import mujoco
import numpy as np
import taichi as ti

from ...base.fields import Field, ids
from ...base.hooks import EXTERNAL_FORCES, ROWS, TENDON_FORCES
from ...base.joints import carried
from ...base.math import Quat, SpatialMotion, Vec3, func
from ...base.stage import piece, stage
from ...files.mjmodel.allowed import FORM, SOLIMP, SOLREF, Parameter
from ...files.mjmodel.equalities import (
    CONNECT,
    EQUALITY_ROWS,
    JOINT,
    SITE,
    TENDON,
    WELD,
    dofs_of_side,
    equality_bodies,
    equality_dofs,
    equality_joints,
    equality_rows,
    equality_tendons,
)
from ...files.mjmodel.solver_params import has_uncommon_powers, impedance_params, reference_of
from ...files.mjmodel.unsupported import Unsupported
from ...mechanics.constraint.impedance import impedance_of, regularizer
from ...mechanics.constraint.rows import append_row_on, row_times
from ...mechanics.dynamics.newton_euler import velocity_accelerations
from .part import EQUALITY, ConstraintRows, Loaded, Part, Rule

ENDLESS = 1e20
"""Reach of a row that is two-sided without a limit of its force."""


@stage(
    when=lambda has: has.equality,
    reads=(
        "qpos qvel eq_active xpos xquat root_offset inertial_offset com_offset anchor_offset cdof ten_length",
        "ten_J cvel",
    ),
    writes="block_reach block_D block_aref block_dim",
    updates="body_acc dqacc block_J block_dofnum block_dofadr block_jacadr block_dof tile_conadr tile_ndof tile_njac",
)
def equality_blocks(model, work):
    """Append `eq_rows` rows for every equality."""
    velocity_accelerations(model, work)
    for e in range(model.neq):
        if model.eq_rows[e] == 1:
            _polynomial(model, work, e)
        elif model.eq_rows[e] > 1:
            _hold_bodies(model, work, e)


@func
def _polynomial(model, work, e: ti.i32):
    """Append the row of a joint or tendon equality: q1 - q1_0 = polynomial of degree 4 in q2 - q2_0.

    Without a second joint or tendon the polynomial is its constant.
    """
    zero = work.real(0.0)
    # Error q1 - polynomial(q2), and the polynomial's slope.
    error, x, second = zero, zero, 0
    if ti.static(model.has.tendons):
        if model.eq_tendon1[e] >= 0:
            error, x, second = _tendon_lengths(model, work, e)
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
        slope = _polynomial_slope(model, work, e, x)
    # Jacobian: the first coordinate's minus slope times the second's, on the union of their dofs.
    k = append_row_on(work, model.eq_dof, model.eq_dofadr[e], model.eq_dofnum[e])
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
    imp = impedance_of(model, work, model.eq_solimp, e, ti.abs(error))
    _finish(model, work, e, k, imp, 0, error, zero)


@func
def _polynomial_slope(model, work, e: ti.i32, x):
    """Return the derivative of the polynomial at x."""
    a, b = model.eq_polycoef.at(e, 1), model.eq_polycoef.at(e, 2)
    c, d = model.eq_polycoef.at(e, 3), model.eq_polycoef.at(e, 4)
    return work.real(0.0) + (a + x * (2.0 * b + x * (3.0 * c + x * (4.0 * d))))


@func
def _tendon_lengths(model, work, e: ti.i32):
    """Return the lengths of both tendons minus the lengths at qpos0 (m), and 1 if there is a second one, else 0."""
    return _offsets(work, work.ten_length, model.tendon_length0, model.eq_tendon1[e], model.eq_tendon2[e])


@func
def _coordinates(model, work, e: ti.i32):
    """Return the coordinates of both joints minus their values in qpos0, and 1 if there is a second one, else 0."""
    return _offsets(work, work.qpos, model.qpos0, model.eq_qpos1[e], model.eq_qpos2[e])


@func
def _offsets(work, values, references, i: ti.i32, j: ti.i32):
    """Return `values` minus `references` at i and at j, 0 if j < 0, and 1 if j >= 0, else 0."""
    other, second = work.real(0.0), 0
    if j >= 0:
        other, second = values[j] - references[j], 1
    return values[i] - references[i], other, second


@func
def _hold_bodies(model, work, e: ti.i32):
    """Append the rows of a connect or a weld: two points coincide, and for a weld also two frames.

    The first three rows are along the world's axes, the last three along the second frame's.
    """
    b1, b2 = model.eq_body1[e], model.eq_body2[e]
    # Position errors: the gap between both anchors, and the vector part of the relative rotation.
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
    # Rows, their Jacobian, and their common impedance.
    first = work.tile_conadr[0]
    for _row in range(model.eq_rows[e]):
        append_row_on(work, model.eq_dof, model.eq_dofadr[e], model.eq_dofnum[e])
    _jacobian(model, work, e, first, work.lanes.cast(arm1), work.lanes.cast(arm2), turn1, turn2)
    imp = impedance_of(model, work, model.eq_solimp, e, ti.sqrt(square))
    # Stiffness and reference of every row, with dJ/dt qvel.
    slides = _point_acceleration(model, work, b1, arm1) - _point_acceleration(model, work, b2, arm2)
    for c in ti.static(range(3)):
        _finish(model, work, e, first + c, imp, 0, gap.parts()[c], slides.parts()[c])
    if turns:
        turning = _turning_acceleration(model, work, e, b1, b2, turn1, turn2)
        for c in ti.static(range(3)):
            _finish(model, work, e, first + 3 + c, imp, 1, twist.parts()[c], turning.parts()[c])


@func
def _anchor(model, work, e: ti.i32, c):
    """Return the anchor on the first (c = 0) or second (c = 3) body, in the body's frame (m)."""
    lanes = work.precise_lanes
    x, y, z = model.eq_anchor.at(e, c), model.eq_anchor.at(e, c + 1), model.eq_anchor.at(e, c + 2)
    return Vec3(lanes.real(x), lanes.real(y), lanes.real(z))


@func
def _frames(model, work, e: ti.i32, b1: ti.i32, b2: ti.i32):
    """Return the orientations of the two frames that a weld aligns."""
    turn1 = work.lanes.cast(work.xquat[b1]) * _orientation(model, work, e, 0)
    turn2 = work.lanes.cast(work.xquat[b2]) * _orientation(model, work, e, 4)
    return turn1, turn2


@func
def _orientation(model, work, e: ti.i32, c):
    """Return four numbers of eq_orientation from column c on as a quaternion."""
    at = model.eq_orientation
    w, x, y, z = at.at(e, c), at.at(e, c + 1), at.at(e, c + 2), at.at(e, c + 3)
    return Quat(work.real(w), work.real(x), work.real(y), work.real(z))


@func
def _jacobian(model, work, e: ti.i32, k: ti.i32, arm1, arm2, turn1, turn2):
    """Set the Jacobian of the rows from k on; arms are from the bodies' origins (m), turns the frames' orientations."""
    b1, b2 = model.eq_body1[e], model.eq_body2[e]
    zero = work.real(0.0)
    for at in range(model.eq_dofnum[e]):
        here = model.eq_dofadr[e] + at
        i, side = model.eq_dof[here], model.eq_side[here]
        motion = work.cdof[i]
        slide, turn = Vec3(zero, zero, zero), Vec3(zero, zero, zero)
        com = work.com_offset[model.body_rootid[model.dof_bodyid[i]]]
        # `side` 1: the dof moves only the first body; 2: only the second; else both.
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
    """Return the acceleration, caused by velocities, of the point of body b at `arm` from its origin (m/s^2)."""
    lanes, acceleration = work.precise_lanes, work.body_acc[b]
    point = work.root_offset[b] + arm - lanes.cast(work.inertial_offset[b])
    return work.lanes.cast(acceleration.lin + carried(acceleration.rot, work.cvel[b].rot, point))


@func
def _turning_acceleration(model, work, e: ti.i32, b1: ti.i32, b2: ti.i32, turn1, turn2):
    """Return the second time derivative of a weld's orientation error that velocities cause.

    The error is the vector part of p* q, of frames q and p with angular velocities w1 and w2. With w = w1 - w2 its
    derivative is that of p* w q / 2, and its second derivative that of p* (a + w x w2 - w . w / 2) q / 2, with a the
    difference of the bodies' angular accelerations.
    """
    omega2 = work.lanes.cast(work.cvel[b2].rot)
    omega = work.lanes.cast(work.cvel[b1].rot) - omega2
    alpha = work.lanes.cast(work.body_acc[b1].rot - work.body_acc[b2].rot) + omega.cross(omega2)
    pushed = turn2.conjugate() * Quat(omega.dot(omega) * -0.5, alpha.x, alpha.y, alpha.z) * turn1
    return pushed.vector * (0.5 * model.eq_torquescale[e])


@func
def _weld_torque(model, work, e: ti.i32, forces):
    """Return the torque on the first body of a weld (N m) by the forces on its three rotational rows."""
    turn1, turn2 = _frames(model, work, e, model.eq_body1[e], model.eq_body2[e])
    push = turn2 * Quat(work.real(0.0), forces.x, forces.y, forces.z) * turn1.conjugate()
    return push.vector * (0.5 * model.eq_torquescale[e])


@func
def _finish(model, work, e: ti.i32, k: ti.i32, imp, kind, error, product):
    """Set block_D and block_aref of row k, whose Jacobian is set; `product` is that of dJ/dt with qvel."""
    stiffness = 1.0 / regularizer(imp, model.eq_diagonal.at(e, kind))
    work.block_D[k] = ti.select(work.eq_active[e] > 0.5, stiffness, work.real(0.0))
    work.block_reach[k] = work.real(ENDLESS)
    speed = row_times(work, k, work.qvel, 0.0)
    pull = imp * error * model.eq_stiffness[e]
    work.block_aref.at(k, 0)._assign(-(speed * model.eq_damping[e] + pull) - product)


@piece(reads="block_force root_offset xquat com_offset", updates="cfrc_ext")
def push_bodies(model, work):
    """Add the forces of connects and welds to cfrc_ext."""
    zero = work.real(0.0)
    k = 0
    for e in range(model.neq):
        if model.eq_rows[e] > 1:
            torque, force = Vec3(zero, zero, zero), _forces(work, k)
            if model.eq_rows[e] == 6:
                torque = _weld_torque(model, work, e, _forces(work, k + 3))
            for side in ti.static(range(2)):
                b = model.eq_body1[e] if ti.static(side == 0) else model.eq_body2[e]
                if b > 0:
                    at, anchor = ti.static(3 * side), model.eq_anchor
                    point = Vec3(zero + anchor.at(e, at), zero + anchor.at(e, at + 1), zero + anchor.at(e, at + 2))
                    arm = work.lanes.cast(work.root_offset[b]) + work.lanes.cast(work.xquat[b]).rotate(point)
                    arm = arm - work.com_offset[model.body_rootid[b]]
                    wrench = SpatialMotion(torque + arm.cross(force), force) * ti.static(1.0 - 2.0 * side)
                    work.cfrc_ext.put(b, work.cfrc_ext[b] + wrench)
        k += model.eq_rows[e]


@func
def _forces(work, k: ti.i32):
    """Return the forces of the three rows from k on as a vector."""
    return Vec3(work.block_force.at(k, 0), work.block_force.at(k + 1, 0), work.block_force.at(k + 2, 0))


@piece(reads="block_force ten_length", updates="ten_force")
def pull_tendons(model, work):
    """Add the forces of equalities between tendons to ten_force; the blocks of equalities are the first."""
    k = 0
    for e in range(model.neq):
        t1, t2 = model.eq_tendon1[e], model.eq_tendon2[e]
        if t1 >= 0 and model.eq_rows[e] > 0:
            force = work.block_force.at(k, 0)
            _error, x, _second = _tendon_lengths(model, work, e)
            work.ten_force[t1] = work.ten_force[t1] + force
            if t2 >= 0:
                work.ten_force[t2] = work.ten_force[t2] - _polynomial_slope(model, work, e, x) * force
        k += model.eq_rows[e]


_OFF = int(mujoco.mjtDisableBit.mjDSBL_EQUALITY) | int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
EQUALITY_INTEGERS = (
    ids("eq_rows", ("neq",), "rows of an equality: 1 joints, 3 connect, 6 weld; 0: it couples no dofs"),
    ids("eq_body1", ("neq",), "first body of connect and weld"),
    ids("eq_body2", ("neq",), "second body"),
    ids("eq_qpos1", ("neq",), "coordinate of the first joint"),
    Field("eq_qpos2", ("neq",), 1, "", "coordinate of the second joint; -1: none"),
    Field("eq_dofadr", ("neq",), 1, "", "first dof of the equality in eq_dof"),
    ids("eq_dofnum", ("neq",), "number of dofs of the equality"),
    ids("eq_dof", ("neqdof",), "dofs of all equalities, descending within an equality"),
    ids("eq_side", ("neqdof",), "bodies moved by the dof: 1 the first, 2 the second, 3 both"),
    Field("eq_tendon1", ("neq",), 1, "", "first tendon; -1: the equality is not between tendons"),
    Field("eq_tendon2", ("neq",), 1, "", "second tendon; -1: none"),
)
EQUALITY_REALS = (
    Field("eq_polycoef", ("neq",), 5, "", "of joints and tendons: coefficients of the polynomial"),
    Field("eq_anchor", ("neq",), 6, "m", "points that are constrained to coincide, in the frames of both bodies"),
    Field(
        "eq_orientation",
        ("neq",),
        8,
        "",
        "orientations that a weld constrains to be equal, in the frames of both bodies",
    ),
    Field("eq_torquescale", ("neq",), 1, "m", "length by which rotations of a weld are multiplied"),
    Field(
        "eq_diagonal", ("neq",), 2, "1/kg or 1/(kg m^2)", "approximate A of translational rows, and of rotational rows"
    ),
    Field("eq_solimp", ("neq",), 5, "", "impedance, as geom_solimp"),
    Field("eq_stiffness", ("neq",), 1, "1/s^2", "K of the reference acceleration"),
    Field("eq_damping", ("neq",), 1, "1/s", "B of the reference acceleration"),
)


def equality_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the integer fields of equalities."""
    rows, bodies, joints = equality_rows(mjm), equality_bodies(mjm), equality_joints(mjm)
    dofs = [equality_dofs(mjm, e) if rows[e] else np.zeros(0, int) for e in range(mjm.neq)]
    sides = [sum((1 << s) * np.isin(dofs[e], dofs_of_side(mjm, e, s)) for s in (0, 1)) for e in range(mjm.neq)]
    held = np.where(joints >= 0, joints, 0)
    return {
        "eq_rows": rows,
        "eq_body1": bodies[:, 0],
        "eq_body2": bodies[:, 1],
        "eq_qpos1": mjm.jnt_qposadr[held[:, 0]] if mjm.njnt else np.zeros(mjm.neq, int),
        "eq_qpos2": np.where(joints[:, 1] >= 0, mjm.jnt_qposadr[held[:, 1]], -1) if mjm.njnt else joints[:, 1],
        "eq_tendon1": equality_tendons(mjm)[:, 0],
        "eq_tendon2": equality_tendons(mjm)[:, 1],
        "eq_dofadr": np.cumsum([0, *map(len, dofs)])[:-1],
        "eq_dofnum": np.array([len(of) for of in dofs], int),
        "eq_dof": np.concatenate([*dofs, np.zeros(0, int)]).astype(int),
        "eq_side": np.concatenate([*sides, np.zeros(0, int)]).astype(int),
    }


def row_dofs(values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the number of dofs that each row acts on."""
    return np.repeat(values["eq_dofnum"], values["eq_rows"])


def uncommon_powers(model: Loaded) -> bool:
    """Return True if the impedance of a row has another power than 1 and 2."""
    return has_uncommon_powers(model.values["eq_solimp"][model.values["eq_rows"] > 0])


def _anchors(mjm: mujoco.MjModel, data: np.ndarray) -> np.ndarray:
    """Return the points held together, in the frames of both bodies, (environments, neq, 6): MuJoCo's order differs."""
    first, second = data[..., 0:3], data[..., 3:6]
    weld = (mjm.eq_type == WELD)[:, None]
    anchors = np.concatenate((np.where(weld, second, first), np.where(weld, first, second)), axis=-1)
    for e in np.flatnonzero(_between_sites(mjm)):
        anchors[:, e] = mjm.site_pos[[mjm.eq_obj1id[e], mjm.eq_obj2id[e]]].ravel()
    return anchors


def _orientations(mjm: mujoco.MjModel, data: np.ndarray) -> np.ndarray:
    """Return the frames that a weld aligns, in the frames of both bodies: two quaternions (environments, neq, 8)."""
    turned = np.zeros((*data.shape[:2], 8))
    turned[..., :4], turned[..., 4] = data[..., 6:10], 1.0
    for e in np.flatnonzero(_between_sites(mjm)):
        turned[:, e] = mjm.site_quat[[mjm.eq_obj1id[e], mjm.eq_obj2id[e]]].ravel()
    return turned


def _between_sites(mjm: mujoco.MjModel) -> np.ndarray:
    return (mjm.eq_objtype == SITE) & np.isin(mjm.eq_type, (CONNECT, WELD))


def _diagonal(mjm: mujoco.MjModel, of_body: np.ndarray, of_dof: np.ndarray, of_tendon: np.ndarray) -> np.ndarray:
    """Return the approximate inverse inertia along rows that slide, and rows that turn, (environments, neq, 2)."""
    bodies, joints = equality_bodies(mjm), equality_joints(mjm)
    found = of_body[:, bodies[:, 0]] + of_body[:, bodies[:, 1]]
    for e in np.flatnonzero(mjm.eq_type == JOINT):
        found[:, e] = of_dof[:, mjm.jnt_dofadr[joints[e][joints[e] >= 0]]].sum(axis=1)[:, None]
    tendons = equality_tendons(mjm)
    for e in np.flatnonzero(mjm.eq_type == TENDON):
        found[:, e] = of_tendon[:, tendons[e][tendons[e] >= 0]].sum(axis=1)[:, None]
    return found


def _solimp(mjm: mujoco.MjModel, solimp: np.ndarray) -> np.ndarray:
    return impedance_params(solimp)


def _reference(k: int) -> Callable[..., np.ndarray]:
    return lambda mjm, solref, solimp: reference_of(k, mjm, solref, solimp)


def _active(value: int) -> Callable[[mujoco.MjModel], np.ndarray]:
    """Return a function from a model to the ids of its equalities of a type that hold from the beginning."""
    return lambda mjm: np.flatnonzero((mjm.eq_type == value) & (mjm.eq_active0 != 0))


EQUALITY_RULES: dict[str, Rule] = {
    "eq_polycoef": (("eq_data",), lambda mjm, data: data[..., :5]),
    "eq_anchor": (("eq_data",), _anchors),
    "eq_orientation": (("eq_data",), _orientations),
    "eq_torquescale": (("eq_data",), lambda mjm, data: data[..., 10]),
    "eq_diagonal": (("body_invweight0", "dof_invweight0", "tendon_invweight0"), _diagonal),
    "eq_solimp": (("eq_solimp",), _solimp),
    "eq_stiffness": (("eq_solref", "eq_solimp"), _reference(0)),
    "eq_damping": (("eq_solref", "eq_solimp"), _reference(1)),
}
"""Rules of the real fields: the names of MuJoCo's numbers, and the function of them."""
UNSUPPORTED = tuple(
    Unsupported(f"equality constraint '{name}'", "equality", name, _active(int(value)), None, _OFF)
    for name, value in ((n.removeprefix("mjEQ_").lower(), v) for n, v in mujoco.mjtEq.__members__.items())
    if int(value) not in EQUALITY_ROWS
)


PART = Part(
    name="equality",
    doc="bodies, joints or tendons are held together",
    wanted=lambda model: bool(model.values["eq_rows"].any()),
    integers=EQUALITY_INTEGERS,
    reals=EQUALITY_REALS,
    values=equality_values,
    rules=EQUALITY_RULES,
    sizes=lambda mjm, values: {"neq": mjm.neq, "neqdof": len(values["eq_dof"])},
    rows=ConstraintRows(
        kind=EQUALITY,
        dofs=row_dofs,
        types=lambda values: np.full(values["eq_rows"].sum(), int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)),
        couples=lambda mjm: [equality_dofs(mjm, int(e)) for e in equality_rows(mjm).nonzero()[0]],
    ),
    needs={"hulls": uncommon_powers},
    hooks={ROWS: equality_blocks, TENDON_FORCES: pull_tendons, EXTERNAL_FORCES: push_bodies},
    mujoco="neq eq_active0 eq_obj1id eq_obj2id eq_objtype",
    unsupported=UNSUPPORTED,
    parameters=(
        Parameter("eq_solref", SOLREF),
        Parameter("eq_solimp", SOLIMP),
        Parameter("eq_data", FORM, ("eq_data",)),
    ),
)

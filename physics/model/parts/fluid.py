"""Fluids: forces on bodies in a fluid, as passive forces, and their slopes for the implicit integrators.

MuJoCo's documentation, Computation: Fluid forces. The fluid acts on items: a body, as a box of its inertia
around its centre of mass, or a geom, as an ellipsoid. The force is computed in the item's frame.

A body that has a geom with fluidshape="ellipsoid" is no box.

The force on an ellipsoid is in its own frame (MuJoCo's documentation, Computation: Ellipsoid fluid model): added mass,
Magnus and Kutta lift, and drag. With the semiaxes r, p = (r1 r2, r2 r0, r0 r1)^2 over the largest of the three, n the
direction of the flow, P = sum p n^2 and Q = sum p^2 n^2, the area that the flow meets is sqrt(Q / P) of the largest.
Drag and lift go with the square of the speed: powers of the direction cannot run out of the range of single
precision.
"""

from typing import Any

import mujoco
import numpy as np
import taichi as ti

from ...base.fields import Field, ids
from ...base.hooks import BODY_FORCES, FORCE_SLOPES, PASSIVE_FORCES
from ...base.math import SpatialMotion, Vec3, func
from ...base.math.lanes import let, traced
from ...base.shapes import HALF_SIDES
from ...base.stage import piece, stage
from ...files.mjmodel.allowed import FINITE, NOT_NEGATIVE, AllowedNumbers, Parameter
from ...files.mjmodel.flags import has_passive_forces
from ...mechanics.dynamics.newton_euler import along, gather
from .part import Loaded, Part, Variant


@stage(
    when=lambda has: has.fluid,
    reads="xquat root_offset inertial_offset com_offset anchor_offset cdof cvel",
    writes="qfrc_fluid",
    updates="cfrc",
)
def fluid_force(model, work):
    """Set qfrc_fluid to the forces on dofs from the fluid's forces on all items."""
    zero = work.real(0.0)
    none = work.precise_lanes.cast(Vec3(zero, zero, zero))
    for b in range(1, model.nbody):
        work.cfrc.put(b, SpatialMotion(none, none))
    for k in range(model.nfluid):
        b = model.fluid_bodyid[k]
        axes, offset = _frame(model, work, k)
        velocity = _local_velocity(model, work, b, axes, offset)
        local = _force(model, work, k, velocity)
        force, torque = axes.times(local.lin), axes.times(local.rot)
        # cfrc is about the body's centre of mass, which is not the centre of an ellipsoid
        torque = torque + (offset - work.inertial_offset[b]).cross(force)
        work.cfrc.put(b, work.cfrc[b] + work.precise_lanes.cast(SpatialMotion(torque, force)))
    gather(model, work)
    for i in range(model.nv):
        work.qfrc_fluid[i] = work.lanes.cast(along(model, work, i))


@piece(reads="qfrc_fluid", updates="qfrc_passive")
def add_passive(model, work):
    """Add qfrc_fluid."""
    for i in range(model.nv):
        work.qfrc_passive[i] = work.qfrc_passive[i] + work.qfrc_fluid[i]


@func
def _frame(model, work, k: ti.i32):
    """Return the axes of item k, and its centre from the root of its tree (m)."""
    b = model.fluid_bodyid[k]
    body = work.lanes.cast(work.xquat[b])
    turned = body * model.body_iquat[b]
    offset = work.inertial_offset[b] + Vec3(work.real(0.0), work.real(0.0), work.real(0.0))
    if ti.static(model.has.ellipsoid_fluid):
        g = model.fluid_geomid[k]
        if g >= 0:
            turned = body * model.geom_quat[g]
            offset = work.lanes.cast(work.root_offset[b]) + body.rotate(model.geom_pos[g])
    return turned.matrix(), offset


@func
def _local_velocity(model, work, b: ti.i32, axes, offset):
    """Return the velocity of an item's centre relative to the fluid, in the frame of the item (rad/s, m/s)."""
    velocity = work.lanes.cast(work.cvel[b])
    arm = offset - work.com_offset[model.body_rootid[b]]
    linear = velocity.lin + velocity.rot.cross(arm) - model.wind[0]
    return SpatialMotion(axes.transpose_times(velocity.rot), axes.transpose_times(linear))


@func
def _force(model, work, k: ti.i32, velocity):
    """Return the torque and force on item k in the item's frame (N m, N)."""
    w, v = velocity.rot, velocity.lin
    torque, force = w * work.real(0.0), v * work.real(0.0)
    if model.fluid_geomid[k] < 0:
        viscous = model.viscosity[0]
        torque = torque - w * (viscous * model.fluid_shape.at(k, 0)) - _quadratic(model, work, k, 2, w, w)
        force = force - v * (viscous * model.fluid_shape.at(k, 1)) - _quadratic(model, work, k, 5, v, v)
    else:
        if ti.static(model.has.ellipsoid_fluid):
            found = ellipsoid_force(model.fluid_shape, k, model.density[0], model.viscosity[0], velocity)
            torque = found.rot
            force = found.lin
    return SpatialMotion(torque, force)


@func
def _quadratic(model, work, k: ti.i32, first, speed, v):
    """Return the drag of box k along each axis: density times its number from `first` on times |speed| v."""
    density, shape = model.density[0], model.fluid_shape
    return Vec3(
        density * shape.at(k, first) * ti.abs(speed.x) * v.x,
        density * shape.at(k, first + 1) * ti.abs(speed.y) * v.y,
        density * shape.at(k, first + 2) * ti.abs(speed.z) * v.z,
    )


@func
def _slope(model, work, k: ti.i32, velocity, change):
    """Return the derivative of `_force` along a change of the velocity."""
    w, v, dw, dv = velocity.rot, velocity.lin, change.rot, change.lin
    torque, force = dw * work.real(0.0), dv * work.real(0.0)
    if model.fluid_geomid[k] < 0:
        viscous = model.viscosity[0]
        torque = torque - dw * (viscous * model.fluid_shape.at(k, 0)) - _quadratic(model, work, k, 2, w, dw) * 2.0
        force = force - dv * (viscous * model.fluid_shape.at(k, 1)) - _quadratic(model, work, k, 5, v, dv) * 2.0
    else:
        if ti.static(model.has.ellipsoid_fluid):
            found = ellipsoid_slope(model.fluid_shape, k, model.density[0], model.viscosity[0], velocity, change)
            torque = found.rot
            force = found.lin
    return SpatialMotion(torque, force)


@piece(reads="xquat root_offset inertial_offset com_offset cvel", updates="fluid_slope")
def fluid_slopes(model, work):
    """Set fluid_slope of every body: d(wrench)/d(motion) of the body and all below it, about their tree's com.

    Row 6 b + c is the wrench for a unit of motion c. The integrator implicitfast has a symmetric matrix, so a body
    passes the mean of its slopes and their transposes to its parent; free bodies and the integrator implicit have
    unsymmetric matrices.
    """
    for row in range(6, 6 * model.nbody):
        for c in range(6):
            work.fluid_slope[row, c] = work.real(0.0)
    for k in range(model.nfluid):
        b = model.fluid_bodyid[k]
        axes, offset = _frame(model, work, k)
        velocity = _local_velocity(model, work, b, axes, offset)
        arm = offset - work.com_offset[model.body_rootid[b]]
        for c in range(6):
            turn, slide = _unit(work, c), _unit(work, c - 3)
            point = slide + turn.cross(arm)
            local = _slope(
                model, work, k, velocity, SpatialMotion(axes.transpose_times(turn), axes.transpose_times(point))
            )
            force = axes.times(local.lin)
            torque = axes.times(local.rot) + arm.cross(force)
            for a in ti.static(range(3)):
                work.fluid_slope[6 * b + c, a] = work.fluid_slope[6 * b + c, a] + torque.parts()[a]
                work.fluid_slope[6 * b + c, 3 + a] = work.fluid_slope[6 * b + c, 3 + a] + force.parts()[a]
    for kk in range(1, model.nbody):
        b = model.nbody - kk
        parent = model.body_parentid[b]
        if parent > 0:
            for r in range(6):
                for c in range(6):
                    own, across = work.fluid_slope[6 * b + r, c], work.fluid_slope[6 * b + c, r]
                    passed = (own + across) * 0.5
                    if model.body_is_single_free[model.body_rootid[b]] == 1 or ti.static(model.has.implicit_full):
                        passed = own
                    work.fluid_slope[6 * parent + r, c] = work.fluid_slope[6 * parent + r, c] + passed


@func
def _unit(work, c: ti.i32):
    """Return the c-th axis of the world; zero for another c."""
    one, zero = work.real(1.0), work.real(0.0)
    return Vec3(ti.select(c == 0, one, zero), ti.select(c == 1, one, zero), ti.select(c == 2, one, zero))


@piece(reads="cdof fluid_slope")
def fluid_slope_entry(model, work, b: ti.i32, i: ti.i32, j: ti.i32):
    """Return d(force on dof i) / d(velocity of dof j) by the fluid on body b and all below it, which both dofs move."""
    on, by = work.cdof[i], work.cdof[j]
    total = work.real(0.0)
    for c in ti.static(range(6)):
        speed = by.numbers()[c]
        for r in ti.static(range(6)):
            total = total + on.numbers()[r] * work.fluid_slope[6 * b + c, r] * speed
    return total


def _room(model: Loaded) -> dict[str, int]:
    """Return the sizes of the force and its slopes."""
    return {"nfluiddof": model.sizes["nv"], "nfluidrow": 6 * model.sizes["nbody"]}


MINVAL = 1e-15
"""MuJoCo's mjMINVAL: lighter bodies feel no fluid, and a box's inertia is not less."""
WIDTH = 19
"""Numbers of `fluid_shape`: a box has the first eight."""


def fluid_items(mjm: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Return the body and the geom (-1: the body as a box) of every item; without a fluid there is no item."""
    rows: list[tuple[int, int]] = []
    if (mjm.opt.density > 0 or mjm.opt.viscosity > 0) and has_passive_forces(mjm):
        for b in np.flatnonzero((mjm.body_treeid >= 0) & (mjm.body_mass >= MINVAL)).tolist():
            geoms = range(mjm.body_geomadr[b], mjm.body_geomadr[b] + mjm.body_geomnum[b])
            rows += [(b, g) for g in geoms if mjm.geom_fluid[g, 0] > 0] or [(b, -1)]
    body, geom = np.array(rows, int).reshape(-1, 2).T
    return body, geom


def fluid_shapes(mjm: mujoco.MjModel, mass: np.ndarray, inertia: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the constants of all items, (environments, items, WIDTH), in the order of `_box` and `_ellipsoid`.

    The virtual masses of ellipsoids are MuJoCo's own of the compiled model, whatever sizes environments have.
    """
    body, geom = fluid_items(mjm)
    count = max(len(mass), len(inertia), len(size))  # any of them may be the model's, for all environments
    out = np.zeros((count, len(body), WIDTH))
    for k, (b, g) in enumerate(zip(body.tolist(), geom.tolist(), strict=True)):
        if g < 0:
            out[:, k, :8] = _box(mass[:, b], inertia[:, b])
        else:
            half_sides = HALF_SIDES.get(int(mjm.geom_type[g]), lambda size: size)
            out[:, k] = _ellipsoid(half_sides(size[:, g]), mjm.geom_fluid[g])
    return out


def _box(mass: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Return the viscous torque and force at unit velocity, and quadratic torque (3) and force (3), for unit fluids."""
    x, y, z = np.sqrt(np.maximum(MINVAL, inertia.sum(1, keepdims=True) - 2.0 * inertia) / mass[:, None] * 6.0).T
    mean = (x + y + z) / 3.0
    turns = x * (y**4 + z**4) / 64.0, y * (x**4 + z**4) / 64.0, z * (x**4 + y**4) / 64.0
    return np.stack((np.pi * mean**3, 3.0 * np.pi * mean, *turns, 0.5 * y * z, 0.5 * x * z, 0.5 * x * y), -1)


def _ellipsoid(axes: np.ndarray, fluid: np.ndarray) -> np.ndarray:
    """Return the viscous torque and force (2), moments of drag (3), the rest of the list of `_ellipsoid`.

    Squares of products of two semiaxes stand relative to the largest, `scale`, so that single precision can hold their
    powers.
    """
    _, blunt, slender, angular, kutta, magnus, *virtual = fluid
    x, y, z = axes.T
    diameter = 2.0 / 3.0 * (x + y + z)
    _, middle, high = np.sort(axes, axis=1).T
    most = 8.0 / 15.0 * np.pi * middle * high**4
    own = [8.0 / 15.0 * np.pi * a * np.maximum(b, c) ** 4 for a, b, c in ((x, y, z), (y, z, x), (z, x, y))]
    squares = np.stack(((y * z) ** 2, (z * x) ** 2, (x * y) ** 2), -1)
    scale = squares.max(1)
    ones = np.ones(len(axes))
    columns = (
        *(np.pi * diameter**3, 3.0 * np.pi * diameter),
        *(angular * moment + slender * (most - moment) for moment in own),
        *(squares / scale[:, None]).T,
        np.pi * np.sqrt(scale),
        *(blunt * ones, slender * ones, kutta * ones, magnus * 4.0 / 3.0 * np.pi * x * y * z),
        *(number * ones for number in virtual),
    )
    return np.stack(columns, -1)


_LEAST = 1e-30
"""A number below any speed, and below P and Q of any speed but 0."""
# first columns of the groups of numbers in `fluid_shape`
_TORQUE, _P, _AREA, _BLUNT, _SLENDER, _KUTTA, _MAGNUS, _MASS, _INERTIA = 2, 5, 8, 9, 10, 11, 12, 13, 16


def _three(shape: Any, k: Any, first: int) -> Vec3:
    return Vec3(*(shape.at(k, first + c) for c in range(3)))


def _times(a: Vec3, b: Vec3) -> Vec3:
    return Vec3(a.x * b.x, a.y * b.y, a.z * b.z)


class _Flow:
    """The terms that force and slope share at a velocity v relative to the fluid (m/s)."""

    def __init__(self, shape: Any, k: Any, v: Vec3) -> None:
        self.speed = let(v.norm())
        self.n = v * let(1.0 / ti.max(_LEAST, self.speed))
        self.p, self.square = _three(shape, k, _P), _times(self.n, self.n)
        self.pp = _times(self.p, self.p)
        self.P = let(ti.max(_LEAST, self.p.dot(self.square)))
        self.Q = let(ti.max(_LEAST, self.pp.dot(self.square)))
        self.full = shape.at(k, _AREA)
        self.area = let(self.full * ti.sqrt(self.Q / self.P))
        blunt, slender = shape.at(k, _BLUNT), shape.at(k, _SLENDER)
        self.drag = let(self.area * blunt + slender * (self.full - self.area))


@traced
def ellipsoid_force(shape: Any, k: Any, density: Any, viscosity: Any, velocity: SpatialMotion) -> SpatialMotion:
    """Return the torque and force on item k of `shape`, at a velocity relative to the fluid."""
    w, v = velocity.rot, velocity.lin
    flow = _Flow(shape, k, v)
    momentum, spin = _times(_three(shape, k, _MASS), v) * density, _times(_three(shape, k, _INERTIA), w) * density
    torque = momentum.cross(v) + spin.cross(w)
    force = momentum.cross(w) + w.cross(v) * (shape.at(k, _MAGNUS) * density)
    lift = let(shape.at(k, _KUTTA) * density * flow.area * flow.P / flow.Q)
    circulation = _times(flow.p, flow.n).cross(v) * lift
    moment = _times(_three(shape, k, _TORQUE), w)
    turning = let(viscosity * shape.at(k, 0) + density * moment.norm())
    sliding = let(viscosity * shape.at(k, 1) + density * flow.speed * flow.drag)
    return SpatialMotion(torque - w * turning, force + circulation.cross(v) - v * sliding)


@traced
def ellipsoid_slope(
    shape: Any, k: Any, density: Any, viscosity: Any, velocity: SpatialMotion, change: SpatialMotion
) -> SpatialMotion:
    """Return the derivative of `ellipsoid_force` along a change of the velocity."""
    w, v, dw, dv = velocity.rot, velocity.lin, change.rot, change.lin
    mass, inertia = _three(shape, k, _MASS) * density, _three(shape, k, _INERTIA) * density
    momentum, moved = _times(mass, v), _times(mass, dv)
    torque = moved.cross(v) + momentum.cross(dv) + _times(inertia, dw).cross(w) + _times(inertia, w).cross(dw)
    force = moved.cross(w) + momentum.cross(dw)
    force = force + (dw.cross(v) + w.cross(dv)) * (shape.at(k, _MAGNUS) * density)
    torque = torque + _torque_slope(shape, k, density, viscosity, w, dw)
    flow = _Flow(shape, k, v)
    force = force + _drag_slope(shape, k, density, viscosity, flow, dv)
    return SpatialMotion(torque, force + _kutta_slope(shape, k, density, flow, dv))


def _torque_slope(shape: Any, k: Any, density: Any, viscosity: Any, w: Vec3, dw: Vec3) -> Vec3:
    moments = _three(shape, k, _TORQUE)
    moment = _times(moments, w)
    steep = _times(moments, moment) * (0.0 - density / ti.max(_LEAST, moment.norm()))
    return dw * let(w.dot(steep) - viscosity * shape.at(k, 0)) + w * steep.dot(dw)


def _drag_slope(shape: Any, k: Any, density: Any, viscosity: Any, flow: _Flow, dv: Vec3) -> Vec3:
    n, weight = flow.n, let(density * flow.drag * flow.speed)
    along = n * n.dot(dv) + dv
    sharp = density * flow.speed * (shape.at(k, _BLUNT) - shape.at(k, _SLENDER)) * flow.full
    sharp = sharp / (flow.P * ti.sqrt(flow.P * flow.Q))
    growth = let(sharp * _times(_times(flow.p, n), _turned(flow, _times(flow.p, flow.square))).dot(dv))
    return -(along * weight) - n * growth - dv * (viscosity * shape.at(k, 1))


def _turned(flow: _Flow, weights: Vec3) -> Vec3:
    """Return the sum over c of weights[c] (p[i] - p[c]) for each axis i: differences first, as they may be small."""
    p, g = flow.p, weights
    return Vec3(
        g.y * (p.x - p.y) + g.z * (p.x - p.z),
        g.x * (p.y - p.x) + g.z * (p.y - p.z),
        g.x * (p.z - p.x) + g.y * (p.z - p.y),
    )


def _kutta_slope(shape: Any, k: Any, density: Any, flow: _Flow, dv: Vec3) -> Vec3:
    coefficient = let(shape.at(k, _KUTTA) * density * flow.full * flow.speed / ti.sqrt(flow.Q * flow.P))
    lift = _turned(flow, flow.square)
    share = let(flow.P / flow.Q)
    inner = Vec3(*(let(q * share - p + flow.P) for p, q in zip(flow.p.parts(), flow.pp.parts(), strict=True)))
    mixed = _times(flow.n, dv)
    pull = -_turned(flow, mixed) * (flow.P * 2.0) + lift * inner.dot(mixed)
    return (_times(flow.n, pull) - _times(lift, dv) * flow.P) * coefficient


PART = Part(
    name="fluid",
    doc="bodies are pushed by a fluid, as boxes",
    wanted=lambda model: model.sizes["nfluid"] > 0,
    variants=(
        Variant(
            "ellipsoid_fluid",
            "geoms are pushed by a fluid, as ellipsoids",
            lambda model: bool((model.values["fluid_geomid"] >= 0).any()),
        ),
    ),
    integers=(
        ids("fluid_bodyid", ("nfluid",), "body on which a fluid acts"),
        Field(
            "fluid_geomid",
            ("nfluid",),
            1,
            "",
            "geom modelled as an ellipsoid; -1: the body as a box with its inertia",
        ),
    ),
    reals=(
        Field("density", ("one",), 1, "kg/m^3", "density of the fluid"),
        Field("viscosity", ("one",), 1, "Pa s", "viscosity of the fluid"),
        Field("wind", ("one",), 3, "m/s", "velocity of the fluid"),
        Field("fluid_shape", ("nfluid",), WIDTH, "", "constants of the fluid force (`model/parts/fluid.py`)"),
    ),
    values=lambda mjm: dict(zip(("fluid_bodyid", "fluid_geomid"), fluid_items(mjm), strict=True)),
    rules={
        "density": (("density",), lambda mjm, density: density.reshape(-1, 1)),
        "viscosity": (("viscosity",), lambda mjm, viscosity: viscosity.reshape(-1, 1)),
        "wind": (("wind",), lambda mjm, wind: wind),
        "fluid_shape": (("body_mass", "body_inertia", "geom_size"), fluid_shapes),
    },
    sizes=lambda mjm, values: {"nfluid": len(values["fluid_bodyid"])},
    scratch=(
        Field("qfrc_fluid", ("nfluiddof",), 1, "N or N m", "force of a fluid"),
        Field(
            "fluid_slope",
            ("nfluidrow", "six"),
            1,
            "",
            "derivative of the fluid's force and torque on a body by its motion",
        ),
    ),
    room=_room,
    hooks={
        BODY_FORCES: fluid_force,
        PASSIVE_FORCES: add_passive,
        FORCE_SLOPES: (fluid_slopes, fluid_slope_entry),
    },
    mujoco="geom_fluid",
    allowed={
        "opt.wind": AllowedNumbers(FINITE, "a velocity: its sign is free"),
        "opt.density": AllowedNumbers(NOT_NEGATIVE, "a property of the medium"),
        "opt.viscosity": AllowedNumbers(NOT_NEGATIVE, "a property of the medium"),
        "geom_fluid": AllowedNumbers(FINITE, "coefficients of a fluid's forces"),
    },
    parameters=(Parameter("density", found=True), Parameter("viscosity", found=True), Parameter("wind")),
)

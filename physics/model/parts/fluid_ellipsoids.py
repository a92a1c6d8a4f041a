"""The force of a fluid on an ellipsoid and its derivative by the velocity, in the ellipsoid's own frame.

MuJoCo's documentation, Computation: Ellipsoid fluid model: added mass, Magnus and Kutta lift, and drag. With the
semiaxes r, p = (r1 r2, r2 r0, r0 r1)^2 over the largest of the three, n the direction of the flow, P = sum p n^2 and
Q = sum p^2 n^2, the area that the flow meets is sqrt(Q / P) of the largest one. Drag and lift go with the
square of the speed: powers of the direction alone cannot run out of the range of single precision.
"""

from typing import Any

import taichi as ti

from ...base.math import SpatialMotion, Vec3
from ...base.math.lanes import let, traced

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

"""The cost of a contact with an elliptic friction cone, and its derivatives; all other blocks are in `cost`.

In the scaled space N = mu x_0, U_i = friction_i x_i, with mu = friction_1 / sqrt(impratio) and T = |U|, the cone is
circular (MuJoCo documentation, Computation: Elliptic cones). With s = D / mu^2 the cost has three zones: 0 where N >=
mu T (free), s (N^2 + T^2) / 2 where mu N + T <= 0 (sticking), and s (N - mu T)^2 / (1 + mu^2) / 2 between the two
(sliding). A contact without friction has mu = 1 and T = 0. Unused slots have D = 0.
"""

from typing import Any

import taichi as ti

from ...base.math import func
from ...base.math.lanes import LaneValue, let

TINY = 1e-30
FREE, HOLDS, SLIDES = 0.0, 1.0, 2.0
"""Zones of a contact."""


@func
def cone_force(work, rows, k: ti.i32, dim: ti.i32):
    """Set the force of contact k: minus the gradient of its cost with respect to its jar."""
    mu = rows.mu[k]
    normal, radius = mu * rows.jar.at(k, 0), _radius(work, rows, k, dim, work.real(0.0))
    zone = _zone(work, mu, normal, radius)
    # Forces along N and across it (per unit of U) in the scaled space, zone by zone.
    excess = (normal - mu * radius) / (1.0 + mu * mu)
    stiffness = _stiffness(work, rows, k, mu)
    along = ti.select(zone == HOLDS, normal, excess) * -stiffness
    across = ti.select(zone == HOLDS, -stiffness, stiffness * excess * mu / ti.max(radius, TINY))
    along = ti.select(zone == FREE, work.real(0.0), along)
    across = ti.select(zone == FREE, work.real(0.0), across)
    # Back to contact space.
    rows.force.at(k, 0)._assign(along * mu)
    for c in range(1, dim):
        friction = rows.friction.at(k, c - 1)
        rows.force.at(k, c)._assign(across * (rows.jar.at(k, c) * friction * friction))


@func
def cone_weight(work, k: ti.i32):
    """Update block_weight and cone_weight of contact k, and set weight_change and cross_change to the differences.

    `block_weight` has the entries (normal, normal), (normal, axis) and (axis, axis) of the second derivative, as for a
    pyramid; `cone_weight` has the entries between two different axes of friction, by rows below the diagonal. Returns
    the mask of the lanes in which an entry changed, and the mask of the lanes in which the zone did.
    """
    # Zone; contacts without stiffness are free.
    rows, dim = work.blocks, work.block_dim[k]
    mu = rows.mu[k]
    normal, radius = mu * rows.jar.at(k, 0), _radius(work, rows, k, dim, work.real(0.0))
    stiffness, zero = _stiffness(work, rows, k, mu), work.real(0.0)
    zone = ti.select(stiffness > 0.0, _zone(work, mu, normal, radius), work.real(FREE))
    # Second derivatives in the scaled space: (N, N), (N, U), and the parts U U' and identity of (U, U).
    soft = stiffness / (1.0 + mu * mu)
    inverse = 1.0 / ti.max(radius, TINY)
    turn = soft * (mu * radius - normal) * mu * inverse  # of the direction of sliding
    nn = ti.select(zone == SLIDES, soft, ti.select(zone == HOLDS, stiffness, zero))
    nu = ti.select(zone == SLIDES, -soft * mu * inverse, zero)
    uu = ti.select(zone == SLIDES, (soft * mu * mu - turn) * (inverse * inverse), zero)
    own = ti.select(zone == SLIDES, turn, ti.select(zone == HOLDS, stiffness, zero))
    # Back to contact space, entry by entry.
    changed = set_weight(work, k, 0, nn * (mu * mu))
    for c in range(1, dim):
        f = rows.friction.at(k, c - 1)
        u = rows.jar.at(k, c) * f
        changed = ti.max(changed, set_weight(work, k, 2 * c - 1, nu * u * (mu * f)))
        changed = ti.max(changed, set_weight(work, k, 2 * c, (uu * u * u + own) * (f * f)))
        for d in range(1, c):
            g = rows.friction.at(k, d - 1)
            entry = uu * u * rows.jar.at(k, d) * (f * g * g)
            changed = ti.max(changed, _set(work, work.cone_weight, work.cross_change, k, cross(c, d), entry))
    moved = work.lanes.mask(zone != work.cone_zone[k])
    work.cone_zone[k] = zone
    return changed, moved


@func
def cross(c: ti.i32, d: ti.i32):
    """Return the index in `cone_weight` of the entry for the axes c > d > 0."""
    return (c - 1) * (c - 2) // 2 + d - 1


@func
def set_weight(work, k: ti.i32, c: ti.i32, value):
    """Set entry c of block_weight, and weight_change to its change; return the mask of the lanes where it changed."""
    return _set(work, work.block_weight, work.weight_change, k, c, value)


@func
def _set(work, weights, changes, k: ti.i32, c: ti.i32, value):
    """Set entry c of row k of `weights`, and `changes` to its change; return the mask of the lanes where it changed."""
    change = value - weights.at(k, c)
    weights.at(k, c)._assign(value)
    changes[c] = change
    return work.lanes.mask(change != 0.0)


@func
def cone_along(work, rows, k: ti.i32, dim: ti.i32, step, with_cost):
    """Return the values of contact k's cost at `step` along Jv; the change is 0 unless `with_cost`, a Python bool."""
    mu = rows.mu[k]
    before, speed = mu * rows.jar.at(k, 0), mu * rows.Jv.at(k, 0)
    normal = before + step * speed
    radius = _radius(work, rows, k, dim, step)
    # U . V and |V|^2 of the scaled tangential velocity V.
    across, square = work.real(0.0), work.real(0.0)
    for c in range(1, dim):
        f = rows.friction.at(k, c - 1)
        v = rows.Jv.at(k, c) * f
        across += (rows.jar.at(k, c) * f + step * v) * v
        square += v * v
    # Derivatives along the line in each zone.
    zone = _zone(work, mu, normal, radius)
    stiffness, zero = _stiffness(work, rows, k, mu), work.real(0.0)
    soft = stiffness / (1.0 + mu * mu)
    inverse = 1.0 / ti.max(radius, TINY)
    sinking = speed - mu * (across * inverse)
    excess = normal - mu * radius
    bend = (square - (across * inverse) * (across * inverse)) * inverse
    slope = ti.select(zone == HOLDS, stiffness * (normal * speed + across), soft * excess * sinking)
    curve = ti.select(
        zone == HOLDS, stiffness * (speed * speed + square), soft * (sinking * sinking - excess * mu * bend)
    )
    cost = zero
    if ti.static(with_cost):
        here = _radius(work, rows, k, dim, zero)
        cost = _cost(work, zone, stiffness, mu, normal, radius)
        cost -= _cost(work, _zone(work, mu, before, here), stiffness, mu, before, here)
    return Along(cost, ti.select(zone == FREE, zero, slope), ti.select(zone == FREE, zero, curve))


@func
def _cost(work, zone, stiffness, mu, normal, radius):
    """Return twice the cost at the scaled normal N and radius T."""
    excess = normal - mu * radius
    sliding = stiffness / (1.0 + mu * mu) * excess * excess
    cost = ti.select(zone == HOLDS, stiffness * (normal * normal + radius * radius), sliding)
    return ti.select(zone == FREE, work.real(0.0), cost)


@func
def _radius(work, rows, k: ti.i32, dim: ti.i32, step):
    """Return T at `step` along Jv."""
    square = work.real(0.0)
    for c in range(1, dim):
        u = (rows.jar.at(k, c) + step * rows.Jv.at(k, c)) * rows.friction.at(k, c - 1)
        square += u * u
    return ti.sqrt(square)


@func
def _zone(work, mu, normal, radius):
    """Return the zone of a contact, FREE, HOLDS or SLIDES, at the scaled normal N and radius T."""
    zone = ti.select(mu * normal + radius <= 0.0, work.real(HOLDS), work.real(SLIDES))
    return ti.select(normal >= mu * radius, work.real(FREE), zone)


@func
def _stiffness(work, rows, k: ti.i32, mu):
    """Return s = D / mu^2 of contact k."""
    return rows.stiffness(k, 1) / ti.max(mu * mu, TINY)


class Along(LaneValue):
    """Twice the change of a cost from step 0 to another step of a line, and its two derivatives there."""

    def __init__(self, change: Any, slope: Any, curve: Any) -> None:
        self.change, self.slope, self.curve = let(change), let(slope), let(curve)

    def parts(self) -> tuple:
        """The components."""
        return self.change, self.slope, self.curve

    def __add__(self, other: "Along") -> "Along":
        return Along(*(a + b for a, b in zip(self.parts(), other.parts(), strict=True)))

    def __mul__(self, scale: Any) -> "Along":
        return Along(*(part * scale for part in self.parts()))

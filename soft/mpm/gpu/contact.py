"""Kernels of contact between nodes and geoms, one geom after the other: `contact.touching` says what happens there.

Nodes near a geom are shared by `SHARES` threads of an environment. Each thread adds up its nodes in their order, and
one thread adds up the sums of all: so a sum has one order, whatever the batch.
"""

from typing import Any

import taichi as ti
from taichi.lang.impl import subscript

from ....physics.base.math import func
from ....physics.base.math.func import with_types
from ..contact.fields import FIELDS, SampledField
from ..contact.shapes import CLOSED, rounded
from ..contact.touching import FAINT, GAP, REACH, ROUND
from ..kernels.layout import ACTIVE, BODY, BODY_NUMBERS, GEOM_NUMBERS, LANES, POS, POSE
from ..laws.traced import KernelArithmetic, LocalNumber, in_kernels, vector
from .words import ARRAYS, BLOCK_DIM, DX, ORIGIN, SHARES, box_of, count_of, node_of, number_of

GEOM_STARTS = {name: sum(list(GEOM_NUMBERS.values())[:k]) for k, name in enumerate(GEOM_NUMBERS)}
"""The first number of a geom by name."""
LOW, HIGH, CELL = GEOM_STARTS["low"], GEOM_STARTS["high"], GEOM_STARTS["cell"]
FRICTION, SOFTNESS, RESTITUTION = (GEOM_STARTS[name] for name in ("friction", "softness", "restitution"))
BODY_OF, COUNTS, FIRST_VALUE, FIELD_NUMBERS = 0, 1, 4, 5
"""Places in `fields`: the body of a geom among those that recoil (-1: none), counts of values (3), the first value."""
SIX, MET = 6, 27
"""Sums over nodes that meet a body: the upper triangle of their inertia (21), then the impulse (6) that stops them."""
PAIRS = [(a, b) for a in range(SIX) for b in range(a, SIX)]
COM, VELOCITY, SPIN = (BODY_NUMBERS[name] for name in ("com", "velocity", "spin"))
ACCELERATION, ROOT = BODY_NUMBERS["acceleration"], BODY_NUMBERS["root"]


@func
def _three(array, env: ti.i32, row: ti.i32, first: ti.i32):
    """Return three numbers of a row."""
    return ti.Vector([array[env, row, first + k] for k in range(3)])


@func
def _turn(poses, env: ti.i32, g: ti.i32):
    """Return the rotation (3, 3) of a geom."""
    return ti.Matrix([[poses[env, g, 3 + 3 * r + c] for c in range(3)] for r in range(3)])


@func
def _place(domain, at):
    """Return the place (3,) of a node, m."""
    return ti.Vector([ti.cast(at[k], ti.f32) * domain[DX] + domain[ORIGIN + k] for k in range(3)])


@func
def _reach(domain, geoms, g: ti.i32):
    """Return the distance where contact with a geom ends, m."""
    return domain[DX] * REACH + geoms[g, SOFTNESS] * FAINT


@func
def _near(domain, boxes, phase: ti.i32, geoms, poses, env: ti.i32, g: ti.i32):
    """Return first and end (3,) of the nodes that are near a geom: its box, in that of the environment."""
    first, end = box_of(boxes, phase, env)
    turn, reach = _turn(poses, env, g), _reach(domain, geoms, g)
    for axis in ti.static(range(3)):
        at, wide = poses[env, g, axis], reach
        for c in ti.static(range(3)):
            at += turn[axis, c] * (geoms[g, LOW + c] + geoms[g, HIGH + c]) * 0.5
            wide += ti.abs(turn[axis, c]) * (geoms[g, HIGH + c] - geoms[g, LOW + c]) * 0.5
        before, after = (
            (at - wide - domain[ORIGIN + axis]) / domain[DX],
            (at + wide - domain[ORIGIN + axis]) / domain[DX],
        )
        first[axis] = ti.max(first[axis], ti.cast(ti.floor(ti.min(ti.max(before, -1e6), 1e6)), ti.i32))
        end[axis] = ti.min(end[axis], ti.cast(ti.floor(ti.min(ti.max(after, -1e6), 1e6)), ti.i32) + 1)
    return first, end


@in_kernels
def _shape_distance(kind: str, domain: Any, geoms: Any, fields: Any, values: Any, g: Any, place: Any) -> Any:
    """Return the distance of a place from a shape, and the direction away from it, in the shape's frame: (4,)."""
    m = KernelArithmetic()
    p = [LocalNumber(subscript(None, place, k)) for k in range(3)]

    def numbers(first: int) -> list:
        return [LocalNumber(subscript(None, geoms, g, first + k)) for k in range(3)]

    if kind in CLOSED:
        radius = LocalNumber(subscript(None, domain, DX)) * ROUND
        distance, away = rounded(m, kind, numbers(GEOM_STARTS["size"]), radius, p)
    else:
        counts = [LocalNumber(subscript(None, fields, g, COUNTS + k)) for k in range(3)]
        first = LocalNumber(subscript(None, fields, g, FIRST_VALUE))
        field = SampledField(
            numbers(LOW), numbers(CELL), counts, lambda n: LocalNumber(subscript(None, values, (first + n).value))
        )
        distance, away = FIELDS[kind](m, field, p)
    return vector([distance, *away])


@func
def _distance(kind, domain, geoms, fields, values, poses, env: ti.i32, g: ti.i32, x):
    """Return the distance of a point from a geom (m), and the direction away (3,), in the world."""
    turn = _turn(poses, env, g)
    found = _shape_distance(kind, domain, geoms, fields, values, g, turn.transpose() @ (x - _three(poses, env, g, 0)))
    return found[0], turn @ ti.Vector([found[1], found[2], found[3]])


@func
def _touch(kind, domain, geoms, fields, values, poses, bodies, grid, env: ti.i32, g: ti.i32, at, node: ti.i32):
    """Return what contact needs of a node.

    Returns:
        The share of its velocity that contact takes (0 if it does not approach), the normal (3,), the arm from the
        body's centre of mass (3,) m, the velocity relative to the geom (3,), and its part along the normal, m/s.
    """
    x = _place(domain, at)
    distance, normal = _distance(kind, domain, geoms, fields, values, poses, env, g, x)
    arm, u = x, ti.Vector([0.0, 0.0, 0.0])
    slot = fields[g, BODY_OF]
    if slot >= 0:
        arm -= _three(bodies, env, slot, COM)
        u = _three(bodies, env, slot, VELOCITY) + _three(bodies, env, slot, SPIN).cross(arm)
    relative = _three(grid, env, node, 0) - u
    along, full, share = relative.dot(normal), domain[DX] * REACH, 0.0
    if grid[env, node, 3] > 0.0 and distance <= _reach(domain, geoms, g) and along < 0.0:
        share = 1.0
        if distance > full:
            share = ti.exp((full - distance) / ti.max(geoms[g, SOFTNESS], 1e-10))
    return share, normal, arm, relative, along


def make_meeting(kind: str) -> Any:
    """Return the kernel that adds up inertia, and the impulse that would stop it, of the nodes that approach a geom."""

    @ti.kernel
    @with_types(ARRAYS)
    def meeting(
        domain,
        nodes,
        ended,
        boxes,
        grid,
        geoms,
        fields,
        values,
        poses,
        bodies,
        parts,
        g: ti.i32,
        phase: ti.i32,
        substep: ti.i32,
    ):
        ti.loop_config(block_dim=BLOCK_DIM)
        for item in range(ended.shape[0] * SHARES):
            env, n = item // SHARES, item % SHARES
            if ended[env] >= substep:
                first, end = _near(domain, boxes, phase, geoms, poses, env, g)
                count, sums = count_of(first, end), ti.Vector([0.0] * MET)
                while n < count:
                    at = node_of(first, end, n)
                    node = number_of(nodes, at)
                    share, normal, arm, _relative, along = _touch(
                        kind, domain, geoms, fields, values, poses, bodies, grid, env, g, at, node
                    )
                    if share > 0.0:
                        weight = grid[env, node, 3] * share * (geoms[g, RESTITUTION] + 1.0)
                        turning = arm.cross(normal)
                        ray = ti.Vector([normal[0], normal[1], normal[2], turning[0], turning[1], turning[2]])
                        for a in ti.static(range(SIX)):
                            for b in ti.static(range(a, SIX)):
                                sums[ti.static(PAIRS.index((a, b)))] += weight * ray[a] * ray[b]
                            sums[MET - SIX + a] += weight * ray[a] * along
                    n += SHARES
                for k in ti.static(range(MET)):
                    parts[env, item % SHARES, k] = sums[k]

    return meeting


def make_stopping(kind: str) -> Any:
    """Return the kernel that changes the velocities of nodes at a geom, and adds up the impulse that its body gets."""

    @ti.kernel
    @with_types(ARRAYS)
    def stopping(
        domain,
        nodes,
        ended,
        boxes,
        grid,
        geoms,
        fields,
        values,
        poses,
        bodies,
        parts,
        g: ti.i32,
        phase: ti.i32,
        substep: ti.i32,
    ):
        ti.loop_config(block_dim=BLOCK_DIM)
        for item in range(ended.shape[0] * SHARES):
            env, n = item // SHARES, item % SHARES
            if ended[env] >= substep:
                first, end = _near(domain, boxes, phase, geoms, poses, env, g)
                count, impulse, spin = count_of(first, end), ti.Vector([0.0] * 3), ti.Vector([0.0] * 3)
                while n < count:
                    at = node_of(first, end, n)
                    node = number_of(nodes, at)
                    share, normal, arm, relative, along = _touch(
                        kind, domain, geoms, fields, values, poses, bodies, grid, env, g, at, node
                    )
                    if share > 0.0:
                        slide = relative - normal * along
                        left = ti.max(along * geoms[g, FRICTION] / ti.max(slide.norm(), 1e-12) + 1.0, 0.0)
                        change = (slide * (left - 1.0) - normal * (along * (geoms[g, RESTITUTION] + 1.0))) * share
                        for k in ti.static(range(3)):
                            grid[env, node, k] = grid[env, node, k] + change[k]
                        force = change * -grid[env, node, 3]
                        impulse += force
                        spin += arm.cross(force)
                    n += SHARES
                if fields[g, BODY_OF] >= 0:
                    for k in ti.static(range(3)):
                        parts[env, item % SHARES, k] = impulse[k]
                        parts[env, item % SHARES, 3 + k] = spin[k]

    return stopping


def make_put_back(kind: str) -> Any:
    """Return the kernel that moves particles inside of a geom to its surface."""

    @ti.kernel
    @with_types(ARRAYS)
    def put_back(memory, domain, ended, geoms, fields, values, poses, g: ti.i32, substep: ti.i32):
        ti.loop_config(block_dim=BLOCK_DIM)
        for item in range(memory.shape[0] * memory.shape[1] * LANES):
            lane, block, env = item % LANES, item // LANES % memory.shape[1], item // LANES // memory.shape[1]
            active = memory[env, block, ACTIVE, lane]
            if ended[env] >= substep and 0.0 < active <= 1.0:
                x = ti.Vector([memory[env, block, POS + k, lane] for k in range(3)])
                distance, away = _distance(kind, domain, geoms, fields, values, poses, env, g, x)
                depth = ti.min(distance - domain[DX] * GAP, 0.0)
                for k in ti.static(range(3)):
                    memory[env, block, POS + k, lane] = x[k] - depth * away[k]

    return put_back


def make_add_up() -> Any:
    """Return the kernel that adds up the first sums of all threads of each environment."""

    @ti.kernel
    @with_types(ARRAYS)
    def add_up(ended, parts, totals, count: ti.i32, substep: ti.i32):
        ti.loop_config(block_dim=BLOCK_DIM)
        for item in range(ended.shape[0] * count):
            env, k = item // count, item % count
            if ended[env] >= substep:
                total = 0.0
                for part in range(SHARES):
                    total += parts[env, part, k]
                totals[env, k] = total

    return add_up


def make_copy_bodies() -> Any:
    """Return the kernel that copies poses and bodies for a launch, in which they move, and clears their impulses."""

    @ti.kernel
    @with_types(ARRAYS)
    def copy_bodies(ended, start_poses, start_bodies, poses, bodies, wrenches, count: ti.i32):
        ti.loop_config(block_dim=BLOCK_DIM)
        for env in range(ended.shape[0]):
            if ended[env] >= 0:
                for g in range(poses.shape[1]):
                    for k in range(POSE):
                        poses[env, g, k] = start_poses[env, g, k]
                for slot in range(count):
                    for k in range(BODY):
                        bodies[env, slot, k] = start_bodies[env, slot, k]
                    for k in ti.static(range(SIX)):
                        wrenches[env, slot, k] = 0.0

    return copy_bodies


def make_carry() -> Any:
    """Return the kernel that moves geoms and bodies by a substep."""

    @ti.kernel
    @with_types(ARRAYS)
    def carry(domain, ended, fields, poses, bodies, count: ti.i32, substep: ti.i32):
        ti.loop_config(block_dim=BLOCK_DIM)
        for env in range(ended.shape[0]):
            if ended[env] >= substep:
                dt = domain[0]
                for g in range(fields.shape[0]):
                    slot = fields[g, BODY_OF]
                    if slot >= 0:
                        v, w = _three(bodies, env, slot, VELOCITY), _three(bodies, env, slot, SPIN)
                        way = v + w.cross(_three(poses, env, g, 0) - _three(bodies, env, slot, COM))
                        turn = _turn(poses, env, g)
                        for axis in ti.static(range(3)):
                            poses[env, g, axis] = poses[env, g, axis] + way[axis] * dt
                            column = ti.Vector([turn[0, axis], turn[1, axis], turn[2, axis]])
                            rate = w.cross(column)
                            for r in ti.static(range(3)):
                                poses[env, g, 3 + 3 * r + axis] = column[r] + rate[r] * dt
                for slot in range(count):
                    for k in ti.static(range(3)):
                        bodies[env, slot, COM + k] = bodies[env, slot, COM + k] + bodies[env, slot, VELOCITY + k] * dt
                    for k in ti.static(range(SIX)):
                        rate = bodies[env, slot, ACCELERATION + k]
                        bodies[env, slot, VELOCITY + k] = bodies[env, slot, VELOCITY + k] + rate * dt

    return carry


def make_meet() -> Any:
    """Return the kernel that finds the velocities that a body has together with the nodes it meets."""

    @ti.kernel
    @with_types(ARRAYS)
    def meet(ended, bodies, totals, kept, slot: ti.i32, substep: ti.i32):
        ti.loop_config(block_dim=BLOCK_DIM)
        for env in range(ended.shape[0]):
            if ended[env] >= substep:
                for k in ti.static(range(SIX)):
                    kept[env, k] = bodies[env, slot, VELOCITY + k]
                change = _met(bodies, totals, env, slot)
                for k in ti.static(range(SIX)):
                    bodies[env, slot, VELOCITY + k] = kept[env, k] + change[k]

    return meet


def make_respond() -> Any:
    """Return the kernel that gives a body the impulse of nodes, instead of the velocities that it had with them."""

    @ti.kernel
    @with_types(ARRAYS)
    def respond(ended, bodies, totals, kept, wrenches, slot: ti.i32, substep: ti.i32):
        ti.loop_config(block_dim=BLOCK_DIM)
        for env in range(ended.shape[0]):
            if ended[env] >= substep:
                change = _change(bodies, totals, env, slot)
                for k in ti.static(range(SIX)):
                    bodies[env, slot, VELOCITY + k] = kept[env, k] + change[k]
                    wrenches[env, slot, k] = wrenches[env, slot, k] + totals[env, k]

    return respond


def _root(bodies: Any, env: Any, slot: Any) -> list[list[LocalNumber]]:
    """Return L (6, 6), where L L' is the inverse of a body's inertia."""
    return [
        [LocalNumber(subscript(None, bodies, env, slot, ROOT + SIX * r + c)) for c in range(SIX)] for r in range(SIX)
    ]


def _dot(a: Any, b: Any) -> Any:
    first, *others = (x * y for x, y in zip(a, b, strict=True))
    for x in others:
        first = first + x
    return first


def _column(rows: list, c: int) -> list:
    return [row[c] for row in rows]


@in_kernels
def _change(bodies: Any, totals: Any, env: Any, slot: Any) -> Any:
    """Return the change L L' b (6,) of velocities by an impulse b, the first totals."""
    root = _root(bodies, env, slot)
    impulse = [LocalNumber(subscript(None, totals, env, k)) for k in range(SIX)]
    y = [_dot(_column(root, c), impulse) for c in range(SIX)]
    return vector([_dot(row, y) for row in root])


@in_kernels
def _met(bodies: Any, totals: Any, env: Any, slot: Any) -> Any:
    """Return the change L y (6,) of velocities by nodes of inertia A and impulse b: (1 + L' A L) y = L' b.

    The matrix is symmetric and at least 1, so that no pivot of the elimination is small.
    """
    root = _root(bodies, env, slot)
    sums = [LocalNumber(subscript(None, totals, env, k)) for k in range(MET)]
    inertia = {pair: sums[k] for k, pair in enumerate(PAIRS)}
    A = [[inertia[min(r, c), max(r, c)] for c in range(SIX)] for r in range(SIX)]
    half = [[_dot(A[r], _column(root, c)) for c in range(SIX)] for r in range(SIX)]
    S = [[_dot(_column(root, r), _column(half, c)) for c in range(SIX)] for r in range(SIX)]
    for k in range(SIX):
        S[k][k] = S[k][k] + 1.0
    y = [_dot(_column(root, r), sums[MET - SIX :]) for r in range(SIX)]
    for p in range(SIX):
        for r in range(p + 1, SIX):
            factor = S[r][p] / S[p][p]
            y[r] = y[r] - factor * y[p]
            S[r] = [x - factor * above for x, above in zip(S[r], S[p], strict=True)]
    for r in reversed(range(SIX)):
        for c in range(r + 1, SIX):
            y[r] = y[r] - S[r][c] * y[c]
        y[r] = y[r] / S[r][r]
    return vector([_dot(row, y) for row in root])

"""Arrays that kernels share, fixed-point numbers, and the nodes that a particle reaches."""

import math
from typing import Any

import taichi as ti

from ....physics.base.math import func
from ..kernels.layout import FIXED, POS

BLOCK_DIM = 128
"""Threads of a block."""
SHARES = 128
"""Threads that share the nodes of an environment: as many for any batch, as sums over nodes have their order."""
NEVER = 2**31 - 1
"""The substep, in `ended`, in which an environment is stopped that is not."""
DT, DX, ORIGIN, LOW, HIGH, DOMAIN = 0, 1, 2, 5, 8, 11
"""Places in `domain`: length of a substep, of a cell, the place of node 0, 0, 0, the walls."""
OF_MASS, OF_MOMENTUM = 0, 1
FASTEST = 2.0**10
"""The largest contribution of a particle to the momentum of a node, in masses of the heaviest material's particle times
cells in a substep; more, or what is not finite, stops the environment. A particle that is faster than one cell in a
substep does so too, and stress that gives a thousand of it."""
HEAVIEST = 2.0 ** math.ceil(math.log2(FIXED))
"""The largest mass that a particle gives to a node, in masses of the heaviest material's particle: of fixed ones."""
MOST_BITS = 40
_SUM_BITS = 62

_TYPES = {
    "memory": (ti.f32, 4),  # (envs, blocks, ROWS, LANES)
    "before": (ti.f32, 4),
    "numbers": (ti.f32, 3),  # (envs, matters, NUMBERS)
    "gravity": (ti.f32, 2),
    "faults": (ti.i64, 1),
    "held": (ti.i64, 1),
    "domain": (ti.f32, 1),
    "nodes": (ti.i32, 1),
    "ended": (ti.i32, 1),  # (envs,): the substep in which an environment failed, -1: before the launch
    "scales": (ti.f32, 2),  # (envs, 2): fixed-point numbers of a unit of mass, of momentum
    "boxes": (ti.i32, 3),  # (envs, 2, 6): first and end of the nodes that particles reach, of this substep and the next
    "sums": (ti.i64, 3),  # (envs, nodes, 4): momentum and mass, fixed-point
    "grid": (ti.f32, 3),  # (envs, nodes, 4): velocity and mass
    "geoms": (ti.f32, 2),  # (geoms, numbers): layout.GEOM_NUMBERS
    "fields": (ti.i32, 2),  # (geoms, 5): body, counts of values, the first value
    "values": (ti.f32, 1),
    "poses": (ti.f32, 3),  # (envs, geoms, POSE)
    "bodies": (ti.f32, 3),  # (envs, bodies, BODY)
    "start_poses": (ti.f32, 3),
    "start_bodies": (ti.f32, 3),
    "wrenches": (ti.f32, 3),  # (envs, bodies, WRENCH)
    "parts": (ti.f32, 3),  # (envs, SHARES, MET): sums of one thread
    "totals": (ti.f32, 2),  # (envs, MET)
    "kept": (ti.f32, 2),  # (envs, 6)
}
ARRAYS: dict[str, Any] = {name: ti.types.ndarray(dtype, ndim) for name, (dtype, ndim) in _TYPES.items()}
"""Types of the kernels' arrays by name; the dimensions are those of `Batch`, of the environments of a slice."""


def scale_bits(particles: int) -> tuple[int, int]:
    """Return the bits after the point of masses and momenta, so that a sum over all particles cannot overflow."""
    free = _SUM_BITS - math.ceil(math.log2(max(2, particles)))
    return min(MOST_BITS, free - round(math.log2(HEAVIEST))), min(MOST_BITS, free - round(math.log2(FASTEST)))


@func
def fixed_point(x):
    """Return the nearest integer in 64 bits."""
    return ti.cast(ti.floor(x + 0.5), ti.i64)


@func
def triple(array, first: ti.i32):
    """Return three numbers of a flat array."""
    return ti.Vector([array[first], array[first + 1], array[first + 2]])


@func
def position(memory, env: ti.i32, block: ti.i32, lane: ti.i32):
    """Return where a particle is, (3,) m."""
    return ti.Vector([memory[env, block, POS + k, lane] for k in range(3)])


@func
def reached(domain, nodes, x):
    """Return the first node (3,) that a particle at x reaches, and its place from there, in cells (0.5 to 1.5)."""
    at = (x - triple(domain, ORIGIN)) * (1.0 / domain[DX])
    base = ti.floor(at - 0.5)
    first = ti.cast(base, ti.i32)
    for axis in ti.static(range(3)):  # of what is not finite, too, as the address has to exist
        first[axis] = ti.max(0, ti.min(first[axis], nodes[axis] - 3))
    return first, at - base


@func
def weights(inside):
    """Return the weights (axis, node) of the quadratic B-spline at a place in cells."""
    left, middle, right = 1.5 - inside, inside - 1.0, inside - 0.5
    return ti.Matrix.cols([left * left * 0.5, 0.75 - middle * middle, right * right * 0.5])


@func
def number_of(nodes, at):
    """Return the number of a node (3,)."""
    return (at[0] * nodes[1] + at[1]) * nodes[2] + at[2]


@func
def count_of(first, end):
    """Return how many nodes are in a box."""
    size = ti.max(end - first, 0)
    return size[0] * size[1] * size[2]


@func
def node_of(first, end, n: ti.i32):
    """Return the n-th node (3,) of a box."""
    size = end - first
    return first + ti.Vector([n // (size[1] * size[2]), n // size[2] % size[1], n % size[2]])


@func
def box_of(boxes, phase: ti.i32, env: ti.i32):
    """Return first (3,) and end (3,) of an environment's nodes."""
    first = ti.Vector([boxes[env, phase, axis] for axis in range(3)])
    end = ti.Vector([boxes[env, phase, 3 + axis] for axis in range(3)])
    return first, end


@func
def widen(boxes, phase: ti.i32, env: ti.i32, first):
    """Put the nodes of a particle into an environment's box; most particles change nothing and only read."""
    for axis in ti.static(range(3)):
        if first[axis] < boxes[env, phase, axis]:
            ti.atomic_min(boxes[env, phase, axis], first[axis])
        if first[axis] + 3 > boxes[env, phase, 3 + axis]:
            ti.atomic_max(boxes[env, phase, 3 + axis], first[axis] + 3)


@func
def empty(boxes, phase: ti.i32, env: ti.i32):
    """Make an environment's box empty."""
    for axis in ti.static(range(3)):
        boxes[env, phase, axis] = NEVER
        boxes[env, phase, 3 + axis] = 0

"""Kernels of particles: one thread takes one particle.

The formulas are those of `kernels.particles` and `kernels.transfer`. Contributions to nodes are added as fixed-point
numbers: integers have the same sum in any order, so threads may add when they want.
"""

from typing import Any

import taichi as ti
from taichi.lang.impl import subscript

from ....physics.base.math import func
from ....physics.base.math.func import with_types
from ..kernels.layout import ACTIVE, AFFINE, LANES, NUMBERS, POS, REST, ROWS, STRAIN, VEL, VOLUME
from ..laws.laws import LAWS, LawKind
from ..laws.tensors import PLACES, advanced
from ..laws.traced import KernelArithmetic, LocalNumber, in_kernels
from .words import (
    ARRAYS,
    BLOCK_DIM,
    DT,
    DX,
    FASTEST,
    HIGH,
    LOW,
    NEVER,
    OF_MASS,
    OF_MOMENTUM,
    empty,
    fixed_point,
    number_of,
    position,
    reached,
    triple,
    weights,
    widen,
)


def make_begin() -> Any:
    """Return the kernel that prepares environments for a launch: who takes part, and scales of fixed-point numbers."""

    @ti.kernel
    @with_types(ARRAYS)
    def begin(numbers, faults, domain, ended, scales, boxes, mass_scale: ti.f32, momentum_scale: ti.f32):
        ti.loop_config(block_dim=BLOCK_DIM)
        for env in range(faults.shape[0]):
            ended[env] = NEVER if faults[env] == 0 else -1
            heaviest = 0.0
            for matter in range(numbers.shape[1]):
                heaviest = ti.max(heaviest, numbers[env, matter, 0])
            scales[env, OF_MASS] = mass_scale / heaviest
            scales[env, OF_MOMENTUM] = momentum_scale * domain[DT] / (heaviest * domain[DX])
            empty(boxes, 0, env)

    return begin


def make_find_box() -> Any:
    """Return the kernel that finds the nodes that particles reach, before the first substep."""

    @ti.kernel
    @with_types(ARRAYS)
    def find_box(memory, domain, nodes, boxes):
        ti.loop_config(block_dim=BLOCK_DIM)
        for item in range(memory.shape[0] * memory.shape[1] * LANES):
            lane, block, env = item % LANES, item // LANES % memory.shape[1], item // LANES // memory.shape[1]
            if memory[env, block, ACTIVE, lane] > 0.0:
                first, _inside = reached(domain, nodes, position(memory, env, block, lane))
                widen(boxes, 0, env, first)

    return find_box


@func
def _affine(memory, env: ti.i32, block: ti.i32, lane: ti.i32):
    """Return the affine velocity of a particle, (3, 3) 1/s."""
    return ti.Matrix([[memory[env, block, AFFINE + 3 * i + j, lane] for j in range(3)] for i in range(3)])


@in_kernels
def _advance_strain(kind: LawKind, memory: Any, numbers: Any, at: tuple, matter: Any, step: Any) -> Any:
    """Advance strain and volume of a particle by a step (3, 3) of the deformation; return its stress (3, 3), Pa."""
    env, block, lane = at
    m = KernelArithmetic()

    def row(k: int) -> Any:
        return subscript(None, memory, env, block, k, lane)

    L = [[LocalNumber(subscript(None, step, i, j)) for j in range(3)] for i in range(3)]
    trace = L[0][0] + L[1][1] + L[2][2]
    rate = [L[i][i] for i in range(3)] + [(L[i][j] + L[j][i]) * 0.5 for i, j in ((0, 1), (0, 2), (1, 2))]
    volume, strain = LocalNumber(row(VOLUME)), []
    if kind.strains:
        strain = advanced([LocalNumber(row(STRAIN + k)) for k in range(6)], L)
    else:
        volume = volume + (volume + 1.0) * trace
    of_law = [LocalNumber(subscript(None, numbers, env, matter, 2 + k)) for k in range(NUMBERS - 2)]
    strain, volume, stress = kind.law(m, strain, volume, of_law, rate)
    for k, x in enumerate(strain):
        row(STRAIN + k)._assign(x.value)
    row(VOLUME)._assign(volume.value)
    return ti.Matrix([[stress[PLACES[i][j]].value for j in range(3)] for i in range(3)])


def make_to_grid(law: str) -> Any:
    """Return the kernel that advances the strains of a material of a law, and adds mass and momenta to the nodes."""
    kind = LAWS[law]

    @ti.kernel
    @with_types(ARRAYS)
    def to_grid(
        memory,
        numbers,
        gravity,
        domain,
        nodes,
        ended,
        scales,
        sums,
        matter: ti.i32,
        begin: ti.i32,
        count: ti.i32,
        substep: ti.i32,
    ):
        # begin, count: the blocks of the material
        ti.loop_config(block_dim=BLOCK_DIM)
        for item in range(memory.shape[0] * count * LANES):
            lane, block, env = item % LANES, begin + item // LANES % count, item // LANES // count
            active = memory[env, block, ACTIVE, lane]
            if ended[env] >= substep and active > 0.0:
                dt, dx = domain[DT], domain[DX]
                free = ti.select(active > 1.0, 0.0, 1.0)  # fixed particles give mass and stress only
                rates = _affine(memory, env, block, lane) * free
                stress = _advance_strain(kind, memory, numbers, (env, block, lane), matter, rates * dt)
                mass = active * numbers[env, matter, 0]
                of_stress = ti.min(active, 1.0) * numbers[env, matter, 1] * dt * -4.0 / dx
                A = rates * (mass * dx) + stress * of_stress
                velocity = (
                    ti.Vector([memory[env, block, VEL + k, lane] + gravity[env, k] * dt for k in range(3)]) * free
                )
                first, inside = reached(domain, nodes, position(memory, env, block, lane))
                momentum = velocity * mass - A @ inside  # of node 0, 0, 0, for a weight of 1
                if _is_bounded(momentum, A, FASTEST * numbers[env, matter, 0] * dx / dt):
                    _add(sums, nodes, env, first, weights(inside), momentum, A, mass, scales)
                else:
                    ti.atomic_min(ended[env], substep)

    return to_grid


@func
def _is_bounded(momentum, A, most):
    """Return whether momenta of all nodes are below a bound: not if one is not a number."""
    bounded = True
    for i in ti.static(range(3)):
        size = ti.abs(momentum[i]) + 2.0 * (ti.abs(A[i, 0]) + ti.abs(A[i, 1]) + ti.abs(A[i, 2]))
        bounded = bounded and size < most
    return bounded


@func
def _add(sums, nodes, env: ti.i32, first, weight, momentum, A, mass, scales):
    """Add a particle's mass and momentum to its 27 nodes."""
    of_mass, of_momentum = scales[env, OF_MASS], scales[env, OF_MOMENTUM]
    for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
        share = weight[0, i] * weight[1, j] * weight[2, k]
        node = number_of(nodes, first + ti.Vector([i, j, k]))
        given = (momentum + A @ ti.Vector([float(i), float(j), float(k)])) * (share * of_momentum)
        for axis in ti.static(range(3)):
            ti.atomic_add(sums[env, node, axis], fixed_point(given[axis]))
        ti.atomic_add(sums[env, node, 3], fixed_point(mass * share * of_mass))


def make_from_grid() -> Any:
    """Return the kernel that takes velocities from the nodes, and moves the particles."""

    @ti.kernel
    @with_types(ARRAYS)
    def from_grid(memory, domain, nodes, ended, grid, substep: ti.i32):
        ti.loop_config(block_dim=BLOCK_DIM)
        for item in range(memory.shape[0] * memory.shape[1] * LANES):
            lane, block, env = item % LANES, item // LANES % memory.shape[1], item // LANES // memory.shape[1]
            active = memory[env, block, ACTIVE, lane]
            if ended[env] >= substep and active > 0.0:
                first, inside = reached(domain, nodes, position(memory, env, block, lane))
                velocity, affine = _gathered(grid, nodes, env, first, inside)
                moves, slow = active <= 1.0, True
                for i in ti.static(range(3)):
                    memory[env, block, VEL + i, lane] = velocity[i] if moves else 0.0
                    for j in ti.static(range(3)):
                        rate = affine[i, j] * (4.0 * (1.0 / domain[DX]))
                        memory[env, block, AFFINE + 3 * i + j, lane] = rate if moves else 0.0
                for axis in ti.static(range(3)):
                    way, before = velocity[axis] * domain[DT], memory[env, block, POS + axis, lane]
                    slow = slow and ti.abs(way) < domain[DX]
                    change = way + memory[env, block, REST + axis, lane]
                    after = before + change
                    memory[env, block, REST + axis, lane] = change - (after - before) if moves else 0.0
                    memory[env, block, POS + axis, lane] = after if moves else before
                if moves and not slow:
                    ti.atomic_min(ended[env], substep)

    return from_grid


def make_hold() -> Any:
    """Return the kernel that holds particles at the walls, and finds the box of all."""

    @ti.kernel
    @with_types(ARRAYS)
    def hold(memory, domain, nodes, ended, boxes, held, phase: ti.i32, substep: ti.i32):
        ti.loop_config(block_dim=BLOCK_DIM)
        for item in range(memory.shape[0] * memory.shape[1] * LANES):
            lane, block, env = item % LANES, item // LANES % memory.shape[1], item // LANES // memory.shape[1]
            active = memory[env, block, ACTIVE, lane]
            if ended[env] >= substep and active > 0.0:
                x, low, high = position(memory, env, block, lane), triple(domain, LOW), triple(domain, HIGH)
                outside = False
                for axis in ti.static(range(3)):
                    outside = outside or x[axis] < low[axis] or x[axis] > high[axis]
                    x[axis] = ti.select(x[axis] > low[axis], x[axis], low[axis])  # the wall, if x is not a number
                    x[axis] = ti.select(x[axis] < high[axis], x[axis], high[axis])
                    if active <= 1.0:
                        memory[env, block, POS + axis, lane] = x[axis]
                if outside:
                    ti.atomic_add(held[env], ti.cast(1, ti.i64))
                after, _place = reached(domain, nodes, position(memory, env, block, lane))
                widen(boxes, 1 - phase, env, after)

    return hold


@func
def _gathered(grid, nodes, env: ti.i32, first, inside):
    """Return the velocity (3,) of a particle, and the moment (3, 3) of its nodes' velocities, in cells."""
    weight = weights(inside)
    velocity, affine = ti.Vector([0.0, 0.0, 0.0]), ti.Matrix([[0.0, 0.0, 0.0]] * 3)
    for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
        node = number_of(nodes, first + ti.Vector([i, j, k]))
        given = ti.Vector([grid[env, node, axis] for axis in range(3)])
        given = given * (weight[0, i] * weight[1, j] * weight[2, k])
        velocity += given
        affine += given.outer_product(ti.Vector([float(i), float(j), float(k)]) - inside)
    return velocity, affine


def make_finish() -> Any:
    """Return the kernel that puts environments that failed back to where they were before the launch."""

    @ti.kernel
    @with_types(ARRAYS)
    def finish(memory, before, ended, faults):
        ti.loop_config(block_dim=BLOCK_DIM)
        for item in range(memory.shape[0] * memory.shape[1] * LANES):
            lane, block, env = item % LANES, item // LANES % memory.shape[1], item // LANES // memory.shape[1]
            if 0 <= ended[env] < NEVER:
                for row in range(ROWS):
                    memory[env, block, row, lane] = before[env, block, row, lane]
                if block == 0 and lane == 0:
                    faults[env] = 1

    return finish

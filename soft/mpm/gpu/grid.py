"""Kernels of the grid: `SHARES` threads share the nodes of an environment, in the box that its particles reach."""

from typing import Any

import taichi as ti

from ....physics.base.math.func import with_types
from .words import (
    ARRAYS,
    BLOCK_DIM,
    DX,
    HIGH,
    LOW,
    OF_MASS,
    OF_MOMENTUM,
    ORIGIN,
    SHARES,
    box_of,
    count_of,
    empty,
    node_of,
    number_of,
)


def make_clear() -> Any:
    """Return the kernel that clears the nodes of this substep, and the box of the next one."""

    @ti.kernel
    @with_types(ARRAYS)
    def clear(nodes, ended, boxes, held, sums, phase: ti.i32, substep: ti.i32):
        ti.loop_config(block_dim=BLOCK_DIM)
        for item in range(ended.shape[0] * SHARES):
            env, n = item // SHARES, item % SHARES
            if ended[env] >= substep:
                first, end = box_of(boxes, phase, env)
                if n == 0:
                    empty(boxes, 1 - phase, env)
                    held[env] = 0
                count = count_of(first, end)
                while n < count:
                    node = number_of(nodes, node_of(first, end, n))
                    for k in ti.static(range(4)):
                        sums[env, node, k] = 0
                    n += SHARES

    return clear


def make_move() -> Any:
    """Return the kernel that makes velocities of momenta; none leaves through a wall."""

    @ti.kernel
    @with_types(ARRAYS)
    def move(domain, nodes, ended, scales, boxes, sums, grid, phase: ti.i32, substep: ti.i32):
        ti.loop_config(block_dim=BLOCK_DIM)
        for item in range(ended.shape[0] * SHARES):
            env, n = item // SHARES, item % SHARES
            if ended[env] >= substep:
                first, end = box_of(boxes, phase, env)
                count, dx = count_of(first, end), domain[DX]
                of_mass = scales[env, OF_MASS]
                of_both = of_mass / scales[env, OF_MOMENTUM]
                while n < count:
                    at = node_of(first, end, n)
                    node = number_of(nodes, at)
                    mass = ti.cast(sums[env, node, 3], ti.f32)
                    for axis in ti.static(range(3)):
                        v = 0.0
                        if mass > 0.0:
                            v = ti.cast(sums[env, node, axis], ti.f32) / mass * of_both
                        x = ti.cast(at[axis], ti.f32) * dx + domain[ORIGIN + axis]
                        if x < domain[LOW + axis] + dx * 0.5:
                            v = ti.max(v, 0.0)
                        if x > domain[HIGH + axis] - dx * 0.5:
                            v = ti.min(v, 0.0)
                        grid[env, node, axis] = v
                    grid[env, node, 3] = mass / of_mass
                    n += SHARES

    return move

"""What sensors read of limits: distance, velocity and force of those that are in force."""

import taichi as ti

from ..math import func
from ..stage import stage


@func
def forget_limit(model, work, row: ti.i32):
    """A limit that is far in all lanes, so far."""
    if row < model.nlimitsense:
        work.limit_seen.put(row, 0)
        work.limit_pos[row] = work.real(0.0)
        work.limit_vel[row] = work.real(0.0)


@func
def note_limit(model, work, row: ti.i32, k: ti.i32, depth, speed):
    """A limit that is block k, `depth` (m or rad) from its margin and moving at `speed` (m/s or rad/s)."""
    if row < model.nlimitsense:
        work.limit_seen.put(row, k + 1)
        work.limit_pos[row] = ti.select(depth < 0.0, depth, work.real(0.0))
        work.limit_vel[row] = ti.select(depth < 0.0, speed, work.real(0.0))


@stage(when=lambda has: has.sensors, reads="limit_pos block_force limit_seen", writes="limit_force")
def limit_forces(model, work):
    """limit_force, when the solver is done."""
    for row in range(model.nlimitsense):
        force = work.real(0.0)
        k = work.limit_seen[row]
        if k > 0:
            force = ti.select(work.limit_pos[row] < 0.0, work.block_force.at(k - 1, 0), force)
        work.limit_force[row] = force

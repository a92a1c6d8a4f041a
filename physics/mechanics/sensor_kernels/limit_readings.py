"""Readings of limit sensors: distance, velocity and force of limits that are in force."""

import taichi as ti

from ...base.math import func
from ...base.stage import stage


@func
def forget_limit(model, work, row: ti.i32):
    """Set the readings of a limit to those of one that is out of reach in all lanes."""
    if row < model.nlimitsense:
        work.limit_seen.put(row, 0)
        work.limit_pos[row] = work.real(0.0)
        work.limit_vel[row] = work.real(0.0)


@func
def note_limit(model, work, row: ti.i32, k: ti.i32, depth, speed):
    """Keep the readings of a limit that is block k: `depth` (m or rad) from its margin, `speed` (m/s or rad/s)."""
    if row < model.nlimitsense:
        work.limit_seen.put(row, k + 1)
        work.limit_pos[row] = ti.select(depth < 0.0, depth, work.real(0.0))
        work.limit_vel[row] = ti.select(depth < 0.0, speed, work.real(0.0))


@stage(when=lambda has: has.sensors, reads="limit_pos block_force limit_seen", writes="limit_force")
def limit_forces(model, work):
    """Set limit_force from the solver's forces."""
    for row in range(model.nlimitsense):
        force = work.real(0.0)
        k = work.limit_seen[row]
        if k > 0:
            force = ti.select(work.limit_pos[row] < 0.0, work.block_force.at(k - 1, 0), force)
        work.limit_force[row] = force

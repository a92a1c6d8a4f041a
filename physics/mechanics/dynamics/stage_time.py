"""The time of an evaluation within its step, and the environments that move in it.

The integrator RK4 has four evaluations (stages) in each step, the others have one.
"""

import taichi as ti

from ...base.hooks import FROZEN
from ...base.math import func

EULER, IMPLICITFAST, RK4, IMPLICIT = 0, 1, 2, 3
"""Values of the model's `integrator`."""


@func
def is_last_stage(work):
    """Return True if this evaluation is the last of its step."""
    return work.rk_stage[0] == work.rk_stages[0] - 1


@func
def stage_time(model, work):
    """Return the time (s) from the start of the step to the next evaluation, or to the end of the step."""
    fraction = ti.cast(1.0, work.lanes.dtype)
    if work.rk_stages[0] == 4 and work.rk_stage[0] < 2:
        fraction = 0.5
    return model.timestep[0] * fraction


@func
def moving(model, work, dof: ti.i32):
    """1 in lanes that were not stopped and in which the dof is not frozen, else 0.

    At the end of a step (`hooks.END_OF_STEP`) memory changes only in lanes where this is 1.
    """
    moves = 1.0 - work.fault[0]
    for frozen in ti.static(FROZEN.of(model.has)):
        moves = ti.select(frozen(model, work, dof), work.real(0.0), moves)
    return moves

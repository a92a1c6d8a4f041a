"""Controls of dofs that need no actuator in the file: a force, or a servo for a velocity or a position.

What they do is what MuJoCo's `motor`, `velocity` and `position` with the same gains and range do on that dof: the force
counts as an actuator's, and is kept within the joint's `actuatorfrcrange`.
"""

import taichi as ti

from ..math import func

FORCE, VELOCITY, POSITION = 1, 2, 3
"""Modes; 0 is none."""


@func
def has_controls(model, work):
    """Whether some environment of the batch may have controls of dofs; the flag `actuation` switches them off."""
    return work.controlled[0] * model.actuates == 1


@func
def dof_control(model, work):
    """Add the controls' forces to qfrc_actuator, and set dof_slope. A force that is no number stays none."""
    if has_controls(model, work):
        for i in range(model.nv):
            mode, target, speed = work.dof_mode[i], work.dof_target[i], work.qvel[i]
            j = model.dof_jntid[i]
            place = work.qpos[model.jnt_qposadr[j] + i - model.jnt_dofadr[j]]
            low, high = work.dof_force_range.at(i, 0), work.dof_force_range.at(i, 1)
            servo = ti.select(mode == POSITION, (target - place) * work.dof_kp[i], target * work.dof_kv[i])
            wanted = ti.select(mode == FORCE, target, servo - work.dof_kv[i] * speed)
            force = ti.select(wanted == wanted, ti.min(ti.max(wanted, low), high), wanted)
            slope = ti.select((force > low) & (force < high) & (mode > FORCE), -work.dof_kv[i], work.real(0.0))
            work.qfrc_actuator[i] = ti.select(mode > 0.5, work.qfrc_actuator[i] + force, work.qfrc_actuator[i])
            work.dof_slope[i] = slope

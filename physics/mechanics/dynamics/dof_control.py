"""Controls of single dofs without an actuator in the MJCF: a force, or a servo for velocity or position.

A control acts as MuJoCo's `motor`, `velocity` or `position` actuator with the same gains and force range would on that
dof: its force is part of qfrc_actuator and is clamped to the joint's `actuatorfrcrange`.
"""

import taichi as ti

from ...base.math import func

FORCE, VELOCITY, POSITION = 1, 2, 3
"""Values of dof_mode; 0: no control."""


@func
def has_controls(model, work):
    """Return True if some environment of the batch may have controls of dofs and the flag `actuation` is on."""
    return work.controlled[0] * model.actuates == 1


@func
def dof_control(model, work):
    """Add the controls' forces to qfrc_actuator and set dof_slope. A NaN force stays NaN."""
    if has_controls(model, work):
        for i in range(model.nv):
            mode, target, speed = work.dof_mode[i], work.dof_target[i], work.qvel[i]
            j = model.dof_jntid[i]
            place = work.qpos[model.jnt_qposadr[j] + i - model.jnt_dofadr[j]]
            low, high = work.dof_force_range.at(i, 0), work.dof_force_range.at(i, 1)
            # servo for position: kp (target - qpos) + kv (target_vel - qvel), for velocity: kv (target - qvel); or a
            # force, the target
            lead = (target - place) * work.dof_kp[i] + work.dof_target_vel[i] * work.dof_kv[i]
            servo = ti.select(mode == POSITION, lead, target * work.dof_kv[i])
            wanted = ti.select(mode == FORCE, target, servo - work.dof_kv[i] * speed)
            # clamped to the range; a servo has a slope only inside it
            force = ti.select(wanted == wanted, ti.min(ti.max(wanted, low), high), wanted)
            slope = ti.select((force > low) & (force < high) & (mode > FORCE), -work.dof_kv[i], work.real(0.0))
            work.qfrc_actuator[i] = ti.select(mode > 0.5, work.qfrc_actuator[i] + force, work.qfrc_actuator[i])
            work.dof_slope[i] = slope

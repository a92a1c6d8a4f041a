"""Forces on bodies that are no joint's: those that the user applies, and gravity compensation.

A force acts at a body's centre of mass; what it does to the dofs is gathered as in inverse dynamics (`newton_euler`).
"""

import taichi as ti

from ..hooks import JOINT_ACTUATORS
from ..kinematics.forward import BALL, HINGE, SLIDE
from ..math import Motion, func
from ..stage import stage
from .dof_control import has_controls
from .newton_euler import along, gather


@stage(
    reads="qfrc_applied xfrc_applied inertial_offset anchor_offset cdof applied",
    writes="qfrc_external",
    updates="cfrc",
)
def applied_force(model, work):
    """qfrc_external, where the user has written qfrc_applied or xfrc_applied."""
    if work.applied[0] == 1:
        lanes = work.precise_lanes
        for b in range(1, model.nbody):
            force, torque = applied_to(work, b)
            work.cfrc.put(b, Motion(lanes.cast(torque), lanes.cast(force)))
        gather(model, work)
        for i in range(model.nv):
            work.qfrc_external[i] = work.qfrc_applied[i] + work.lanes.cast(along(model, work, i))


@func
def applied_to(work, b: ti.i32):
    """Force (N) and torque (N m) of xfrc_applied on body b: MuJoCo has the force first, `Motion` the torque."""
    wrench = work.xfrc_applied[b]
    return wrench.rot, wrench.lin


@func
def limit_joint_forces(model, work):
    """Let gravity compensation by actuators count as their force, and keep every joint's within its range.

    At an end of the range more velocity changes nothing, whatever the slope of an actuator.
    """
    for add in ti.static(JOINT_ACTUATORS.of(model.has)):
        add(model, work)
    if ti.static(model.has.joint_forces):
        for u in range(model.nout):
            if model.actuator_type[u] == SLIDE or model.actuator_type[u] == HINGE:
                i = model.actuator_dofadr[u]
                j, force = model.dof_jntid[i], work.qfrc_actuator[i]
                free = (force > model.jnt_actfrcrange.at(j, 0)) & (force < model.jnt_actfrcrange.at(j, 1))
                work.actuator_slope[u] = ti.select(free, work.actuator_slope[u], work.real(0.0))
        for j in range(model.njnt):
            if model.jnt_type[j] > BALL:
                i, low, high = model.jnt_dofadr[j], model.jnt_actfrcrange.at(j, 0), model.jnt_actfrcrange.at(j, 1)
                if has_controls(model, work):
                    free = (work.qfrc_actuator[i] > low) & (work.qfrc_actuator[i] < high)
                    work.dof_slope[i] = ti.select(free, work.dof_slope[i], work.real(0.0))
                work.qfrc_actuator[i] = ti.min(ti.max(work.qfrc_actuator[i], low), high)

"""Accelerations of bodies and the forces between them, for sensors: MuJoCo's mj_rnePostConstraint.

`readout.motion` has the same for models without sensors; here it costs thousands of environments next to nothing.
"""

from ..kinematics.joints import dof_groups
from ..math import Motion, Vec3
from ..stage import stage


@stage(when=lambda has: has.sensors, reads="eval_qvel cdof cvel qacc", updates="sensed_acc")
def sensed_accelerations(model, work):
    """Set sensed_acc at the coordinates, velocities and accelerations of the last evaluation."""
    zero = work.real(0.0)
    gravity = model.gravity[0]  # the world rises against it
    upward = Vec3(zero - gravity.x, zero - gravity.y, zero - gravity.z)
    for b in range(model.nbodysense):
        acceleration = Motion(Vec3(zero, zero, zero), upward)
        velocity = Motion(Vec3(zero, zero, zero), Vec3(zero, zero, zero))
        if b > 0:
            parent = model.body_parentid[b]
            acceleration._assign(work.sensed_acc[parent])
            velocity._assign(work.lanes.cast(work.cvel[parent]))
            first = model.body_jntadr[b]
            for j in range(first, first + model.body_jntnum[b]):
                parts, count = dof_groups(model.jnt_type[j])
                for part in range(parts):
                    carrier, dof = velocity.copy(), model.jnt_dofadr[j] + 3 * part
                    for k in range(dof, dof + count):
                        axis, speed = work.cdof[k], work.eval_qvel[k]
                        turned = carrier.rot.cross(axis.lin) + carrier.lin.cross(axis.rot)
                        change = Motion(carrier.rot.cross(axis.rot), turned)
                        acceleration = acceleration + (change * speed + axis * work.qacc[k])
                        velocity = velocity + axis * speed
        work.sensed_acc.put(b, acceleration)


@stage(when=lambda has: has.sensors, reads="cinert cvel cfrc_ext sensed_acc", updates="sensed_force")
def sensed_forces(model, work):
    """Set sensed_force, from sensed_acc, cinert and cfrc_ext."""
    for b in range(model.nbodysense):
        inertia, velocity = work.cinert[b], work.lanes.cast(work.cvel[b])
        momentum = inertia.times(velocity)
        twist = velocity.rot.cross(momentum.rot) + velocity.lin.cross(momentum.lin)
        own = inertia.times(work.sensed_acc[b]) + Motion(twist, velocity.rot.cross(momentum.lin))
        work.sensed_force.put(b, own - work.cfrc_ext[b])
    for i in range(1, model.nbodysense):
        b = model.nbodysense - i
        parent = model.body_parentid[b]
        work.sensed_force.put(parent, work.sensed_force[parent] + work.sensed_force[b])

"""Recursive Newton-Euler once more, with every moment taken where it is small: slower than `bias`, and exacter.

About the tree's centre of mass a light limb far from it needs torques, and feels accelerations, that are differences of
large numbers. Here each body's acceleration is that of its own centre of mass, its moment is about that point, and a
joint's about its own anchor (Featherstone 2008, section 5.3, in body coordinates; the axes are the world's). Iterative
refinement needs this where single precision and an ill-conditioned M meet: what it puts back is what is missing here.
In fine kernels (`Features.fine`) velocities, accelerations and forces are in double precision: the geometry, rounded,
is that of a mechanism that differs in the seventh digit, but a rounded force would not be this mechanism's.
"""

import taichi as ti

from ..kinematics.forward import FREE, HINGE, SLIDE
from ..math import Motion, Vec3
from .bias import accelerate_world


@ti.func
def local_inverse_dynamics(model: ti.template(), work: ti.template(), qacc: ti.template(), force: ti.template()):
    """Joint forces for the accelerations `qacc` at the present velocities, gravity and armature included."""
    fine = work.fine
    accelerate_world(model, work, fine.body_acc)
    for b in range(1, model.nbody):
        _accelerate(model, work, b, qacc)
        acceleration = fine.body_acc[b]
        omega = fine.cvel[b].rot
        inertia = fine.lanes.rounded(work.own_inertia.symmetric(b))
        twist = inertia.times(acceleration.rot) + omega.cross(inertia.times(omega))
        fine.cfrc.put(b, Motion(twist, acceleration.lin * model.body_mass[b]))
    for k in range(1, model.nbody):
        b = model.nbody - k
        parent = model.body_parentid[b]
        if parent > 0:
            fine.cfrc.put(parent, fine.cfrc[parent] + _moved(work, b, work.inertial_offset[parent]))
    for i in range(model.nv):
        b = model.dof_bodyid[i]
        needed = fine.lanes.rounded(qacc[i]) * model.dof_armature[i]
        if model.dof_turns[i] == 1:
            needed += work.cdof[i].rot.dot(_moved(work, b, work.anchor_offset[model.dof_jntid[i]]).rot)
        else:
            needed += work.cdof[i].lin.dot(fine.cfrc[b].lin)
        force.put(i, needed)


@ti.func
def _moved(work: ti.template(), b: ti.i32, point: ti.template()):
    """The force that body b and all below it need, with its moment about `point` instead of b's centre of mass."""
    force = work.fine.cfrc[b]
    return Motion(force.rot + (_offset(work, b) - point).cross(force.lin), force.lin)


@ti.func
def _offset(work: ti.template(), b: ti.i32):
    """Centre of mass of body b from the root of its tree."""
    return work.fine.lanes.rounded(work.inertial_offset[b])


@ti.func
def _accelerate(model: ti.template(), work: ti.template(), b: ti.i32, qacc: ti.template()):
    """body_acc of body b, at its centre of mass, from its parent's: from anchor to anchor along its joints."""
    fine = work.fine
    parent = model.body_parentid[b]
    before = fine.body_acc[parent]
    alpha, linear = before.rot, before.lin
    omega = fine.cvel[parent].rot
    point = _offset(work, parent)
    first = model.body_jntadr[b]
    for j in range(first, first + model.body_jntnum[b]):
        dof = model.jnt_dofadr[j]
        kind = model.jnt_type[j]
        if kind == SLIDE:
            axis = fine.lanes.rounded(work.cdof[dof].lin)
            linear += axis * qacc[dof] + omega.cross(axis * work.qvel[dof]) * 2.0
        else:
            anchor = fine.lanes.rounded(work.anchor_offset[j])
            linear += _carried(alpha, omega, anchor - point)
            point = anchor
            if kind == FREE:
                linear += Vec3(qacc[dof], qacc[dof + 1], qacc[dof + 2])
                dof += 3
            axis = fine.lanes.rounded(work.cdof[dof].rot)
            spin = axis * work.qvel[dof]
            push = axis * qacc[dof]
            if kind != HINGE:
                for k in range(dof + 1, dof + 3):
                    other = fine.lanes.rounded(work.cdof[k].rot)
                    spin += other * work.qvel[k]
                    push += other * qacc[k]
            alpha += push + omega.cross(spin)
            omega += spin
    fine.body_acc.put(b, Motion(alpha, linear + _carried(alpha, omega, _offset(work, b) - point)))


@ti.func
def _carried(alpha: ti.template(), omega: ti.template(), arm: ti.template()):
    """What the acceleration of a point gains at another one, `arm` away on the same body."""
    return alpha.cross(arm) + omega.cross(omega.cross(arm))

"""Surfaces that move along geoms that may stand still, as those of conveyor belts do (MJCF's `surfacevel`).

A surface moves like a rigid body: with a velocity, and turning about the origin of its geom, both in the geom's frame.
A contact sees the difference of both surfaces' velocities along its tangents, and the turning about its normal; nothing
across the surface, so that it never pushes (MuJoCo documentation, XML reference: body/geom/surfacevel).
"""

import taichi as ti

from ..math import Vec3, func


@func
def add_surface_velocity(model, work, k: ti.i32, block: ti.i32, dim: ti.i32, frame):
    """Add to block_aref, which holds the velocity of bodies, that of surfaces in the space of contact slot k."""
    zero = work.precise_lanes.real(0.0)
    slide, turn = Vec3(zero, zero, zero), Vec3(zero, zero, zero)
    for side in range(2):
        g = work.con_geom1[k] if side == 0 else work.con_geom2[k]
        own = model.geom_surfacevel
        axes = work.xquat[model.geom_bodyid[g]] * model.geom_quat[g]
        sign = 2.0 * side - 1.0
        linear = axes.rotate(Vec3(zero + own.at(g, 0), zero + own.at(g, 1), zero + own.at(g, 2))) * sign
        angular = axes.rotate(Vec3(zero + own.at(g, 3), zero + own.at(g, 4), zero + own.at(g, 5))) * sign
        arm = work.precise_lanes.cast(work.con_pos[k]) - work.geom_xpos[g]
        slide = slide + linear + angular.cross(arm)
        turn = turn + angular
    moving, turning = work.lanes.cast(slide), work.lanes.cast(turn)
    if dim > 1:
        _add(work, block, 1, frame.y.dot(moving))
        _add(work, block, 2, frame.z.dot(moving))
    if dim > 3:
        _add(work, block, 3, frame.x.dot(turning))


@func
def _add(work, block: ti.i32, c, speed):
    work.block_aref.at(block, c)._assign(work.block_aref.at(block, c) + speed)

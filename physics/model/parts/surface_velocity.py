"""Moving surfaces of geoms, such as conveyor belts (MJCF's `surfacevel`).

A surface moves as a rigid body: with a linear velocity, and an angular one about the origin of its geom, both in the
geom's frame. The difference of the two surfaces' linear velocities adds to a contact's velocity along its tangents,
that of their angular velocities adds about its normal. Nothing adds along the normal, so a surface never pushes (MuJoCo
documentation, XML reference: body/geom/surfacevel).
"""

import numpy as np
import taichi as ti

from ...base.fields import Field
from ...base.hooks import CONTACT_VELOCITY
from ...base.math import Vec3, func
from ...base.stage import piece
from ...files.mjmodel.allowed import FINITE, AllowedNumbers, Parameter
from .part import Loaded, Part


@piece(reads="xquat geom_xpos con_pos con_geom1 con_geom2", updates="block_aref")
def add_surface_velocity(model, work, k: ti.i32, block: ti.i32, dim: ti.i32, frame):
    """Add the relative velocity of the two surfaces of contact slot k to block_aref, which holds that of the bodies."""
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
    """Add a speed (m/s or rad/s) to axis c of block_aref."""
    work.block_aref.at(block, c)._assign(work.block_aref.at(block, c) + speed)


def _wanted(model: Loaded) -> bool:
    moving = model.values["geom_surfacevel"][model.values["geom_collides"] > 0]
    return bool(np.any(moving))


PART = Part(
    name="surface_velocity",
    doc="the surface of a geom moves along it",
    wanted=_wanted,
    reals=(
        Field(
            "geom_surfacevel",
            ("ngeom",),
            6,
            "m/s, rad/s",
            "linear and angular velocity of the geom's surface in the geom frame",
        ),
    ),
    rules={"geom_surfacevel": (("geom_surfacevel",), lambda mjm, velocity: velocity)},
    hooks={CONTACT_VELOCITY: add_surface_velocity},
    parameters=(Parameter("geom_surfacevel", AllowedNumbers(FINITE, "a velocity: its sign is free")),),
    wanted_with="geom_surfacevel",
)

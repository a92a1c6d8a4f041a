"""Forces that the user applies to bodies and dofs (xfrc_applied, qfrc_applied).

xfrc_applied acts at a body's centre of mass; it is mapped to the dofs as in inverse dynamics (`newton_euler`).
"""

import taichi as ti

from ...base.math import SpatialMotion, func
from ...base.stage import stage
from .newton_euler import along, gather


@stage(
    reads="qfrc_applied xfrc_applied inertial_offset anchor_offset cdof applied",
    writes="qfrc_external",
    updates="cfrc",
)
def applied_force(model, work):
    """Set qfrc_external if the user has written qfrc_applied or xfrc_applied."""
    if work.applied[0] == 1:
        lanes = work.precise_lanes
        for b in range(1, model.nbody):
            force, torque = applied_to(work, b)
            work.cfrc.put(b, SpatialMotion(lanes.cast(torque), lanes.cast(force)))
        gather(model, work)
        for i in range(model.nv):
            work.qfrc_external[i] = work.qfrc_applied[i] + work.lanes.cast(along(model, work, i))


@func
def applied_to(work, b: ti.i32):
    """Return force (N) and torque (N m) of xfrc_applied on body b.

    MuJoCo stores the force first, so it lies in the rotational part of the `SpatialMotion` read here.
    """
    wrench = work.xfrc_applied[b]
    return wrench.rot, wrench.lin

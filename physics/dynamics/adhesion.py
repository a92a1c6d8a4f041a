"""Adhesive contacts pull their bodies together: a passive force along the normal (MJCF's `adhesion`).

The constraint's reference is shifted by as much (`constraint.contacts`), so that a contact under pressure is as deep as
it would be without the pull, and one that is pulled holds up to it.
"""

import taichi as ti

from ..math import Motion, Vec3
from ..stage import stage
from .newton_euler import along, gather


@stage(
    when=lambda has: has.adhesion,
    reads=(
        "inertial_offset com_offset anchor_offset subtree_com cdof con_pos con_frame con_pull con_geom1 con_geom2",
        "tile_ncon",
    ),
    updates="cfrc qfrc_passive",
)
def adhesive_force(model, work):
    """Add to qfrc_passive what contacts pull with."""
    if ti.static(model.has.adhesion):
        if model.pulls == 1:
            lanes, zero = work.precise_lanes, work.real(0.0)
            none = lanes.cast(Vec3(zero, zero, zero))
            for b in range(model.nbody):
                work.cfrc.put(b, Motion(none, none))
            for k in range(work.tile_ncon[0]):
                normal = Vec3(work.con_frame.at(k, 0), work.con_frame.at(k, 1), work.con_frame.at(k, 2))
                for side in range(2):
                    b = model.geom_bodyid[work.con_geom1[k] if side == 0 else work.con_geom2[k]]
                    force = normal * (work.con_pull[k] * (1.0 - 2.0 * side))
                    center = work.inertial_offset[b] - work.com_offset[model.body_rootid[b]]
                    arm = (work.con_pos[k] - work.subtree_com[model.body_rootid[b]]) - center
                    work.cfrc.put(b, work.cfrc[b] + Motion(lanes.cast(arm.cross(force)), lanes.cast(force)))
            gather(model, work)
            for i in range(model.nv):
                work.qfrc_passive[i] = work.qfrc_passive[i] + work.lanes.cast(along(model, work, i))

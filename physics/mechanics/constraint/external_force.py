"""External forces on bodies: MuJoCo's cfrc_ext (mj_rnePostConstraint)."""

import taichi as ti

from ...base.hooks import CONTACT_PULL, EXTERNAL_FORCES, TENDON_FORCES
from ...base.math import SpatialMotion, Vec3
from ...base.stage import stage
from ..dynamics.body_forces import applied_to
from .bodies import contact_frame, contact_wrench


@stage(
    reads=(
        "xfrc_applied inertial_offset com_offset subtree_com con_pos con_frame con_pull block_force con_geom1",
        "con_geom2 block_dim applied tile_ncon tile_conadr",
    ),
    updates="cfrc_ext",
    hooks=(EXTERNAL_FORCES, TENDON_FORCES),
)
def external_force(model, work):
    """Set cfrc_ext (nbody,): torque (N m) and force (N) of the user, contacts, and parts.

    They are about the centre of mass of the body's tree.
    """
    zero = work.real(0.0)
    none = Vec3(zero, zero, zero)
    for b in range(model.nbody):
        work.cfrc_ext.put(b, SpatialMotion(none, none))
    # Forces of the user at the centres of mass.
    if work.applied[0] == 1:
        for b in range(1, model.nbody):
            force, torque = applied_to(work, b)
            arm = work.inertial_offset[b] - work.com_offset[model.body_rootid[b]]
            work.cfrc_ext.put(b, SpatialMotion(torque + arm.cross(force), force))
    # Contact forces on both geoms, adhesive pull excluded.
    for k in range(work.tile_ncon[0]):
        block = work.tile_conadr[0] + k
        pull = work.real(0.0)
        if ti.static(not CONTACT_PULL.is_empty(model.has)):
            pull = work.con_pull[k]
        frame, dim = contact_frame(work.con_frame, k), work.block_dim[block]
        push = contact_wrench(work, frame, work.block_force, block, dim, pull)
        for side in range(2):
            b = model.geom_bodyid[work.con_geom1[k] if side == 0 else work.con_geom2[k]]
            if b > 0:
                arm = work.con_pos[k] - work.subtree_com[model.body_rootid[b]]
                wrench = SpatialMotion(push.rot + arm.cross(push.lin), push.lin) * (2.0 * side - 1.0)
                work.cfrc_ext.put(b, work.cfrc_ext[b] + wrench)
    for add_to in ti.static(EXTERNAL_FORCES.of(model.has)):
        add_to(model, work)

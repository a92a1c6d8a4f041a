"""Adhesive contacts: a passive force along the normal pulls their bodies together (MJCF's `adhesion`).

The constraint's reference is shifted by the pull (`constraint.contacts`), so that a contact under pressure is as deep
as it would be without the pull, and a contact under tension holds up to the pull.
"""

import numpy as np
import taichi as ti

from ...base.fields import Field, ids
from ...base.hooks import CONTACT_FORCES, CONTACT_PULL
from ...base.math import SpatialMotion, Vec3
from ...base.stage import piece, stage
from ...files.mjmodel.allowed import FINITE, AllowedNumbers, Parameter
from ...files.mjmodel.flags import has_passive_forces
from ...mechanics.dynamics.newton_euler import along, gather
from .part import Loaded, Part

_FORCE = AllowedNumbers(FINITE, "a force of contacts, of both geoms together")


@piece()
def adhesion_of_pair(model, pair: ti.i32, g1: ti.i32, g2: ti.i32):
    """Return the adhesive force (N) of a contact.

    It is that of the explicit pair, else that of the geom with the higher priority, or the sum of both geoms'.
    """
    first, second = model.geom_adhesion[g1], model.geom_adhesion[g2]
    priority = model.geom_priority[g1] - model.geom_priority[g2]
    pull = first + second
    if priority > 0:
        pull = first
    elif priority < 0:
        pull = second
    if ti.static(model.has.explicit_pairs):
        if pair >= 0:
            pull = model.pair_adhesion[pair]
    return pull


@stage(
    when=lambda has: has.adhesion,
    reads=(
        "inertial_offset com_offset anchor_offset subtree_com cdof con_pos con_frame con_pull con_geom1 con_geom2",
        "tile_ncon",
    ),
    updates="cfrc qfrc_passive",
)
def adhesive_force(model, work):
    """Add to qfrc_passive the forces with which contacts pull."""
    if model.adhesion_acts[0] == 1:
        lanes, zero = work.precise_lanes, work.real(0.0)
        none = lanes.cast(Vec3(zero, zero, zero))
        for b in range(model.nbody):
            work.cfrc.put(b, SpatialMotion(none, none))
        for k in range(work.tile_ncon[0]):
            # the normal is from geom 1 to geom 2: the pull moves body 1 along it, body 2 against it
            normal = Vec3(work.con_frame.at(k, 0), work.con_frame.at(k, 1), work.con_frame.at(k, 2))
            for side in range(2):
                b = model.geom_bodyid[work.con_geom1[k] if side == 0 else work.con_geom2[k]]
                force = normal * (work.con_pull[k] * (1.0 - 2.0 * side))
                center = work.inertial_offset[b] - work.com_offset[model.body_rootid[b]]
                arm = (work.con_pos[k] - work.subtree_com[model.body_rootid[b]]) - center
                work.cfrc.put(b, work.cfrc[b] + SpatialMotion(lanes.cast(arm.cross(force)), lanes.cast(force)))
        gather(model, work)
        for i in range(model.nv):
            work.qfrc_passive[i] = work.qfrc_passive[i] + work.lanes.cast(along(model, work, i))


def _wanted(model: Loaded) -> bool:
    values = model.values
    geoms = values["geom_adhesion"][values["geom_collides"] == 1]
    return bool(geoms.any() or (values["pair_adhesion"].any() and model.row_pairs.any()))


PART = Part(
    name="adhesion",
    doc="contacts can pull",
    wanted=_wanted,
    integers=(ids("adhesion_acts", ("one",), "1: adhesion is a force; 0: springs and dampers are switched off"),),
    reals=(
        Field("geom_adhesion", ("ngeom",), 1, "N", "adhesive force of a contact of the geom"),
        Field("pair_adhesion", ("nexplicit",), 1, "N", "explicit pair: replaces the sum of geom_adhesion"),
    ),
    values=lambda mjm: {"adhesion_acts": np.array([has_passive_forces(mjm)], int)},
    rules={name: ((name,), lambda mjm, force: force) for name in ("geom_adhesion", "pair_adhesion")},
    hooks={CONTACT_PULL: adhesion_of_pair, CONTACT_FORCES: adhesive_force},
    parameters=tuple(Parameter(name, _FORCE, found=True) for name in ("geom_adhesion", "pair_adhesion")),
)

"""Wrenches of matter that another solver moves, such as sand or soft bodies: one on every body, beside the user's.

MuJoCo has no such input; its xfrc_applied acts on bodies in the same way. A coupler writes the wrenches between steps
(`solver.user.coupling`), so users' applied forces are left as they are. Models have it with the option `matter=True`.
"""

import taichi as ti

from ...base.fields import Field
from ...base.hooks import BODY_FORCES, EXTERNAL_FORCES, PASSIVE_FORCES, WAKING_FORCES
from ...base.math import SpatialMotion, func
from ...base.stage import piece, stage
from ...mechanics.dynamics.newton_euler import along, gather
from .part import Memory, Part


@stage(
    when=lambda has: has.matter,
    reads="matter_wrench inertial_offset anchor_offset cdof",
    writes="qfrc_matter",
    updates="cfrc",
)
def matter_force(model, work):
    """Set qfrc_matter: matter_wrench of all bodies, mapped to the dofs."""
    lanes = work.precise_lanes
    for b in range(1, model.nbody):
        force, torque = _wrench(work, b)
        work.cfrc.put(b, SpatialMotion(lanes.cast(torque), lanes.cast(force)))
    gather(model, work)
    for i in range(model.nv):
        work.qfrc_matter[i] = work.lanes.cast(along(model, work, i))


@func
def _wrench(work, b: ti.i32):
    """Return force (N) and torque (N m) of the matter on body b; the force comes first, as in xfrc_applied."""
    wrench = work.matter_wrench[b]
    return wrench.rot, wrench.lin


@piece(reads="qfrc_matter", updates="qfrc_passive")
def add_matter(model, work):
    """Add the matter's forces to the passive forces; no flag of the model switches them off."""
    for i in range(model.nv):
        work.qfrc_passive[i] = work.qfrc_passive[i] + work.qfrc_matter[i]


@piece(reads="matter_wrench inertial_offset com_offset", updates="cfrc_ext")
def push_bodies(model, work):
    """Add the matter's wrenches to cfrc_ext."""
    for b in range(1, model.nbody):
        force, torque = _wrench(work, b)
        arm = work.inertial_offset[b] - work.com_offset[model.body_rootid[b]]
        work.cfrc_ext.put(b, work.cfrc_ext[b] + SpatialMotion(torque + arm.cross(force), force))


@piece(reads="matter_wrench")
def pushes(model, work, b: ti.i32):
    """Return the mask of lanes in which the matter pushes body b."""
    pushed = work.real(0.0)
    for c in ti.static(range(6)):
        pushed = ti.max(pushed, work.lanes.mask(work.matter_wrench.at(b, c) != 0.0))
    return pushed


PART = Part(
    name="matter",
    doc="matter that another solver moves pushes bodies",
    wanted=lambda model: model.sizes["nmatter"] > 0,
    sizes=lambda mjm, values: {"nmatter": mjm.nbody},
    scratch=(Field("qfrc_matter", ("nmatterdof",), 1, "N or N m", "matter_wrench mapped to the dofs"),),
    room=lambda model: {"nmatterdof": model.sizes["nv"]},
    memory=(
        Memory(
            Field(
                *("matter_wrench", ("nmatter",), 6, "N, N m"),
                "force at the body's centre of mass and torque of matter that another solver moves",
            ),
            is_input=True,
        ),
    ),
    hooks={
        BODY_FORCES: matter_force,
        PASSIVE_FORCES: add_matter,
        EXTERNAL_FORCES: push_bodies,
        WAKING_FORCES: pushes,
    },
)

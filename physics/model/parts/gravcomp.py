"""Gravity compensation: forces against a share of the weight of bodies (MuJoCo, XML reference: body/gravcomp).

A joint chooses whether the compensation is a passive force, or an actuator's (`jnt_actgravcomp`).
"""

import mujoco
import numpy as np

from ...base.fields import Field
from ...base.hooks import BODY_FORCES, JOINT_ACTUATORS, PASSIVE_FORCES
from ...base.math import SpatialMotion, Vec3
from ...base.stage import piece, stage
from ...files.mjmodel.allowed import FINITE, AllowedNumbers, Parameter
from ...files.mjmodel.flags import disabled, has_passive_forces
from ...mechanics.dynamics.newton_euler import along, gather
from .part import Part

PASSIVE, ACTUATOR, NOTHING = range(3)
"""Values of `jnt_actgravcomp`."""


@stage(
    when=lambda has: has.gravcomp,
    reads="inertial_offset anchor_offset cdof",
    writes="qfrc_gravcomp",
    updates="cfrc",
)
def gravity_compensation(model, work):
    """Set qfrc_gravcomp: each body is lifted by a share of its weight."""
    lanes = work.precise_lanes
    zero, gravity = work.real(0.0), model.gravity[0]
    for b in range(1, model.nbody):
        lift = zero + model.body_gravcomp[b] * model.body_mass[b]
        force = Vec3(zero - gravity.x, zero - gravity.y, zero - gravity.z) * lift
        work.cfrc.put(b, SpatialMotion(lanes.cast(Vec3(zero, zero, zero)), lanes.cast(force)))
    gather(model, work)
    for i in range(model.nv):
        work.qfrc_gravcomp[i] = work.lanes.cast(along(model, work, i))


@piece(reads="qfrc_gravcomp", updates="qfrc_passive")
def add_passive(model, work):
    """Add the compensation of joints where it is a passive force."""
    for i in range(model.nv):
        if model.jnt_actgravcomp[model.dof_jntid[i]] == PASSIVE:
            work.qfrc_passive[i] = work.qfrc_passive[i] + work.qfrc_gravcomp[i]


@piece(reads="qfrc_gravcomp", updates="qfrc_actuator")
def add_to_actuators(model, work):
    """Add the compensation of joints where it is a force of their actuators."""
    for i in range(model.nv):
        if model.jnt_actgravcomp[model.dof_jntid[i]] == ACTUATOR:
            work.qfrc_actuator[i] = work.qfrc_actuator[i] + work.qfrc_gravcomp[i]


def _share(mjm: mujoco.MjModel, share: np.ndarray) -> np.ndarray:
    return share * float(has_passive_forces(mjm))


PART = Part(
    name="gravcomp",
    doc="forces on bodies take off a share of their weight",
    wanted=lambda model: bool(model.mj.body_gravcomp.any()),
    wanted_with="body_gravcomp",
    integers=(
        Field(
            "jnt_actgravcomp",
            ("njnt",),
            1,
            "",
            "gravity compensation is part of: 0 qfrc_passive, 1 qfrc_actuator, 2 nothing",
            small=True,
        ),
    ),
    reals=(Field("body_gravcomp", ("nbody",), 1, "", "fraction of the body's weight that is compensated"),),
    values=lambda mjm: {
        "jnt_actgravcomp": mjm.jnt_actgravcomp
        * (NOTHING if disabled(mjm, mujoco.mjtDisableBit.mjDSBL_ACTUATION) else ACTUATOR)
    },
    rules={"body_gravcomp": (("body_gravcomp",), _share)},
    scratch=(Field("qfrc_gravcomp", ("ngravcomp",), 1, "N or N m", "gravity compensation"),),
    room=lambda model: {"ngravcomp": model.sizes["nv"]},
    hooks={BODY_FORCES: gravity_compensation, PASSIVE_FORCES: add_passive, JOINT_ACTUATORS: add_to_actuators},
    mujoco="jnt_actgravcomp",
    parameters=(
        Parameter("body_gravcomp", AllowedNumbers(FINITE, "a share of the weight: below 0 the body gets heavier")),
    ),
)

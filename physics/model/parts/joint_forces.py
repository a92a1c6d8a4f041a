"""Ranges of joints' actuator forces: limits of the sum of all actuators' forces on a joint.

MuJoCo documentation, XML reference: joint/actuatorfrcrange. At an end of the range more velocity changes nothing,
whatever the slope of an actuator.
"""

import mujoco
import numpy as np
import taichi as ti

from ...base.fields import Field
from ...base.hooks import JOINT_LIMITS
from ...base.joints import is_scalar
from ...base.stage import piece
from ...files.mjmodel.actuators import TENDON
from ...files.mjmodel.allowed import RANGE, Parameter
from ...files.mjmodel.flags import UNLIMITED
from ...mechanics.dynamics.dof_control import has_controls
from .part import Part


@piece(reads="controlled", updates="actuator_slope dof_slope qfrc_actuator")
def limit_joints(model, work):
    """Keep qfrc_actuator of slides and hinges within their ranges; slopes of forces beyond them become 0."""
    for u in range(model.nout):
        if is_scalar(model.actuator_type[u]) and model.actuator_type[u] < TENDON:
            i = model.actuator_dofadr[u]
            j, force = model.dof_jntid[i], work.qfrc_actuator[i]
            free = (force > model.jnt_actfrcrange.at(j, 0)) & (force < model.jnt_actfrcrange.at(j, 1))
            work.actuator_slope[u] = ti.select(free, work.actuator_slope[u], work.real(0.0))
    for j in range(model.njnt):
        if is_scalar(model.jnt_type[j]):
            i, low, high = model.jnt_dofadr[j], model.jnt_actfrcrange.at(j, 0), model.jnt_actfrcrange.at(j, 1)
            if has_controls(model, work):
                free = (work.qfrc_actuator[i] > low) & (work.qfrc_actuator[i] < high)
                work.dof_slope[i] = ti.select(free, work.dof_slope[i], work.real(0.0))
            work.qfrc_actuator[i] = ti.min(ti.max(work.qfrc_actuator[i], low), high)


def _ranges(mjm: mujoco.MjModel, ranges: np.ndarray) -> np.ndarray:
    """Return the ranges (n, njnt, 2), unlimited for joints that have none."""
    return np.where(np.asarray(mjm.jnt_actfrclimited, bool)[:, None], ranges, [-UNLIMITED, UNLIMITED])


PART = Part(
    name="joint_forces",
    doc="ranges of the sum of all actuators' forces on a joint",
    wanted=lambda model: bool(model.mj.jnt_actfrclimited.any()),
    reals=(
        Field(
            "jnt_actfrcrange", ("njnt",), 2, "N or N m", "range of the sum of the actuators' forces, +-1e30: unlimited"
        ),
    ),
    rules={"jnt_actfrcrange": (("jnt_actfrcrange",), _ranges)},
    hooks={JOINT_LIMITS: limit_joints},
    mujoco="jnt_actfrclimited",
    ranges={"jnt_actfrcrange": "jnt_actfrclimited"},
    parameters=(Parameter("jnt_actfrcrange", RANGE, ordered=True),),
)

"""Springs with a dead band: no force within a band around where the spring rests, and a linear one beyond it.

MuJoCo has no such spring. Custom elements of MJCF say which hinges and slides have one:

    <text name="deadband_joints" data="knee rail"/>        names of the joints
    <numeric name="deadband_width" data="0.2 0.05"/>       half of the band's width (rad or m)
    <numeric name="deadband_stiffness" data="30 400"/>     force over the stretch beyond the band (N m/rad or N/m)
    <numeric name="deadband_creep" data="0 0.5"/>          rate at which the band follows its joint (1/s), or none

One number stands for all joints. The band begins around `springref`. While the joint is beyond it, its centre creeps:
d(center)/dt = creep * stretch beyond the band. `work.deadband_center` remembers it from step to step.
"""

import mujoco
import numpy as np
import taichi as ti

from ...base.fields import Field
from ...base.hooks import END_OF_STEP, FROZEN, PASSIVE_FORCES
from ...base.joints import is_scalar
from ...base.math import func
from ...base.stage import piece, stage
from ...files.mjmodel.allowed import NOT_NEGATIVE
from ...files.mjmodel.custom import CustomElementError, named_elements, number_of_each
from ...files.mjmodel.flags import disabled
from ...mechanics.dynamics.stage_time import moving
from .part import Memory, Number, Part

JOINTS = "deadband_joints"


@piece(reads="qpos deadband_center", updates="qfrc_passive")
def add_springs(model, work):
    """Add the forces of the springs to qfrc_passive."""
    for k in range(model.ndeadband):
        i = model.jnt_dofadr[model.deadband_jntid[k]]
        work.qfrc_passive[i] = work.qfrc_passive[i] - _excess(model, work, k) * model.deadband_stiffness[k]


@stage(when=lambda has: has.deadband, reads="qpos fault", updates="deadband_center", hooks=(FROZEN,))
def creep(model, work):
    """Move the bands after their joints, at the end of a step."""
    for k in range(model.ndeadband):
        moves = moving(model, work, model.jnt_dofadr[model.deadband_jntid[k]])
        step = _excess(model, work, k) * model.deadband_share[k]
        work.deadband_center[k] = work.deadband_center[k] + moves * step


@func
def _excess(model, work, k: ti.i32):
    """Stretch of spring k beyond its band, with its sign (m or rad)."""
    stretch = work.qpos[model.jnt_qposadr[model.deadband_jntid[k]]] - work.deadband_center[k]
    return ti.max(stretch - model.deadband_width[k], 0.0) + ti.min(stretch + model.deadband_width[k], 0.0)


def _joints(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the ids of the joints that have such a spring, (ndeadband,)."""
    joints = named_elements(mjm, JOINTS, "joint")
    for j in joints[~is_scalar(mjm.jnt_type[joints])]:
        raise CustomElementError(f"custom text '{JOINTS}': joint '{mjm.joint(j).name}' is neither a hinge nor a slide")
    return joints


def _stiffness(mjm: mujoco.MjModel, stiffness: np.ndarray) -> np.ndarray:
    return stiffness * float(not disabled(mjm, mujoco.mjtDisableBit.mjDSBL_SPRING))


def _share(mjm: mujoco.MjModel, rate: np.ndarray) -> np.ndarray:
    """Return the share of the stretch beyond the band that its centre covers in a step, (n, ndeadband)."""
    off = disabled(mjm, mujoco.mjtDisableBit.mjDSBL_SPRING)
    return -np.expm1(-rate * mjm.opt.timestep) * float(not off)


def _reference(mjm: mujoco.MjModel, qpos_spring: np.ndarray) -> np.ndarray:
    """Return the centres after a reset, (n, ndeadband), from qpos_spring (n, nq)."""
    return qpos_spring[:, mjm.jnt_qposadr[_joints(mjm)]]


PART = Part(
    name="deadband",
    doc="springs of joints have dead bands",
    wanted=lambda model: model.sizes["ndeadband"] > 0,
    integers=(Field("deadband_jntid", ("ndeadband",), 1, "", "joint whose spring has a dead band", small=True),),
    reals=(
        Field("deadband_width", ("ndeadband",), 1, "m or rad", "half of the width of the band without a force"),
        Field("deadband_stiffness", ("ndeadband",), 1, "N/m or N m/rad", "force over the stretch beyond the band"),
        Field("deadband_share", ("ndeadband",), 1, "", "fraction of this stretch by which the band moves in a step"),
    ),
    values=lambda mjm: {"deadband_jntid": _joints(mjm)},
    rules={
        "deadband_width": (("deadband_width",), lambda mjm, width: width),
        "deadband_stiffness": (("deadband_stiffness",), _stiffness),
        "deadband_share": (("deadband_creep",), _share),
    },
    sizes=lambda mjm, values: {"ndeadband": len(values["deadband_jntid"])},
    memory=(
        Memory(
            Field("deadband_center", ("ndeadband",), 1, "m or rad", "middle of the band without a force"),
            reset=(("qpos_spring",), _reference),
            settable=True,
        ),
    ),
    hooks={PASSIVE_FORCES: add_springs, END_OF_STEP: creep},
    numbers={
        "deadband_width": Number(lambda mjm: number_of_each(mjm, "deadband_width", JOINTS), NOT_NEGATIVE),
        "deadband_stiffness": Number(lambda mjm: number_of_each(mjm, "deadband_stiffness", JOINTS), NOT_NEGATIVE),
        "deadband_creep": Number(lambda mjm: number_of_each(mjm, "deadband_creep", JOINTS, 0.0), NOT_NEGATIVE),
    },
    custom=f"{JOINTS} deadband_width deadband_stiffness deadband_creep",
)

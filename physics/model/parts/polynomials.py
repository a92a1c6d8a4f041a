"""Springs and dampers of joints whose constants change with stretch and speed.

MuJoCo documentation, XML reference: joint/stiffness and joint/damping. A spring's constant is stiffness + p0 x + p1 x^2
at a stretch x; for a ball or free joint x is the length of the turn or way from where the spring rests. A damper's
constant is damping + p0 |v| + p1 v^2 at a speed v.
"""

import mujoco
import numpy as np
import taichi as ti

from ...base.fields import Field
from ...base.hooks import DAMPER, DAMPER_SLOPE, HAS_SPRING, SPRING
from ...base.joints import is_scalar
from ...base.math import func
from ...base.stage import piece
from ...files.mjmodel.actuators import from_actuators
from ...files.mjmodel.allowed import HIGHER_ORDER
from ...files.mjmodel.flags import disabled
from .part import Loaded, Part


@piece()
def has_other_spring(model, j: ti.i32):
    """Return True if joint j has a spring whose constant at rest may be 0."""
    return model.jnt_stiffnesspoly.at(j, 0) != 0.0 or model.jnt_stiffnesspoly.at(j, 1) != 0.0


@piece()
def spring(model, j: ti.i32, stretch, usual):
    """Return the force of joint j's spring over its stretch (N/m or N m/rad)."""
    steeper = stretch * model.jnt_stiffnesspoly.at(j, 1) + model.jnt_stiffnesspoly.at(j, 0)
    return stretch * steeper + usual


@piece(reads="qvel")
def damper(model, work, i: ti.i32, usual):
    """Return the force of dof i's damper over its velocity (N s/m or N m s/rad)."""
    return _damper(model, work, i, 1.0, 1.0, usual)


@piece(reads="qvel")
def slope_of_damper(model, work, i: ti.i32, usual):
    """Return the derivative of that force by the velocity, with its sign turned."""
    return _damper(model, work, i, 2.0, 3.0, usual)


@func
def _damper(model, work, i: ti.i32, linear, quadratic, damping):
    """Return damping + linear p0 |v| + quadratic p1 v^2."""
    speed = ti.abs(work.qvel[i])
    steeper = speed * (model.dof_dampingpoly.at(i, 1) * quadratic) + model.dof_dampingpoly.at(i, 0) * linear
    return speed * steeper + damping


def _values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the coefficients (njnt, 2) and (nv, 2), with those of actuators' dampers; 0 if they are disabled."""
    springs = not disabled(mjm, mujoco.mjtDisableBit.mjDSBL_SPRING)
    dampers = not disabled(mjm, mujoco.mjtDisableBit.mjDSBL_DAMPER)
    return {
        "jnt_stiffnesspoly": mjm.jnt_stiffnesspoly * float(springs),
        "dof_dampingpoly": (mjm.dof_dampingpoly + from_actuators(mjm, mjm.actuator_dampingpoly)) * float(dampers),
    }


def _turns_a_spring(model: Loaded) -> bool:
    """Return True if such a spring is on a ball or free joint."""
    return bool(model.values["jnt_stiffnesspoly"][~is_scalar(np.ravel(model.values["jnt_type"]))].any())


PART = Part(
    name="polynomials",
    doc="springs and dampers of joints change with stretch and speed",
    wanted=lambda model: bool(model.values["jnt_stiffnesspoly"].any() or model.values["dof_dampingpoly"].any()),
    reals=(
        Field(
            "jnt_stiffnesspoly",
            ("njnt",),
            2,
            "N/m^2, N/m^3, ...",
            "coefficients of stretch and stretch squared in jnt_stiffness",
        ),
        Field(
            "dof_dampingpoly", ("nv",), 2, "N s^2/m^2, ...", "coefficients of speed and speed squared in dof_damping"
        ),
    ),
    values=_values,
    needs={"ball_joints": _turns_a_spring},
    hooks={HAS_SPRING: has_other_spring, SPRING: spring, DAMPER: damper, DAMPER_SLOPE: slope_of_damper},
    mujoco="jnt_stiffnesspoly dof_dampingpoly",
    allowed=dict.fromkeys(
        ("jnt_stiffnesspoly", "dof_dampingpoly"),
        HIGHER_ORDER,
    ),
)

"""Properties of actuators besides forces: inertia and damping of what they drive, and groups that are off."""

import mujoco
import numpy as np

_ON_JOINTS = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
_TENDON = int(mujoco.mjtTrn.mjTRN_TENDON)
_DYN, _GAIN, _BIAS = mujoco.mjtDyn, mujoco.mjtGain, mujoco.mjtBias
GAIN_MUSCLE, BIAS_MUSCLE = int(_GAIN.mjGAIN_MUSCLE), int(_BIAS.mjBIAS_MUSCLE)
DYNAMICS = tuple(int(getattr(_DYN, f"mjDYN_{n}")) for n in ("NONE", "INTEGRATOR", "FILTER", "FILTEREXACT", "MUSCLE"))
GAINS = (int(_GAIN.mjGAIN_FIXED), int(_GAIN.mjGAIN_AFFINE), GAIN_MUSCLE)
BIASES = (int(_BIAS.mjBIAS_NONE), int(_BIAS.mjBIAS_AFFINE), BIAS_MUSCLE)
"""Types of activation dynamics, gains and biases, but for those of kinds of actuators (`parts`)."""
LAST_GROUP = 30
"""Groups above it, and those below 0, cannot be switched off."""


def on_joints(mjm: mujoco.MjModel) -> np.ndarray:
    """Return a mask of the actuators that drive a joint, (nactuator,)."""
    return np.isin(mjm.actuator_trntype, _ON_JOINTS)


def from_actuators(mjm: mujoco.MjModel, amounts: np.ndarray) -> np.ndarray:
    """Return the inertia or damping that actuators add to each dof, (nv, ...): `amounts` times the first gear squared.

    On a ball or free joint all dofs get it (MuJoCo documentation, XML reference: actuator/general, armature).
    """
    return _added(mjm, amounts, on_joints(mjm), np.asarray(mjm.dof_jntid))


def from_tendon_actuators(mjm: mujoco.MjModel, amounts: np.ndarray) -> np.ndarray:
    """Return the same of tendons, (ntendon, ...)."""
    return _added(mjm, amounts, mjm.actuator_trntype == _TENDON, np.arange(mjm.ntendon))


def _added(mjm: mujoco.MjModel, amounts: np.ndarray, which: np.ndarray, driven: np.ndarray) -> np.ndarray:
    """Sum of `amounts` (nactuator, ...) times gear^2 for every item of `driven`, ids of what actuators drive."""
    added: np.ndarray = np.zeros((len(driven), *amounts.shape[1:]))
    for a in np.flatnonzero(which):
        gear = mjm.actuator_gear.reshape(-1, 6)[mjm.actuator_outadr[a], 0]
        added[driven == mjm.actuator_trnid[a, 0]] += amounts[a] * gear**2
    return added


def fixed_gears(mjm: mujoco.MjModel) -> np.ndarray:
    """Return a mask of the rows of actuator_gear that the inertia or the damping of the model depends on."""
    rows: np.ndarray = np.zeros(len(mjm.actuator_gear), bool)
    damped = (mjm.actuator_damping != 0) | mjm.actuator_dampingpoly.any(axis=1)
    rows[mjm.actuator_outadr] = (mjm.actuator_armature != 0) | damped
    return rows


def disabled_actuators(mjm: mujoco.MjModel) -> np.ndarray:
    """Return a mask of the actuators in a group that is switched off, (nactuator,)."""
    group = mjm.actuator_group.astype(np.int64)
    switched = (group >= 0) & (group <= LAST_GROUP)
    return switched & (int(mjm.opt.disableactuator) >> np.where(switched, group, 0) & 1).astype(bool)


def held_when_off(mjm: mujoco.MjModel) -> np.ndarray:
    """Return a mask of the actuators that a group can switch off: no force, and an activation that stays."""
    gains, biases = np.isin(mjm.actuator_gaintype, GAINS), np.isin(mjm.actuator_biastype, BIASES)
    return np.isin(mjm.actuator_dyntype, DYNAMICS) & gains & biases

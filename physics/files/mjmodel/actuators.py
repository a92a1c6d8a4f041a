"""Actuators of a compiled model: inertia and damping of what they drive, groups that are off, outputs and inputs.

An output of an actuator is a force. An actuator has one or three, any number of controls, any of activations. Kernels
have a table of outputs: fields named `actuator_*` have a row an output, as `actuator_gear` has in MuJoCo, and repeat
there what MuJoCo has once an actuator. What belongs to a control or to an activation has rows of its own.

An input or a state that an actuator does not have is number -1.
"""

from collections.abc import Sequence

import mujoco
import numpy as np

_ON_JOINTS = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
_TENDON = int(mujoco.mjtTrn.mjTRN_TENDON)
_DYN, _GAIN, _BIAS = mujoco.mjtDyn, mujoco.mjtGain, mujoco.mjtBias
GAIN_MUSCLE, BIAS_MUSCLE = int(_GAIN.mjGAIN_MUSCLE), int(_BIAS.mjBIAS_MUSCLE)
DYNAMICS = tuple(int(getattr(_DYN, f"mjDYN_{n}")) for n in ("NONE", "INTEGRATOR", "FILTER", "FILTEREXACT", "MUSCLE"))
GAINS = (int(_GAIN.mjGAIN_FIXED), int(_GAIN.mjGAIN_AFFINE), GAIN_MUSCLE)
BIASES = (int(_BIAS.mjBIAS_NONE), int(_BIAS.mjBIAS_AFFINE), BIAS_MUSCLE)
"""Types of activation dynamics, gains and biases, except the types that kinds of actuators declare (`parts`)."""
LAST_GROUP = 30
"""Groups above it, and groups below 0, cannot be switched off."""


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
    """Sum of `amounts` (nactuator, ...) times gear^2 for every item of `driven`, ids of the driven objects."""
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


_T = mujoco.mjtTrn
TENDON = 4
"""`actuator_type` of actuators that pull a tendon. Below it are the types of joints."""
SITE, REFSITE, SLIDER_CRANK, BODY, TURN, BALL_TURN = range(TENDON + 1, TENDON + 7)
"""The same of actuators at a site, without and with a reference; on a slider-crank; with adhesion of a body; on the
orientation of a site by another one; on that of a ball joint."""
FIRST, SECOND = 1, 2
"""Bits of `trn_side`: a dof moves the first site, or the second."""


def actuator_types(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the type of each actuator's joint, as in MuJoCo, or of another transmission, (nactuator,)."""
    kind, other = mjm.actuator_trntype, mjm.actuator_trnid[:, 1]
    alone = {_T.mjTRN_SITE: SITE, _T.mjTRN_SO3: BALL_TURN, _T.mjTRN_SLIDERCRANK: SLIDER_CRANK, _T.mjTRN_BODY: BODY}
    found = np.full(mjm.nactuator, TENDON)
    for value, choice in alone.items():
        found[kind == int(value)] = choice
    found[(kind == int(_T.mjTRN_SITE)) & (other >= 0)] = REFSITE
    found[(kind == int(_T.mjTRN_SO3)) & (other >= 0)] = TURN
    joints = on_joints(mjm)
    found[joints] = mjm.jnt_type[mjm.actuator_trnid[joints, 0]]
    return found


ORIENTATION = int(mujoco.mjtGain.mjGAIN_SO3)
"""`actuator_gaintype` of servos for orientations: three outputs that belong together."""


def owners(mjm: mujoco.MjModel) -> np.ndarray:
    """Actuator of every output, (nout,)."""
    return np.repeat(np.arange(mjm.nactuator), mjm.actuator_outnum)


def activation_owners(mjm: mujoco.MjModel) -> np.ndarray:
    """Actuator of every activation, (na,)."""
    return np.repeat(np.arange(mjm.nactuator), mjm.actuator_actnum)


def activation_outputs(mjm: mujoco.MjModel) -> np.ndarray:
    """Output of every activation, (na,): the actuator's, or that of the same axis."""
    of = activation_owners(mjm)
    axis = (np.arange(mjm.na) - mjm.actuator_actadr[of]) * (mjm.actuator_gaintype[of] == ORIENTATION)
    return mjm.actuator_outadr[of] + axis


def output_controls(mjm: mujoco.MjModel) -> np.ndarray:
    """First control of every output, (nout,); 0 where its actuator takes none."""
    of = owners(mjm)
    return np.where(mjm.actuator_ctrlnum[of] > 0, mjm.actuator_ctrladr[of], 0)


def control_names(mjm: mujoco.MjModel) -> list[str]:
    """Names for the controls, (nu,): the actuator's, or its number where it has none, and which input if of several."""
    found = []
    for a in range(mjm.nactuator):
        name = mjm.actuator(a).name or f"actuator {a}"
        if mjm.actuator_ctrlnum[a] == 1:
            found.append(name)
        else:
            inputs = range(mjm.actuator_ctrlnum[a])
            found += [f"{name}, input {mujoco.mj_actuatorInputName(mjm, a, k) or k}" for k in inputs]
    return found


def output_activations(mjm: mujoco.MjModel) -> np.ndarray:
    """The activation of each output, (nout,): the last of its actuator, or that of the same axis; -1 without any."""
    found = np.full(len(owners(mjm)), -1)
    found[activation_outputs(mjm)] = np.arange(mjm.na)
    return found


_INPUT = mujoco.mjtCtrlInput
POSITION, VELOCITY, FORCE, VOLTAGE = range(4)
"""Columns of tables of inputs."""
_BITS = tuple(int(getattr(_INPUT, f"mjINPUT_{n}")) for n in ("POS", "VEL", "FF", "VOLTAGE"))


def control_inputs(mjm: mujoco.MjModel, actuators: np.ndarray, count: int) -> np.ndarray:
    """Return the controls of the first `count` inputs of actuators, (n, count)."""
    given = [[bool(mjm.actuator_ctrlspec[a] & bit) for bit in _BITS[:count]] for a in actuators]
    rows = [in_a_row(int(mjm.actuator_ctrladr[a]), has) for a, has in zip(actuators, given, strict=True)]
    return np.array(rows, int).reshape(-1, count)


def in_a_row(first: int, there: Sequence[bool]) -> list[int]:
    """Return consecutive ids from `first` on for present items; -1 for absent items, and for all if first < 0."""
    before = np.cumsum([0, *there])
    return [first + int(before[k]) if has and first >= 0 else -1 for k, has in enumerate(there)]

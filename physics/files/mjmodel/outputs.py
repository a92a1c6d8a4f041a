"""Outputs of actuators: a force each. An actuator has one or three, any number of controls, any of activations.

Kernels have a table of outputs: fields named `actuator_*` have a row an output, as `actuator_gear` has in MuJoCo, and
repeat there what MuJoCo has once an actuator. What belongs to a control or to an activation has rows of its own.
"""

import mujoco
import numpy as np

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
    """Activation of every output, (nout,): its actuator's last, or that of the same axis; -1 where there is none."""
    found = np.full(len(owners(mjm)), -1)
    found[activation_outputs(mjm)] = np.arange(mjm.na)
    return found

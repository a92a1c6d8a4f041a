"""Actuators with samples of their past controls, as MuJoCo's model has them.

MuJoCo documentation, XML reference: actuator/general, `delay`, `nsample` and `interp`. Kernels have a table of the
actuators that have samples, in the order of the actuators: fields named `lag_*`. All controls of an actuator are late.
"""

import mujoco
import numpy as np

from ...files.mjmodel.history import CUBIC, HOLD, LINEAR, Ring


def lagging(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the ids of the actuators that have samples of past controls; their delay may be 0."""
    return np.flatnonzero(samples(mjm) > 0)


def samples(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the number of samples that each actuator has, (nactuator,)."""
    return np.asarray(mjm.actuator_history, int).reshape(-1, 2)[:, 0]


def delay_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the integer fields `lag_*`."""
    chosen = lagging(mjm)
    count, controls = samples(mjm)[chosen], mjm.actuator_ctrlnum[chosen]
    way = mjm.actuator_history.reshape(-1, 2)[chosen, 1]
    return {
        "lag_ctrladr": mjm.actuator_ctrladr[chosen],
        "lag_ctrlnum": controls,
        "lag_nsample": count,
        "lag_interp": np.where(np.isin(way, (HOLD, LINEAR)), way, CUBIC),
        "lag_ageadr": np.cumsum([0, *count], dtype=int)[:-1],
        "lag_historyadr": np.cumsum([0, *(count * controls)], dtype=int)[:-1],
    }


def delays_in_steps(mjm: mujoco.MjModel, delay: np.ndarray) -> np.ndarray:
    """Return the delays (n, nlag) in steps, of those in seconds (n, nactuator)."""
    return delay[:, lagging(mjm)] / float(mjm.opt.timestep)


def forgetful(mjm: mujoco.MjModel, delay: np.ndarray) -> np.ndarray:
    """Return a mask of delays (n, nactuator) of actuators that have no samples."""
    return (delay > 0) & (samples(mjm) == 0)


def first_ages(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the ages of samples after a reset, (1, nsample) steps: one, two, and so on."""
    return np.concatenate([np.zeros(0), *(np.arange(1.0, samples(mjm)[a] + 1) for a in lagging(mjm))])[None]


def first_controls(mjm: mujoco.MjModel, ctrl: np.ndarray) -> np.ndarray:
    """Return the controls in samples after a reset, (n, nhistory): those of the reset, (n, nu)."""
    of_all = [ctrl[:, :0]]
    for a in lagging(mjm):
        first = mjm.actuator_ctrladr[a]
        of_all.append(np.tile(ctrl[:, first : first + mjm.actuator_ctrlnum[a]], samples(mjm)[a]))
    return np.concatenate(of_all, 1)


def rings_of_actuators(mjm: mujoco.MjModel) -> tuple[Ring, ...]:
    """Return the ring buffers of all actuators that keep past controls (`nsample` above 0)."""
    rings, age, control = [], 0, 0
    for a in lagging(mjm):
        n, width = int(samples(mjm)[a]), int(mjm.actuator_ctrlnum[a])
        places = slice(age, age + n), slice(control, control + n * width)
        rings.append(Ring(mjm.actuator(a).name or f"actuator {a}", int(mjm.actuator_historyadr[a]), n, width, *places))
        age, control = age + n, control + n * width
    return tuple(rings)

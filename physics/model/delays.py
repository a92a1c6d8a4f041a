"""Actuators that remember their controls: what acts is what they were told some time ago.

MuJoCo documentation, XML reference: actuator/general, `delay`, `nsample` and `interp`. Kernels have a table of the
actuators that have samples, in the order of the actuators: fields named `lag_*`. All controls of an actuator are late.
"""

from collections.abc import Callable

import mujoco
import numpy as np

from ..dynamics.delays import CUBIC, HOLD, LINEAR


def lagging(mjm: mujoco.MjModel) -> np.ndarray:
    """Actuators that have samples of their past controls; their delay may be 0."""
    return np.flatnonzero(samples(mjm) > 0)


def samples(mjm: mujoco.MjModel) -> np.ndarray:
    """How many samples each actuator has, (nactuator,)."""
    return np.asarray(mjm.actuator_history, int).reshape(-1, 2)[:, 0]


def delay_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """The fields of `model.fields` that no environment may have of its own."""
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


def delay_sizes(values: dict[str, np.ndarray]) -> dict[str, int]:
    """Actuators that have samples, their samples, and the controls in these."""
    count = values["lag_nsample"]
    return {"nlag": len(count), "nsample": int(count.sum()), "nhistory": int(count @ values["lag_ctrlnum"])}


def reference_history(mjm: mujoco.MjModel, neutral: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ages (nsample,) and controls (nhistory,) of samples after a reset: a step apart, of neutral controls (nu,)."""
    ages, controls = [np.zeros(0)], [np.zeros(0)]
    for a in lagging(mjm):
        count, first = samples(mjm)[a], mjm.actuator_ctrladr[a]
        ages.append(np.arange(1.0, count + 1))
        controls.append(np.tile(neutral[first : first + mjm.actuator_ctrlnum[a]], count))
    return np.concatenate(ages), np.concatenate(controls)


DELAY_RULES: dict[str, tuple[tuple[str, ...], Callable[..., np.ndarray]]] = {
    "lag_delay": (("actuator_delay",), lambda mjm, delay: delay[:, lagging(mjm)] / float(mjm.opt.timestep)),
}
"""How fields of `model.fields` follow from MuJoCo's numbers (`kernel_numbers.RULES`)."""

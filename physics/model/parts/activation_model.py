"""Loading activations and muscles, as `activation` reads them."""

import mujoco
import numpy as np

from ...files.mjmodel.actuators import BIAS_MUSCLE, GAIN_MUSCLE, disabled_actuators
from ...files.mjmodel.flags import UNLIMITED, disabled
from ...files.mjmodel.outputs import activation_outputs, activation_owners, output_activations, owners
from ...files.mjmodel.solver_params import MINVAL
from .part import Rule

_EXACT = int(mujoco.mjtDyn.mjDYN_FILTEREXACT)


def _off(mjm: mujoco.MjModel) -> bool:
    return disabled(mjm, mujoco.mjtDisableBit.mjDSBL_ACTUATION)


def activation_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the fields that no environment may have of its own."""
    of, moves = owners(mjm), activation_owners(mjm)
    exact = mjm.actuator_dyntype[moves] == _EXACT
    tau = np.maximum(mjm.actuator_dynprm[moves, 0], MINVAL)
    dt = float(mjm.opt.timestep)
    holds = np.where(exact, tau * -np.expm1(-dt / tau), dt)
    muscles = (mjm.actuator_gaintype == GAIN_MUSCLE) + 2 * (mjm.actuator_biastype == BIAS_MUSCLE)
    return {
        "actuator_dyntype": mjm.actuator_dyntype[of],
        "actuator_actadr": np.full(len(of), -1) if _off(mjm) else output_activations(mjm),
        "actuator_actearly": mjm.actuator_actearly[of].astype(int),
        "actuator_muscle": muscles[of].astype(int),
        "actuator_dynprm": mjm.actuator_dynprm[of, :3],
        "act_outid": activation_outputs(mjm),
        "act_hold": np.where(disabled_actuators(mjm)[moves], 0.0, holds),
    }


def has_activations(mjm: mujoco.MjModel) -> bool:
    """Return True if some actuator has an activation, or is a muscle."""
    muscles = (mjm.actuator_gaintype == GAIN_MUSCLE) | (mjm.actuator_biastype == BIAS_MUSCLE)
    return bool(mjm.na or muscles.any())


def _peak_force(mjm: mujoco.MjModel, prm: np.ndarray, acc0: np.ndarray) -> np.ndarray:
    """Return the peak force (N): given, or such that a muscle at rest accelerates the model by `scale`; 0 if off."""
    scaled = prm[..., 3] / np.maximum(acc0, MINVAL)
    on = ~(disabled_actuators(mjm)[owners(mjm)] | _off(mjm))
    return np.where(prm[..., 2] < 0, scaled, prm[..., 2]) * on


def _geometry(mjm: mujoco.MjModel, prm: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the optimal length (m), the lower end of the operating range in it, and in metres."""
    lengths = mjm.actuator_lengthrange
    optimal = (lengths[:, 1] - lengths[:, 0]) / np.maximum(prm[..., 1] - prm[..., 0], MINVAL)
    return np.maximum(optimal, MINVAL), prm[..., 0], np.broadcast_to(lengths[:, 0], optimal.shape)


def _muscle_gain(mjm: mujoco.MjModel, gainprm: np.ndarray, acc0: np.ndarray) -> np.ndarray:
    of = owners(mjm)
    prm = gainprm[:, of]
    optimal, low, start = _geometry(mjm, prm)
    fastest = np.maximum(optimal * prm[..., 6], MINVAL)
    columns = (_peak_force(mjm, prm, acc0), optimal, low, start, prm[..., 4], prm[..., 5], fastest, prm[..., 8])
    return np.stack(np.broadcast_arrays(*columns), -1) * _where(mjm.actuator_gaintype[of] == GAIN_MUSCLE)


def _muscle_bias(mjm: mujoco.MjModel, biasprm: np.ndarray, acc0: np.ndarray) -> np.ndarray:
    of = owners(mjm)
    prm = biasprm[:, of]
    columns = (_peak_force(mjm, prm, acc0), *_geometry(mjm, prm), prm[..., 5], prm[..., 7])
    return np.stack(np.broadcast_arrays(*columns), -1) * _where(mjm.actuator_biastype[of] == BIAS_MUSCLE)


def _where(muscles: np.ndarray) -> np.ndarray:
    return muscles[:, None].astype(float)


def _actrange(mjm: mujoco.MjModel, ranges: np.ndarray) -> np.ndarray:
    of = activation_owners(mjm)
    limited = np.asarray(mjm.actuator_actlimited, bool)[of, None]
    return np.where(limited, ranges[:, of], [-UNLIMITED, UNLIMITED])


ACTIVATION_RULES: dict[str, Rule] = {
    "act_range": (("actuator_actrange",), _actrange),
    "actuator_muscle_gain": (("actuator_gainprm", "actuator_acc0"), _muscle_gain),
    "actuator_muscle_bias": (("actuator_biasprm", "actuator_acc0"), _muscle_bias),
}
"""Rules of the real fields: the names of MuJoCo's numbers, and the function of them."""

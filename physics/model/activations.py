"""Activations and muscles of a model: how the numbers that kernels read follow from MuJoCo's."""

from collections.abc import Callable

import mujoco
import numpy as np

from ..mjmodel.actuators import disabled_actuators
from ..mjmodel.outputs import activation_outputs, activation_owners, output_activations, owners
from ..parts import ACTUATOR_KINDS

_D = mujoco.mjtDisableBit
_DYN, _GAIN, _BIAS = mujoco.mjtDyn, mujoco.mjtGain, mujoco.mjtBias
_SIMPLE = tuple(int(getattr(_DYN, f"mjDYN_{n}")) for n in ("NONE", "INTEGRATOR", "FILTER", "FILTEREXACT", "MUSCLE"))
DYNAMICS = _SIMPLE
"""Types of activation dynamics, but for those of kinds of actuators."""
GAIN_MUSCLE, BIAS_MUSCLE = int(_GAIN.mjGAIN_MUSCLE), int(_BIAS.mjBIAS_MUSCLE)
UNLIMITED = 1e30
MINVAL = 1e-15
_EXACT = int(_DYN.mjDYN_FILTEREXACT)


def _off(mjm: mujoco.MjModel) -> bool:
    return bool(int(mjm.opt.disableflags) & int(_D.mjDSBL_ACTUATION))


def activation_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """The fields of `model.fields` that no environment may have of its own."""
    of, moves = owners(mjm), activation_owners(mjm)
    exact = mjm.actuator_dyntype[moves] == _EXACT
    tau = np.maximum(mjm.actuator_dynprm[moves, 0], MINVAL)
    dt = float(mjm.opt.timestep)
    holds = np.where(exact, tau * -np.expm1(-dt / tau), dt)
    for kind in ACTUATOR_KINDS:
        holds = kind.act_holds(mjm, holds) if kind.act_holds else holds
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
    """Whether some actuator has an activation, or is a muscle."""
    muscles = (mjm.actuator_gaintype == GAIN_MUSCLE) | (mjm.actuator_biastype == BIAS_MUSCLE)
    return bool(mjm.na or muscles.any())


def _peak_force(mjm: mujoco.MjModel, prm: np.ndarray, acc0: np.ndarray) -> np.ndarray:
    """Given, or such that it accelerates the model by `scale` where the muscle is at rest; 0 where it is off."""
    scaled = prm[..., 3] / np.maximum(acc0, MINVAL)
    on = ~(disabled_actuators(mjm)[owners(mjm)] | _off(mjm))
    return np.where(prm[..., 2] < 0, scaled, prm[..., 2]) * on


def _geometry(mjm: mujoco.MjModel, prm: np.ndarray) -> tuple[np.ndarray, ...]:
    """Optimal length (m), lower end of the operating range in it, and in metres."""
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
    found = np.where(limited, ranges[:, of], [-UNLIMITED, UNLIMITED])
    for kind in ACTUATOR_KINDS:
        found = kind.act_ranges(mjm, found) if kind.act_ranges else found
    return found


ACTIVATION_RULES: dict[str, tuple[tuple[str, ...], Callable[..., np.ndarray]]] = {
    "act_range": (("actuator_actrange",), _actrange),
    "actuator_muscle_gain": (("actuator_gainprm", "actuator_acc0"), _muscle_gain),
    "actuator_muscle_bias": (("actuator_biasprm", "actuator_acc0"), _muscle_bias),
}
"""How fields of `model.fields` follow from MuJoCo's numbers (`kernel_numbers.RULES`)."""

"""Impedance and reference acceleration of constraint rows (MuJoCo documentation, Computation: Parameters)."""

import mujoco
import numpy as np

from .flags import disabled

MINVAL = 1e-15  # mjMINVAL
MINIMP, MAXIMP = 1e-4, 0.9999  # mjMINIMP, mjMAXIMP
DEFAULT_SOLREF = np.array([0.02, 1.0])


def impedance_params(solimp: np.ndarray) -> np.ndarray:
    """Return dmin, dmax, width, midpoint and power (..., 5) within the ranges that MuJoCo enforces."""
    dmin, dmax, width, midpoint, power = np.moveaxis(np.asarray(solimp, float), -1, 0)
    dmin, dmax, midpoint = (np.clip(x, MINIMP, MAXIMP) for x in (dmin, dmax, midpoint))
    return np.stack((dmin, dmax, np.maximum(0.0, width), midpoint, np.maximum(1.0, power)), axis=-1)


def has_uncommon_powers(solimp: np.ndarray) -> bool:
    """Return True if the power of a row of `solimp` (n, 5) is neither 1 nor 2."""
    return bool((~np.isin(np.maximum(solimp[:, 4], 1.0), (1.0, 2.0))).any())


def reference_params(mjm: mujoco.MjModel, solref: np.ndarray, dmax: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return stiffness K and damping B, (...) each, of the reference acceleration -B v - K d (x - margin).

    `solref` (..., 2) is (time constant, damping ratio) when positive, (-stiffness, -damping) when not.
    """
    ref = np.asarray(solref, float)
    mixed = (ref[..., 0] > 0) != (ref[..., 1] > 0)
    first, second = (np.where(mixed, DEFAULT_SOLREF[i], ref[..., i]) for i in (0, 1))
    standard = first > 0
    if not disabled(mjm, mujoco.mjtDisableBit.mjDSBL_REFSAFE):
        first = np.where(standard, np.maximum(first, 2.0 * mjm.opt.timestep), first)
    stiff = 1.0 / np.maximum(MINVAL, dmax**2 * first**2 * second**2)
    stiffness = np.where(standard, stiff, -first / np.maximum(MINVAL, dmax**2))
    damping = np.where(second > 0, 2.0 / np.maximum(MINVAL, dmax * first), -second / np.maximum(MINVAL, dmax))
    return stiffness, damping


def reference_of(k: int, mjm: mujoco.MjModel, solref: np.ndarray, solimp: np.ndarray) -> np.ndarray:
    """Return stiffness (k = 0) or damping (1) of the reference acceleration of rows with these parameters."""
    return reference_params(mjm, solref, impedance_params(solimp)[..., 1])[k]


def start_stiffness(mjm: mujoco.MjModel, solimp: np.ndarray, invweight: np.ndarray) -> np.ndarray:
    """Return D of rows at position 0, where the impedance begins (mj_makeImpedance)."""
    dmin, dmax, width = np.moveaxis(impedance_params(solimp), -1, 0)[:3]
    impedance = np.where(width > MINVAL, dmin, 0.5 * (dmin + dmax))
    return 1.0 / np.maximum(MINVAL, (1.0 - impedance) / impedance * invweight)

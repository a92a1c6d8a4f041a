"""Contact and limit parameters as MuJoCo derives them (MuJoCo documentation, Computation: Parameters, Contact)."""

import mujoco
import numpy as np

from .pairs import largest_by_hand

MINVAL = 1e-15  # mjMINVAL
MINIMP, MAXIMP, MINMU = 1e-4, 0.9999, 1e-5  # mjMINIMP, mjMAXIMP, mjMINMU
DEFAULT_SOLREF = np.array([0.02, 1.0])


def impedance_params(solimp: np.ndarray) -> np.ndarray:
    """(..., 5): dmin, dmax, width, midpoint, power within the ranges that MuJoCo enforces."""
    dmin, dmax, width, midpoint, power = np.moveaxis(np.asarray(solimp, float), -1, 0)
    dmin, dmax, midpoint = (np.clip(x, MINIMP, MAXIMP) for x in (dmin, dmax, midpoint))
    return np.stack((dmin, dmax, np.maximum(0.0, width), midpoint, np.maximum(1.0, power)), axis=-1)


def reference_params(mjm: mujoco.MjModel, solref: np.ndarray, dmax: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness K and damping B, (...) each, of the reference acceleration -B v - K d (x - margin).

    `solref` (..., 2) is (time constant, damping ratio) when positive, (-stiffness, -damping) when not.
    """
    ref = np.asarray(solref, float)
    mixed = (ref[..., 0] > 0) != (ref[..., 1] > 0)
    first, second = (np.where(mixed, DEFAULT_SOLREF[i], ref[..., i]) for i in (0, 1))
    standard = first > 0
    if not int(mjm.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_REFSAFE):
        first = np.where(standard, np.maximum(first, 2.0 * mjm.opt.timestep), first)
    stiff = 1.0 / np.maximum(MINVAL, dmax**2 * first**2 * second**2)
    stiffness = np.where(standard, stiff, -first / np.maximum(MINVAL, dmax**2))
    damping = np.where(second > 0, 2.0 / np.maximum(MINVAL, dmax * first), -second / np.maximum(MINVAL, dmax))
    return stiffness, damping


def pair_stiffness(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Stiffness K (1/s^2) of the reference acceleration of contacts of pairs of geoms (n, 2), as kernels mix it.

    See `constraint.contact_parameters`.
    """
    first, second = pairs.T
    priority = mjm.geom_priority[first] - mjm.geom_priority[second]
    weight = np.where(mjm.geom_solmix < MINVAL, 0.0, mjm.geom_solmix)
    both = weight[first] + weight[second]
    mix = np.where(both == 0.0, 0.5, weight[first] / np.where(both == 0.0, 1.0, both))
    mix = np.where(priority > 0, 1.0, np.where(priority < 0, 0.0, mix))[:, None]
    ref1, ref2 = mjm.geom_solref[first], mjm.geom_solref[second]
    standard = (ref1[:, :1] > 0) & (ref2[:, :1] > 0) | (priority != 0)[:, None]
    solref = np.where(standard, mix * ref1 + (1 - mix) * ref2, np.minimum(ref1, ref2))
    dmax = mix[:, 0] * mjm.geom_solimp[first, 1] + (1 - mix[:, 0]) * mjm.geom_solimp[second, 1]
    mixed = reference_params(mjm, solref, np.clip(dmax, MINIMP, MAXIMP))[0]
    own = reference_params(mjm, mjm.pair_solref, np.clip(mjm.pair_solimp[:, 1], MINIMP, MAXIMP))[0]
    return largest_by_hand(mjm, own, pairs, mixed)

"""Contact and limit parameters as MuJoCo derives them (MuJoCo documentation, Computation: Parameters, Contact)."""

import mujoco
import numpy as np

MINVAL = 1e-15  # mjMINVAL
MINIMP, MAXIMP, MINMU = 1e-4, 0.9999, 1e-5  # mjMINIMP, mjMAXIMP, mjMINMU
DEFAULT_SOLREF = np.array([0.02, 1.0])


def impedance_params(solimp: np.ndarray) -> np.ndarray:
    """(dmin, dmax, width, midpoint, power) within the ranges that MuJoCo enforces."""
    dmin, dmax, width, midpoint, power = solimp
    clip = [float(np.clip(x, MINIMP, MAXIMP)) for x in (dmin, dmax, midpoint)]
    return np.array([clip[0], clip[1], max(0.0, width), clip[2], max(1.0, power)])


def reference_params(mjm: mujoco.MjModel, solref: np.ndarray, dmax: float) -> tuple[float, float]:
    """Stiffness K and damping B of the reference acceleration -B v - K d (x - margin).

    `solref` is (time constant, damping ratio) when positive, (-stiffness, -damping) when not.
    """
    ref = np.array(solref, float)
    if (ref[0] > 0) != (ref[1] > 0):
        ref = DEFAULT_SOLREF.copy()
    if ref[0] > 0 and not int(mjm.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_REFSAFE):
        ref[0] = max(ref[0], 2.0 * mjm.opt.timestep)
    if ref[0] > 0:
        stiffness = 1.0 / max(MINVAL, dmax**2 * ref[0] ** 2 * ref[1] ** 2)
    else:
        stiffness = -ref[0] / max(MINVAL, dmax**2)
    damping = 2.0 / max(MINVAL, dmax * ref[0]) if ref[1] > 0 else -ref[1] / max(MINVAL, dmax)
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
    dmax = np.clip(mix[:, 0] * mjm.geom_solimp[first, 1] + (1 - mix[:, 0]) * mjm.geom_solimp[second, 1], MINIMP, MAXIMP)
    rows = np.unique(np.column_stack((solref, dmax)), axis=0)
    return np.array([reference_params(mjm, row[:2], row[2])[0] for row in rows])

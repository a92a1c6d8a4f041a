"""Contact and limit parameters as MuJoCo derives them (MuJoCo documentation, Computation: Parameters, Contact)."""

import mujoco
import numpy as np

MINVAL = 1e-15  # mjMINVAL
_MINIMP, _MAXIMP, _MINMU = 1e-4, 0.9999, 1e-5  # mjMINIMP, mjMAXIMP, mjMINMU
_DEFAULT_SOLREF = np.array([0.02, 1.0])


def impedance_params(solimp: np.ndarray) -> np.ndarray:
    """(dmin, dmax, width, midpoint, power) within the ranges that MuJoCo enforces."""
    dmin, dmax, width, midpoint, power = solimp
    clip = [float(np.clip(x, _MINIMP, _MAXIMP)) for x in (dmin, dmax, midpoint)]
    return np.array([clip[0], clip[1], max(0.0, width), clip[2], max(1.0, power)])


def reference_params(mjm: mujoco.MjModel, solref: np.ndarray, dmax: float) -> tuple[float, float]:
    """Stiffness K and damping B of the reference acceleration -B v - K d (x - margin).

    `solref` is (time constant, damping ratio) when positive, (-stiffness, -damping) when not.
    """
    ref = np.array(solref, float)
    if (ref[0] > 0) != (ref[1] > 0):
        ref = _DEFAULT_SOLREF.copy()
    if ref[0] > 0 and not int(mjm.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_REFSAFE):
        ref[0] = max(ref[0], 2.0 * mjm.opt.timestep)
    if ref[0] > 0:
        stiffness = 1.0 / max(MINVAL, dmax**2 * ref[0] ** 2 * ref[1] ** 2)
    else:
        stiffness = -ref[0] / max(MINVAL, dmax**2)
    damping = 2.0 / max(MINVAL, dmax * ref[0]) if ref[1] > 0 else -ref[1] / max(MINVAL, dmax)
    return stiffness, damping


def mix_pair(mjm: mujoco.MjModel, g1: int, g2: int) -> dict:
    """Parameters of the contacts of two geoms: priority, solmix, friction and margins combined."""
    priority = np.sign(int(mjm.geom_priority[g1]) - int(mjm.geom_priority[g2]))
    if priority:
        g = g1 if priority > 0 else g2
        condim, solref, solimp = int(mjm.geom_condim[g]), mjm.geom_solref[g], mjm.geom_solimp[g]
        friction = mjm.geom_friction[g]
    else:
        condim = int(max(mjm.geom_condim[g1], mjm.geom_condim[g2]))
        mix = _mix_factor(mjm.geom_solmix[g1], mjm.geom_solmix[g2])
        ref1, ref2 = mjm.geom_solref[g1], mjm.geom_solref[g2]
        standard = ref1[0] > 0 and ref2[0] > 0
        solref = mix * ref1 + (1 - mix) * ref2 if standard else np.minimum(ref1, ref2)
        solimp = mix * mjm.geom_solimp[g1] + (1 - mix) * mjm.geom_solimp[g2]
        friction = np.maximum(mjm.geom_friction[g1], mjm.geom_friction[g2])
    mu = np.maximum(_MINMU, friction[[0, 0, 1, 2, 2]])
    imp = impedance_params(solimp)
    stiffness, damping = reference_params(mjm, solref, imp[1])
    margin = mjm.geom_margin[g1] + mjm.geom_margin[g2]
    weight = sum(mjm.body_invweight0[mjm.geom_bodyid[g], 0] for g in (g1, g2))
    pyramid = condim > 1
    return {
        "condim": condim,
        "margin": margin,
        "reach": margin + mjm.geom_gap[g1] + mjm.geom_gap[g2],
        "friction": mu,
        "solimp": imp,
        "stiffness": stiffness,
        "damping": damping,
        "diagonal": weight * (1.0 + mu[0] ** 2) if pyramid else weight,
        "regularizer": 2.0 * mu[0] ** 2 / max(MINVAL, mjm.opt.impratio) if pyramid else 1.0,
    }


def _mix_factor(solmix1: float, solmix2: float) -> float:
    if solmix1 >= MINVAL and solmix2 >= MINVAL:
        return solmix1 / (solmix1 + solmix2)
    if solmix1 < MINVAL and solmix2 < MINVAL:
        return 0.5
    return 0.0 if solmix1 < MINVAL else 1.0

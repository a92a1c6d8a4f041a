"""Stiffness and hardness of contacts as kernels mix it (MuJoCo documentation, Computation: Contact parameters)."""

import mujoco
import numpy as np

from ..files.mjmodel.pairs import largest_explicit, pair_condim
from ..files.mjmodel.solver_params import MAXIMP, MINIMP, MINVAL, reference_params

MINMU = 1e-5  # mjMINMU


def pair_stiffness(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return the stiffness K (1/s^2) of the reference acceleration of contacts of pairs of geoms (n, 2).

    Kernels mix the parameters of both geoms in the same way: see `constraint.contact_parameters`.
    """
    (first, second), mix = pairs.T, _share_of_first(mjm, pairs)[:, None]
    equal = mjm.geom_priority[first] == mjm.geom_priority[second]
    ref1, ref2 = mjm.geom_solref[first], mjm.geom_solref[second]
    standard = (ref1[:, :1] > 0) & (ref2[:, :1] > 0) | ~equal[:, None]
    solref = np.where(standard, mix * ref1 + (1 - mix) * ref2, np.minimum(ref1, ref2))
    dmax = mix[:, 0] * mjm.geom_solimp[first, 1] + (1 - mix[:, 0]) * mjm.geom_solimp[second, 1]
    mixed = reference_params(mjm, solref, np.clip(dmax, MINIMP, MAXIMP))[0]
    own = reference_params(mjm, mjm.pair_solref, np.clip(mjm.pair_solimp[:, 1], MINIMP, MAXIMP))[0]
    return largest_explicit(mjm, own, pairs, mixed)


def pair_hardness(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return the hardness of contacts of pairs of geoms (n, 2): D of a row times its inverse inertia, a plain number.

    The rows of a pyramid with friction mu have D in proportion to impratio / mu^2.
    """
    (first, second), mix = pairs.T, _share_of_first(mjm, pairs)
    impedance = np.clip(mjm.geom_solimp[:, :2].max(axis=1), MINIMP, MAXIMP)
    mixed = mix * impedance[first] + (1 - mix) * impedance[second]
    mixed = _hardness(mjm, mixed, _pair_friction(mjm, pairs), pair_condim(mjm, pairs))
    own = np.clip(mjm.pair_solimp[:, :2].max(axis=1), MINIMP, MAXIMP)
    own = _hardness(mjm, own, mjm.pair_friction[:, 0], mjm.pair_dim)
    return largest_explicit(mjm, own, pairs, mixed)


def _hardness(mjm: mujoco.MjModel, impedance: np.ndarray, friction: np.ndarray, dim: np.ndarray) -> np.ndarray:
    """Return the hardness of contacts with these impedances, friction coefficients and dimensions, (n,) each."""
    hardness = impedance / (1.0 - impedance)
    mu2 = np.maximum(friction, MINMU) ** 2
    pyramid = (mjm.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL) & (dim > 1)
    return np.where(pyramid, hardness * mjm.opt.impratio / (2.0 * mu2 * (1.0 + mu2)), hardness)


def _share_of_first(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return the share (n,) of the first geom in what contacts of pairs (n, 2) mix."""
    first, second = pairs.T
    priority = mjm.geom_priority[first] - mjm.geom_priority[second]
    weight = np.where(mjm.geom_solmix < MINVAL, 0.0, mjm.geom_solmix)
    both = weight[first] + weight[second]
    mix = np.where(both == 0.0, 0.5, weight[first] / np.where(both == 0.0, 1.0, both))
    return np.where(priority > 0, 1.0, np.where(priority < 0, 0.0, mix))


def _pair_friction(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return the sliding friction of pairs (n, 2): that of the geom of higher priority, or the larger one."""
    mu, priority = mjm.geom_friction[:, 0][pairs], mjm.geom_priority[pairs]
    chosen = np.where(priority[:, 0] > priority[:, 1], mu[:, 0], mu[:, 1])
    return np.where(priority[:, 0] == priority[:, 1], mu.max(axis=1, initial=0.0), chosen)

"""Stiffness of contacts as kernels mix it (MuJoCo documentation, Computation: Contact parameters)."""

import mujoco
import numpy as np

from ..mjmodel.pairs import largest_by_hand
from ..mjmodel.solver_params import MAXIMP, MINIMP, MINVAL, reference_params


def pair_stiffness(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return the stiffness K (1/s^2) of the reference acceleration of contacts of pairs of geoms (n, 2).

    Kernels mix the parameters of both geoms in the same way: see `constraint.contact_parameters`.
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

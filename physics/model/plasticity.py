"""Springs that yield: where a model keeps what they rest at (mjData.plastic), and what that is after a reset."""

import mujoco
import numpy as np

from .tendons import acting_tendons

_D = mujoco.mjtDisableBit
_BALL = int(mujoco.mjtJoint.mjJNT_BALL)


def plastic_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """The fields of `model.fields` for springs that yield; none does where springs are switched off."""
    tendons = mjm.ntendon if acting_tendons(mjm) else 0
    off = int(mjm.opt.disableflags) & int(_D.mjDSBL_SPRING)
    return {
        "jnt_plasticadr": np.full(mjm.njnt, -1) if off else mjm.jnt_plasticadr,
        "jnt_springyield": mjm.jnt_springyield,
        "tendon_plasticadr": np.full(tendons, -1) if off else mjm.tendon_plasticadr[:tendons],
        "tendon_springyield": mjm.tendon_springyield[:tendons],
    }


def resting_places(mjm: mujoco.MjModel) -> np.ndarray:
    """Where each number of mjData.plastic comes from in the reference state, (nplastic,).

    Below nq a coordinate of qpos_spring; above, less nq, one of the numbers of tendon_lengthspring.
    """
    places: np.ndarray = np.zeros(mjm.nplastic, int)
    for j in np.flatnonzero(mjm.jnt_plasticadr >= 0):
        count = 4 if mjm.jnt_type[j] == _BALL else 1
        places[mjm.jnt_plasticadr[j] + np.arange(count)] = mjm.jnt_qposadr[j] + np.arange(count)
    for t in np.flatnonzero(mjm.tendon_plasticadr >= 0):
        places[mjm.tendon_plasticadr[t] + np.arange(2)] = mjm.nq + 2 * t + np.arange(2)
    return places


def resting(mjm: mujoco.MjModel, qpos_spring: np.ndarray, lengthspring: np.ndarray) -> np.ndarray:
    """mjData.plastic of a reset, (n, nplastic), from qpos_spring (n, nq) and tendon_lengthspring (n, ntendon, 2)."""
    both = np.concatenate((qpos_spring, lengthspring.reshape(len(lengthspring), -1)), axis=1)
    return both[:, resting_places(mjm)]

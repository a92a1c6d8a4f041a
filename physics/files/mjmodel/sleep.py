"""Sleep of a compiled model: if its trees may sleep, and which of its elements they cannot sleep with."""

from collections.abc import Callable

import mujoco
import numpy as np

from .unsupported import Drop, Unsupported, clears

AWAKE = -(1 + mujoco.mjMINAWAKE)
"""tree_asleep of a tree that moves; it counts up to -1, from where the tree may sleep."""
_SLEEP = int(mujoco.mjtEnableBit.mjENBL_SLEEP)
_STAY_AWAKE = clears("enableflags", _SLEEP)


def sleeps(mjm: mujoco.MjModel) -> bool:
    """Return True if the model's trees are put to sleep."""
    return bool(int(mjm.opt.enableflags) & _SLEEP) and mjm.ntree > 0


def no_sleep(
    feature: str,
    found: Callable[[mujoco.MjModel], object],
    attribute: str = "sleep",
    drop: Drop = _STAY_AWAKE,
) -> Unsupported:
    """Return a row for models that sleep although `found` is true of them; by default their trees then stay awake."""

    def where(mjm: mujoco.MjModel) -> np.ndarray:
        return np.zeros(int(sleeps(mjm) and bool(found(mjm))), int)

    return Unsupported(f"sleep {feature}", "option", attribute, where, drop)

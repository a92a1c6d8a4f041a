"""The fatigue of muscles by the three-compartment model with enhanced recovery (3CC-r), as MyoSuite has it.

Of each muscle one share is active, one rests and one is tired; they add up to 1. Looft, Herkert and Frey-Law, 2018;
Cheema and others, 2020 (https://doi.org/10.1145/3313831.3376701).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array

if TYPE_CHECKING:
    from ..task.task import Task

TIRING = 0.00912  # 1/s, rate at which the active share tires
RECOVERY = 0.1 * 0.00094  # 1/s, rate at which the tired share recovers
RESTING = 10 * 15  # recovery is so many times faster in a muscle that does more than it is asked for


class Fatigue:
    """The three shares of all muscles of n environments; make one in `bind`.

    Args:
        task: a bound task.
        muscle: (nu,) bool, which actuators are muscles.
    """

    def __init__(self, task: "Task", muscle: np.ndarray) -> None:
        self.xp, self.seconds, self.shape = task.xp, task.dt, len(muscle)
        rise, fall = (np.where(muscle, part, 1.0) for part in task.model.actuator_dynprm.T[:2])
        self.rise, self.fall = task.array(rise), task.array(fall)  # (nu,) s, of the activation

    def rested(self, like: Array) -> dict[str, Array]:
        """Return the shares of rested muscles, each (n, nu), for n rows of any array (n, 1)."""
        none = self.xp.repeat(self.xp.zeros_like(like), self.shape, axis=1)
        return {"active": none, "resting": none + 1, "tired": none}

    def after(self, shares: Mapping[str, Array], wanted: Array) -> dict[str, Array]:
        """Return the shares after a step in which excitations (n, nu) are wanted; the active one is what acts."""
        xp, dt = self.xp, self.seconds
        active, resting, tired = (shares[name] for name in ("active", "resting", "tired"))
        effort = 0.5 + 1.5 * active  # MuJoCo's time constants of muscles depend on the activation so
        more = wanted - active
        low = more <= 0
        rate = xp.where(low, effort / self.fall * more, effort / self.rise * xp.minimum(more, resting))
        recovery = xp.where(low, RESTING * RECOVERY, RECOVERY) * tired
        tiring = TIRING * active
        least = xp.maximum(tiring - active / dt, recovery + (resting - 1) / dt)
        most = xp.minimum(tiring + (1 - active) / dt, recovery + resting / dt)
        rate = xp.minimum(xp.maximum(rate, least), most)
        return {
            "active": active + (rate - tiring) * dt,
            "resting": resting + (recovery - rate) * dt,
            "tired": tired + (tiring - recovery) * dt,
        }

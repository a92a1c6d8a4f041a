"""Inputs and states of actuators that have several: which control, and which activation, is which.

An input or a state that an actuator does not have is number -1.
"""

from collections.abc import Sequence

import mujoco
import numpy as np

_INPUT = mujoco.mjtCtrlInput
POSITION, VELOCITY, FORCE, VOLTAGE = range(4)
"""Columns of tables of inputs."""
_BITS = tuple(int(getattr(_INPUT, f"mjINPUT_{n}")) for n in ("POS", "VEL", "FF", "VOLTAGE"))


def control_inputs(mjm: mujoco.MjModel, actuators: np.ndarray, count: int) -> np.ndarray:
    """Return the controls of the first `count` inputs of actuators, (n, count)."""
    given = [[bool(mjm.actuator_ctrlspec[a] & bit) for bit in _BITS[:count]] for a in actuators]
    rows = [in_a_row(int(mjm.actuator_ctrladr[a]), has) for a, has in zip(actuators, given, strict=True)]
    return np.array(rows, int).reshape(-1, count)


def in_a_row(first: int, there: Sequence[bool]) -> list[int]:
    """Number what is there from `first` on; what is not there gets -1, and so does all if `first` is below 0."""
    before = np.cumsum([0, *there])
    return [first + int(before[k]) if has and first >= 0 else -1 for k, has in enumerate(there)]

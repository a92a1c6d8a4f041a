"""Encoders whose zero is off: a bias on the joint positions that a robot measures, and on the targets of its servos."""

import mujoco
import numpy as np

from ..arrays import Array
from ..task.noise import Noise
from ..task.task import Last, Task, TaskState
from .items import Names, rows_of
from .ranges import require_ranges


class EncoderBias:
    """A bias of joints' encoders: angles read too large by it, and position servos stop short by it.

    Make one in `bind`, put `begin` into the memory of a reset, observe `read(state)`, and return
    `targets(state, controls)` from
    `control`: the servo compares its target with its encoder's reading.

    Args:
        task: a bound task.
        low: lowest bias, rad or m.
        high: highest bias.
        joints: names, or regular expressions that match whole names; None: all hinges and slides.
        when: "reset": drawn for every episode; "start": kept over episodes until an environment is seeded again.
        name: of the memory, (n, joints).

    Attributes:
        coordinates: where the joints are in qpos, (joints,).

    Raises:
        ValueError: there is no such joint, no joint is a hinge or slide, or the range is empty or not finite.
    """

    def __init__(
        self,
        task: Task,
        low: float,
        high: float,
        joints: Names = None,
        *,
        when: str = "reset",
        name: str = "encoder_bias",
    ) -> None:
        if not low <= high:
            raise ValueError(f"EncoderBias: low={low} is above high={high}: exchange them")
        require_ranges("EncoderBias", {"(low, high)": (low, high)})
        if when not in ("reset", "start"):
            raise ValueError(f'EncoderBias: when={when!r}: it is "reset" or "start"')
        model = task.model
        joint_rows = rows_of(model, "qpos0", {"joints": joints}, "EncoderBias")
        assert joint_rows is not None
        if not len(joint_rows):
            raise ValueError(f"EncoderBias: joints={joints!r}: no joint is a hinge or slide")
        self.coordinates = joint_rows
        self._task, self._low, self._high, self._lasts = task, low, high, when == "start"
        self.name = name
        self._first = int(joint_rows[0]) if bool(np.all(np.diff(joint_rows) == 1)) else None  # a slice is read sooner
        column = {int(at): k for k, at in enumerate(joint_rows)}
        self._columns = [column.get(_servo_coordinate(model, i)) for i in range(model.nu)]
        self._shifts = [_control_of(model, i) for i in range(model.nu)]

    def begin(self, noise: Noise, last: Last | None = None) -> dict[str, Array]:
        """Return the memory with which n episodes begin.

        Args:
            noise: of the episodes.
            last: the episodes before; needed by a bias that is kept.
        """
        bias = self._task.array(noise.uniform(self._low, self._high, len(self.coordinates)))
        if self._lasts:
            if last is None:
                raise ValueError('EncoderBias: when="start" needs begin(noise, last): call it in reset_after')
            if self.name in last.memory:
                bias = self._task.xp.where(last.fresh[:, None], bias, last.memory[self.name])
        return {self.name: bias}

    def read(self, state: TaskState) -> Array:
        """Return the positions that encoders read, (n, joints) m or rad."""
        if self._first is not None:
            joints = state.qpos[:, self._first : self._first + len(self.coordinates)]
        else:
            xp = self._task.xp
            joints = xp.stack([state.qpos[:, at] for at in self.coordinates.tolist()], axis=1)
        return joints + state.memory[self.name]

    def targets(self, state: TaskState, controls: Array) -> Array:
        """Return controls (n, nu) as position servos with these encoders take them; other actuators' stay."""
        xp, bias = self._task.xp, state.memory[self.name]
        none = 0 * bias[:, 0]
        off = [none if c is None else by * bias[:, c] for c, by in zip(self._columns, self._shifts, strict=True)]
        return controls - xp.stack(off, axis=1)


def _servo_coordinate(model: mujoco.MjModel, actuator: int) -> int:
    """Return the place in qpos of the joint that an actuator holds in position; -1 if it does nothing of the kind."""
    joint = int(model.actuator_trnid[actuator, 0])
    kinds = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))  # one thing for hinge and slide
    of_joint = model.actuator_trntype[actuator] in kinds
    holds = model.actuator_biastype[actuator] == int(mujoco.mjtBias.mjBIAS_AFFINE)
    integrates = model.actuator_dyntype[actuator] == int(mujoco.mjtDyn.mjDYN_INTEGRATOR)  # its control is a velocity
    fixed = model.actuator_gaintype[actuator] == int(mujoco.mjtGain.mjGAIN_FIXED)
    driven = fixed and model.actuator_gainprm[actuator, 0] != 0
    if integrates or not (of_joint and driven and holds and model.actuator_biasprm[actuator, 1] < 0):
        return -1
    return int(model.jnt_qposadr[joint])


def _control_of(model: mujoco.MjModel, actuator: int) -> float:
    """Return the factor from a joint's position to a servo's control, per rad or m: its gear if both gains agree."""
    gain, bias = model.actuator_gainprm[actuator, 0], model.actuator_biasprm[actuator, 1]
    return float(model.actuator_gear[actuator, 0] * (-bias / gain if gain else 0.0))

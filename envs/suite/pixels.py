"""Tasks of the control suite seen through a camera: the same rewards, and pictures instead of states.

A single picture shows no velocities: stack a few (`tumble.wrappers.FrameStackObservation`), or train with memory.
"""

from typing import ClassVar, TypeVar

from ..arrays import Array
from ..task.task import CameraView, ResetResult, StepResult, TaskState
from .cartpole import CartPoleSwingUp
from .pendulum import PendulumSwingUp
from .reacher import ReacherHard

Result = TypeVar("Result", ResetResult, StepResult)


def _seen(result: Result, state: TaskState) -> Result:
    """Replace the observation of a result by the picture."""
    return result._replace(observation=state.images["pixels"])


class CartPoleSwingUpPixels(CartPoleSwingUp):
    """A cart on a rail swings a hanging pole up and balances it, seen from the side.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | slide | -1 | 1 | force on the cart / 10 N |

    Observation: a picture (64, 64, 3) uint8 by the camera `side`, red, green, blue.

    Reward: `reward_balance`, as in `CartPoleSwingUp`.

    Never ends by itself. Starts as in `CartPoleSwingUp`.
    """

    cameras: ClassVar = {"pixels": CameraView(64, 64, "side")}

    def begin(self, state: TaskState) -> ResetResult:
        """Return the picture of the start."""
        return _seen(super().begin(state), state)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Pay as ever, and return the picture."""
        return _seen(super().step(state, action), state)


class PendulumSwingUpPixels(PendulumSwingUp):
    """A weak motor swings a pendulum up and holds it there, seen from the side.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | torque | -1 | 1 | torque / 1 N m |

    Observation: a picture (64, 64, 3) uint8 by the camera `side`, red, green, blue.

    Reward: `reward_upright`, as in `PendulumSwingUp`.

    Never ends by itself. Starts as in `PendulumSwingUp`.
    """

    cameras: ClassVar = {"pixels": CameraView(64, 64, "side")}

    def begin(self, state: TaskState) -> ResetResult:
        """Return the picture of the start."""
        return _seen(super().begin(state), state)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Pay as ever, and return the picture."""
        return _seen(super().step(state, action), state)


class ReacherPixels(ReacherHard):
    """A planar arm of two hinges holds its finger in a target, seen from above.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | shoulder | -1 | 1 | torque / 0.05 N m |
    | 1 | wrist | -1 | 1 | torque / 0.05 N m |

    Observation: a picture (64, 64, 3) uint8 by the camera `above`, red, green, blue.

    Reward: `reward_reach`, as in `ReacherHard`, with the target of the suite's easy task, which a picture of this size
    shows well: its radius is 0.05 m.

    Never ends by itself. Starts as in `ReacherHard`.
    """

    cameras: ClassVar = {"pixels": CameraView(64, 64, "above")}

    target_size: float = 0.05

    def begin(self, state: TaskState) -> ResetResult:
        """Return the picture of the start."""
        return _seen(super().begin(state), state)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Pay as ever, and return the picture."""
        return _seen(super().step(state, action), state)

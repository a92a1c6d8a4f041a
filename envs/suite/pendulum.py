"""The pendulum of the control suite: swing it up with a motor that is too weak to lift it."""

import math
from typing import ClassVar

from ..arrays import Array, sin_cos
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .rewards import tolerance
from .suite_task import SuiteTask

UPRIGHT = math.cos(math.radians(8))  # the least cosine that is rewarded


class PendulumSwingUp(SuiteTask):
    """A weak motor swings a pendulum up and holds it there. Same task as the control suite's pendulum swingup.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | torque | -1 | 1 | torque / 1 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-1 | pole | | cosine and sine of the angle from upright |
    | 2 | qvel | rad/s | |

    Reward: `reward_upright`, 1 within 8 degrees of upright, else 0; that is `success` in the info.

    Never ends by itself. Starts at rest at any angle.
    """

    camera: ClassVar = {"distance": 1.7, "lookat": (0.0, 0.0, 0.6), "azimuth": 90.0, "elevation": -8.0}

    xml_file: str = "suite_pendulum.xml"
    frame_skip: int = 1

    def reset(self, noise: Noise) -> Start:
        """Draw any angle, at rest."""
        angle = noise.uniform(-math.pi, math.pi, 1)
        return Start(angle, 0 * angle)

    def features(self, state: TaskState) -> Array:
        """Return cosine and sine of the angle, and its rate, (n, 3)."""
        sine, cosine = sin_cos(state.qpos)
        return self.xp.concat((cosine, sine, state.qvel), axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"orientation": 2, "velocity": 1}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward standing upright."""
        features = self.features(state)
        reward = tolerance(features[:, 0], (UPRIGHT, 1.0))
        return StepResult(self.seen(state, features), {"reward_upright": reward}, info={"success": reward == 1})

"""The hopper of the control suite: stand on one leg, and hop."""

from typing import ClassVar

from ..arrays import Array
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .elementary import log1p
from .rewards import tolerance
from .starts import JointRanges
from .suite_task import SuiteTask, small_control

STAND_HEIGHT, HOP_SPEED = 0.6, 2.0  # m, of the torso over the foot; m/s


class SuiteHopper(SuiteTask):
    """A planar leg of four joints stands up, or hops forward at 2 m/s. Same tasks as the control suite's hopper.

    Observation: `position`, the coordinates without x (6); `velocity` (7); `touch`, log(1 + force in N) on toe and
    heel.

    Reward, from 0 to 1: tolerance(height of the torso over the foot, 0.6 to 2 m) times, if `hopping`, tolerance(speed
    along x, from 2 m/s on, margin 1, linear to 0.5), else (4 + mean of tolerance(action, margin 1, quadratic to 0)) /
    5.

    Never ends by itself. Starts: at rest, joints evenly distributed in their limits.
    """

    reads: ClassVar = ("sensordata",)
    reads_present: ClassVar = ("xipos", "subtree_linvel")

    xml_file: str = "dm_control:hopper.xml"
    frame_skip: int = 4
    hopping: bool = True

    def bind(self) -> None:
        """Find sensors and bodies."""
        self.ranges = JointRanges(self)
        self.torso, self.foot = self.body("torso"), self.body("foot")
        self.touch = self.sensors("touch_toe", "touch_heel")

    def reset(self, noise: Noise) -> Start:
        """Draw the joints, at rest."""
        qpos = self.ranges.draw(noise)
        return Start(qpos, 0 * qpos)

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return coordinates without x, velocities, touch."""
        touch = log1p(self.xp.take(state.fields["sensordata"], self.touch, axis=1))
        return {"position": state.qpos[:, 1:], "velocity": state.qvel, "touch": touch}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward standing, and hopping or keeping still."""
        places = state.present["xipos"]
        height = places[:, self.torso, 2] - places[:, self.foot, 2]
        speed = state.present["subtree_linvel"][:, self.torso, 0]
        standing = tolerance(height, (STAND_HEIGHT, 2.0))
        if self.hopping:
            bounds = HOP_SPEED, float("inf")
            moving = tolerance(speed, bounds, margin=HOP_SPEED / 2, value_at_margin=0.5, sigmoid="linear")
        else:
            moving = small_control(action)
        info = {"height": height, "x_velocity": speed}
        return StepResult(self.observation(state), {"reward_move": standing * moving}, info=info)

"""The humanoids of the control suite: stand, walk and run, with 21 or with 56 actuators."""

from typing import ClassVar

from ..arrays import Array, row_norm, row_sum
from ..managers.frames import to_local
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .free_starts import StartModel
from .rewards import tolerance
from .starts import JointRanges
from .suite_task import SuiteTask, small_control

STAND_HEIGHT = 1.4  # m, of the head


class SuiteHumanoid(SuiteTask):
    """A humanoid stands up, and stands still or moves. Same tasks as the control suite's humanoid and humanoid_CMU.

    Observation: `joint_angles`; `head_height`, m; `extremities`, hand and foot of the left and of the right side from
    the torso, in its frame (12); `torso_vertical`, the world's z axis there (3); `com_velocity`, of the center of mass
    (3); `velocity`. With `pure_state`: `position`, all coordinates, and `velocity`.

    Reward, from 0 to 1, the product of

    - tolerance(height of the head, from 1.4 m on, margin 0.35)
    - tolerance(cosine of the torso's angle from upright, from 0.9 on, margin 1.9, linear to 0)
    - (4 + mean of tolerance(action, margin 1, quadratic to 0)) / 5
    - with a `move_speed`: (1 + 5 tolerance(horizontal speed, from it on, margin as much, linear to 0)) / 6; without:
      the mean of tolerance(velocity along x and y, margin 2)

    Never ends by itself. Starts: at rest, turned, joints evenly distributed in their limits, with no contact.
    """

    reads_present: ClassVar = ("xpos", "xmat", "subtree_linvel")

    xml_file: str = "dm_control:humanoid.xml"
    frame_skip: int = 5
    move_speed: float = 1.0  # m/s; 0: stand
    pure_state: bool = False
    root: str = "torso"  # the body that is to be upright
    sides: tuple[str, str] = ("left_", "right_")  # how names of hands and feet begin
    up: int = 8  # the entry of the root's matrix that is 1 if it is upright

    def bind(self) -> None:
        """Find bodies and sensors."""
        self.ranges, self.starts = JointRanges(self), StartModel(self)
        self.torso, self.head = self.body(self.root), self.body("head")
        self.limbs = [self.body(side + limb) for side in self.sides for limb in ("hand", "foot")]

    def reset(self, noise: Noise) -> Start:
        """Draw joints and turn, at rest and without contacts."""
        (qpos,) = self.starts.first_free(lambda: (self.ranges.draw(noise),))
        return Start(qpos, 0 * qpos[:, 1:])

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return joints, height, limbs, and velocities."""
        if self.pure_state:
            return {"position": state.qpos, "velocity": state.qvel}
        places, matrix = state.present["xpos"], state.present["xmat"][:, self.torso, :]
        limbs = [to_local(places[:, limb, :] - places[:, self.torso, :], matrix) for limb in self.limbs]
        return {
            "joint_angles": state.qpos[:, 7:],
            "head_height": places[:, self.head, 2],
            "extremities": self.xp.concat(limbs, axis=1),
            "torso_vertical": matrix[:, 6:9],
            "com_velocity": state.present["subtree_linvel"][:, self.torso, :],
            "velocity": state.qvel,
        }

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward an upright posture, and the speed."""
        height, speed = state.present["xpos"][:, self.head, 2], self.move_speed
        standing = tolerance(height, (STAND_HEIGHT, float("inf")), margin=STAND_HEIGHT / 4)
        cosine = state.present["xmat"][:, self.torso, self.up]
        upright = tolerance(cosine, (0.9, float("inf")), sigmoid="linear", margin=1.9, value_at_margin=0)
        velocity = state.present["subtree_linvel"][:, self.torso, :2]
        if speed > 0:
            bounds = speed, float("inf")
            move = tolerance(row_norm(velocity), bounds, margin=speed, value_at_margin=0, sigmoid="linear")
            move = (5 * move + 1) / 6
        else:
            move = row_sum(tolerance(velocity, margin=2)) / 2
        stand = standing * upright
        info = {"stand": stand, "move": move, "head_height": height}
        return StepResult(self.observation(state), {"reward_move": small_control(action) * stand * move}, info=info)

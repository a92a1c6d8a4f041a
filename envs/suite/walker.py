"""The walker of the control suite: stand up, and walk or run, on two legs in a plane."""

from typing import ClassVar

from ..arrays import Array
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .planar import PlanarRobot, Turns
from .rewards import tolerance
from .starts import JointRanges
from .suite_task import SuiteTask

STAND_HEIGHT = 1.2  # m, of the torso


class WalkerWalk(SuiteTask):
    """A planar walker stands up and walks at 1 m/s. Same task as the control suite's walker walk.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | right_hip | -1 | 1 | torque / 100 N m |
    | 1 | right_knee | -1 | 1 | torque / 50 N m |
    | 2 | right_ankle | -1 | 1 | torque / 20 N m |
    | 3 | left_hip | -1 | 1 | torque / 100 N m |
    | 4 | left_knee | -1 | 1 | torque / 50 N m |
    | 5 | left_ankle | -1 | 1 | torque / 20 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-13 | orientations | | cosine and sine of the tilt of the torso and of thigh, leg, foot, right and left |
    | 14 | height | m | of the torso |
    | 15-23 | qvel | m/s, rad/s | z, x, pitch, joints of the right and of the left leg |

    Reward: `reward_move`, from 0 to 1, the product of

    - (3 tolerance(height, from 1.2 m on, margin 0.6) + (1 + cosine of the torso) / 2) / 4, `stand` in the info
    - (1 + 5 tolerance(speed along x, from `move_speed` on, margin `move_speed` / 2, linear to 0.5)) / 6, `move`

    The speed is that of the center of mass, `x_velocity` in the info; at half of `move_speed` the tolerance is 0.5, at
    rest 0. With `move_speed` 0, the suite's walker stand, the reward is `stand`. Never ends by itself. Starts: at rest
    with the torso's joint at 1.3 m, turned by any angle, leg joints evenly distributed in their limits.
    """

    camera: ClassVar = {"trackbodyid": 1, "distance": 4.5, "azimuth": 90.0, "elevation": -12.0}

    xml_file: str = "suite_walker.xml"
    frame_skip: int = 10
    move_speed: float = 1.0  # m/s

    def bind(self) -> None:
        """Prepare angles and speeds of the bodies, and the ranges of starts."""
        self.robot, self.ranges = PlanarRobot(self), JointRanges(self)
        self.reference_height = float(self.model.body("torso").pos[2])

    def reset(self, noise: Noise) -> Start:
        """Draw all angles, at rest."""
        qpos = self.ranges.draw(noise)
        return Start(qpos, 0 * qpos)

    def features(self, state: TaskState) -> Array:
        """Return orientations, height and velocities, (n, 24)."""
        return self._features(state, self.robot.turns(state.coordinates))

    def _features(self, state: TaskState, turns: Turns) -> Array:
        xp = self.xp
        orientations = xp.reshape(xp.stack((turns.cosine, turns.sine), axis=-1), (-1, 2 * turns.sine.shape[1]))
        return xp.concat((orientations, self.reference_height + state.qpos[:, :1], state.qvel), axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"orientations": 14, "height": 1, "velocity": 9}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward standing upright, and speed along x on top."""
        turns, infinite = self.robot.turns(state.coordinates), float("inf")
        features, speed = self._features(state, turns), self.robot.speed(state.coordinates, turns)
        upright, height = (1 + features[:, 0]) / 2, features[:, 14]
        stand = (3 * tolerance(height, (STAND_HEIGHT, infinite), margin=STAND_HEIGHT / 2) + upright) / 4
        goal_speed = self.move_speed
        move = tolerance(speed, (goal_speed, infinite), margin=goal_speed / 2, value_at_margin=0.5, sigmoid="linear")
        reward = stand * (5 * move + 1) / 6 if goal_speed > 0 else stand
        info = {"stand": stand, "move": move, "x_velocity": speed}
        return StepResult(self.seen(state, features), {"reward_move": reward}, info=info)


class WalkerRun(WalkerWalk):
    """A planar walker stands up and runs at 8 m/s. Same task as the control suite's walker run.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | right_hip | -1 | 1 | torque / 100 N m |
    | 1 | right_knee | -1 | 1 | torque / 50 N m |
    | 2 | right_ankle | -1 | 1 | torque / 20 N m |
    | 3 | left_hip | -1 | 1 | torque / 100 N m |
    | 4 | left_knee | -1 | 1 | torque / 50 N m |
    | 5 | left_ankle | -1 | 1 | torque / 20 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-13 | orientations | | cosine and sine of the tilt of the torso and of thigh, leg, foot, right and left |
    | 14 | height | m | of the torso |
    | 15-23 | qvel | m/s, rad/s | z, x, pitch, joints of the right and of the left leg |

    Reward: `reward_move`, as in `WalkerWalk`, with 8 m/s as `move_speed`.

    Never ends by itself. Starts as in `WalkerWalk`.
    """

    move_speed: float = 8.0  # m/s

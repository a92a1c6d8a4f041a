"""The ball in a cup of the control suite: swing a ball on a string into the cup that it hangs from."""

from typing import ClassVar

import numpy as np

from ..arrays import Array, row_all
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .starts import TRIES, capsule_ends, first_that_fits, segment_distance
from .suite_task import SuiteTask


class BallInCup(SuiteTask):
    """A cup on springs catches the ball on its string. Same task as the control suite's ball_in_cup catch.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | x | -1 | 1 | force on the cup along x / 5 N |
    | 1 | z | -1 | 1 | force on the cup along z / 5 N |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-3 | qpos | m | cup along x and z, ball along x and z |
    | 4-7 | qvel | m/s | |

    Reward: `reward_catch`, 1 where the ball is within the cup, else 0; that is `success` in the info.

    Never ends by itself. Starts at rest: the cup in the middle, the ball evenly distributed in 0.4 m by 0.3 m around
    and above the cup, but not where it would touch the cup.
    """

    camera: ClassVar = {"distance": 1.1, "lookat": (0.0, 0.0, 0.5), "azimuth": 90.0, "elevation": -8.0}

    xml_file: str = "suite_ball_in_cup.xml"
    frame_skip: int = 10

    def bind(self) -> None:
        """Look up the cup's shape, and how near its middle the ball has to come."""
        model = self.model
        cup, ball, target = model.body("cup"), model.body("ball"), model.site("target")
        walls = range(int(cup.geomadr[0]), int(cup.geomadr[0] + cup.geomnum[0]))
        ends = np.array([capsule_ends(model, wall) for wall in walls])
        self.walls = self.array(ends[:, 0]), self.array(ends[:, 1])  # (5, 2) m each, in the cup's frame
        radius = float(model.geom("ball").size[0])
        self.touch = radius + float(model.geom(walls[0]).size[0])
        self.offset = self.array((ball.pos - cup.pos)[[0, 2]])  # from the cup to the ball at the reference
        self.middle = self.array(target.pos[[0, 2]])
        self.room = self.array(target.size[[0, 2]] - radius)

    def reset(self, noise: Noise) -> Start:
        """Draw the ball anywhere near the cup, but not in its walls."""
        xp = self.xp
        x, z = noise.uniform(-0.2, 0.2, TRIES), noise.uniform(0.2, 0.5, TRIES)
        tries = [xp.concat((x[:, k : k + 1], z[:, k : k + 1]), axis=1) for k in range(TRIES)]
        ball = first_that_fits(tries, [self.separated(self.array(place)) for place in tries])
        qpos = xp.concat((0 * ball, ball), axis=1)
        return Start(qpos, 0 * qpos)

    def separated(self, ball: Array) -> Array:
        """Return True where the ball, at coordinates (n, 2), does not touch the cup in its middle, (n,) bool."""
        return row_all(segment_distance((ball + self.offset)[:, None, :], *self.walls) > self.touch)

    def features(self, state: TaskState) -> Array:
        """Return places and velocities of cup and ball, (n, 8)."""
        return state.coordinates

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"position": 4, "velocity": 4}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward a ball in the cup."""
        ball = state.qpos[:, 2:] - state.qpos[:, :2] + self.offset
        caught = row_all(abs(self.middle - ball) < self.room)
        reward = self.xp.astype(caught, state.qpos.dtype)
        return StepResult(self.observation(state), {"reward_catch": reward}, info={"success": caught})

"""ArmPush: an arm pushes a cube across the table to a goal."""

import math
from typing import ClassVar

from ..arrays import Array, clip, row_norm, sin_cos
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from ..task.terms import control_cost
from .arm import HALF, ArmCubeTask, nearness, places

FAR, NEAR = 0.25, 0.1  # m, how far goals are from cubes, before they are brought into their box
GOAL_LOW, GOAL_HIGH = (0.36, -0.25), (0.64, 0.25)  # m, the box that goals stay in
BEHIND = 0.035  # m from the cube's middle, on the far side of the goal: there the grip pushes from


class ArmPush(ArmCubeTask):
    """An arm of seven hinges with closed fingers pushes a cube of 40 mm to a goal on the table.

    Action: the velocity of the grip, turned into targets of the joints' servos (`ArmTask.control`).

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | x | -1 | 1 | velocity ahead / `max_speed` |
    | 1 | y | -1 | 1 | velocity to the left / `max_speed` |
    | 2 | z | -1 | 1 | velocity upwards / `max_speed` |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-6 | qpos[:7] | rad | the arm's hinges |
    | 7 | gap | m | between the pads |
    | 8-14 | qvel[:7] | rad/s | velocities of the hinges |
    | 15 | gap's rate | m/s | |
    | 16-18 | grip | m | the middle between the pads |
    | 19-21 | cube | m | |
    | 22-25 | cube's xquat | | w first |
    | 26-28 | cube - grip | m | |
    | 29-30 | goal - cube | m | along x and y |
    | 31-33 | cube's qvel | m/s | linear velocity |

    Reward, stages as in ManiSkill's PushCube, whose goal lies ahead; here the cube is pushed any way:

    - `reward_reach`: 1 - tanh(5 x distance in m from the grip to the point 35 mm behind the cube), or 1 with success
    - `reward_place`: 2 x (1 - tanh(5 x distance in m from the cube to the goal))
    - `reward_success`: 1 with success
    - `reward_effort`: -`effort_weight` x |action|²

    Never ends by itself. Success: the cube is within `threshold` of the goal, along the table. Starts: the cube turned
    anyhow in a box of 0.16 x 0.3 m; the goal 0.1 to 0.25 m from it and, where that is outside of a box of 0.28 x 0.5 m,
    at the box's edge, 0.06 m or more from the cube.
    """

    grips: ClassVar = False
    xml_file: str = "arm_push.xml"
    threshold: float = 0.05  # m
    effort_weight: float = 0.01

    def reset(self, noise: Noise) -> Start:
        """Draw posture, cube and goal."""
        qpos, x, y = self.cube_start(noise, gap=0.0)
        sine, cosine = sin_cos(noise.uniform(-math.pi, math.pi, 1))
        far = noise.uniform(NEAR, FAR, 1)
        goal = self.xp.concat(
            [
                clip(cube + far * part, low, high)
                for cube, part, low, high in zip((x, y), (cosine, sine), GOAL_LOW, GOAL_HIGH, strict=True)
            ],
            axis=1,
        )
        return Start(qpos, 0 * qpos[:, 1:], {"goal": goal}, inputs={"mocap_pos": places(goal, 0 * x + 0.001)})

    def observation(self, state: TaskState) -> Array:
        """Return arm, cube and goal, (n, 34)."""
        offset = state.memory["goal"] - self.cube_pos(state)[:, :2]
        return self.xp.concat((*self.cube_seen(state), offset, state.qvel[:, 9:12]), axis=1)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward being behind the cube, and the cube being at the goal."""
        xp, cube = self.xp, self.cube_pos(state)
        offset = state.memory["goal"] - cube[:, :2]
        distance = row_norm(offset)
        back = cube[:, :2] - BEHIND * offset / (distance[:, None] + 1e-6)
        reach = row_norm(xp.concat((back, 0 * back[:, :1] + HALF), axis=1) - self.grip(state))
        success = distance < self.threshold
        done = xp.astype(success, distance.dtype)
        terms = {
            "reward_reach": xp.where(success, 1 + 0 * reach, nearness(reach, 0.2)),
            "reward_place": 2 * nearness(distance, 0.2),
            "reward_success": done,
            "reward_effort": -control_cost(action, self.effort_weight),
        }
        info = {"distance": distance, "reach_distance": reach, "success": success}
        return StepResult(self.observation(state), terms, info=info)

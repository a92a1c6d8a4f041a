"""ArmPickCube: an arm lifts a cube from the table and holds it at a goal in the air."""

from ..arrays import Array, row_norm
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from ..task.terms import control_cost
from .arm import ArmCubeTask, draw_in_box, nearness

GOAL_LOW, GOAL_HIGH = (0.42, -0.2, 0.08), (0.58, 0.2, 0.3)  # m, the box of goals
STILL = 0.2  # rad/s, the speed of the joints below which the arm counts as still


class ArmPickCube(ArmCubeTask):
    """An arm of seven hinges grasps a cube of 40 mm, lifts it and holds it at a goal.

    Action: the velocity of the grip, turned into targets of the joints' servos (`ArmTask.control`), and the fingers.

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | x | -1 | 1 | velocity ahead / `max_speed` |
    | 1 | y | -1 | 1 | velocity to the left / `max_speed` |
    | 2 | z | -1 | 1 | velocity upwards / `max_speed` |
    | 3 | gripper | -1 | 1 | target of each finger, from 10 mm beyond closed to 40 mm open |

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
    | 29-31 | goal - cube | m | |
    | 32 | holding | | 1 if the closed pads have the cube between them |

    Reward, stages as in ManiSkill's PickCube:

    - `reward_reach`: 1 - tanh(5 x distance in m from the grip to the cube)
    - `reward_grasp`: 1 while the pads hold the cube
    - `reward_place`: 2 x (1 - tanh(5 x distance in m from the cube to the goal)) while they do
    - `reward_success`: 1 with success
    - `reward_effort`: -`effort_weight` x |action|²

    Never ends by itself. Success: the cube is within `threshold` of the goal, and the joints' speed is below 0.2 rad/s.
    Starts: the cube turned anyhow in a box of 0.16 x 0.3 m; goals 60 to 280 mm above it, in a box of 0.16 x 0.4 m.
    """

    xml_file: str = "arm_pick.xml"
    threshold: float = 0.025  # m
    effort_weight: float = 0.01

    def reset(self, noise: Noise) -> Start:
        """Draw posture, cube and goal."""
        qpos, _, _ = self.cube_start(noise)
        goal = self.draw_goal(noise)
        return Start(qpos, 0 * qpos[:, 1:], {"goal": goal}, inputs={"mocap_pos": goal[:, None, :]})

    def draw_goal(self, noise: Noise) -> Array:
        """Draw goals in their box, (n, 3) m."""
        return draw_in_box(noise, GOAL_LOW, GOAL_HIGH)

    def holding(self, state: TaskState) -> Array:
        """Return 1 where the pads hold the cube, else 0, (n,)."""
        return self.array(self.is_holding(state, self.cube_pos(state)))

    def observation(self, state: TaskState) -> Array:
        """Return arm, cube, goal and grasp, (n, 33)."""
        offset = state.memory["goal"] - self.cube_pos(state)
        return self.xp.concat((*self.cube_seen(state), offset, self.holding(state)[:, None]), axis=1)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward reaching, grasping, bringing and holding still."""
        cube, holding = self.cube_pos(state), self.holding(state)
        reach = row_norm(cube - self.grip(state))
        distance = row_norm(state.memory["goal"] - cube)
        success = (distance < self.threshold) & (self.stillness(state) < STILL)
        terms = {
            "reward_reach": nearness(reach, 0.2),
            "reward_grasp": holding,
            "reward_place": 2 * nearness(distance, 0.2) * holding,
            "reward_success": self.array(success),
            "reward_effort": -control_cost(action, self.effort_weight),
        }
        info = {"distance": distance, "reach_distance": reach, "holding": holding, "success": success}
        return StepResult(self.observation(state), terms, info=info)

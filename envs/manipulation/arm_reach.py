"""ArmReach: an arm brings its grip to a goal in space."""

from typing import ClassVar

from ..arrays import Array, row_norm
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from ..task.terms import control_cost
from .arm import ArmTask, draw_in_box, nearness

GOAL_LOW, GOAL_HIGH = (0.35, -0.3, 0.05), (0.65, 0.3, 0.4)  # m, the box of goals


class ArmReach(ArmTask):
    """An arm of seven hinges brings the middle between its pads to a goal, which is elsewhere in every episode.

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
    | 19-21 | goal | m | |
    | 22-24 | goal - grip | m | |

    Reward, terms as in IsaacLab's reaching task:

    - `reward_reach`: 1 - tanh(distance / 0.2 m)
    - `reward_precise`: 1 - tanh(distance / 0.02 m)
    - `reward_effort`: -`effort_weight` x |action|²

    Never ends by itself. Success: the grip is within `threshold` of the goal. Starts: the posture "home", each hinge
    within ±`reset_noise_scale`; goals evenly in a box of 0.3 x 0.6 x 0.35 m before the arm.
    """

    grips: ClassVar = False
    xml_file: str = "arm.xml"
    threshold: float = 0.02  # m
    effort_weight: float = 0.01

    def reset(self, noise: Noise) -> Start:
        """Draw a posture and a goal."""
        xp, qpos = self.xp, self.arm_start(noise, gap=0.0)
        goal = draw_in_box(noise, GOAL_LOW, GOAL_HIGH)
        return Start(qpos, xp.zeros_like(qpos), {"goal": goal}, inputs={"mocap_pos": goal[:, None, :]})

    def observation(self, state: TaskState) -> Array:
        """Return arm, goal and the way there, (n, 25)."""
        goal = state.memory["goal"]
        return self.xp.concat((*self.arm_seen(state), goal, goal - self.grip(state)), axis=1)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward being near."""
        distance = row_norm(state.memory["goal"] - self.grip(state))
        terms = {
            "reward_reach": nearness(distance, 0.2),
            "reward_precise": nearness(distance, 0.02),
            "reward_effort": -control_cost(action, self.effort_weight),
        }
        info = {"distance": distance, "success": distance < self.threshold}
        return StepResult(self.observation(state), terms, info=info)

"""Pusher: an arm pushes a cylinder across a table to a goal. Same task as Gymnasium's Pusher-v5."""

from typing import ClassVar

from ..arrays import Array, row_norm
from ..task.noise import Noise
from ..task.task import Start, StepResult, Task, TaskState
from ..task.terms import control_cost

ARM = 7  # hinges
NEAR_GOAL = 0.17  # m, starts of the cylinder that are not farther from the goal are drawn again
DRAWS = (
    32  # of each start, of which the first good one counts: 0.62 of them are good, so that 1 of 2e13 starts has none
)
BEHIND, BESIDE = -0.3, 0.2  # m, how far from the goal the cylinder starts along y, and to both sides along x


class Pusher(Task):
    """An arm of seven hinges moves a cylinder, which starts somewhere else in every episode, to a goal on a table.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | shoulder_pan | -2 | 2 | torque / 1 N m |
    | 1 | shoulder_lift | -2 | 2 | torque / 1 N m |
    | 2 | upper_arm_roll | -2 | 2 | torque / 1 N m |
    | 3 | elbow_flex | -2 | 2 | torque / 1 N m |
    | 4 | forearm_roll | -2 | 2 | torque / 1 N m |
    | 5 | wrist_flex | -2 | 2 | torque / 1 N m |
    | 6 | wrist_roll | -2 | 2 | torque / 1 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-6 | qpos[:7] | rad | the arm's hinges, in the order of the actuators |
    | 7-13 | qvel[:7] | rad/s | their velocities |
    | 14-16 | xpos | m | the hand |
    | 17-19 | xpos | m | the cylinder |
    | 20-22 | xpos | m | the goal |

    Positions in the world belong to the step's last evaluation, as v5 observes them.

    Reward:

    - `reward_dist`: -`reward_dist_weight` x distance from the cylinder to the goal (m)
    - `reward_ctrl`: -`reward_control_weight` x |action|²
    - `reward_near`: -`reward_near_weight` x distance from the hand to the cylinder (m)

    Never ends by itself. Starts: the arm at its reference, its velocities uniform within ±0.005 rad/s; the cylinder
    rests at y in [-0.3, 0] m and x in [-0.2, 0.2] m from the goal, evenly distributed where that is more than 0.17 m
    away. The goal rests too.
    """

    reads: ClassVar = ("xpos",)
    camera: ClassVar = {"trackbodyid": -1, "distance": 4.0}

    xml_file: str = "pusher.xml"
    frame_skip: int = 5
    reward_near_weight: float = 0.5
    reward_dist_weight: float = 1.0
    reward_control_weight: float = 0.1

    def bind(self) -> None:
        """Find hand, cylinder and goal."""
        self.hand, self.cylinder, self.goal = (self.model.body(name).id for name in ("tips_arm", "object", "goal"))

    def reset(self, noise: Noise) -> Start:
        """Draw a place for the cylinder, and the arm's velocities."""
        xp = self.xp
        y, x = self._draw_place(noise)
        velocity = noise.uniform(-0.005, 0.005, ARM)
        zeros = xp.zeros_like(velocity)
        qpos = xp.concat((self.init_qpos[:ARM] + zeros, y, x, zeros[:, :2]), axis=1)
        return Start(qpos, xp.concat((velocity, zeros[:, :4]), axis=1))

    def _draw_place(self, noise: Noise) -> tuple[Array, Array]:
        """Return y and x (n, 1) of the cylinder from the goal: the first of some draws that is far enough away."""
        xp = self.xp
        ys, xs = noise.uniform(BEHIND, 0, DRAWS), noise.uniform(-BESIDE, BESIDE, DRAWS)
        good = ys * ys + xs * xs > NEAR_GOAL**2
        y, x = ys[:, :1] * 0 + BEHIND, xs[:, :1] * 0 + BESIDE
        for k in range(DRAWS - 1, -1, -1):
            here = good[:, k : k + 1]
            y, x = xp.where(here, ys[:, k : k + 1], y), xp.where(here, xs[:, k : k + 1], x)
        return y, x

    def observation(self, state: TaskState) -> Array:
        """Return the arm's angles and velocities, and the places of hand, cylinder and goal, (n, 23)."""
        places = [state.fields["xpos"][:, body, :] for body in (self.hand, self.cylinder, self.goal)]
        return self.xp.concat((state.qpos[:, :ARM], state.qvel[:, :ARM], *places), axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"qpos": ARM, "qvel": ARM, "hand": 3, "cylinder": 3, "goal": 3}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Charge for both distances and for effort."""
        xpos = state.fields["xpos"]
        to_goal = row_norm(xpos[:, self.cylinder, :] - xpos[:, self.goal, :])
        to_hand = row_norm(xpos[:, self.cylinder, :] - xpos[:, self.hand, :])
        terms = {
            "reward_dist": -(self.reward_dist_weight * to_goal),
            "reward_ctrl": -control_cost(action, self.reward_control_weight),
            "reward_near": -(self.reward_near_weight * to_hand),
        }
        return StepResult(self.observation(state), terms)

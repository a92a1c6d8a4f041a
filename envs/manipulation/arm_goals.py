"""ArmReachGoal, ArmPushGoal, ArmPickGoal: the same with sparse rewards for goals that may be changed afterwards."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from ..arrays import Array, namespace, row_norm
from ..task.goals import EndlessGoals
from ..task.noise import Noise
from ..task.task import StepResult, TaskState
from .arm import HALF
from .arm_pick_cube import ArmPickCube
from .arm_push import ArmPush
from .arm_reach import ArmReach


class GoalRules(EndlessGoals):
    """The rules of tasks with goals, after Gymnasium-Robotics' Fetch tasks; a task comes after them in the bases.

    Observations are `observation`, `achieved_goal` and `desired_goal` (m). The reward is 0 within `threshold` of the
    goal, else -1. Never ends by itself.
    """

    xp: Any
    array: Callable[[Any], Array]
    threshold: float  # m

    @abstractmethod
    def features(self, state: TaskState) -> list[Array]:
        """Return the observations without the goal, each (n, ...)."""

    @abstractmethod
    def achieved(self, state: TaskState) -> Array:
        """Return where the thing is that the goal is for, (n, 3) m."""

    def desired(self, state: TaskState) -> Array:
        """Return where it should be, (n, 3) m."""
        return state.memory["goal"]

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """Return the rewards for goals: 0 within `threshold`, else -1.

        Args:
            achieved_goal: (..., 3) m, of numpy or torch.
            desired_goal: the same.
            info: not used.

        Returns:
            Rewards (...), in the precision of the goals.
        """
        far = row_norm(achieved_goal - desired_goal) > self.threshold
        xp = namespace(achieved_goal)
        return xp.where(far, xp.asarray(-1.0, dtype=achieved_goal.dtype), xp.asarray(0.0, dtype=achieved_goal.dtype))

    def observation(self, state: TaskState) -> dict[str, Array]:
        """Return the parts by name."""
        return {
            "observation": self.xp.concat(self.features(state), axis=1),
            "achieved_goal": self.achieved(state),
            "desired_goal": self.array(self.desired(state)),
        }

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Charge 1 for a step that ends away from the goal."""
        seen = self.observation(state)
        distance = row_norm(seen["achieved_goal"] - seen["desired_goal"])
        success = distance <= self.threshold
        terms = {"reward_goal": self.array(success) - 1}
        info = {"distance": distance, "success": success, "is_success": success}
        return StepResult(seen, terms, info=info)


class ArmReachGoal(GoalRules, ArmReach):
    """The grip is to come to a goal: `ArmReach` with a sparse reward.

    Action: as in `ArmReach`.

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | x | -1 | 1 | velocity ahead / `max_speed` |
    | 1 | y | -1 | 1 | velocity to the left / `max_speed` |
    | 2 | z | -1 | 1 | velocity upwards / `max_speed` |

    Observation, `achieved_goal` (the grip) and `desired_goal`, 3 m each, and `observation`:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-6 | qpos[:7] | rad | the arm's hinges |
    | 7 | gap | m | between the pads |
    | 8-14 | qvel[:7] | rad/s | velocities of the hinges |
    | 15 | gap's rate | m/s | |
    | 16-18 | grip | m | the middle between the pads |

    Reward:

    - `reward_goal`: 0 within `threshold` of the goal, else -1
    """

    threshold: float = 0.02  # m

    def features(self, state: TaskState) -> list[Array]:
        """Return the arm, (n, 19) in all."""
        return self.arm_seen(state)

    def achieved(self, state: TaskState) -> Array:
        """Return the grip's place."""
        return self.grip(state)


class ArmPushGoal(GoalRules, ArmPush):
    """A cube is to be pushed to a goal on the table: `ArmPush` with a sparse reward.

    Action: as in `ArmPush`.

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | x | -1 | 1 | velocity ahead / `max_speed` |
    | 1 | y | -1 | 1 | velocity to the left / `max_speed` |
    | 2 | z | -1 | 1 | velocity upwards / `max_speed` |

    Observation, `achieved_goal` (the cube) and `desired_goal`, 3 m each, and `observation`:

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
    | 29-31 | cube's qvel | m/s | linear velocity |

    Reward:

    - `reward_goal`: 0 within `threshold` of the goal, else -1
    """

    threshold: float = 0.05  # m

    def features(self, state: TaskState) -> list[Array]:
        """Return arm and cube, (n, 32) in all."""
        return [*self.cube_seen(state), state.qvel[:, 9:12]]

    def achieved(self, state: TaskState) -> Array:
        """Return the cube's place."""
        return self.cube_pos(state)

    def desired(self, state: TaskState) -> Array:
        """Return the goal at the height of a cube on the table."""
        goal = state.memory["goal"]
        return self.xp.concat((goal, 0 * goal[:, :1] + HALF), axis=1)


class ArmPickGoal(GoalRules, ArmPickCube):
    """A cube is to be brought to a goal in the air or on the table: `ArmPickCube` with a sparse reward.

    Half of the goals lie on the table, as in Fetch's task: without them nothing is learned from rewards this sparse.

    Action: as in `ArmPickCube`.

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | x | -1 | 1 | velocity ahead / `max_speed` |
    | 1 | y | -1 | 1 | velocity to the left / `max_speed` |
    | 2 | z | -1 | 1 | velocity upwards / `max_speed` |
    | 3 | gripper | -1 | 1 | target of each finger, from 10 mm beyond closed to 40 mm open |

    Observation, `achieved_goal` (the cube) and `desired_goal`, 3 m each, and `observation`:

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
    | 29 | holding | | 1 if the closed pads have the cube between them |

    Reward:

    - `reward_goal`: 0 within `threshold` of the goal, else -1
    """

    threshold: float = 0.05  # m

    def draw_goal(self, noise: Noise) -> Array:
        """Draw goals as in `ArmPickCube`, and lay half of them on the table, (n, 3) m."""
        goal = super().draw_goal(noise)
        low = noise.uniform(0, 1, 1) < 0.5
        return self.xp.concat((goal[:, :2], self.xp.where(low, 0 * goal[:, 2:] + HALF, goal[:, 2:])), axis=1)

    def features(self, state: TaskState) -> list[Array]:
        """Return arm, cube and grasp, (n, 30) in all."""
        return [*self.cube_seen(state), self.holding(state)[:, None]]

    def achieved(self, state: TaskState) -> Array:
        """Return the cube's place."""
        return self.cube_pos(state)

"""Tasks with goals, as Gymnasium-Robotics' `GoalEnv` has them: rewards that can be computed for other goals.

The methods of such a task are reached through its environments, `env.unwrapped.compute_reward`, single and vector ones
alike. Replay buffers with hindsight (Andrychowicz et al., "Hindsight experience replay", NeurIPS 2017) ask them what a
step would have been worth if another goal had been wished.
"""

from collections.abc import Callable
from typing import Any

GOAL_METHODS = ("compute_reward", "compute_terminated", "compute_truncated")


class GoalMethods:
    """The part of environments that hands out the goal methods of their task.

    A task without goals has none of them, and then neither has the environment.
    """

    task: Any

    @property
    def compute_reward(self) -> Callable[..., Any]:
        """(achieved_goal, desired_goal, info) -> rewards, as the task defines it."""
        return self.task.compute_reward

    @property
    def compute_terminated(self) -> Callable[..., Any]:
        """(achieved_goal, desired_goal, info) -> True where the episode would have ended."""
        return self.task.compute_terminated

    @property
    def compute_truncated(self) -> Callable[..., Any]:
        """(achieved_goal, desired_goal, info) -> True where the episode would have been cut short."""
        return self.task.compute_truncated

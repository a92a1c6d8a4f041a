"""The ends of episodes of tasks with goals: the time limit only."""

from typing import Any

from ..arrays import row_norm


class EndlessGoals:
    """The ends of episodes for given goals, as Gymnasium-Robotics' `GoalEnv` has them."""

    def compute_terminated(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """Return False for every goal, (...) bool: no episode ends by itself."""
        return row_norm(achieved_goal - desired_goal) < 0

    def compute_truncated(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """Return False for every goal, (...) bool: only the time limit cuts episodes short."""
        return row_norm(achieved_goal - desired_goal) < 0

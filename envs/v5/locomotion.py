"""The part that tasks which reward travelling share: where the robot is, and whether the agent sees that."""

from typing import Any, ClassVar

from ..arrays import Array, row_norm
from ..task.task import ResetResult, Task, TaskState


class LocomotionTask(Task):
    """A task whose first coordinates say how far the robot travelled: x in a plane, x and y in space.

    The agent does not see them unless `exclude_current_positions_from_observation` is False. Memory holds `position`
    (n, k) m, whose velocity over an environment step is rewarded.
    """

    travel: ClassVar[int] = 1  # how many of qpos's first coordinates say how far the robot travelled

    exclude_current_positions_from_observation: bool = True

    @property
    def skipped(self) -> int:
        """Count the first coordinates of qpos that the observation leaves out."""
        return self.travel if self.exclude_current_positions_from_observation else 0

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order; "skipped_qpos" counts what was left out in front."""
        return {"skipped_qpos": self.skipped, "qpos": self.model.nq - self.skipped, "qvel": self.model.nv}

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation, the place of the root, and the position to measure velocity from."""
        return ResetResult(self.observation(state), self.place_info(state), {"position": self.position(state)})

    def position(self, state: TaskState) -> Array:
        """Return the position of the robot, (n, k) m: the root's coordinates in qpos."""
        return state.qpos[:, : self.travel]

    def velocity(self, state: TaskState, position: Array) -> Array:
        """Mean velocity of `position` over the last environment step, (n, k) m/s."""
        return (position - state.memory["position"]) / self.dt

    def rise(self, state: TaskState) -> Array:
        """Height of the root's second coordinate in a plane, third in space, above the reference, (n,) m."""
        return state.qpos[:, self.travel] - float(self.model.qpos0[self.travel])

    def place_info(self, state: TaskState) -> dict[str, Any]:
        """Return the coordinates of the root, and in space its distance from the origin, each (n,) m, for the info."""
        info = {"x_position": state.qpos[:, 0]}
        if self.travel == 2:
            info |= {"y_position": state.qpos[:, 1], "distance_from_origin": row_norm(state.qpos[:, :2])}
        return info

"""What the tasks that pay for travelling share: where they are, and whether the agent sees it."""

from dataclasses import dataclass
from typing import ClassVar

from .arrays import Array, length
from .task import Moment, Task


@dataclass(kw_only=True)
class Runner(Task):
    """A task whose first coordinates say how far the robot travelled: x in a plane, x and y in space.

    The agent does not see them unless `exclude_current_positions_from_observation` is False.
    """

    travel: ClassVar[int] = 1  # how many coordinates of qpos in front are travel

    exclude_current_positions_from_observation: bool = True

    @property
    def skipped(self) -> int:
        """How many coordinates of qpos the observation leaves out in front."""
        return self.travel if self.exclude_current_positions_from_observation else 0

    @property
    def observation_structure(self) -> dict[str, int]:
        """Block widths."""
        return {"skipped_qpos": self.skipped, "qpos": self.nq - self.skipped, "qvel": self.nv}

    def place(self, now: Moment) -> Array:
        """Where the root is: its coordinates in qpos."""
        return now.qpos[:, : self.travel]

    def rise(self, now: Moment) -> Array:
        """Height of a planar root above the reference, (n,) m."""
        return now.qpos[:, 1] - float(self.start[1])

    def reset_info(self, now: Moment) -> dict[str, Array]:
        """Where the root is."""
        info = {"x_position": now.qpos[:, 0]}
        if self.travel == 2:
            info |= {"y_position": now.qpos[:, 1], "distance_from_origin": length(now.qpos[:, :2])}
        return info

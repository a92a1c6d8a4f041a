"""Mazes: a ball and an ant come to goals behind walls."""

from collections.abc import Sequence
from typing import Any, ClassVar

import mujoco
import numpy as np

from ..arrays import Array, clip, exp, namespace, row_norm
from ..suite.starts import TRIES, first_that_fits
from ..task.noise import Noise
from ..task.task import ResetResult, Start, StepResult, TaskState
from ..task.terms import without_wrenches
from ..v5.ant import Ant
from .goal_task import GoalTask, add_marker
from .maps import rows_of

Cells = str | Sequence[Sequence[str | int]]


class MazeTask(GoalTask):
    """A robot is to come to a goal in a maze of square cells.

    Observations, `achieved_goal` (the robot's place) and `desired_goal`, 2 m each, and `observation`.

    Reward: `reward_goal`, 1 within `threshold` of the goal, else 0; reward_type "dense": exp(-distance / m).

    With `continuing_task=False` an episode ends at the goal; with `reset_target=True` a goal that was reached is
    followed by another one. Starts: the goal and the robot in different cells, each up to `position_noise_range` of a
    cell's edge from its middle along x and y.
    """

    cell: ClassVar[float] = 1.0  # m, the edge of a cell
    wall: ClassVar[float] = 0.4  # height of the walls in edges of a cell
    surface: ClassVar[dict[str, Any]] = {}  # contact parameters of the walls

    threshold: float = 0.45  # m
    maze_map: Cells = "UMaze"
    continuing_task: bool = True
    reset_target: bool = False
    position_noise_range: float = 0.25

    @property
    def camera(self) -> dict[str, Any]:  # type: ignore[override]
        """A camera that sees the whole maze from the south."""
        rows = rows_of(self.maze_map)
        size = self.cell * max(len(rows) + 2, len(rows[0]))
        return {"distance": 1.2 * size, "lookat": (0.0, 0.0, 0.0), "azimuth": 90.0, "elevation": -60.0}

    def places(self, kinds: str) -> np.ndarray:
        """Return the middles of all cells of some kinds, row by row, (m, 2) m."""
        rows = rows_of(self.maze_map)
        east, north = len(rows[0]) / 2 * self.cell, len(rows) / 2 * self.cell
        middles = [
            ((j + 0.5) * self.cell - east, north - (i + 0.5) * self.cell)
            for kind in kinds
            for i, row in enumerate(rows)
            for j, found in enumerate(row)
            if found == kind
        ]
        return np.reshape(np.array(middles, np.float64), (-1, 2))

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Build the walls, and a mocap body that shows the goal."""
        half = self.cell / 2
        for x, y in self.places("#"):
            spec.worldbody.add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX,
                pos=[x, y, self.wall * half],
                size=[half, half, self.wall * half],
                contype=1,
                conaffinity=1,
                rgba=[0.7, 0.5, 0.3, 1.0],
                **self.surface,
            )
        add_marker(spec, "goal", 0.2 * self.cell, (1.0, 0.0, 0.0, 0.7))

    def bind(self) -> None:
        """Find the cells for starts and goals."""
        super().bind()
        goals, starts = self.places("gc"), self.places("rc")
        goals, starts = (cells if len(cells) else self.places(".") for cells in (goals, starts))
        if not len(goals) or not len(starts):
            raise ValueError(f"{type(self).__name__}: maze_map has no cell for starts, or none for goals")
        if any((starts == goal).all() for goal in goals):
            raise ValueError(f"{type(self).__name__}: maze_map needs two cells: a goal and a start in different ones")
        if not 0 <= self.position_noise_range <= 0.5:
            raise ValueError(
                f"{type(self).__name__}: position_noise_range={self.position_noise_range}: it is a share of a cell's "
                "edge, from 0 to 0.5"
            )
        self.goals, self.starts = self.doubles(goals), self.doubles(starts)

    def reset(self, noise: Noise) -> Start:
        """Draw the goal, and a start in another cell."""
        xp = self.xp
        goal = self.draw_goal(noise)
        apart = row_norm(self.starts[None] - goal[:, None]) > 0.5 * self.cell
        before = xp.cumulative_sum(xp.astype(apart, xp.int64), axis=1)
        chosen = xp.floor(noise.uniform(0, 1, 1) * before[:, -1:])
        start = self.starts[xp.argmax(xp.astype(apart & (before > chosen), xp.int64), axis=1)]
        start = start + self.scatter(noise)
        qpos = xp.concat((start, self.init_qpos[2:] + 0 * start[:, :1]), axis=1)
        return Start(qpos, xp.zeros((len(goal), self.model.nv)), {"goal": goal}, inputs=self.shown(goal))

    def draw_goal(self, noise: Noise) -> Array:
        """Draw places in cells for goals, (n, 2) m."""
        cell = self.goals[noise.integers(0, len(self.goals), 1)[:, 0]]
        return cell + self.scatter(noise)

    def scatter(self, noise: Noise) -> Array:
        """Draw offsets from the middle of a cell, (n, 2) m."""
        reach = self.position_noise_range * self.cell
        return noise.uniform(-reach, reach, 2)

    def shown(self, goal: Array) -> dict[str, Array]:
        """Return the inputs that show goals (n, 2) m."""
        height = 0 * goal[:, :1] + self.wall * self.cell / 2
        return self.mocaps(goal=(self.xp.concat((goal, height), axis=1), None))

    def achieved(self, state: TaskState) -> Array:
        """Return the robot's place, (n, 2) m."""
        return state.qpos[:, :2]

    def reached(self, achieved: Any, desired: Any) -> Any:
        """Return True where a place is within `threshold` of a goal."""
        return self.apart(achieved, desired) <= self.threshold

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """Return 1 at the goal, or how near it is; arguments as in `GoalTask`."""
        return self.by_reward_type(
            lambda: namespace(achieved_goal).astype(self.reached(achieved_goal, desired_goal), achieved_goal.dtype),
            lambda: exp(-self.apart(achieved_goal, desired_goal)),
        )

    def compute_terminated(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """Return True at the goal, if episodes end there."""
        return self.reached(achieved_goal, desired_goal) & (not self.continuing_task)

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation, and whether the goal is reached already."""
        seen = self.observation(state)
        return ResetResult(seen, {"success": self.reached(seen["achieved_goal"], seen["desired_goal"])})

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward the goal, and draw another one where that is asked for."""
        result = super().step(state, action)
        success = result.info["success"]
        if not self.continuing_task:
            return result._replace(terminated=success)
        if not self.reset_target or len(self.goals) < 2:
            return result
        place, goal = self.achieved(state), state.memory["goal"]
        tries = [self.draw_goal(state.noise) for _ in range(TRIES)]
        other = first_that_fits(tries, [~self.reached(place, candidate) for candidate in tries])
        goal = self.xp.where(success[:, None], self.array(other), self.array(goal))
        return result._replace(memory={"goal": goal}, inputs=self.shown(goal))


class PointMaze(MazeTask):
    """A ball that two motors push comes to a goal in a maze.

    Action: forces along x and y / 100 N, from -1 to 1. `observation`: place (m) and velocity (m/s) along x and y. Each
    velocity is limited to 5 m/s before a step.
    """

    cell: ClassVar[float] = 1.0
    wall: ClassVar[float] = 0.4
    surface: ClassVar = {"friction": [0.5, 0.1, 0.1], "margin": 0.002, "condim": 1}
    xml_file: str = "maze_ball.xml"

    def features(self, state: TaskState) -> list[Array]:
        """Return place and velocity, (n, 4)."""
        return [state.coordinates]

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward the goal, and slow down a ball that is too fast."""
        return super().step(state, action)._replace(qvel=clip(state.qvel, -5, 5))


class AntMaze(MazeTask, Ant):  # type: ignore[override]
    """The ant of Gymnasium's `Ant-v5` comes to a goal in a maze of cells of 4 m.

    Action and `observation` as in `Ant`, without x and y. It is rewarded for the goal only, and may fall.
    """

    cell: ClassVar[float] = 4.0
    wall: ClassVar[float] = 0.5
    surface: ClassVar = {"friction": [1.0, 0.5, 0.5], "margin": 0.01, "condim": 3}
    xml_file: str = "ant.xml"
    frame_skip: int = 5

    def contact_forces(self, state: TaskState) -> Array:
        """Return clipped contact wrenches on all bodies but the one that shows the goal."""
        return super().contact_forces(state)[:, :-6]

    def features(self, state: TaskState) -> list[Array]:
        """Return the ant without its place, (n, 105)."""
        return [self.seen(state, self.contact_forces(state))]

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation, with contact wrenches of zero."""
        return MazeTask.begin(self, without_wrenches(state))

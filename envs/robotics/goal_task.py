"""The base class of Gymnasium-Robotics' tasks with goals: three observations by name, rewards for any pair of goals."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium
import mujoco
import numpy as np

from ..arrays import Array, clip, namespace, row_norm
from ..task.goals import EndlessGoals
from ..task.task import StepResult, Task, TaskState

RED = (1.0, 0.0, 0.0, 1.0)
REWARD_TYPES = ("sparse", "dense")


class RoboticsTask(Task):
    """A task on a model of Gymnasium-Robotics' package, with a sparse or a dense reward (`reward_type`).

    Actions from -1 to 1 cover the ranges of the model's controls, unless a task says what else they mean.
    """

    actions: ClassVar[int] = 0  # components of an action; 0: as many as the model has controls

    reward_type: str = "sparse"

    def __post_init__(self) -> None:
        """Check the type of reward.

        Raises:
            ValueError: it is neither "sparse" nor "dense".
        """
        super().__post_init__()
        if self.reward_type not in REWARD_TYPES:
            raise ValueError(f"{type(self).__name__}: reward_type={self.reward_type!r} must be 'sparse' or 'dense'")

    def bind(self) -> None:
        """Find the ranges of the controls."""
        super().bind()
        low, high = self.model.actuator_ctrlrange.T
        self.middle, self.reach = self.array((low + high) / 2), self.array((high - low) / 2)

    @property
    def action_space(self) -> gymnasium.spaces.Box:
        """Numbers from -1 to 1."""
        return gymnasium.spaces.Box(-1.0, 1.0, (self.actions or int(self.model.nu),), np.float32)

    def control(self, state: TaskState, action: Array) -> Array:
        """Return the controls that actions mean."""
        return self.middle + clip(action, -1, 1) * self.reach

    def mocaps(self, **placed: tuple[Array | None, Array | None]) -> dict[str, Array]:
        """Return the inputs that place mocap bodies, and leave the others where the file has them.

        Args:
            placed: by the names of bodies: their places (n, 3) m, and their quaternions (n, 4) or None.
        """
        model, inputs = self.model, {}
        names = [model.body(int(np.flatnonzero(model.body_mocapid == k)[0])).name for k in range(model.nmocap)]
        for part, (field, of_file) in enumerate((("mocap_pos", model.body_pos), ("mocap_quat", model.body_quat))):
            given = {name: pose[part] for name, pose in placed.items() if pose[part] is not None}
            for like in list(given.values())[:1]:
                none = self.xp.zeros_like(like)
                own = {name: none + self.doubles(of_file[model.body(name).id]) for name in names if name not in given}
                inputs[field] = self.xp.stack([self.array((given | own)[name]) for name in names], axis=1)
        return inputs

    def by_reward_type(self, sparse: Callable[[], Array], dense: Callable[[], Array]) -> Array:
        """Return the reward of the task's type, computed by one of two functions."""
        return sparse() if self.reward_type == "sparse" else dense()


class GoalTask(EndlessGoals, RoboticsTask):
    """A task with goals that may be exchanged afterwards, as replay with hindsight does.

    Observations are `observation`, `achieved_goal` and `desired_goal`. The reward is 0 within `threshold` of the goal
    and -1 elsewhere; with reward_type "dense" it is minus the distance.
    """

    threshold: float = 0.05  # m

    @abstractmethod
    def features(self, state: TaskState) -> list[Array]:
        """Return the observations without the goal, each (n, ...)."""

    @abstractmethod
    def achieved(self, state: TaskState) -> Array:
        """Return the goal that the state fulfils, (n, k)."""

    def apart(self, achieved: Any, desired: Any) -> Any:
        """Return the distances between goals (..., k), (...).

        Raises:
            ValueError: the goals have other shapes than each other.
        """
        if achieved.shape != desired.shape:
            raise ValueError(f"goals of shapes {tuple(achieved.shape)} and {tuple(desired.shape)}: they must be equal")
        return row_norm(achieved - desired)

    def reached(self, achieved: Any, desired: Any) -> Any:
        """Return True where a goal (..., k) is within `threshold` of another, (...) bool."""
        return self.apart(achieved, desired) < self.threshold

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """Return the rewards for goals.

        Args:
            achieved_goal: (..., k), of numpy or torch.
            desired_goal: the same.
            info: not used.

        Returns:
            Rewards (...), in the precision of the goals.
        """
        return self.by_reward_type(
            lambda: namespace(achieved_goal).astype(self.reached(achieved_goal, desired_goal), achieved_goal.dtype) - 1,
            lambda: -self.apart(achieved_goal, desired_goal),
        )

    def observation(self, state: TaskState) -> dict[str, Array]:
        """Return the parts by name."""
        return {
            "observation": self.xp.concat(self.features(state), axis=1),
            "achieved_goal": self.achieved(state),
            "desired_goal": self.array(state.memory["goal"]),
        }

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward the goal."""
        seen = self.observation(state)
        goals = seen["achieved_goal"], seen["desired_goal"]
        success = self.reached(*goals)
        terms = {"reward_goal": self.compute_reward(*goals, {})}
        return StepResult(seen, terms, info={"success": success, "is_success": success})


def add_marker(spec: mujoco.MjSpec, name: str, radius: float, colour: tuple[float, ...] = RED) -> None:
    """Add a sphere that touches nothing on a mocap body, which shows where a goal is."""
    body = spec.worldbody.add_body(name=name, mocap=True)
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        size=[radius, radius, radius],
        rgba=colour,
        contype=0,
        conaffinity=0,
    )

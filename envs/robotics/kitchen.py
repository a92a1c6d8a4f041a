"""A kitchen: an arm opens doors, turns knobs, switches the light and moves the kettle, in any sequence."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array, clip, namespace, row_all, row_norm, row_sum
from ..task.noise import Noise
from ..task.task import ResetResult, Start, StepResult, TaskState
from .goal_task import GoalTask

GOALS: dict[str, tuple[int, tuple[float, ...]]] = {
    "bottom burner": (11, (-0.88, -0.01)),
    "top burner": (15, (-0.92, -0.01)),
    "light switch": (17, (-0.69, -0.05)),
    "slide cabinet": (19, (0.37,)),
    "hinge cabinet": (20, (0.0, 1.45)),
    "microwave": (22, (-0.75,)),
    "kettle": (23, (-0.23, 0.75, 1.62, 0.99, 0.0, 0.0, -0.06)),
}
"""The first coordinate of each thing, and where its coordinates are to be: rad, m, and a quaternion."""
ARM = 9  # joints of the arm and its fingers, the first coordinates
LOW = (-2.9, -1.8, -2.9, -3.1, -2.9, 0.0, -2.9, 0.0, 0.0)  # the least and greatest targets of the joints, rad and m
HIGH = (2.9, 1.8, 2.9, 0.0, 2.9, 3.8, 2.9, 0.04, 0.04)
SPEED = 2.0  # rad/s or m/s of an action of 1
NEAR, FAR = 0.005, 0.1  # amplitudes of the noise on most coordinates, in the original's sequence
NOISE_OF_ARM = 0.1
NOISE_OF_PLACES = (FAR, *[NEAR] * 2, *[0.0005] * 6, *[NEAR] * 3, *[FAR] * 3, *[NEAR] * 3, *[FAR] * 3)
NOISE_OF_SPEEDS = (*[NEAR] * 11, *[FAR] * 3, *[NEAR] * 3, *[FAR] * 3)
START = (
    *(1.48388023e-01, -1.76848573e00, 1.84390296e00, -2.47685760e00, 2.60252026e-01, 7.12533105e-01, 1.59515394e00),
    *(4.79267505e-02, 3.71350919e-02, -2.66279850e-04, -5.18043486e-05, 3.12877220e-05, -4.51199853e-05),
    *(-3.90842156e-06, -4.22629655e-05, 6.28065475e-05, 4.04984708e-05, 4.62730939e-04, -2.26906415e-04),
    *(-4.65501369e-04, -6.44129196e-03, -1.77048263e-03, 1.08009684e-03, -2.69397440e-01, 3.50383255e-01),
    *(1.61944683e00, 1.00618764e00, 4.06395120e-03, -6.62095997e-03, -2.68278933e-04),
)


class FrankaKitchen(GoalTask):
    """An arm of 7 joints with two fingers brings things of a kitchen to their goals.

    Action: speeds of the joints, from -1 to 1 for 2 rad/s (2 m/s of a finger), by which the motors' targets lie ahead
    of the last observation.

    Observations, `achieved_goal` and `desired_goal` (the coordinates of all things in `tasks_to_complete`, side by
    side), and `observation`: joints and fingers (9), their velocities (9), coordinates of the things (21) and their
    velocities (20), all with uniform noise of the amplitudes `robot_noise_ratio` and `object_noise_ratio`, each times
    an amplitude of the coordinate.

    Reward: `reward_goal`, the number of things within `threshold` of their goals; with `remove_task_when_completed` a
    thing counts once. Ends when all have been there, unless `terminate_on_tasks_completed=False`. The info has masks
    (n, things): `tasks_to_complete`, `step_task_completions`, `episode_task_completions`. Starts from one state.
    """

    camera: ClassVar = {"distance": 2.2, "lookat": (-0.2, 0.5, 2.0), "azimuth": 70.0, "elevation": -35.0}

    xml_file: str = "gymnasium_robotics:kitchen_franka/kitchen_assets/kitchen_env_model.xml"
    frame_skip: int = 40
    threshold: float = 0.3
    tasks_to_complete: Sequence[str] = tuple(GOALS)
    terminate_on_tasks_completed: bool = True
    remove_task_when_completed: bool = True
    object_noise_ratio: float = 0.0005
    robot_noise_ratio: float = 0.01

    def __post_init__(self) -> None:
        """Check the names of the things.

        Raises:
            ValueError: a thing is unknown, or there is none; or a dense reward is asked for.
        """
        super().__post_init__()
        if self.reward_type != "sparse":
            raise ValueError("FrankaKitchen: reward_type must be 'sparse'")
        names = self.tasks_to_complete
        if isinstance(names, str) or not names or not set(names) <= GOALS.keys() or len(set(names)) < len(names):
            raise ValueError(
                f"FrankaKitchen: tasks_to_complete={names!r}: give a list of different tasks of {', '.join(GOALS)}"
            )
        if min(self.robot_noise_ratio, self.object_noise_ratio) < 0:
            raise ValueError("FrankaKitchen: robot_noise_ratio and object_noise_ratio must be at least 0")

    def bind(self) -> None:
        """Find the coordinates of the things, and the amplitudes of the noise."""
        super().bind()
        things = [GOALS[name] for name in self.tasks_to_complete]
        places = [k for first, goal in things for k in range(first, first + len(goal))]
        self.places = self.indices(places)
        self.goal = self.array([number for _, goal in things for number in goal])
        self.ends = np.cumsum([0, *(len(goal) for _, goal in things)]).tolist()
        self.low, self.high = self.array(LOW), self.array(HIGH)
        arm = [NOISE_OF_ARM * self.robot_noise_ratio] * (2 * ARM)
        rest = [amplitude * self.object_noise_ratio for amplitude in (*NOISE_OF_PLACES, *NOISE_OF_SPEEDS)]
        self.amplitudes = self.array([*arm, *rest])

    def control(self, state: TaskState, action: Array) -> Array:
        """Return targets ahead of the joints that were observed last."""
        targets = self.array(state.memory["held"]) + SPEED * clip(action, -1, 1) * self.dt
        return self.xp.minimum(self.xp.maximum(targets, self.low), self.high)

    def reset(self, noise: Noise) -> Start:
        """Start from the original's state, with all goals before it."""
        start = self.doubles(START)
        goal = self.goal + 0 * self.array(noise.uniform(0, 1, 1))
        left = self.xp.ones((len(goal), len(self.tasks_to_complete)), dtype=self._kind.boolean)
        return Start(start, self.xp.zeros(self.model.nv), {"goal": goal, "left": left, "done": ~left})

    def features(self, state: TaskState) -> list[Array]:
        """Return arm and things with noise, (n, 59)."""
        parts = (state.qpos[:, :ARM], state.qvel[:, :ARM], state.qpos[:, ARM:], state.qvel[:, ARM:])
        return [self.xp.concat(parts, axis=1) + self.amplitudes * self.array(state.noise.uniform(-1, 1, 59))]

    def achieved(self, state: TaskState) -> Array:
        """Return the coordinates of the things, (n, k)."""
        return self.xp.take(state.qpos, self.places, axis=1)

    def completed(self, achieved: Any, desired: Any) -> Any:
        """Return True for each thing at its goal, (..., things) bool."""
        gaps = achieved - desired
        near = [row_norm(gaps[..., a:b]) < self.threshold for a, b in zip(self.ends, self.ends[1:], strict=False)]
        return namespace(achieved).stack(near, axis=-1)

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """Return how many things are at their goals; arguments as in `GoalTask`."""
        return self.counted(self.completed(achieved_goal, desired_goal), achieved_goal)

    def counted(self, there: Any, like: Any) -> Any:
        """Count things (..., things) bool, in the precision of an array."""
        return row_sum(namespace(like).astype(there, like.dtype))

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation; the motors' targets begin at it."""
        seen = self.observation(state)
        return ResetResult(seen, memory={"held": seen["observation"][:, :ARM]})

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward things that are at their goals now."""
        seen, left, done = self.observation(state), state.memory["left"], state.memory["done"]
        now = self.completed(seen["achieved_goal"], seen["desired_goal"]) & left
        left, done = (left & ~now if self.remove_task_when_completed else left), done | now
        all_done = row_all(done)
        info = {"tasks_to_complete": left, "step_task_completions": now, "episode_task_completions": done}
        return StepResult(
            seen,
            {"reward_goal": self.counted(now, seen["achieved_goal"])},
            all_done if self.terminate_on_tasks_completed else None,
            {**info, "success": all_done, "is_success": all_done},
            {"left": left, "done": done, "held": seen["observation"][:, :ARM]},
        )

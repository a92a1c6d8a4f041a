"""What a task is: pure batched functions from states to observations, rewards and terminations.

A task knows a model but no solver, no episode and no batch size. Each task of this package is one file that reads from
top to bottom: options, start, observation, reward terms, termination. Shapes: n environments come first everywhere.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import mujoco
import numpy as np

from .arrays import Array
from .noise import Noise


class Moment(NamedTuple):
    """The state of n environments, as a task sees it after a step or a reset.

    `fields` holds the derived quantities that the task asked for, by MuJoCo's names. After a step they belong to its
    last evaluation, before the final integration, as MuJoCo leaves them; after a reset to the new state itself.
    """

    state: Array  # (n, nq + nv), qpos and qvel side by side
    qpos: Array  # (n, nq) m, rad, quaternions w first; a part of `state`, as is qvel
    qvel: Array  # (n, nv) m/s, rad/s
    fields: Mapping[str, Array]


class Verdict(NamedTuple):
    """What a task says about one environment step."""

    terms: dict[str, Array]  # each (n,); the reward is their sum
    terminated: Array | None  # (n,) bool; None: this task never ends by itself
    info: dict[str, Array]  # each (n,) or (n, k); the reward terms join it under their own names


@dataclass(kw_only=True)
class Task(ABC):
    """The part that all tasks share. Subclasses are dataclasses whose fields are the constructor options of v5."""

    camera: ClassVar[dict[str, Any]] = {}  # default_camera_config of v5

    xml_file: str
    frame_skip: int
    default_camera_config: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        """Bring numbers and ranges among the options to plain floats, so that torch and numpy round them alike."""
        for option in fields(self):
            value = getattr(self, option.name)
            try:
                if isinstance(option.default, float):
                    setattr(self, option.name, float(value))
                elif isinstance(option.default, tuple):
                    low, high = value
                    setattr(self, option.name, (float(low), float(high)))
            except (TypeError, ValueError) as error:
                kind = "a number" if isinstance(option.default, float) else "a pair of numbers (low, high)"
                raise TypeError(f"{type(self).__name__}: {option.name} must be {kind}, got {value!r}") from error

    def bind(self, mj: mujoco.MjModel, constant: Callable[[Any], Array]) -> None:
        """Learn the numbers of the model.

        Args:
            mj: the compiled model.
            constant: turns numbers into an array of the kind, precision and device that the states will have.

        Raises:
            ValueError: an option does not fit the model.
        """
        if self.frame_skip < 1:
            raise ValueError(f"frame_skip is {self.frame_skip}: an environment step needs at least one physics step")
        self.nq, self.nv, self.nu, self.nbody = mj.nq, mj.nv, mj.nu, mj.nbody
        self.start = mj.qpos0.copy()
        self.dt = float(mj.opt.timestep) * self.frame_skip

    @property
    def reads(self) -> tuple[str, ...]:
        """Derived quantities that the task reads, by MuJoCo's names; they may depend on the model it is bound to."""
        return ()

    @abstractmethod
    def draw(self, noise: Noise) -> tuple[np.ndarray, np.ndarray]:
        """Draw initial positions and velocities, float64 (n, nq) and (n, nv), for n episodes, now or ahead of time."""

    @abstractmethod
    def observation(self, now: Moment) -> Array:
        """What the agent sees, (n, observation size)."""

    @property
    @abstractmethod
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order; "skipped_qpos" counts what was left out in front."""

    @property
    def observation_size(self) -> int:
        """How many numbers the agent sees."""
        return sum(width for block, width in self.observation_structure.items() if block != "skipped_qpos")

    def place(self, now: Moment) -> Array:
        """The position, (n, k) m, whose velocity over an environment step the task rewards; none unless told.

        A part of `now` or something new: the arena keeps it, and writes to it where an episode begins anew.
        """
        return now.qpos[:, :0]

    @abstractmethod
    def judge(self, now: Moment, velocity: Array, action: Array) -> Verdict:
        """Reward terms, termination and info of the step that led here.

        Args:
            now: the state after the step.
            velocity: (n, k) m/s, the change of `place` over the step, divided by its duration.
            action: (n, nu), as the agent gave it; only its effect on the actuators is clipped to their range.
        """

    def reset_info(self, now: Moment) -> dict[str, Array]:
        """Info of a freshly reset environment, each (n,) or (n, k)."""
        return {}

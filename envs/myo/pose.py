"""Posing of MyoSuite: joints go to angles."""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

import mujoco
import numpy as np

from ..arrays import Array, row_norm
from ..task.noise import Noise
from ..task.task import Start, TaskState
from .muscle_task import MuscleRating, MuscleTask, leave_out


class MyoPose(MuscleTask):
    """Bring the first joints to angles, drawn evenly between `low` and `high` (rad), of elbow, finger, hand or torso.

    Observation: qpos (rad), qvel (rad in a step), angles still to go (rad), activations.

    Reward: `pose`, minus the length of the vector of angles to go; `bonus`, 1 below 1.5 `near` and 1 more below
    `near`, which is success; `act_reg`, minus that of the activations divided by their number; `penalty` where the
    pose is more than `far` away, which ends the episode. `effort` is the weight of `act_reg`.

    Starts at rest in the model's pose, or if `anywhere` at any angles within the joints' ranges. If `load` (kg) is
    above 0, the hand carries a mass drawn from it.
    """

    reads_present: ClassVar[Sequence[str]] = ("act",)

    low: Sequence[float] = ()
    high: Sequence[float] = ()
    near: float = 0.35
    far: float = 2 * math.pi
    anywhere: bool = False
    effort: float = 1.0
    load: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        """Set the weights, one of which is an option."""
        super().__post_init__()
        self.weights = {"pose": 1.0, "bonus": 4.0, "act_reg": self.effort, "penalty": 50.0}  # type: ignore[misc]

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Leave out the sites that show tips in the wanted pose."""
        super().edit_spec(spec)
        leave_out(spec, [site.name for site in spec.sites if site.name.endswith("_target")])

    def bind(self) -> None:
        """Look up the ranges of the angles."""
        super().bind()
        low, high = self.model.jnt_range.T if self.anywhere else (self.model.qpos0,) * 2
        self.start_low, self.start_high, self.goal_low, self.goal_high = (
            self.doubles(part) for part in (low, high, self.low, self.high)
        )

    def reset(self, noise: Noise) -> Start:
        """Draw the pose to reach, the one to start from, and the load."""
        nq = self.model.nq
        goal = self.goal_low + (self.goal_high - self.goal_low) * noise.uniform(0, 1, len(self.low))
        qpos = self.start_low + (self.start_high - self.start_low) * noise.uniform(0, 1, nq)
        start = self.start(qpos, {"target": goal})
        return start._replace(parameters=self.carry(noise.uniform(*self.load, 1))) if self.load[1] > 0 else start

    def carry(self, mass: Array) -> dict[str, Array]:
        """Return the model's numbers for loads (n, 1) kg of a size that shows the mass."""
        model, ones = self.model, 0 * mass
        body = model.body("carry_weight")
        chosen = self.doubles(np.arange(model.nbody) == body.id)
        size = self.doubles(model.geom_size)[None] + ones[:, :, None]
        radius = np.zeros_like(model.geom_size)
        radius[body.geomadr[0], 0] = 1
        radius = self.doubles(radius)[None]
        own_mass = self.doubles(model.body_mass) * (1 - chosen) + mass * chosen
        return {"body_mass": own_mass, "geom_size": size * (1 - radius) + (0.01 + 0.025 * mass[:, :, None]) * radius}

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return joints and the angles to go."""
        to_go = state.memory["target"] - state.qpos[:, : len(self.low)]
        return {"qpos": state.qpos, "qvel": state.qvel * self.dt, "pose_err": to_go}

    def rate(self, state: TaskState, parts: Mapping[str, Array]) -> MuscleRating:
        """Rate the pose."""
        distance = row_norm(parts["pose_err"])
        lost, near = distance > self.far, distance < self.near
        terms = {
            "pose": -distance,
            "bonus": self.bonus(near, distance < 1.5 * self.near),
            "act_reg": -self.activity(parts) + 0 * distance,
            "penalty": -self.array(lost),
        }
        return MuscleRating(terms, near, lost)

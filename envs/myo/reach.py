"""Reaching of MyoSuite: fingertips go to places in the air."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import mujoco

from ..arrays import Array, row_norm
from ..task.noise import Noise
from ..task.task import Start, TaskState
from .muscle_task import MuscleRating, MuscleTask, mocap_markers

Box3 = tuple[tuple[float, float, float], tuple[float, float, float]]
"""The lowest and the highest corner of a box, m."""


class MyoReach(MuscleTask):
    """Bring the tips of fingers to targets, which lie somewhere in boxes. MyoSuite's myoHandReach and myoFingerReach.

    Observation: qpos (rad), qvel (rad in a step), places of the tips and the offsets from them to the targets (m),
    activations.

    Reward: `reach`, minus the length of all offsets in one vector; `bonus`, 1 below 2 `near` (m) a tip and 1 more below
    `near`, which is success; `penalty` above `far` a tip, where the episode ends, but not in its first steps.

    Starts at rest in the model's pose.
    """

    weights: ClassVar = {"reach": 1.0, "bonus": 4.0, "penalty": 50.0}

    targets: Sequence[tuple[str, Box3]] = ()  # names of tips, and where their targets are drawn
    near: float = 0.0125
    far: float = 0.35

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Make the targets bodies that episodes place."""
        super().edit_spec(spec)
        mocap_markers(spec, [f"{tip}_target" for tip, _ in self.targets])

    def bind(self) -> None:
        """Look up the tips."""
        super().bind()
        self.tips = self.sites([tip for tip, _ in self.targets])

    def reset(self, noise: Noise) -> Start:
        """Draw the targets."""
        drawn = [noise.uniform(a, b, 1) for _, (low, high) in self.targets for a, b in zip(low, high, strict=True)]
        target = self.xp.concat(drawn, axis=1)
        place = self.xp.reshape(target, (target.shape[0], -1, 3))
        return self.start(self.init_qpos + 0 * target[:, :1], {"target": target}, inputs={"mocap_pos": place})

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return joints, tips and the offsets to the targets."""
        tips = self.places(state, self.tips)
        return {
            "qpos": state.qpos,
            "qvel": state.qvel * self.dt,
            "tip_pos": tips,
            "reach_err": state.memory["target"] - tips,
        }

    def rate(self, state: TaskState, parts: Mapping[str, Array]) -> MuscleRating:
        """Rate the distance."""
        distance, k = row_norm(parts["reach_err"]), len(self.targets)
        near = self.near * k
        lost = (distance > self.far * k) & self.is_late(state)
        terms = {
            "reach": -distance,
            "bonus": self.bonus(distance < 2 * near, distance < near),
            "penalty": -self.array(lost),
        }
        return MuscleRating(terms, distance < near, lost)

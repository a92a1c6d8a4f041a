"""Holding an object, of MyoSuite: the hand carries an egg to a place."""

from collections.abc import Mapping
from typing import ClassVar

import mujoco
import numpy as np

from ..arrays import Array, row_norm
from ..task.noise import Noise
from ..task.task import Start, TaskState
from .muscle_task import PALM_UP, MuscleRating, MuscleTask, mocap_markers

NEAR, DROPPED = 0.01, 0.3  # m from the goal


class MyoObjHold(MuscleTask):
    """Carry an object that lies in the hand to a goal and hold it there. MyoSuite's myoHandObjHold.

    Observation: the hand's qpos (rad) and qvel (rad in a step), the object's place, the offset to the goal (m),
    activations.

    Reward: `goal_dist`, minus the offset's length; `bonus`, 1 below 0.02 m and 1 more below 0.01 m, which is success;
    `penalty` beyond 0.3 m, which ends the episode.

    Starts at rest, the palm up. If `moved` (m) is above 0, the goal lies up to so far from the object along each axis,
    and the object has half-axes of 0.02 to 0.03 m, at an unchanged mass.
    """

    weights: ClassVar = {"goal_dist": 100.0, "bonus": 4.0, "penalty": 10.0}

    xml_file: str = "myosuite:envs/myo/assets/hand/myohand_hold.xml"
    moved: float = 0.0

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Make the goal a body that episodes place."""
        super().edit_spec(spec)
        mocap_markers(spec, ["goal"])

    def bind(self) -> None:
        """Look up the object and the start."""
        super().bind()
        model = self.model
        self.object = self.sites(["object"])
        rest = model.qpos0.copy()
        rest[:-7] = 0
        rest[0] = PALM_UP
        place = model.body("object" if self.moved > 0 else "goal").pos
        self.rest, self.place = self.doubles(rest), self.doubles(place)

    def reset(self, noise: Noise) -> Start:
        """Draw the goal and the object's size."""
        goal = self.place + noise.uniform(-self.moved, self.moved, 3)
        sizes = {"geom_size": self.sizes(noise.uniform(0.02, 0.03, 3))} if self.moved > 0 else {}
        qpos = self.rest + 0 * goal[:, :1]
        return self.start(qpos, {"target": goal}, inputs={"mocap_pos": goal[:, None, :]}, parameters=sizes)

    def sizes(self, size: Array) -> Array:
        """Return the sizes of all geoms (n, ngeom, 3) with those of the object (n, 3) m."""
        chosen = np.arange(self.model.ngeom) == self.model.geom("object").id
        mask = self.doubles(chosen)[None, :, None]
        return self.doubles(self.model.geom_size)[None] * (1 - mask) + size[:, None, :] * mask

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return the hand's joints, the object's place and its offset to the goal."""
        place, qvel = self.places(state, self.object), state.qvel * self.dt
        offset = state.memory["target"] - place
        return {"hand_qpos": state.qpos[:, :-7], "hand_qvel": qvel[:, :-6], "obj_pos": place, "obj_err": offset}

    def rate(self, state: TaskState, parts: Mapping[str, Array]) -> MuscleRating:
        """Rate the distance to the goal."""
        distance = row_norm(parts["obj_err"])
        near, dropped = distance < NEAR, distance > DROPPED
        bonus = self.bonus(distance < 2 * NEAR, near)
        return MuscleRating({"goal_dist": -distance, "bonus": bonus, "penalty": -self.array(dropped)}, near, dropped)

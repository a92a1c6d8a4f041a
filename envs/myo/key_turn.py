"""Turning a key, of MyoSuite: thumb and index hold its head and turn it."""

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from ..arrays import Array, row_norm
from ..task.noise import Noise
from ..task.task import Start, TaskState
from .muscle_task import MuscleRating, MuscleTask

HOLD = 0.03  # m, from the middle of the key's head to a fingertip that holds it


class MyoKeyTurn(MuscleTask):
    """Turn a key with thumb and index finger. MyoSuite's myoHandKeyTurn.

    Observation: the hand's qpos (rad) and qvel (rad in a step), the key's, offsets from the tips of index finger and
    thumb to the middle of the key's head (m), activations.

    Reward: `key_turn`, the key's angle (rad); `IFtip_approach` and `THtip_approach`, minus how far the tips are from
    0.03 m to the middle of the head; `act_reg`; `bonus` 1 from a quarter turn and 1 more from half a turn; `penalty`
    for each tip that is more than 0.05 m off. Success is an angle above `goal`. More than 0.1 m off ends the episode.

    Starts at rest with the hand open, the key turned by up to ±`turned` (rad) and moved by up to ±`moved` (m).
    """

    weights: ClassVar = {
        "key_turn": 1.0,
        "IFtip_approach": 10.0,
        "THtip_approach": 10.0,
        "act_reg": 1.0,
        "bonus": 4.0,
        "penalty": 25.0,
    }

    xml_file: str = "myosuite:envs/myo/assets/hand/myohand_keyturn.xml"
    goal: float = 3.14
    turned: float = 0.0
    moved: float = 0.0

    def bind(self) -> None:
        """Look up the key and the tips."""
        super().bind()
        self.tips, self.head = self.sites(["IFtip", "THtip"]), self.sites(["keyhead"] * 2)
        self.bodies = self.doubles(self.model.body_pos)[None]
        self.key = self.doubles(np.arange(self.model.nbody) == self.model.body("key").id)[None, :, None]

    def reset(self, noise: Noise) -> Start:
        """Draw the key's angle and place."""
        angle = noise.uniform(-self.turned, self.turned, 1)
        qpos = self.xp.concat((self.xp.repeat(0 * angle, self.model.nq - 1, axis=1), angle), axis=1)
        if not self.moved:
            return self.start(qpos)
        away = noise.uniform(-self.moved, self.moved, 3)[:, None, :]
        return self.start(qpos, parameters={"body_pos": self.bodies + away * self.key})

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return joints and the offsets from the tips to the key."""
        offsets = self.places(state, self.head) - self.places(state, self.tips)
        qvel = state.qvel * self.dt
        return {
            "hand_qpos": state.qpos[:, :-1],
            "hand_qvel": qvel[:, :-1],
            "key_qpos": state.qpos[:, -1:],
            "key_qvel": qvel[:, -1:],
            "IFtip_approach": offsets[:, :3],
            "THtip_approach": offsets[:, 3:],
        }

    def rate(self, state: TaskState, parts: Mapping[str, Array]) -> MuscleRating:
        """Rate the key's angle and the hold."""
        angle = parts["key_qpos"][:, 0]
        index, thumb = (abs(row_norm(parts[f"{name}tip_approach"]) - HOLD) for name in ("IF", "TH"))
        terms = {
            "key_turn": angle,
            "IFtip_approach": -index,
            "THtip_approach": -thumb,
            "act_reg": -self.activity(parts),
            "bonus": self.bonus(angle > math.pi / 2, angle > math.pi),
            "penalty": -self.bonus(index > 0.05, thumb > 0.05),
        }
        return MuscleRating(terms, angle > self.goal, (index > 0.1) | (thumb > 0.1))

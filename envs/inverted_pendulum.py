"""InvertedPendulum: keep a pole upright on a cart. Same task as Gymnasium's InvertedPendulum-v5."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .arrays import Array, copy, finite, flag
from .noise import Noise
from .task import Moment, Task, Verdict
from .terms import uniform_start


@dataclass(kw_only=True)
class InvertedPendulum(Task):
    """A cart on a rail balances a pole; push the cart so that the pole does not fall.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | slide | -3 | 3 | force on the cart / 100 N |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0 | qpos slider | m | cart along the rail |
    | 1 | qpos hinge | rad | pole from upright |
    | 2 | qvel slider | m/s | |
    | 3 | qvel hinge | rad/s | |

    Reward: `reward_survive`, 1 for every step that does not end the episode.

    Ends when the pole leans more than 0.2 rad. Starts near upright, uniform within ±`reset_noise_scale`.
    """

    camera: ClassVar = {"trackbodyid": 0, "distance": 2.04}

    xml_file: str = "inverted_pendulum.xml"
    frame_skip: int = 2
    reset_noise_scale: float = 0.01

    def draw(self, noise: Noise) -> tuple[np.ndarray, np.ndarray]:
        """Near rest, evenly."""
        return uniform_start(noise, self.start, self.reset_noise_scale, self.nv)

    def observation(self, now: Moment) -> Array:
        """Positions and velocities."""
        return copy(now.state)

    @property
    def observation_structure(self) -> dict[str, int]:
        """Block widths."""
        return {"qpos": self.nq, "qvel": self.nv}

    def judge(self, now: Moment, velocity: Array, action: Array) -> Verdict:
        """One point a step until the pole falls."""
        upright = (abs(now.qpos[:, 1]) <= 0.2) & finite(now.state)
        return Verdict({"reward_survive": flag(upright, now.qpos)}, ~upright, {})

"""InvertedDoublePendulum: keep two poles upright. Same task as Gymnasium's InvertedDoublePendulum-v5."""

from typing import ClassVar

from ..arrays import Array, clip, sin_cos
from ..task.noise import Noise
from ..task.task import Start, StepResult, Task, TaskState
from ..task.terms import normal_start


class InvertedDoublePendulum(Task):
    """A cart on a rail balances two poles, one on top of the other.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | slide | -1 | 1 | force on the cart / 500 N |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0 | qpos slider | m | cart along the rail |
    | 1-2 | sine of qpos | | lower pole, upper pole |
    | 3-4 | cosine of qpos | | lower pole, upper pole |
    | 5-7 | qvel | m/s, rad/s | cart and poles, clipped to ±10 |
    | 8 | qfrc_constraint slider | N | force of the rail's ends on the cart, clipped to ±10 |

    Reward:

    - `reward_survive`: `healthy_reward` for every step that does not end the episode
    - `distance_penalty`: -(0.01 x² + (z - 2)²) of the tip
    - `velocity_penalty`: -(0.001 ω₁² + 0.005 ω₂²) of the poles

    Ends when the tip sinks to 1 m. Starts near upright: positions uniform within ±`reset_noise_scale`, velocities
    normal with that deviation.
    """

    reads: ClassVar = ("site_xpos", "qfrc_constraint")
    camera: ClassVar = {"trackbodyid": 0, "distance": 4.1225, "lookat": (0.0, 0.0, 0.1225)}

    xml_file: str = "inverted_double_pendulum.xml"
    frame_skip: int = 5
    healthy_reward: float = 10.0
    reset_noise_scale: float = 0.1

    def reset(self, noise: Noise) -> Start:
        """Draw positions uniformly around upright, and normal velocities."""
        return normal_start(self, noise, self.reset_noise_scale)

    def observation(self, state: TaskState) -> Array:
        """Return the cart's position, sines and cosines of the poles, velocities and the rail's force, (n, 9)."""
        sine, cosine = sin_cos(state.qpos[:, 1:])
        rail = state.fields["qfrc_constraint"][:, :1]
        parts = (state.qpos[:, :1], sine, cosine, clip(state.qvel, -10, 10), clip(rail, -10, 10))
        return self.xp.concat(parts, axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        poles = self.model.nq - 1
        return {"qpos": 1, "sine": poles, "cosine": poles, "qvel": self.model.nv, "qfrc_constraint": 1}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward staying up, penalize a tip away from its place and poles that turn."""
        tip = state.fields["site_xpos"][:, 0, :]
        x, z = tip[:, 0], tip[:, 2]
        lower, upper = state.qvel[:, 1], state.qvel[:, 2]
        up = z > 1
        terms = {
            "reward_survive": self.healthy_reward * self.xp.astype(up, x.dtype),
            "distance_penalty": -(0.01 * (x * x) + (z - 2) * (z - 2)),
            "velocity_penalty": -(1e-3 * (lower * lower) + 5e-3 * (upper * upper)),
        }
        return StepResult(self.observation(state), terms, ~up)

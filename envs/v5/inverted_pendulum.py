"""InvertedPendulum: keep a pole upright on a cart. Same task as Gymnasium's InvertedPendulum-v5."""

from typing import ClassVar

from ..arrays import Array, all_finite
from ..task.noise import Noise
from ..task.task import Start, StepResult, Task, TaskState
from ..task.terms import uniform_start


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

    def reset(self, noise: Noise) -> Start:
        """Draw positions and velocities uniformly around upright and rest."""
        return uniform_start(self, noise, self.reset_noise_scale)

    def observation(self, state: TaskState) -> Array:
        """Return positions and velocities, (n, 4)."""
        return state.coordinates

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"qpos": self.model.nq, "qvel": self.model.nv}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """One point a step until the pole falls."""
        upright = (abs(state.qpos[:, 1]) <= 0.2) & all_finite(state.coordinates)
        terms = {"reward_survive": self.xp.astype(upright, state.qpos.dtype)}
        return StepResult(self.observation(state), terms, ~upright)

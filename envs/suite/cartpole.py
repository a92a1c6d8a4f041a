"""The cart-pole of the control suite: balance a pole on a cart, or swing it up first."""

import math
from typing import ClassVar

from ..arrays import Array, sin_cos
from ..task.noise import Noise
from ..task.task import Start, StepResult, Task, TaskState
from .rewards import tolerance


class CartPoleBalance(Task):
    """A cart on a rail holds a pole upright that turns freely. Same task as the control suite's cartpole balance.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | slide | -1 | 1 | force on the cart / 10 N |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0 | slider | m | cart along the rail |
    | 1-2 | pole | | cosine and sine of the pole's angle from upright |
    | 3-4 | qvel | m/s, rad/s | cart, pole |

    Reward: `reward_balance`, from 0 to 1, the product of

    - (1 + cosine) / 2 of the pole's angle, `upright` in the info
    - (1 + tolerance(cart's place, margin 2)) / 2, `centered`
    - (4 + tolerance(action, margin 1, quadratic to 0)) / 5, `small_control`
    - (1 + tolerance(pole's rate, margin 5)) / 2, `small_velocity`

    Never ends by itself. Starts: cart uniform within ±0.1 m, pole within ±0.034 rad, rates normal with deviation 0.01.
    """

    camera: ClassVar = {"distance": 4.0, "lookat": (0.0, 0.0, 1.0), "azimuth": 90.0, "elevation": -8.0}

    xml_file: str = "suite_cartpole.xml"
    frame_skip: int = 1

    def reset(self, noise: Noise) -> Start:
        """Draw the cart near the middle and the pole near upright, almost at rest."""
        qpos = self.xp.concat((noise.uniform(-0.1, 0.1, 1), noise.uniform(-0.034, 0.034, 1)), axis=1)
        return Start(qpos, 0.01 * noise.normal(2))

    def observation(self, state: TaskState) -> Array:
        """Return the cart's place, cosine and sine of the pole's angle, and velocities, (n, 5)."""
        sine, cosine = sin_cos(state.qpos[:, 1:])
        return self.xp.concat((state.qpos[:, :1], cosine, sine, state.qvel), axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"position": 3, "velocity": 2}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Pay for a pole that stands still over the middle of the rail, with little force."""
        observation = self.observation(state)
        place, cosine, rate = observation[:, 0], observation[:, 1], observation[:, 4]
        factors = {
            "upright": (cosine + 1) / 2,
            "small_control": (4 + tolerance(action[:, 0], margin=1, value_at_margin=0, sigmoid="quadratic")) / 5,
            "small_velocity": (1 + tolerance(rate, margin=5)) / 2,
            "centered": (1 + tolerance(place, margin=2)) / 2,
        }
        reward = factors["upright"] * factors["small_control"] * factors["small_velocity"] * factors["centered"]
        return StepResult(observation, {"reward_balance": reward}, info=factors)


class CartPoleSwingUp(CartPoleBalance):
    """A cart on a rail swings a hanging pole up and balances it. Same task as the control suite's cartpole swingup.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | slide | -1 | 1 | force on the cart / 10 N |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0 | slider | m | cart along the rail |
    | 1-2 | pole | | cosine and sine of the pole's angle from upright |
    | 3-4 | qvel | m/s, rad/s | cart, pole |

    Reward: `reward_balance`, from 0 to 1, the product of

    - (1 + cosine) / 2 of the pole's angle, `upright` in the info
    - (1 + tolerance(cart's place, margin 2)) / 2, `centered`
    - (4 + tolerance(action, margin 1, quadratic to 0)) / 5, `small_control`
    - (1 + tolerance(pole's rate, margin 5)) / 2, `small_velocity`

    Never ends by itself. Starts: cart in the middle and pole down, rates zero, all with normal noise of deviation 0.01.
    """

    def reset(self, noise: Noise) -> Start:
        """Draw the cart near the middle and the pole near straight down, almost at rest."""
        drawn = 0.01 * noise.normal(4)
        return Start(self.xp.concat((drawn[:, :1], math.pi + drawn[:, 1:2]), axis=1), drawn[:, 2:])

"""The cart-pole of the control suite: balance a pole on a cart, or swing it up first."""

import math
from typing import ClassVar

import mujoco

from ..arrays import Array, row_sum, sin_cos
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .rewards import tolerance
from .suite_task import SuiteTask

NEAR_MIDDLE, NEAR_UPRIGHT = (-0.25, 0.25), (0.995, 1.0)  # m, cosine: what is worth 1 with a sparse reward


class CartPoleBalance(SuiteTask):
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

    With `sparse` it is 1 if the cart is within ±0.25 m and the pole's cosine at least 0.995, else 0. There may be
    several `poles`, each on the end of the one before: angles are those from upright, the reward has the mean of their
    cosines and the least of the rates' tolerances.

    Never ends by itself. Starts: cart uniform within ±0.1 m, pole within ±0.034 rad, rates normal with deviation 0.01.
    """

    camera: ClassVar = {"distance": 4.0, "lookat": (0.0, 0.0, 1.0), "azimuth": 90.0, "elevation": -8.0}

    xml_file: str = "suite_cartpole.xml"
    frame_skip: int = 1
    sparse: bool = False
    poles: int = 1

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Put more poles on the first, the floor below them, and the cameras farther away.

        Raises:
            ValueError: there are no poles.
        """
        if self.poles < 1:
            raise ValueError(f"{type(self).__name__}: poles={self.poles}: one or more are needed")
        first = spec.body("cart").first_body()
        parent, n = first, self.poles
        for k in range(2, n + 1):
            parent = parent.add_body(name=f"pole_{k}", pos=(0, 0, 1))
            parent.add_joint(spec.find_default("pole"), name=f"hinge_{k}")
            parent.add_geom(spec.find_default("pole"), name=f"pole_{k}")
        if n > 1:
            spec.geom("floor").pos = 0, 0, 1 - n - 0.05
            for camera, place in zip(spec.cameras, ((0, -1 - 2 * n, 1), (0, -2 * n, 2)), strict=False):
                camera.pos = place

    def reset(self, noise: Noise) -> Start:
        """Draw the cart near the middle and the poles near upright, almost at rest."""
        qpos = self.xp.concat((noise.uniform(-0.1, 0.1, 1), noise.uniform(-0.034, 0.034, self.poles)), axis=1)
        return Start(qpos, 0.01 * noise.normal(1 + self.poles))

    def features(self, state: TaskState) -> Array:
        """Return the cart's place, cosine and sine of each pole's angle, and velocities, (n, 2 + 3 poles)."""
        angles = [state.qpos[:, 1:2]]
        for k in range(1, self.poles):
            angles.append(angles[-1] + state.qpos[:, 1 + k : 2 + k])
        turns = [part for angle in angles for part in sin_cos(angle)[::-1]]
        return self.xp.concat((state.qpos[:, :1], *turns, state.qvel), axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"position": 1 + 2 * self.poles, "velocity": 1 + self.poles}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward poles that stand still over the middle of the rail, with little force."""
        features, n = self.features(state), self.poles
        place, cosines, rates = features[:, 0], features[:, 1 : 1 + 2 * n : 2], features[:, 2 + 2 * n :]
        if self.sparse:
            upright = self.xp.min(tolerance(cosines, NEAR_UPRIGHT), axis=1)
            return StepResult(self.seen(state, features), {"reward_balance": upright * tolerance(place, NEAR_MIDDLE)})
        factors = {
            "upright": row_sum((cosines + 1) / 2) / n,
            "small_control": (4 + tolerance(action[:, 0], margin=1, value_at_margin=0, sigmoid="quadratic")) / 5,
            "small_velocity": (1 + self.xp.min(tolerance(rates, margin=5), axis=1)) / 2,
            "centered": (1 + tolerance(place, margin=2)) / 2,
        }
        reward = factors["upright"] * factors["small_control"] * factors["small_velocity"] * factors["centered"]
        return StepResult(self.seen(state, features), {"reward_balance": reward}, info=factors)


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
        """Draw the cart near the middle and the first pole near straight down, almost at rest."""
        more = self.poles - 1
        drawn = 0.01 * noise.normal(3 + self.poles)
        qpos = self.xp.concat((drawn[:, :1], math.pi + drawn[:, 1:2], 0.1 * noise.normal(more)), axis=1)
        return Start(qpos, drawn[:, 2:])

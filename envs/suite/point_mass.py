"""The point mass of the control suite: push a ball to the middle of a table."""

from typing import ClassVar

import gymnasium
import mujoco
import numpy as np

from ..arrays import Array, clip, row_norm, row_sum
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .rewards import tolerance
from .starts import TRIES, JointRanges, first_that_fits
from .suite_task import SuiteTask, small_control


class PointMass(SuiteTask):
    """Two weak motors hold a ball on a target on a table. Same task as the control suite's point_mass easy.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | t1 | -1 | 1 | force along x / 0.1 N |
    | 1 | t2 | -1 | 1 | force along y / 0.1 N |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-1 | qpos | m | x and y from the target |
    | 2-3 | qvel | m/s | |

    Reward: `reward_near`, from 0 to 1, the product of

    - tolerance(distance, up to the target's radius of 0.015 m, margin 0.015), `near` in the info
    - (4 + mean of tolerance(action, margin 1, quadratic to 0)) / 5, `small_control`

    `success` is a ball within the target, whose `distance` is in the info too. Never ends by itself. Starts at rest,
    evenly distributed within ±0.29 m. With `random_gains`, the suite's point_mass hard, each action is a force in a
    direction of the episode, drawn for it, and the two directions are at least 26 degrees apart.
    """

    camera: ClassVar = {"distance": 0.95, "lookat": (0.0, 0.0, 0.0), "azimuth": 90.0, "elevation": -60.0}

    xml_file: str = "suite_point_mass.xml"
    frame_skip: int = 1
    random_gains: bool = False

    @property
    def action_space(self) -> gymnasium.Space:
        """Two shares of a force."""
        return gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Take the limits off controls, which are sums of two directions' parts and may be above 1."""
        for actuator in spec.actuators if self.random_gains else ():
            actuator.ctrllimited = mujoco.mjtLimited.mjLIMITED_FALSE

    def bind(self) -> None:
        """Look up the target's radius and the joints' ranges."""
        self.radius, self.ranges = float(self.model.geom("target").size[0]), JointRanges(self)

    def reset(self, noise: Noise) -> Start:
        """Draw a place on the table, at rest, and the directions of the forces."""
        xp, place = self.xp, self.ranges.draw(noise)
        if not self.random_gains:
            return Start(place, 0 * place)
        first = _direction(noise)
        tries = [_direction(noise) for _ in range(TRIES)]
        second = first_that_fits(tries, [abs(row_sum(first * each)) <= 0.9 for each in tries])
        return Start(place, 0 * place, {"directions": xp.stack((first, second), axis=1)})

    def control(self, state: TaskState, action: Array) -> Array:
        """Return the forces along x and y, (n, 2): the actions', or their parts along the episode's directions."""
        if not self.random_gains:
            return action
        directions, shares = state.memory["directions"], clip(self.array(action), -1.0, 1.0)
        return shares[:, :1] * directions[:, 0, :] + shares[:, 1:] * directions[:, 1, :]

    def features(self, state: TaskState) -> Array:
        """Return place and velocity, (n, 4)."""
        return state.coordinates

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"position": 2, "velocity": 2}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward being near the target, with little force."""
        distance = row_norm(state.qpos)
        near = tolerance(distance, (0.0, self.radius), margin=self.radius)
        small = small_control(action)
        info = {"near": near, "small_control": small, "distance": distance, "success": distance <= self.radius}
        return StepResult(self.observation(state), {"reward_near": near * small}, info=info)


def _direction(noise: Noise) -> Array:
    """Draw directions in the plane, (n, 2)."""
    drawn = noise.normal(2)
    return drawn / row_norm(drawn)[:, None]

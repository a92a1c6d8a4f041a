"""The point mass of the control suite: push a ball to the middle of a table."""

from typing import ClassVar

from ..arrays import Array, row_norm, row_sum
from ..task.noise import Noise
from ..task.task import Start, StepResult, Task, TaskState
from .rewards import tolerance
from .starts import JointRanges


class PointMass(Task):
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
    evenly distributed within ±0.29 m.
    """

    camera: ClassVar = {"distance": 0.95, "lookat": (0.0, 0.0, 0.0), "azimuth": 90.0, "elevation": -60.0}

    xml_file: str = "suite_point_mass.xml"
    frame_skip: int = 1

    def bind(self) -> None:
        """Look up the target's radius and the joints' ranges."""
        self.radius, self.ranges = float(self.model.geom("target").size[0]), JointRanges(self)

    def reset(self, noise: Noise) -> Start:
        """Draw a place on the table, at rest."""
        place = self.ranges.draw(noise)
        return Start(place, 0 * place)

    def observation(self, state: TaskState) -> Array:
        """Return place and velocity, (n, 4)."""
        return state.coordinates

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"position": 2, "velocity": 2}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Pay for being near the target, with little force."""
        distance = row_norm(state.qpos)
        near = tolerance(distance, (0.0, self.radius), margin=self.radius)
        small = tolerance(action, margin=1, value_at_margin=0, sigmoid="quadratic")
        small_control = (4 + row_sum(small) / 2) / 5
        info = {"near": near, "small_control": small_control, "distance": distance, "success": distance <= self.radius}
        return StepResult(self.observation(state), {"reward_near": near * small_control}, info=info)

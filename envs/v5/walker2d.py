"""Walker2d: walk on two legs. Same task as Gymnasium's Walker2d-v5."""

from typing import ClassVar

from ..arrays import Array, row_all
from ..task.task import TaskState
from ..task.terms import strictly_inside
from .locomotion import PlanarWalkerTask


class Walker2d(PlanarWalkerTask):
    """A planar torso on two legs walks along +x without falling.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | thigh_right | -1 | 1 | torque / 100 N m |
    | 1 | leg_right | -1 | 1 | torque / 100 N m |
    | 2 | foot_right | -1 | 1 | torque / 100 N m |
    | 3 | thigh_left | -1 | 1 | torque / 100 N m |
    | 4 | leg_left | -1 | 1 | torque / 100 N m |
    | 5 | foot_left | -1 | 1 | torque / 100 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-7 | qpos[1:] | m, rad | height, pitch; thigh, leg, foot of the right and of the left leg |
    | 8-16 | qvel | m/s, rad/s | x, z, pitch, joints; clipped to ±10 |

    With `exclude_current_positions_from_observation=False` x stands in front.

    Reward:

    - `reward_forward`: `forward_reward_weight` x velocity along x (m/s)
    - `reward_survive`: `healthy_reward` while healthy
    - `reward_ctrl`: -`ctrl_cost_weight` x |action|²

    Healthy: height and pitch within `healthy_z_range` and `healthy_angle_range`, bounds excluded. Ends when not, unless
    `terminate_when_unhealthy=False`. Starts uniform within ±`reset_noise_scale` of the reference.
    """

    camera: ClassVar = {
        "trackbodyid": 2,
        "distance": 4.0,
        "lookat": (0.0, 0.0, 1.15),
        "elevation": -20.0,
    }

    xml_file: str = "walker2d.xml"
    healthy_z_range: tuple[float, float] = (0.8, 2.0)
    healthy_angle_range: tuple[float, float] = (-1.0, 1.0)

    def bind(self) -> None:
        """Make the two healthy ranges one box around (height, pitch)."""
        low, high = zip(self.healthy_z_range, self.healthy_angle_range, strict=True)
        self.health = self.array(low), self.array(high)

    def healthy(self, state: TaskState) -> Array:
        """Return True where the torso is neither too low, too high nor too far tilted."""
        return row_all(strictly_inside(state.qpos[:, 1:3], self.health))

"""HalfCheetah: run. Same task as Gymnasium's HalfCheetah-v5."""

from typing import ClassVar

from ..arrays import Array
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from ..task.terms import control_cost, normal_start
from .locomotion import LocomotionTask


class HalfCheetah(LocomotionTask):
    """A planar cheetah with two legs of three links runs along +x as fast as it can.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | bthigh | -1 | 1 | torque / 120 N m |
    | 1 | bshin | -1 | 1 | torque / 90 N m |
    | 2 | bfoot | -1 | 1 | torque / 60 N m |
    | 3 | fthigh | -1 | 1 | torque / 120 N m |
    | 4 | fshin | -1 | 1 | torque / 60 N m |
    | 5 | ffoot | -1 | 1 | torque / 30 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-7 | qpos[1:] | m, rad | height, pitch, three joints of the back leg, three of the front leg |
    | 8-16 | qvel | m/s, rad/s | x, z, pitch, joints |

    With `exclude_current_positions_from_observation=False` x stands in front.

    Reward:

    - `reward_forward`: `forward_reward_weight` x velocity along x (m/s)
    - `reward_ctrl`: -`ctrl_cost_weight` x |action|²

    Never ends by itself. Starts: positions uniform within ±`reset_noise_scale`, velocities normal with that deviation.
    """

    camera: ClassVar = {"distance": 4.0}

    xml_file: str = "half_cheetah.xml"
    frame_skip: int = 5
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 0.1
    reset_noise_scale: float = 0.1

    def reset(self, noise: Noise) -> Start:
        """Draw positions uniformly around the reference, and normal velocities."""
        return normal_start(self, noise, self.reset_noise_scale)

    def observation(self, state: TaskState) -> Array:
        """Return positions (without x unless asked for) and velocities, (n, size)."""
        return state.coordinates[:, self.skipped :]

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward speed along x, penalize effort."""
        position = self.position(state)
        x_velocity = self.velocity(state, position)[:, 0]
        terms = {
            "reward_forward": self.forward_reward_weight * x_velocity,
            "reward_ctrl": -control_cost(action, self.ctrl_cost_weight),
        }
        info = {"x_position": state.qpos[:, 0], "x_velocity": x_velocity}
        return StepResult(self.observation(state), terms, info=info, memory={"position": position})

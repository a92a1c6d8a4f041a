"""Swimmer: swim forward in a plane. Same task as Gymnasium's Swimmer-v5."""

from typing import ClassVar

from ..arrays import Array
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from ..task.terms import control_cost, uniform_start
from .locomotion import LocomotionTask


class Swimmer(LocomotionTask):
    """Three links in a viscous fluid swim along +x by bending two joints.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | front | -1 | 1 | torque / 150 N m |
    | 1 | rear | -1 | 1 | torque / 150 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-2 | qpos[2:] | rad | heading, front joint, rear joint |
    | 3-7 | qvel | m/s, rad/s | x, y, heading, joints |

    With `exclude_current_positions_from_observation=False` x and y stand in front.

    Reward:

    - `reward_forward`: `forward_reward_weight` x velocity along x (m/s)
    - `reward_ctrl`: -`ctrl_cost_weight` x |action|²

    Never ends by itself. Starts uniform within ±`reset_noise_scale` of the reference.
    """

    travel = 2
    camera: ClassVar = {}

    xml_file: str = "swimmer.xml"
    frame_skip: int = 4
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 1e-4
    reset_noise_scale: float = 0.1

    def reset(self, noise: Noise) -> Start:
        """Draw positions and velocities uniformly around the reference."""
        return uniform_start(self, noise, self.reset_noise_scale)

    def observation(self, state: TaskState) -> Array:
        """Return positions (without x and y unless asked for) and velocities, (n, size)."""
        return state.coordinates[:, self.skipped :]

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward speed along x, penalize effort."""
        position = self.position(state)
        velocity = self.velocity(state, position)
        terms = {
            "reward_forward": self.forward_reward_weight * velocity[:, 0],
            "reward_ctrl": -control_cost(action, self.ctrl_cost_weight),
        }
        info = self.place_info(state) | {"x_velocity": velocity[:, 0], "y_velocity": velocity[:, 1]}
        return StepResult(self.observation(state), terms, info=info, memory={"position": position})

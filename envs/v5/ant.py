"""Ant: run on four legs. Same task as Gymnasium's Ant-v5."""

from typing import ClassVar

from ..arrays import Array, all_finite, clip, row_sum
from ..task.noise import Noise
from ..task.task import ResetResult, Start, StepResult, TaskState
from ..task.terms import control_cost, normal_start, without_wrenches
from .locomotion import LocomotionTask


class Ant(LocomotionTask):
    """A ball on four legs of two hinges each runs along +x.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | hip_4 | -1 | 1 | torque / 150 N m |
    | 1 | ankle_4 | -1 | 1 | torque / 150 N m |
    | 2 | hip_1 | -1 | 1 | torque / 150 N m |
    | 3 | ankle_1 | -1 | 1 | torque / 150 N m |
    | 4 | hip_2 | -1 | 1 | torque / 150 N m |
    | 5 | ankle_2 | -1 | 1 | torque / 150 N m |
    | 6 | hip_3 | -1 | 1 | torque / 150 N m |
    | 7 | ankle_3 | -1 | 1 | torque / 150 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-12 | qpos[2:] | m, rad | height, quaternion (w first), hip and ankle of legs 1 to 4 |
    | 13-26 | qvel | m/s, rad/s | torso: linear (world), angular (torso frame); hips and ankles |
    | 27-104 | cfrc_ext[1:] | N m, N | contact wrench on each body, clipped to `contact_force_range` |

    With `exclude_current_positions_from_observation=False` x and y stand in front; with
    `include_cfrc_ext_in_observation=False` the last block is left out.

    Reward:

    - `reward_forward`: `forward_reward_weight` x velocity of `main_body` along x (m/s)
    - `reward_survive`: `healthy_reward` while healthy
    - `reward_ctrl`: -`ctrl_cost_weight` x |action|²
    - `reward_contact`: -`contact_cost_weight` x |clipped cfrc_ext|²

    Healthy: the state is finite and the torso's height within `healthy_z_range`, bounds included. Ends when not, unless
    `terminate_when_unhealthy=False`. Starts: positions uniform within ±`reset_noise_scale`, velocities normal with that
    deviation.
    """

    reads: ClassVar = ("xpos", "cfrc_ext")
    travel: ClassVar = 2
    camera: ClassVar = {"distance": 4.0}

    xml_file: str = "ant.xml"
    frame_skip: int = 5
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 0.5
    contact_cost_weight: float = 5e-4
    healthy_reward: float = 1.0
    main_body: int | str = 1
    terminate_when_unhealthy: bool = True
    healthy_z_range: tuple[float, float] = (0.2, 1.0)
    contact_force_range: tuple[float, float] = (-1.0, 1.0)
    reset_noise_scale: float = 0.1
    include_cfrc_ext_in_observation: bool = True

    def bind(self) -> None:
        """Find `main_body`, which must be one of the model's."""
        self.body = self.model.body(self.main_body).id

    def reset(self, noise: Noise) -> Start:
        """Draw positions uniformly around the reference, and normal velocities."""
        return normal_start(self, noise, self.reset_noise_scale)

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation, with contact wrenches of zero, as in v5."""
        return super().begin(without_wrenches(state))

    def contact_forces(self, state: TaskState) -> Array:
        """Clipped contact wrenches on all bodies, (n, 6 nbody)."""
        wrenches = state.fields["cfrc_ext"]
        return clip(self.xp.reshape(wrenches, (wrenches.shape[0], -1)), *self.contact_force_range)

    def observation(self, state: TaskState) -> Array:
        """Return the agent's observation, (n, size)."""
        return self.seen(state, self.contact_forces(state))

    def seen(self, state: TaskState, forces: Array) -> Array:
        """Return positions (without x and y unless asked for), velocities, and `forces` but for the world's."""
        parts = [state.coordinates[:, self.skipped :]]
        if self.include_cfrc_ext_in_observation:
            parts.append(forces[:, 6:])
        return self.xp.concat(parts, axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        wrenches = 6 * (self.model.nbody - 1) if self.include_cfrc_ext_in_observation else 0
        return super().observation_structure | {"cfrc_ext": wrenches}

    def position(self, state: TaskState) -> Array:
        """Position of the main body, (n, 2) m: its xpos of the last evaluation, as v5 reads it."""
        return state.fields["xpos"][:, self.body, :2]

    def healthy(self, state: TaskState) -> Array:
        """Return True where the torso is neither on the ground nor flying."""
        low, high = self.healthy_z_range
        z = state.qpos[:, 2]
        return (z >= low) & (z <= high) & all_finite(state.coordinates)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward speed along x and staying healthy, penalize effort and hard contacts."""
        position, healthy, forces = self.position(state), self.healthy(state), self.contact_forces(state)
        velocity = self.velocity(state, position)
        x_velocity, y_velocity = velocity[:, 0], velocity[:, 1]
        terms = {
            "reward_forward": self.forward_reward_weight * x_velocity,
            "reward_survive": self.healthy_reward * self.xp.astype(healthy, x_velocity.dtype),
            "reward_ctrl": -control_cost(action, self.ctrl_cost_weight),
            "reward_contact": -(self.contact_cost_weight * row_sum(forces * forces)),
        }
        terminated = ~healthy if self.terminate_when_unhealthy else None
        info = self.place_info(state) | {"x_velocity": x_velocity, "y_velocity": y_velocity}
        return StepResult(self.seen(state, forces), terms, terminated, info, {"position": position})

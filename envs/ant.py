"""Ant: run on four legs. Same task as Gymnasium's Ant-v5."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import mujoco
import numpy as np

from .arrays import Array, clip, concat, finite, flag, total
from .noise import Noise
from .runner import Runner
from .task import Moment, Verdict
from .terms import control_cost, normal_start


@dataclass(kw_only=True)
class Ant(Runner):
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

    def bind(self, mj: mujoco.MjModel, constant: Callable[[Any], Array]) -> None:
        """Learn the numbers of the model; `main_body` must be one of its bodies."""
        super().bind(mj, constant)
        self.body = mj.body(self.main_body).id
        joint = mj.body_jntadr[self.body]
        self.flies = joint >= 0 and mj.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE  # then its place is in qpos

    @property
    def reads(self) -> tuple[str, ...]:
        """Where the main body was at the last evaluation, and contact wrenches."""
        return ("eval_qpos" if self.flies else "xpos", "cfrc_ext")

    def draw(self, noise: Noise) -> tuple[np.ndarray, np.ndarray]:
        """Near the reference."""
        return normal_start(noise, self.start, self.reset_noise_scale, self.nv)

    def contact_forces(self, now: Moment) -> Array:
        """Clipped contact wrenches on all bodies, (n, 6 nbody)."""
        return clip(now.fields["cfrc_ext"].reshape(-1, 6 * self.nbody), *self.contact_force_range)

    def observation(self, now: Moment) -> Array:
        """Positions, without x and y unless asked for, velocities, contact wrenches."""
        parts = [now.qpos[:, self.skipped :], now.qvel]
        if self.include_cfrc_ext_in_observation:
            parts.append(self.contact_forces(now)[:, 6:])
        return concat(parts)

    @property
    def observation_structure(self) -> dict[str, int]:
        """Block widths."""
        wrenches = 6 * (self.nbody - 1) if self.include_cfrc_ext_in_observation else 0
        return super().observation_structure | {"cfrc_ext": wrenches}

    def place(self, now: Moment) -> Array:
        """Where the main body is, by v5's xpos: it is that of the last evaluation."""
        return now.fields["eval_qpos"][:, :2] if self.flies else now.fields["xpos"][:, self.body, :2]

    def healthy(self, now: Moment) -> Array:
        """Whether the torso is neither on the ground nor flying."""
        low, high = self.healthy_z_range
        z = now.qpos[:, 2]
        return (z >= low) & (z <= high) & finite(now.state)

    def judge(self, now: Moment, velocity: Array, action: Array) -> Verdict:
        """Pay for speed along x and for staying healthy, charge for effort and for hard contacts."""
        x_velocity, y_velocity = velocity[:, 0], velocity[:, 1]
        healthy = self.healthy(now)
        forces = self.contact_forces(now)
        terms = {
            "reward_forward": self.forward_reward_weight * x_velocity,
            "reward_survive": self.healthy_reward * flag(healthy, x_velocity),
            "reward_ctrl": -control_cost(action, self.ctrl_cost_weight),
            "reward_contact": -(self.contact_cost_weight * total(forces * forces)),
        }
        info = self.reset_info(now) | {"x_velocity": x_velocity, "y_velocity": y_velocity}
        return Verdict(terms, ~healthy if self.terminate_when_unhealthy else None, info)

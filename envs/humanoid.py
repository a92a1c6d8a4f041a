"""Humanoid: run on two legs. Same task as Gymnasium's Humanoid-v5."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import mujoco
import numpy as np

from .arrays import Array, clip, columns, concat, flag, indices_like, total
from .noise import Noise
from .runner import Runner
from .task import Moment, Verdict
from .terms import control_cost, strictly_inside, uniform_start


@dataclass(kw_only=True)
class Humanoid(Runner):
    """A humanoid of thirteen bodies and 17 hinges runs along +x without falling.

    Action: torques of the motors below, divided by their gear (25 to 300 N m).

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | abdomen_y | -0.4 | 0.4 | torque / 100 N m |
    | 1 | abdomen_z | -0.4 | 0.4 | torque / 100 N m |
    | 2 | abdomen_x | -0.4 | 0.4 | torque / 100 N m |
    | 3 | right_hip_x | -0.4 | 0.4 | torque / 100 N m |
    | 4 | right_hip_z | -0.4 | 0.4 | torque / 100 N m |
    | 5 | right_hip_y | -0.4 | 0.4 | torque / 300 N m |
    | 6 | right_knee | -0.4 | 0.4 | torque / 200 N m |
    | 7 | left_hip_x | -0.4 | 0.4 | torque / 100 N m |
    | 8 | left_hip_z | -0.4 | 0.4 | torque / 100 N m |
    | 9 | left_hip_y | -0.4 | 0.4 | torque / 300 N m |
    | 10 | left_knee | -0.4 | 0.4 | torque / 200 N m |
    | 11 | right_shoulder1 | -0.4 | 0.4 | torque / 25 N m |
    | 12 | right_shoulder2 | -0.4 | 0.4 | torque / 25 N m |
    | 13 | right_elbow | -0.4 | 0.4 | torque / 25 N m |
    | 14 | left_shoulder1 | -0.4 | 0.4 | torque / 25 N m |
    | 15 | left_shoulder2 | -0.4 | 0.4 | torque / 25 N m |
    | 16 | left_elbow | -0.4 | 0.4 | torque / 25 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-21 | qpos[2:] | m, rad | height, quaternion (w first), 17 hinges in the model's order |
    | 22-44 | qvel | m/s, rad/s | torso: linear (world), angular (torso frame); hinges |
    | 45-174 | cinert[1:] | kg m², kg m, kg | inertia of each body about the centre of mass of all |
    | 175-252 | cvel[1:] | rad/s, m/s | velocity of each body: rotation, translation |
    | 253-269 | qfrc_actuator[6:] | N m | actuator torques at the hinges |
    | 270-347 | cfrc_ext[1:] | N m, N | contact wrench on each body |

    With `exclude_current_positions_from_observation=False` x and y stand in front; each of the last four blocks has its
    option `include_..._in_observation`.

    Reward:

    - `reward_forward`: `forward_reward_weight` x velocity of the centre of mass along x (m/s)
    - `reward_survive`: `healthy_reward` while healthy
    - `reward_ctrl`: -`ctrl_cost_weight` x |action|²
    - `reward_contact`: -`contact_cost_weight` x |cfrc_ext|², the cost clipped to `contact_cost_range`

    Healthy: the torso's height within `healthy_z_range`, bounds excluded. Ends when not, unless
    `terminate_when_unhealthy=False`. Starts uniform within ±`reset_noise_scale` of the reference.
    """

    travel: ClassVar = 2
    camera: ClassVar = {
        "trackbodyid": 1,
        "distance": 4.0,
        "lookat": (0.0, 0.0, 2.0),
        "elevation": -20.0,
    }

    xml_file: str = "humanoid.xml"
    frame_skip: int = 5
    forward_reward_weight: float = 1.25
    ctrl_cost_weight: float = 0.1
    contact_cost_weight: float = 5e-7
    contact_cost_range: tuple[float, float] = (-float("inf"), 10.0)
    healthy_reward: float = 5.0
    terminate_when_unhealthy: bool = True
    healthy_z_range: tuple[float, float] = (1.0, 2.0)
    reset_noise_scale: float = 1e-2
    include_cinert_in_observation: bool = True
    include_cvel_in_observation: bool = True
    include_qfrc_actuator_in_observation: bool = True
    include_cfrc_ext_in_observation: bool = True

    def bind(self, mj: mujoco.MjModel, constant: Callable[[Any], Array]) -> None:
        """Learn what the model's tendons measure."""
        super().bind(mj, constant)
        hinges, weights = _tendon_wraps(mj)
        self.ntendon = mj.ntendon
        self.wrap_weights = constant(np.concatenate((weights, weights)))
        self.wraps = indices_like(self.wrap_weights, np.concatenate((hinges, hinges + mj.nv - 6)))

    @property
    def reads(self) -> tuple[str, ...]:
        """Derived quantities."""
        return ("subtree_com", "cinert", "cvel", "qfrc_actuator", "cfrc_ext", "eval_qpos", "eval_qvel")

    def draw(self, noise: Noise) -> tuple[np.ndarray, np.ndarray]:
        """Near the reference, evenly."""
        return uniform_start(noise, self.start, self.reset_noise_scale, self.nv)

    def observation(self, now: Moment) -> Array:
        """Positions, without x and y unless asked for, velocities, and what each body carries."""
        blocks, n = now.fields, len(now.qpos)
        parts = [now.qpos[:, self.skipped :], now.qvel]
        if self.include_cinert_in_observation:
            parts.append(blocks["cinert"][:, 1:].reshape(n, -1))
        if self.include_cvel_in_observation:
            parts.append(blocks["cvel"][:, 1:].reshape(n, -1))
        if self.include_qfrc_actuator_in_observation:
            parts.append(blocks["qfrc_actuator"][:, 6:])
        if self.include_cfrc_ext_in_observation:
            parts.append(blocks["cfrc_ext"][:, 1:].reshape(n, -1))
        return concat(parts)

    @property
    def observation_structure(self) -> dict[str, int]:
        """Block widths."""
        bodies = self.nbody - 1
        return super().observation_structure | {
            "cinert": 10 * bodies * self.include_cinert_in_observation,
            "cvel": 6 * bodies * self.include_cvel_in_observation,
            "qfrc_actuator": (self.nv - 6) * self.include_qfrc_actuator_in_observation,
            "cfrc_ext": 6 * bodies * self.include_cfrc_ext_in_observation,
        }

    def place(self, now: Moment) -> Array:
        """Where the centre of mass is."""
        return now.fields["subtree_com"][:, 0, :2]

    def judge(self, now: Moment, velocity: Array, action: Array) -> Verdict:
        """Pay for speed along x and for staying healthy, charge for effort and for hard contacts."""
        x_velocity, y_velocity = velocity[:, 0], velocity[:, 1]
        healthy = strictly_inside(now.qpos[:, 2], self.healthy_z_range)
        forces = now.fields["cfrc_ext"].reshape(-1, 6 * self.nbody)
        contact_cost = clip(self.contact_cost_weight * total(forces * forces), *self.contact_cost_range)
        terms = {
            "reward_forward": self.forward_reward_weight * x_velocity,
            "reward_survive": self.healthy_reward * flag(healthy, x_velocity),
            "reward_ctrl": -control_cost(action, self.ctrl_cost_weight),
            "reward_contact": -contact_cost,
        }
        info = self.reset_info(now) | {"x_velocity": x_velocity, "y_velocity": y_velocity}
        return Verdict(terms, ~healthy if self.terminate_when_unhealthy else None, info)

    def reset_info(self, now: Moment) -> dict[str, Array]:
        """Where the root is, and the tendons as the last evaluation saw them."""
        hinges = concat((now.fields["eval_qpos"][:, 7:], now.fields["eval_qvel"][:, 6:]))
        both = total(columns(hinges, self.wraps) * self.wrap_weights)
        tendons = {"tendon_length": both[:, : self.ntendon], "tendon_velocity": both[:, self.ntendon :]}
        return super().reset_info(now) | tendons


def _tendon_wraps(mj: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """The hinges behind the free root that each fixed tendon measures, and their weights, both (ntendon, most)."""
    most = max([1, *mj.tendon_num])
    hinges, weights = np.zeros((mj.ntendon, most), np.int64), np.zeros((mj.ntendon, most))
    for tendon in range(mj.ntendon):
        for k in range(mj.tendon_num[tendon]):
            wrap = mj.tendon_adr[tendon] + k
            hinges[tendon, k] = mj.jnt_dofadr[mj.wrap_objid[wrap]] - 6
            weights[tendon, k] = mj.wrap_prm[wrap]
    return hinges, weights

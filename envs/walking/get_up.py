"""A quadruped that was dropped in any posture gets up and stands."""

from typing import Any, ClassVar

import gymnasium
import numpy as np

from ...physics import Model
from ..arrays import Array, exp, row_sum
from ..managers.frames import quat_rotate_inverse, up_of
from ..task.noise import Noise
from ..task.task import Observation, ResetResult, Start, StepResult, Task, TaskState
from .robots import load_robot


class QuadrupedGetUp(Task):
    """A four-legged robot falls from 0.5 m, turned anyhow, with any joint angles; it is to stand.

    Actions:

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | FL_hip | -1 | 1 | target's way from standing / `action_scale` rad |
    | 1 | FL_thigh | -1 | 1 | target's way from standing / `action_scale` rad |
    | 2 | FL_calf | -1 | 1 | target's way from standing / `action_scale` rad |
    | 3 | FR_hip | -1 | 1 | target's way from standing / `action_scale` rad |
    | 4 | FR_thigh | -1 | 1 | target's way from standing / `action_scale` rad |
    | 5 | FR_calf | -1 | 1 | target's way from standing / `action_scale` rad |
    | 6 | RL_hip | -1 | 1 | target's way from standing / `action_scale` rad |
    | 7 | RL_thigh | -1 | 1 | target's way from standing / `action_scale` rad |
    | 8 | RL_calf | -1 | 1 | target's way from standing / `action_scale` rad |
    | 9 | RR_hip | -1 | 1 | target's way from standing / `action_scale` rad |
    | 10 | RR_thigh | -1 | 1 | target's way from standing / `action_scale` rad |
    | 11 | RR_calf | -1 | 1 | target's way from standing / `action_scale` rad |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-2 | turning | rad/s | of the trunk, in its frame |
    | 3-5 | gravity | 1 | its direction in the trunk's frame |
    | 6-17 | joints | rad | from where the robot stands, in the order of the actions |
    | 18-29 | joint velocities | rad/s | |
    | 30-41 | last action | 1 | |

    With `asymmetric=True` there are two parts: `policy` has this, and `critic` the trunk's velocity (3, m/s, in its
    frame) and height (m) and the torques (12, N m) after it.

    Reward, per second (weights are options). The robot is upright where |up - z|² < 0.1, and up where it is so at 90 %
    of the height at which it stands:

    - `reward_orientation`: `orientation` x exp(-2 |up - z|²), up the trunk's z axis
    - `reward_height`: `height` x min(z, z*) / z*, z the trunk's height and z* that in standing, `standing_height`
    - `reward_posture`: `posture` x exp(-0.5 |d|²) while it is upright, d the joints' distance from standing
    - `reward_stand_still`: `stand_still` x exp(-0.5 |action|²) while it is up
    - `reward_action_rate`, `reward_torques`: minus the weight x the sum of the squares of the action's
      change, of torques
    - `reward_dof_vel`: -`dof_vel` x the sum of the squares of joint velocities beyond 2 pi rad/s

    A share `drop_share` of the episodes begins with a fall, the others stand: to learn from both is quicker. Only the
    time limit ends an episode. Info: `success`, whether the robot has been up for 1 s; `height` (m).
    """

    reads: ClassVar = ("actuator_force",)
    camera: ClassVar = {"distance": 2.2, "lookat": (0.0, 0.0, 0.2), "azimuth": 130.0, "elevation": -20.0}

    xml_file: str = "quadruped.xml"
    frame_skip: int = 4
    action_scale: float = 1.5
    asymmetric: bool = False
    drop_height: float = 0.5
    drop_share: float = 1.0
    standing_height: float = 0.275
    orientation: float = 1.0
    height: float = 1.0
    posture: float = 1.0
    stand_still: float = 1.0
    action_rate: float = 1e-3
    torques: float = 1e-5
    dof_vel: float = 1e-3

    @property
    def action_space(self) -> gymnasium.Space:
        """One number for each joint."""
        return gymnasium.spaces.Box(-1.0, 1.0, (self.model.nu,), np.float32)

    def load_model(self, **options: Any) -> Model:
        """Load the robot without the sensors that the task does not read."""
        return Model.from_mjspec(load_robot(self.xml_file, self._folders(), sensors=()), **options)

    def bind(self) -> None:
        """Find where the robot stands, and the ranges of its joints."""
        self.standing = self.array(self.model.key_qpos[0])
        self.stand = self.standing[7:]
        self.low, self.high = (self.array(bound) for bound in self.model.jnt_range[1:].T)

    def control(self, state: TaskState, action: Array) -> Array:
        """Return the joints' targets."""
        return self.stand + self.action_scale * action

    def reset(self, noise: Noise) -> Start:
        """Draw an orientation evenly from all, joints evenly from their ranges, and velocities."""
        xp = self.xp
        quat = self.array(noise.normal(4))
        quat = quat / (xp.sqrt(row_sum(quat * quat)) + 1e-6)[:, None]
        share = self.array(noise.uniform(0, 1, self.model.nu))
        joints = self.low + (self.high - self.low) * share
        zero = 0 * share[:, :1]
        qpos = xp.concat((zero, zero, zero + self.drop_height, quat, joints), axis=1)
        dropped = self.array(noise.uniform(0, 1, 1)) < self.drop_share
        qpos = xp.where(dropped, qpos, self.standing[None])
        qvel = xp.concat((self.array(noise.uniform(-0.5, 0.5, 6)), 0 * joints), axis=1)
        return Start(qpos, qvel, {"action": 0 * joints, "stood": zero[:, 0]})

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation."""
        return ResetResult(self.observation(state), {"success": state.memory["stood"] > 1.0})

    def observation(self, state: TaskState) -> Observation:
        """Return the agent's observation, (n, 42), or two parts by name."""
        xp, qpos, qvel = self.xp, state.qpos, state.qvel
        quat = qpos[:, 3:7]
        parts = (qvel[:, 3:6], -up_of(quat), qpos[:, 7:] - self.stand, qvel[:, 6:], state.memory["action"])
        policy = xp.concat(parts, axis=1)
        if not self.asymmetric:
            return policy
        velocity = quat_rotate_inverse(quat, qvel[:, :3])
        critic = xp.concat((policy, velocity, qpos[:, 2:3], state.fields["actuator_force"]), axis=1)
        return {"policy": policy, "critic": critic}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward being upright, high, in the standing posture and still."""
        xp, dt, z = self.xp, self.dt, state.qpos[:, 2]
        up = up_of(state.qpos[:, 3:7])
        tilt = 2 - 2 * up[:, 2]  # |up - z|^2 of two unit vectors
        upright = tilt < 0.1
        stands = upright & (z > 0.9 * self.standing_height)
        share = xp.where(z < self.standing_height, z, 0 * z + self.standing_height) / self.standing_height
        offset, change = state.qpos[:, 7:] - self.stand, action - state.memory["action"]
        posture, still = exp(-0.5 * row_sum(offset * offset)), exp(-0.5 * row_sum(action * action))
        beyond = abs(state.qvel[:, 6:]) - 2 * np.pi
        beyond = xp.where(beyond > 0, beyond, 0 * beyond)
        torque = state.fields["actuator_force"]
        terms = {
            "reward_orientation": self.orientation * dt * exp(-2 * tilt),
            "reward_height": self.height * dt * share,
            "reward_posture": self.posture * dt * xp.where(upright, posture, 0 * posture),
            "reward_stand_still": self.stand_still * dt * xp.where(stands, still, 0 * still),
            "reward_action_rate": -self.action_rate * dt * row_sum(change * change),
            "reward_torques": -self.torques * dt * row_sum(torque * torque),
            "reward_dof_vel": -self.dof_vel * dt * row_sum(beyond * beyond),
        }
        stood = state.memory["stood"] + dt
        stood = xp.where(stands, stood, 0 * stood)
        state = state.remember(action=action, stood=stood)
        info = {"success": stood >= 1.0 - 0.5 * dt, "height": z}
        return StepResult(self.observation(state), terms, None, info, state.memory)

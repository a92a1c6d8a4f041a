"""The fish of the control suite: swim to a target with tail and fins."""

from typing import ClassVar

import mujoco
import numpy as np

from ..arrays import Array, row_norm, row_sum
from ..managers.frames import quat_rotate_inverse
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .rewards import tolerance
from .suite_task import SuiteTask, to_mocap


class FishSwim(SuiteTask):
    """A fish swims to a target with its mouth first. Same task as the control suite's fish swim.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | tail | -1 | 1 | angle wanted of the tail / 1 rad |
    | 1 | tail_twist | -1 | 1 | angle wanted of its twist / 1 rad |
    | 2 | fins_flap | -1 | 1 | half the difference wanted of the fins' rolls / 1 rad |
    | 3 | finleft_pitch | -1 | 1 | angle wanted / 1 rad |
    | 4 | finright_pitch | -1 | 1 | angle wanted / 1 rad |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-6 | qpos[7:] | rad | tail, twist, tail's end; roll and pitch of the right and of the left fin |
    | 7 | upright | | cosine of the torso's angle from upright |
    | 8-10 | target | m | from the mouth to the target, in the mouth's frame, whose z axis points to the tail |
    | 11-23 | qvel | m/s, rad/s | torso's velocity and angular velocity, joints |

    Reward, from 0 to 1:

    - `reward_target`: 7/8 of tolerance(distance from mouth to target, up to the sum of their radii, margin twice that)
    - `reward_upright`: 1/8 of (1 + cosine) / 2 of the torso's angle

    `success` is a mouth in the target, whose `distance` (m) is in the info too. Never ends by itself. Starts at rest:
    any orientation, joints within ±0.2 rad, the target within ±0.4 m along x and y and 0.1 to 0.3 m high.
    """

    camera: ClassVar = {"distance": 1.1, "lookat": (0.0, 0.0, 0.15), "azimuth": 120.0, "elevation": -35.0}

    xml_file: str = "suite_fish.xml"
    frame_skip: int = 10

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Make the target one that episodes place."""
        if spec.body("target") is None:
            to_mocap(spec, "target")

    def bind(self) -> None:
        """Look up where the mouth is, and how near to the target it has to come."""
        mouth, turned = self.model.geom("mouth"), np.zeros(9)
        mujoco.mju_quat2Mat(turned, mouth.quat)
        self.mouth, self.axes = self.array(mouth.pos), self.array(turned.reshape(3, 3).T)
        self.reach = float(mouth.size[0] + self.model.geom("target").size[0])

    def reset(self, noise: Noise) -> Start:
        """Draw an orientation, the joints and the target, at rest."""
        xp = self.xp
        quat = noise.normal(4)
        quat = quat / row_norm(quat)[:, None]
        joints = noise.uniform(-0.2, 0.2, 7)
        target = xp.concat((noise.uniform(-0.4, 0.4, 2), noise.uniform(0.1, 0.3, 1)), axis=1)
        qpos = xp.concat((0 * target + self.init_qpos[:3], quat, joints), axis=1)
        memory, inputs = {"target": target}, {"mocap_pos": target[:, None, :]}
        return Start(qpos, xp.zeros_like(qpos[:, 1:]), memory, inputs=inputs)

    def to_target(self, state: TaskState) -> Array:
        """Return the offset from the mouth to the target, in the mouth's frame, (n, 3) m."""
        offset = state.memory["target"] - state.qpos[:, :3]
        local = quat_rotate_inverse(state.qpos[:, 3:7], offset) - self.mouth
        return row_sum(local[:, None, :] * self.axes)

    def upright(self, state: TaskState) -> Array:
        """Return the cosine of the torso's angle from upright, (n, 1)."""
        x, y = state.qpos[:, 4:5], state.qpos[:, 5:6]
        return 1 - 2 * (x * x + y * y)

    def features(self, state: TaskState) -> Array:
        """Return joints, uprightness, the offset to the target, and velocities, (n, 24)."""
        return self.xp.concat((state.qpos[:, 7:], self.upright(state), self.to_target(state), state.qvel), axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"joint_angles": 7, "upright": 1, "target": 3, "velocity": 13}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward a mouth near the target, and a little for swimming upright."""
        features = self.features(state)
        distance = row_norm(features[:, 8:11])
        near = tolerance(distance, (0.0, self.reach), margin=2 * self.reach)
        terms = {"reward_target": 7 * near / 8, "reward_upright": (features[:, 7] + 1) / 16}
        info = {"distance": distance, "success": distance <= self.reach}
        return StepResult(self.seen(state, features), terms, info=info)


class FishUpright(FishSwim):
    """A fish turns upright. Same task as the control suite's fish upright.

    Actions and starts are those of `FishSwim`, and so is the observation, but without the target.

    Reward: `reward_upright`, from 0 to 1, tolerance(cosine of the torso's angle from upright, 1, margin 1).
    """

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Hide the target."""
        super().edit_spec(spec)
        spec.geom("target").rgba[3] = 0

    def features(self, state: TaskState) -> Array:
        """Return joints, uprightness and velocities, (n, 21)."""
        return self.xp.concat((state.qpos[:, 7:], self.upright(state), state.qvel), axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"joint_angles": 7, "upright": 1, "velocity": 13}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward being upright."""
        reward = tolerance(self.upright(state)[:, 0], (1.0, 1.0), margin=1)
        return StepResult(self.observation(state), {"reward_upright": reward})

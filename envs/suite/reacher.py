"""The reacher of the control suite: bring the finger of a planar arm into a small target."""

import math
from typing import ClassVar

import mujoco

from ..arrays import Array, row_norm, sin_cos
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .rewards import tolerance
from .starts import JointRanges
from .suite_task import SuiteTask, to_mocap


class ReacherHard(SuiteTask):
    """A planar arm of two hinges holds its finger in a small target. Same task as the control suite's reacher hard.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | shoulder | -1 | 1 | torque / 0.05 N m |
    | 1 | wrist | -1 | 1 | torque / 0.05 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-1 | qpos | rad | shoulder, wrist |
    | 2-3 | to_target | m | x and y from the finger to the target |
    | 4-5 | qvel | rad/s | shoulder, wrist |

    Reward: `reward_reach`, 1 where the finger touches the target, else 0; that is `success` in the info, beside the
    `distance` (m).

    Never ends by itself. Starts at rest: shoulder at any angle, wrist within its limits of ±160 degrees; the target in
    any direction, 0.05 to 0.2 m from the shoulder. `target_size` is the target's radius; 0.05 m is the easy task's.
    """

    camera: ClassVar = {"distance": 0.95, "lookat": (0.0, 0.0, 0.0), "azimuth": 90.0, "elevation": -60.0}

    xml_file: str = "suite_reacher.xml"
    frame_skip: int = 1
    target_size: float = 0.015

    def bind(self) -> None:
        """Look up the links' lengths, the radii and the joints' ranges."""
        model = self.model
        self.links = float(model.body("hand").pos[0]), float(model.body("finger").pos[0])
        self.height = float(model.body("target").pos[2])
        self.reach = float(model.geom("target").size[0] + model.geom("finger").size[0])
        self.ranges = JointRanges(self)

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Give the target the size that was asked for."""
        spec.geom("target").size[0] = self.target_size
        if spec.body("target") is None:
            to_mocap(spec, "target")

    def reset(self, noise: Noise) -> Start:
        """Draw the arm at rest, and the target."""
        qpos = self.ranges.draw(noise)
        sine, cosine = sin_cos(noise.uniform(0, 2 * math.pi, 1))
        target = noise.uniform(0.05, 0.2, 1) * self.xp.concat((sine, cosine), axis=1)
        place = self.xp.concat((target, 0 * sine + self.height), axis=1)
        return Start(qpos, 0 * qpos, {"target": target}, inputs={"mocap_pos": place[:, None, :]})

    def to_target(self, state: TaskState) -> Array:
        """Return x and y from the finger to the target, (n, 2) m."""
        shoulder = state.qpos[:, :1]
        sine, cosine = sin_cos(self.xp.concat((shoulder, shoulder + state.qpos[:, 1:]), axis=1))
        upper, lower = self.links
        finger = (upper * part[:, :1] + lower * part[:, 1:] for part in (cosine, sine))
        return state.memory["target"] - self.xp.concat(tuple(finger), axis=1)

    def features(self, state: TaskState) -> Array:
        """Return angles, the offset to the target, and rates, (n, 6)."""
        return self.xp.concat((state.qpos, self.to_target(state), state.qvel), axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"position": 2, "to_target": 2, "velocity": 2}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward a finger in the target."""
        features = self.features(state)
        distance = row_norm(features[:, 2:4])
        reward = tolerance(distance, (0.0, self.reach))
        info = {"distance": distance, "success": reward == 1}
        return StepResult(self.seen(state, features), {"reward_reach": reward}, info=info)

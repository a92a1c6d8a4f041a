"""Reacher: touch a target with the tip of an arm. Same task as Gymnasium's Reacher-v5."""

import math
from typing import ClassVar

from ..arrays import Array, row_norm, sin_cos
from ..task.noise import Noise
from ..task.task import Start, StepResult, Task, TaskState
from ..task.terms import control_cost

REACH = 0.2  # m, the radius of the disk in which targets lie


class Reacher(Task):
    """An arm of two hinges in a plane brings its fingertip to a target that stands somewhere else in every episode.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | joint0 | -1 | 1 | torque / 200 N m |
    | 1 | joint1 | -1 | 1 | torque / 200 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-1 | cosine of qpos[:2] | | shoulder, elbow |
    | 2-3 | sine of qpos[:2] | | shoulder, elbow |
    | 4-5 | qpos[2:] | m | x and y of the target |
    | 6-7 | qvel[:2] | rad/s | shoulder, elbow |
    | 8-9 | xpos | m | x and y from the target to the fingertip |

    Reward:

    - `reward_dist`: -`reward_dist_weight` x distance from the fingertip to the target (m)
    - `reward_ctrl`: -`reward_control_weight` x |action|²

    Never ends by itself. Starts: hinges uniform within ±0.1 rad and ±0.005 rad/s; the target rests, evenly distributed
    in a disk of radius 0.2 m, where v5 draws points of a square until one lies in the disk.
    """

    reads: ClassVar = ("xpos",)
    camera: ClassVar = {"trackbodyid": 0}

    xml_file: str = "reacher.xml"
    frame_skip: int = 2
    reward_dist_weight: float = 1.0
    reward_control_weight: float = 1.0

    def bind(self) -> None:
        """Find fingertip and target."""
        self.fingertip, self.target = (self.model.body(name).id for name in ("fingertip", "target"))

    def reset(self, noise: Noise) -> Start:
        """Draw the arm near the reference, and the target in its disk."""
        xp = self.xp
        arm = self.init_qpos[:2] + noise.uniform(-0.1, 0.1, 2)
        velocity = noise.uniform(-0.005, 0.005, 2)
        radius = REACH * xp.sqrt(noise.uniform(0, 1, 1))
        sine, cosine = sin_cos(noise.uniform(0, 2 * math.pi, 1))
        qpos = xp.concat((arm, radius * cosine, radius * sine), axis=1)
        return Start(qpos, xp.concat((velocity, xp.zeros_like(velocity)), axis=1))

    def offset(self, state: TaskState) -> Array:
        """From the target to the fingertip, (n, 3) m."""
        xpos = state.fields["xpos"]
        return xpos[:, self.fingertip, :] - xpos[:, self.target, :]

    def observation(self, state: TaskState) -> Array:
        """Return angles, target, angular velocities and the way from the target to the fingertip, (n, 10)."""
        sine, cosine = sin_cos(state.qpos[:, :2])
        parts = (cosine, sine, state.qpos[:, 2:], state.qvel[:, :2], self.offset(state)[:, :2])
        return self.xp.concat(parts, axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"cosine": 2, "sine": 2, "target": 2, "qvel": 2, "offset": 2}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Charge for the distance and for effort."""
        terms = {
            "reward_dist": -(self.reward_dist_weight * row_norm(self.offset(state))),
            "reward_ctrl": -control_cost(action, self.reward_control_weight),
        }
        return StepResult(self.observation(state), terms)

"""The acrobot of the control suite: swing up two arms with a motor only at the elbow."""

import math
from typing import ClassVar

from ..arrays import Array, row_norm, row_sum, sin_cos
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .rewards import tolerance
from .suite_task import SuiteTask


class AcrobotSwingUp(SuiteTask):
    """A motor at the elbow swings two arms up and balances them. Same task as the control suite's acrobot swingup.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | elbow | -1 | 1 | torque / 2 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-1 | horizontal | | sine of the angle from upright of the upper and of the lower arm |
    | 2-3 | vertical | | cosine of these angles |
    | 4-5 | qvel | rad/s | shoulder, elbow |

    Reward: `reward_reach`, from 0 to 1, tolerance(distance from the tip to the target, up to its radius of 0.2 m,
    margin 1); the target is straight above, at the position of the tip if both arms are upright.

    With `sparse` it is 1 in the target and 0 elsewhere. `success` is a tip within the target, whose `distance` (m) is
    in the info too. Never ends by itself. Starts at rest, both joints at any angle.
    """

    camera: ClassVar = {"distance": 6.0, "lookat": (0.0, 0.0, 2.3), "azimuth": 90.0, "elevation": -8.0}

    xml_file: str = "suite_acrobot.xml"
    frame_skip: int = 1
    sparse: bool = False

    def bind(self) -> None:
        """Look up the lengths of the arms and the target."""
        model = self.model
        self.arms = self.array([model.body("lower_arm").pos[2], model.site("tip").pos[2]])
        in_geoms = any(model.geom(geom).name == "target" for geom in range(model.ngeom))  # the suite's is a site
        target = model.geom("target") if in_geoms else model.site("target")
        self.rise = float(target.pos[2] - model.body("upper_arm").pos[2])
        self.radius = float(target.size[0])

    def reset(self, noise: Noise) -> Start:
        """Draw any angles, at rest."""
        qpos = noise.uniform(-math.pi, math.pi, 2)
        return Start(qpos, 0 * qpos)

    def features(self, state: TaskState) -> Array:
        """Return sines and cosines of the arms' angles, and the joints' rates, (n, 6)."""
        shoulder = state.qpos[:, :1]
        sine, cosine = sin_cos(self.xp.concat((shoulder, shoulder + state.qpos[:, 1:]), axis=1))
        return self.xp.concat((sine, cosine, state.qvel), axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"orientations": 4, "velocity": 2}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward a tip near the target."""
        features = self.features(state)
        x, z = row_sum(features[:, :2] * self.arms), row_sum(features[:, 2:4] * self.arms)
        distance = row_norm(self.xp.stack((x, self.rise - z), axis=-1))
        reward = tolerance(distance, (0.0, self.radius), margin=0 if self.sparse else 1)
        info = {"distance": distance, "success": distance <= self.radius}
        return StepResult(self.seen(state, features), {"reward_reach": reward}, info=info)

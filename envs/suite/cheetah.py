"""The cheetah of the control suite: run forward on two legs."""

from typing import ClassVar

import mujoco
import numpy as np

from ..arrays import Array
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .planar import PlanarRobot
from .rewards import tolerance
from .suite_task import SuiteTask

SETTLING = 200  # physics steps
STARTS = 128
"""Starts that are settled when the task is bound; an episode begins with one of them."""


class CheetahRun(SuiteTask):
    """A planar cheetah runs forward at 10 m/s. Same task as the control suite's cheetah run.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | bthigh | -1 | 1 | torque / 120 N m |
    | 1 | bshin | -1 | 1 | torque / 90 N m |
    | 2 | bfoot | -1 | 1 | torque / 60 N m |
    | 3 | fthigh | -1 | 1 | torque / 90 N m |
    | 4 | fshin | -1 | 1 | torque / 60 N m |
    | 5 | ffoot | -1 | 1 | torque / 30 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-7 | qpos[1:] | m, rad | height above 0.7 m, pitch, joints of the back and of the front leg |
    | 8-16 | qvel | m/s, rad/s | x, z, pitch, joints |

    Reward: `reward_run`, the speed of the center of mass along x (`x_velocity` in the info) in parts of `run_speed`,
    from 0 at rest to 1 at that speed and above.

    Never ends by itself. Starts: leg joints evenly distributed in their limits, then 200 physics steps without a
    control, in which the cheetah falls to its feet. A batch draws from 128 such starts.
    """

    camera: ClassVar = {"trackbodyid": 1, "distance": 3.5, "azimuth": 90.0, "elevation": -15.0}

    xml_file: str = "suite_cheetah.xml"
    frame_skip: int = 1
    run_speed: float = 10.0  # m/s

    def bind(self) -> None:
        """Simulate the fall of cheetahs to the ground, from which episodes start."""
        self.robot = PlanarRobot(self)
        self.starts = self.doubles(_settled(self.model, np.random.default_rng(0)))

    def reset(self, noise: Noise) -> Start:
        """Draw one of the settled starts."""
        start = self.xp.take(self.starts, noise.integers(0, STARTS, 1)[:, 0], axis=0)
        return Start(start[:, : self.model.nq], start[:, self.model.nq :])

    def features(self, state: TaskState) -> Array:
        """Return positions without x, and velocities, (n, 17)."""
        return self.xp.concat((state.qpos[:, 1:], state.qvel), axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"position": 8, "velocity": 9}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward speed along x."""
        speed = self.robot.speed(state.coordinates, self.robot.turns(state.coordinates))
        bounds = (self.run_speed, float("inf"))
        reward = tolerance(speed, bounds, margin=self.run_speed, value_at_margin=0, sigmoid="linear")
        return StepResult(self.observation(state), {"reward_run": reward}, info={"x_velocity": speed})


def _settled(model: mujoco.MjModel, rng: np.random.Generator) -> np.ndarray:
    """Return coordinates (STARTS, nq + nv) of cheetahs that fell to the ground with their joints anywhere."""
    data, limited, starts = mujoco.MjData(model), model.jnt_limited.astype(bool), []
    for _ in range(STARTS):
        mujoco.mj_resetData(model, data)
        data.qpos[limited] = rng.uniform(*model.jnt_range[limited].T)
        mujoco.mj_step(model, data, SETTLING)
        starts.append(np.concatenate((data.qpos, data.qvel)))
    return np.array(starts)

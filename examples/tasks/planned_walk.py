"""A dog walks on flat ground without a policy and without a gait: its steps come out of the plan."""

import math
from pathlib import Path

import mujoco
import numpy as np
from gymnasium.spaces import Box
from mppi import Planner

from tumble.envs import Start, StepResult, Task, row_sum, sin_cos
from tumble.physics import Model

STANCE = np.tile([0.0, 0.73, -1.46], 4)  # rad: hip, thigh, calf of each leg
FOOT = 0.023  # m, its radius


class Walk(Task):
    """Go ahead at `speed`. Actions (12): joint targets around the stance, in `reach` rad."""

    reads = ("site_xpos", "xmat")
    camera = {"distance": 1.4, "trackbodyid": 1, "azimuth": 120.0, "elevation": -15.0}
    xml_file: str = "dog.xml"
    frame_skip: int = 5
    reach: float = 0.4  # rad
    speed: float = 0.5  # m/s

    @property
    def action_space(self):
        """Between -1 and 1."""
        return Box(-1.0, 1.0, (12,), np.float32)

    def load_model(self, **options):
        """The dog on a plane."""
        spec = mujoco.MjSpec.from_file(str(Path(__file__).with_name(self.xml_file)))
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], friction=[0.8, 0.005, 0.0001])
        return Model.from_mjspec(spec, **options)

    def bind(self):
        """Constants in the task's arrays."""
        self.stance, self.late = self.array(STANCE), self.array([0.0, 0.5, 0.5, 0.0])

    def reset(self, noise) -> Start:
        """Standing."""
        qpos = np.concatenate(([0, 0, 0.32, 1, 0, 0, 0], STANCE))
        n = noise.uniform(0, 0, 1)
        return Start(n + self.xp.asarray(qpos), n + np.zeros(18), {"time": n})

    def control(self, state, action):
        """Targets of the joints."""
        return self.stance + self.reach * action

    def observation(self, state):
        """Everything."""
        return state.coordinates

    def step(self, state, action) -> StepResult:
        """Speed, height, an upright trunk, and feet that are lifted in turn."""
        time = state.memory["time"] + self.dt
        swing, _ = sin_cos(2 * math.pi * (2.0 * self.array(time) + self.late))
        lift = state.fields["site_xpos"][:, :, 2] - FOOT - 0.06 * swing * (swing > 0)
        trunk = state.fields["xmat"][:, 1]
        ahead, height = state.qvel[:, 0], state.qpos[:, 2]
        terms = {
            "reward_speed": -4 * (ahead - self.speed) ** 2 - 2 * state.qvel[:, 1] ** 2,
            "reward_way": -2 * state.qpos[:, 1] ** 2 - 2 * trunk[:, 3] ** 2,
            "reward_upright": -4 * (1 - trunk[:, 8]) - 30 * (height - 0.29) ** 2,
            "reward_feet": -100 * row_sum(lift * lift),
            "reward_calm": -0.02 * row_sum(action * action) - 0.005 * row_sum(state.qvel[:, 3:6] ** 2),
        }
        fell = (height < 0.15) | (trunk[:, 8] < 0.5)
        info = {"speed": ahead, "place": state.qpos[:, 0], "height": height}
        return StepResult(self.observation(state), terms, fell, info, {"time": time})


if __name__ == "__main__":
    planner = Planner(Walk(), samples=256, horizon=25, knots=6, sigma=0.3, temperature=0.2)
    told = [planner.act() for _ in range(300)]  # 6 s
    speed = np.array([info["speed"] for *_, info in told])
    print(f"{told[-1][3]['place']:.2f} m in 6 s; {speed[50:].mean():.2f} m/s, fell: {any(step[2] for step in told)}")

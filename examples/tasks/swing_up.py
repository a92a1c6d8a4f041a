"""A cart swings up a pole, by a plan that is made anew before every step."""

import math

import numpy as np
from mppi import Planner

from tumble.envs import Start, StepResult, Task, sin_cos
from tumble.physics import Model

CARTPOLE = """<mujoco>
  <option timestep="0.01" integrator="implicitfast"><flag contact="disable"/></option>
  <visual><headlight ambient="0.5 0.5 0.5" diffuse="0.3 0.3 0.3"/></visual>
  <worldbody>
    <light directional="true" pos="0 -2 4" dir="0.2 0.5 -1"/>
    <geom type="plane" size="4 4 0.1" pos="0 0 -1.2" rgba="0.8 0.85 0.9 1"/>
    <geom type="capsule" fromto="-2 0 0 2 0 0" size="0.02" rgba="0.5 0.5 0.5 1"/>
    <body name="cart">
      <joint name="slide" type="slide" axis="1 0 0" range="-1.8 1.8" damping="0.1"/>
      <geom type="box" size="0.15 0.1 0.1" mass="1" rgba="0.25 0.45 0.7 1"/>
      <body name="pole">
        <joint name="hinge" axis="0 1 0" damping="0.001"/>
        <geom type="capsule" fromto="0 -0.13 0 0 -0.13 1" size="0.045" mass="0.1" rgba="0.85 0.5 0.2 1"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="slide" gear="10" ctrlrange="-1 1" ctrllimited="true"/></actuator>
</mujoco>"""


class SwingUp(Task):
    """The pole hangs at first. Action (1): force / 10 N. Observation: cart, cosine, sine, rates."""

    camera = {"distance": 4.0, "azimuth": 90.0, "elevation": -14.0, "lookat": (0.0, 0.0, 0.0)}
    xml_file: str = "none"
    frame_skip: int = 2

    def load_model(self, **options):
        """The text above."""
        return Model.from_mjcf(CARTPOLE, **options)

    def reset(self, noise) -> Start:
        """The pole down, nearly at rest."""
        drawn = 0.01 * noise.normal(4)
        return Start(drawn[:, :2] + self.xp.asarray([0.0, math.pi]), drawn[:, 2:])

    def observation(self, state):
        """(n, 5)."""
        sine, cosine = sin_cos(state.qpos[:, 1:])
        return self.xp.concat((state.qpos[:, :1], cosine, sine, state.qvel), axis=1)

    def step(self, state, action) -> StepResult:
        """Up, in the middle, still."""
        upright = (1 + sin_cos(state.qpos[:, 1])[1]) / 2
        terms = {
            "reward_upright": upright,
            "reward_middle": -0.1 * state.qpos[:, 0] ** 2,
            "reward_still": -0.005 * upright * state.qvel[:, 1] ** 2 - 0.01 * action[:, 0] ** 2,
        }
        return StepResult(self.observation(state), terms, info={"upright": upright})


if __name__ == "__main__":
    planner = Planner(SwingUp(), samples=256, horizon=50, sigma=0.7)
    upright = np.array([planner.act()[3]["upright"] for _ in range(400)])  # 8 s
    print(f"upright after {np.argmax(upright > 0.99) * 0.02:.1f} s; {upright[-150:].mean():.3f} in the last 3 s")

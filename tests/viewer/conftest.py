"""One small model for all tests of viewers: a red sphere that slides, a blue box that turns, over a floor."""

import os

import pytest

os.environ.setdefault("TI_LOG_LEVEL", "error")

SLIDER = """
<mujoco model="slider">
  <option gravity="0 0 0" timestep="0.01"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1" rgba=".6 .6 .6 1"/>
    <body name="ball" pos="0 0 .5">
      <joint name="slide" type="slide" axis="0 1 0" range="-3 3"/>
      <geom name="ball" type="sphere" size=".3" rgba="1 0 0 1" mass="1"/>
    </body>
    <body name="flag" pos="0 0 1.2">
      <joint name="turn" type="hinge" axis="0 0 1"/>
      <geom name="flag" type="box" pos=".3 0 0" size=".3 .05 .2" rgba="0 0 1 1" mass="1"/>
    </body>
    <body name="pole"><geom name="pole" type="cylinder" size=".03 .6" pos="0 0 .6" rgba=".1 .1 .1 1"
      contype="0" conaffinity="0"/></body>
  </worldbody>
  <actuator>
    <velocity name="push" joint="slide" kv="20" ctrlrange="-2 2"/>
  </actuator>
  <keyframe><key name="aside" qpos="1 0"/></keyframe>
</mujoco>
"""


@pytest.fixture(scope="session")
def slider():
    """A solver of the model, of two environments, which tests put back by `reset`."""
    from tumble.physics import Model, RigidSolver

    solver = RigidSolver(Model.from_mjcf(SLIDER), 2)
    solver.forward()
    return solver

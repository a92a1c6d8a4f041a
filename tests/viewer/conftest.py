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


@pytest.fixture(scope="module")
def slider():
    """A solver of the model, of two environments, which tests put back by `reset`.

    It does not outlive a module: a worker may run other tests between two modules, some of which restart Taichi.
    """
    from tumble.physics import Model, RigidSolver

    solver = RigidSolver(Model.from_mjcf(SLIDER), 2)
    solver.forward()
    return solver


STAGE = """
<mujoco model="stage">
  <option timestep="0.005"/>
  <visual><map stiffness="400"/></visual>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1" rgba=".6 .6 .6 1"/>
    <body name="crate" pos="0 0 .2">
      <freejoint/>
      <geom name="crate" type="box" size=".2 .2 .2" rgba="0 0 1 1" mass="2" contype="0" conaffinity="0"/>
      <geom name="hull" type="box" size=".2 .2 .2" rgba="1 1 0 1" mass="0" group="3"/>
    </body>
    <body name="hand" mocap="true" pos="0 -.8 .5">
      <geom name="hand" type="sphere" size=".15" rgba="1 0 0 1" contype="0" conaffinity="0"/>
    </body>
    <camera name="side" pos="0 -3 1" xyaxes="1 0 0 0 .3 1"/>
  </worldbody>
  <keyframe><key name="high" qpos="0 .5 1 1 0 0 0"/></keyframe>
</mujoco>
"""
CRATE_WEIGHT = 2 * 9.81  # N


@pytest.fixture(scope="module")
def stage():
    """A solver of a crate that stands on a floor and a hand that the mouse moves, in two environments."""
    from tumble.physics import Model, RigidSolver

    return RigidSolver(Model.from_mjcf(STAGE), 2)

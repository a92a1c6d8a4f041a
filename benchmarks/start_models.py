"""Models whose first step `start` times: two robots, an arm with hulls, a hand with tendons, and one of everything.

They are MJCF, so that another version of Tumble can be given the same.
"""

import mujoco

from .. import assets
from .hull_scenes import arm
from .linked_scenes import hand

_CORNERS = "0.02 0 0  -0.02 0 0  0 0.02 0  0 -0.02 0  0 0 0.03  0 0 -0.02"
_EVERYTHING = f"""
<mujoco>
  <option timestep=".002" integrator="implicitfast" cone="elliptic" noslip_iterations="2" density="1.2" wind="1 0 0"/>
  <asset><mesh name="rock" vertex="{_CORNERS}"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <site name="above" pos="0 0 1"/>
    <body name="base" pos="0 0 .6" gravcomp=".5">
      <freejoint/>
      <geom type="box" size=".1 .08 .05" fluidshape="ellipsoid"/>
      <site name="hip" pos=".1 0 0"/>
      <body name="thigh" pos=".12 0 0">
        <joint name="hip_ball" type="ball" range="0 1" limited="true" stiffness="1" damping=".1"/>
        <geom name="thigh" type="capsule" fromto="0 0 0 0 0 -.2" size=".03"/>
        <geom name="pulley" type="cylinder" size=".03 .05" zaxis="0 1 0" pos="0 0 -.2" contype="0" conaffinity="0"/>
        <site name="beside" pos=".05 0 -.2"/>
        <site name="above_knee" pos=".03 0 -.15"/>
        <body name="shin" pos="0 0 -.22">
          <joint name="knee" axis="0 1 0" range="-1 1" limited="true" frictionloss=".1" armature=".01"
            actuatorfrcrange="-5 5" actuatorfrclimited="true"/>
          <geom type="cylinder" size=".025 .08" pos="0 0 -.1"/>
          <site name="below_knee" pos=".03 0 -.05"/>
          <body name="foot" pos="0 0 -.2">
            <joint name="ankle" type="slide" axis="0 0 1" range="-.02 .02" limited="true" stiffness="9"/>
            <geom name="foot" type="ellipsoid" size=".04 .03 .02" friction="1 .01 .001" condim="6"/>
          </body>
        </body>
      </body>
    </body>
    <body pos=".5 0 .1"><freejoint/><geom type="mesh" mesh="rock"/></body>
    <body pos=".5 .2 .2"><freejoint/><geom type="box" size=".05 .05 .05"/></body>
    <body pos=".5 .4 .2"><freejoint/><geom type="sphere" size=".05"/></body>
    <body pos=".5 .6 .2"><freejoint/><geom type="capsule" size=".03 .05"/></body>
    <body name="left" pos="-.5 0 .2"><joint name="left" axis="0 1 0"/><geom size=".04"/></body>
    <body name="right" pos="-.5 .3 .2"><joint name="right" axis="0 1 0"/><geom size=".04"/></body>
  </worldbody>
  <tendon>
    <spatial name="wrapped" range=".1 .4" limited="true" stiffness="5" damping=".1">
      <site site="hip"/><geom geom="pulley" sidesite="beside"/><site site="below_knee"/>
    </spatial>
    <spatial name="straight" stiffness="5" armature=".001"><site site="hip"/><site site="above_knee"/></spatial>
    <fixed name="pair"><joint joint="left" coef="1"/><joint joint="right" coef="-1"/></fixed>
  </tendon>
  <equality>
    <joint joint1="left" joint2="right"/>
    <connect body1="left" body2="right" anchor="0 .15 0"/>
    <weld body1="right" body2="left"/>
    <tendon tendon1="pair"/>
  </equality>
  <actuator>
    <motor joint="knee"/>
    <position joint="left" kp="3" delay=".01" nsample="8"/>
    <muscle tendon="wrapped"/>
    <intvelocity joint="right" kp="3" actrange="-1 1"/>
    <general site="hip" gear="0 0 1 0 0 0"/>
  </actuator>
  <sensor>
    <touch site="below_knee"/><accelerometer site="hip"/><force site="hip"/>
    <jointlimitpos joint="knee"/><contact geom1="foot" data="found force"/>
  </sensor>
</mujoco>
"""


def start_models() -> dict[str, str]:
    """MJCF of every model, by its name."""
    return {
        "Ant": assets.find("ant.xml").read_text(),
        "Humanoid": assets.find("humanoid.xml").read_text(),
        "arm with hulls": arm(0.004).to_xml(),
        "hand": _hand_with_hulls().to_xml(),
        "everything": _EVERYTHING,
    }


def _hand_with_hulls() -> mujoco.MjSpec:
    """The hand of tendons, around a mesh rather than a bar, with a weld that holds the mesh to the palm."""
    spec = hand(0.004)
    spec.add_mesh(name="rock", uservert=[float(number) for number in _CORNERS.split()])
    spec.body("bar").add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="rock", pos=[0, 0.08, 0])
    held = spec.add_equality(type=mujoco.mjtEq.mjEQ_WELD, name1="palm", name2="bar")
    held.objtype = mujoco.mjtObj.mjOBJ_BODY
    return spec

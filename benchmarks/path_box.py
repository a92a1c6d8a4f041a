"""The Cornell box, by which path tracing is measured and compared with mitsuba's (`mitsuba_box.py` has it, too).

Planes have one side here. So the lamp has a black back, as mitsuba's has.
"""

from typing import Any

BOX = """
<mujoco><visual><headlight active="0"/></visual>
<asset>
  <material name="white" rgba="0.85 0.85 0.85 1" specular="0"/>
  <material name="red" rgba="0.75 0.2 0.2 1" specular="0"/>
  <material name="green" rgba="0.3 0.7 0.3 1" specular="0"/>
  <material name="black" rgba="0 0 0 1" specular="0"/>
  <material name="lamp" rgba="0.9 0.8 0.6 1" specular="0" emission="18"/>
</asset>
<worldbody>
  <geom type="plane" size="1 1 1" material="white"/>
  <geom type="plane" size="1 1 1" pos="0 0 2" euler="180 0 0" material="white"/>
  <geom type="plane" size="1 1 1" pos="0 1 1" euler="90 0 0" material="white"/>
  <geom type="plane" size="1 1 1" pos="-1 0 1" euler="0 90 0" material="red"/>
  <geom type="plane" size="1 1 1" pos="1 0 1" euler="0 -90 0" material="green"/>
  <geom type="plane" size="0.25 0.25 1" pos="0 0 1.98" euler="180 0 0" material="lamp"/>
  <geom type="plane" size="0.25 0.25 1" pos="0 0 1.98" material="black"/>
  <geom type="box" size="0.3 0.3 0.6" pos="-0.35 0.3 0.6" euler="0 0 20" material="white"/>
  <geom type="box" size="0.3 0.3 0.3" pos="0.35 -0.3 0.3" euler="0 0 -18" material="white"/>
</worldbody></mujoco>"""
CAMERA: dict[str, Any] = {"distance": 3.9, "azimuth": 90, "elevation": 0, "lookat": (0, 0, 1), "fovy": 40}
"""The fields of `tumble.physics.rendering.Camera`."""
PLAIN: dict[str, Any] = {
    "fade": 1e6,
    "plain_floor": (1.0, 1.0),
    "floor_tint": 0.0,
    "plain_reflectance": 0.0,
    "exposure": 1.0,
}
"""The fields of a `Look` whose floors have no pattern, mirror and haze."""

"""Scenes for path tracing: a ball in even light, lamps over a floor, and the Cornell box."""

import mujoco
import torch

from tumble.physics.rendering import Camera, Look
from tumble.physics.rendering.path.tracer import PathTracer

from ..conftest import MujocoPoses

PLAIN = {"fade": 1e6, "plain_floor": (1.0, 1.0), "floor_paleness": 0.0, "plain_reflectance": 0.0, "exposure": 1.0}
"""Of a look: floors without pattern, mirror and haze."""

BOX = """
<mujoco><visual><headlight active="0"/></visual>
<asset>
  <material name="white" rgba="0.85 0.85 0.85 1" specular="0"/>
  <material name="red" rgba="0.75 0.2 0.2 1" specular="0"/>
  <material name="green" rgba="0.3 0.7 0.3 1" specular="0"/>
  <material name="lamp" rgba="0.9 0.8 0.6 1" specular="0" emission="18"/>
</asset>
<worldbody>
  <geom type="plane" size="1 1 1" material="white"/>
  <geom type="plane" size="1 1 1" pos="0 0 2" euler="180 0 0" material="white"/>
  <geom type="plane" size="1 1 1" pos="0 1 1" euler="90 0 0" material="white"/>
  <geom type="plane" size="1 1 1" pos="-1 0 1" euler="0 90 0" material="red"/>
  <geom type="plane" size="1 1 1" pos="1 0 1" euler="0 -90 0" material="green"/>
  <geom type="plane" size="0.25 0.25 1" pos="0 0 1.98" euler="180 0 0" material="lamp"/>
  <geom type="box" size="0.3 0.3 0.6" pos="-0.35 0.3 0.6" euler="0 0 20" material="white"/>
  <geom type="box" size="0.3 0.3 0.3" pos="0.35 -0.3 0.3" euler="0 0 -18" material="white"/>
</worldbody></mujoco>"""
BOX_CAMERA = Camera(distance=3.9, azimuth=90, elevation=0, lookat=(0, 0, 1), fovy=40)

DARK = '<visual><headlight active="0"/></visual>'


def source_of(text, count=1):
    """The poses of a model in MJCF; of a body of `worldbody`, without the headlight, if it is no whole file."""
    if "<mujoco" not in text:
        assets, _, bodies = text.rpartition("</asset>")
        head = f"{assets}</asset>" if assets else ""
        text = f"<mujoco>{DARK}{head}<worldbody>{bodies}</worldbody></mujoco>"
    return MujocoPoses(mujoco.MjModel.from_xml_string(text), count)


def tracer(source, size=16, *, camera, look=None, **more):
    """A path tracer without denoising and clamping, of pictures `size` pixels a side."""
    width, height = (size, size) if isinstance(size, int) else size
    settings = {"denoise": False, "clamp": 0.0, "look": look or Look(**PLAIN)} | more
    return PathTracer(source.model, width, height, camera=camera, **settings)


def light_of(source, samples, size=16, **more):
    """Linear light (height, width, 3) of one environment, in double precision."""
    return tracer(source, size, **more).expose(source, samples=samples).light[0].double()


def box(size, samples, seed=0, **more):
    """Linear light of the Cornell box, whose only light is its lamp."""
    source = source_of(BOX)
    return light_of(source, samples, size, camera=BOX_CAMERA, environment=(0, 0, 0), seed=seed, **more)


def root_mean_square(error: torch.Tensor) -> float:
    return float(error.square().mean().sqrt())

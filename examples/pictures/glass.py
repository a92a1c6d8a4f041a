"""Balls of glass, gold and red lacquer in the light of a lamp, by path tracing."""

from tumble.physics import Model, RigidSolver
from tumble.physics.rendering import Camera, Look, PathTracer, save_png

SCENE = """
<mujoco>
  <visual><headlight active="0"/></visual>
  <asset>
    <texture name="tiles" type="2d" builtin="checker" rgb1="0.62 0.6 0.57" rgb2="0.5 0.48 0.46" width="64" height="64"/>
    <material name="floor" texture="tiles" texrepeat="1.5 1.5" texuniform="true" specular="0.3" roughness="0.35"/>
    <material name="wall" rgba="0.78 0.74 0.7 1" specular="0"/>
    <material name="glass" rgba="0.97 1 0.98 1" roughness="0"/>
    <material name="frosted" rgba="0.9 0.97 1 1" roughness="0.35"/>
    <material name="gold" rgba="1 0.86 0.56 1" metallic="1" roughness="0.2"/>
    <material name="copper" rgba="0.97 0.76 0.68 1" metallic="1" roughness="0.3"/>
    <material name="red" rgba="0.8 0.16 0.12 1" specular="0.6" roughness="0.15"/>
    <material name="blue" rgba="0.12 0.3 0.62 1" specular="0.5" roughness="0.3"/>
    <material name="lamp" rgba="1 0.92 0.8 1" emission="16"/>
  </asset>
  <custom><numeric name="glass:ior" data="1.5"/><numeric name="frosted:ior" data="1.45"/></custom>
  <worldbody>
    <geom type="plane" size="8 8 1" material="floor"/>
    <geom type="plane" size="8 4 1" pos="0 2.2 0" euler="90 0 0" material="wall"/>
    <geom type="box" size="0.6 0.25 0.02" pos="-1.3 -0.6 2.6" euler="0 25 0" material="lamp"/>
    <geom type="capsule" size="0.03 0.5" pos="1.75 1.5 0.55" material="lamp"/>
    <geom size="0.36" pos="0 0 0.36" material="glass"/>
    <geom size="0.3" pos="0.82 0.32 0.3" material="gold"/>
    <geom size="0.26" pos="-0.78 0.42 0.26" material="red"/>
    <geom type="box" size="0.17 0.17 0.17" pos="-0.62 -0.42 0.17" euler="0 0 28" material="copper"/>
    <geom type="cylinder" size="0.14 0.22" pos="0.5 -0.5 0.22" material="frosted"/>
    <geom type="box" size="0.2 0.2 0.55" pos="0.1 1.3 0.55" euler="0 0 20" material="blue"/>
  </worldbody>
</mujoco>"""
solver = RigidSolver(Model.from_mjcf(SCENE), num_envs=1)
camera = Camera(distance=3.2, azimuth=92, elevation=-14, lookat=(0.08, 0, 0.36), fovy=32)
look = Look(fade=1e6, floor_tint=0.0, floor_lines=0.0, checker_contrast=1.0, plain_floor=(1.0, 1.0), exposure=1.5)
tracer = PathTracer(
    solver.model,
    640,
    400,
    camera=camera,
    look=look,
    samples=128,
    bounces=12,
    environment=(0.05, 0.06, 0.08),
    aperture=0.02,
    focus=3.1,
)
save_png("glass.png", tracer.render(solver)[0])

"""An arm above a table with cubes, in soft light, by path tracing."""

from tumble import assets
from tumble.physics import Model, RigidSolver
from tumble.physics.rendering import Camera, Look, PathTracer, save_png

solver = RigidSolver(Model.from_mjcf(str(assets.find("arm_stack_three.xml"))), num_envs=1)
if solver.model.mj.nkey:
    solver.reset_to_keyframe(0)
solver.step(50)
camera = Camera(distance=1.6, azimuth=146, elevation=-17, lookat=(0.27, 0.02, 0.31), fovy=36)
look = Look(sun=(0.5, -0.9, 0.9), sun_radius=5.0, sun_rgb=(2.2, 2.0, 1.7), exposure=0.6)
tracer = PathTracer(solver.model, 640, 400, camera=camera, look=look, samples=64, aperture=0.004)
save_png("arm.png", tracer.render(solver)[0])

"""A quadruped in the light of the evening, by path tracing."""

from tumble import assets
from tumble.physics import Model, RigidSolver
from tumble.physics.rendering import Camera, Look, PathTracer, save_png

solver = RigidSolver(Model.from_mjcf(str(assets.find("quadruped.xml"))), num_envs=1)
if solver.model.mj.nkey:
    solver.reset_to_keyframe(0)
solver.step(100)
camera = Camera(distance=1.5, azimuth=140, elevation=-8, lookat=(0, 0, 0.2), fovy=34)
evening = Look(
    sun=(-1.0, 0.35, 0.22),
    sun_rgb=(3.4, 1.7, 0.75),
    sun_radius=2.0,
    horizon_rgb=(1.0, 0.62, 0.38),
    zenith_rgb=(0.12, 0.2, 0.48),
    exposure=0.62,
)
tracer = PathTracer(solver.model, 640, 400, camera=camera, look=evening, samples=64, aperture=0.006)
save_png("evening.png", tracer.render(solver)[0])

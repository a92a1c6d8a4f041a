"""Scenes for path tracing: a ball in even light, lamps over a floor, and the Cornell box."""

import mujoco
import torch

from tumble.benchmarks.path_box import BOX, CAMERA, PLAIN
from tumble.physics.rendering import Camera, Look
from tumble.physics.rendering.path.tracer import PathTracer

from ..conftest import MujocoPoses

BOX_CAMERA = Camera(**CAMERA)
PALE = {
    "sun_rgb": (1.75, 1.62, 1.42),
    "horizon_rgb": (0.84, 0.92, 1.0),
    "zenith_rgb": (0.20, 0.42, 0.85),
    "ground_rgb": (0.36, 0.35, 0.34),
}
"""The fields of a `Look` with a sky of little contrast, of which few samples are enough."""
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
    settings = {"denoise": False, "clamp": 0.0, "look": look or Look(**PLAIN, **PALE)} | more
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


__all__ = ["BOX", "BOX_CAMERA", "PLAIN", "box", "light_of", "root_mean_square", "source_of", "tracer"]

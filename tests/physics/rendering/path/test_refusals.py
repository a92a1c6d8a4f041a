"""Impossible arguments of path tracing are refused in a sentence, and others are where users say them."""

import re

import numpy as np
import pytest

import tumble
import tumble.scene as gs
from tumble.physics.rendering import Camera, PathTracer
from tumble.physics.rendering.choose import make_renderer
from tumble.physics.rendering.path.denoise import has_oidn
from tumble.physics.rendering.path.kernel import make_trace_paths

from ....cases import cases
from .scenes import source_of, tracer

BALL = '<geom size="0.3"/>'
VIEW = {"camera": Camera(distance=2, azimuth=90, elevation=-20, lookat=(0, 0, 0))}
WRONG = {
    "samples": ({"samples": 0}, "samples=0: it must be at least 1"),
    "bounces": ({"bounces": -1}, "bounces=-1: it must be at least 0"),
    "aperture": ({"aperture": -0.1}, "aperture=-0.1: it must be a number from 0 on"),
    "focus": ({"aperture": 0.1, "focus": 0.0}, "focus=0.0: a lens must be sharp at a distance above 0 m"),
    "clamp": ({"clamp": float("inf")}, "clamp=inf: it must be a number from 0 on"),
    "seed": ({"seed": 2**40}, "seed=1099511627776: it must be from 0 to 2147483647"),
    "denoiser": ({"denoise": "magic"}, "denoise='magic': it is True, False, 'oidn' or 'filter'"),
    "dark map": ({"environment": np.full((2, 2, 3), -1.0)}, "environment: its light must be finite, and not below 0"),
    "flat map": ({"environment": np.ones((2, 2))}, "environment: expected a colour (3,) or a map (height, width, 3)"),
    "size": ({"size": (8192, 8000)}, "a picture of path tracing can have 16,777,216 pixels at most"),
}


@cases("name", WRONG)
def test_impossible_arguments_are_refused(name):
    arguments, message = WRONG[name]
    with pytest.raises(ValueError, match=re.escape(message)):
        tracer(source_of(BALL), **VIEW | arguments)


@pytest.mark.skipif(has_oidn(), reason="Open Image Denoise is installed")
def test_a_denoiser_that_is_not_installed_says_what_to_install():
    with pytest.raises(ImportError, match=r'pip install "tumble\[denoise\]"'):
        tracer(source_of(BALL), **VIEW, denoise="oidn")


def test_renderers_go_by_name():
    source = source_of(BALL)
    made = make_renderer({"samples": 7}, source.model, 16, 16, camera=VIEW["camera"])
    assert isinstance(made, PathTracer) and made.samples == 7
    assert not isinstance(make_renderer("rays", source.model, 16, 16), PathTracer)
    with pytest.raises(ValueError, match=r"renderer='raster': it is 'rays', 'path', or a dict"):
        make_renderer("raster", source.model, 16, 16)
    with pytest.raises(ValueError, match=r"path tracing has no option 'sample'; nearest: samples"):
        make_renderer({"sample": 7}, source.model, 16, 16)


def test_environments_and_scenes_are_path_traced():
    """A picture of an environment by its option; one of a scene by its renderer, with the camera's samples."""
    envs = tumble.make_vec(
        "tumble/InvertedPendulum-v0", num_envs=2, render_mode="rgb_array", width=24, height=16,
        renderer={"samples": 2, "denoise": False},
    )  # fmt: skip
    envs.reset(seed=0)
    first, _ = envs.render()
    assert first.shape == (16, 24, 3) and first.std() > 5
    envs.close()
    scene = gs.Scene(renderer=gs.renderers.RayTracer(env_surface=gs.surfaces.Emission(emissive=(1.0, 1.0, 1.0))))
    scene.add_entity(gs.morphs.Sphere(radius=0.3), surface=gs.surfaces.Glass(ior=1.4))
    camera = scene.add_camera(res=(24, 16), pos=(0, -2, 0), lookat=(0, 0, 0), spp=16, denoise=False)
    lens = scene.add_camera(res=(24, 16), pos=(0, -2, 0), lookat=(0, 0, 0), model="thinlens", spp=3, focus_dist=1.0)
    scene.build()
    rgb, depth, _, _ = camera.render(depth=True)
    assert rgb.shape == (16, 24, 3) and np.isfinite(depth).any()
    assert int(rgb.min()) > 150, "glass in even light cannot be seen"
    made = lens._drawn(2)
    assert (made.samples, made.focus, made.bounces) == (3, 1.0, 32)
    assert made.aperture == pytest.approx(0.012 / np.tan(np.radians(15)) / 4)
    for wrong, message in (({"tracing_depth": 0}, "tracing_depth"), ({"lights": [{}]}, "lights: add a sphere")):
        with pytest.raises(ValueError, match=message):
            gs.renderers.RayTracer(**wrong)


def test_arguments_of_the_kernel_fit_a_launch_on_a_gpu():
    """Taichi hands over 512 bytes: of each array its shape, up to a multiple of 8 bytes, and its address."""
    arguments = [argument.annotation for argument in make_trace_paths(*[True] * 4)._primal.arguments]
    sizes = [-(-4 * kind.ndim // 8) * 8 + 8 if hasattr(kind, "ndim") else 4 for kind in arguments]
    assert len(sizes) > 20 and sum(sizes) <= 512

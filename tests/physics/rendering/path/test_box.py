"""The Cornell box: its light is mitsuba's, and denoising it takes most of the noise away."""

import json
from pathlib import Path

import numpy as np
import pytest

from tumble.benchmarks.mitsuba_box import DEPTH, REGIONS
from tumble.physics.rendering.path.denoise import has_oidn
from tumble.physics.rendering.path.tracer import displayed

from .scenes import BOX, BOX_CAMERA, box, source_of, tracer

REFERENCE = json.loads((Path(__file__).parent / "mitsuba_box.json").read_text("utf-8"))


def compare(samples: int, across: int, tolerance: float) -> None:
    """Means of regions, `across` a side, with mitsuba's; darker channels count from a twentieth of the mean on."""
    light = box(64, samples, bounces=DEPTH - 1).numpy()
    found = light.reshape(across, 64 // across, across, 64 // across, 3).mean(axis=(1, 3))
    step = REGIONS // across
    expected = np.array(REFERENCE["means"]).reshape(across, step, across, step, 3).mean(axis=(1, 3))
    error = np.abs(found - expected) / np.maximum(expected, 0.05 * expected.mean())
    assert error.max() < tolerance, error.max()


def test_light_in_a_box_is_mitsubas():
    """Within 2 % in each of 16 regions; within half a percent over all."""
    compare(1024, 4, 0.02)
    compare(256, 1, 0.005)


@pytest.mark.slow
def test_light_in_64_regions_of_a_box_is_mitsubas():
    compare(4096, 8, 0.02)


def errors(size: int, samples: int, converged: int, methods) -> list[float]:
    """Root mean square errors of pictures as they are displayed.

    The true picture is not known: products of the differences from two that are far less noisy have the mean of the
    square of the difference from it.
    """
    film = tracer(source_of(BOX), size, camera=BOX_CAMERA, environment=(0, 0, 0), seed=1)
    film = film.expose(source_of(BOX), samples=samples)
    one, other = (displayed(box(size, converged, seed=seed).float()) for seed in (2, 3))
    found = []
    for method in methods:
        shown = displayed(film.clean_light(method)[0])
        found.append(float(((shown - one) * (shown - other)).mean().sqrt()))
    return found


def test_the_filter_takes_three_quarters_of_the_noise_away():
    noisy, clean = errors(192, 2, 24, (False, "filter"))
    assert clean < noisy / 4, (noisy, clean)


@pytest.mark.slow
@pytest.mark.parametrize("samples", [1, 2, 4])
def test_denoisers_take_three_quarters_of_the_noise_away(samples):
    """In a picture of 256 x 256; Open Image Denoise too, if it is installed."""
    noisy, *clean = errors(256, samples, 48, [False, "filter", *["oidn"] * has_oidn()])
    assert max(clean) < noisy / 4, (noisy, clean)

"""Surfaces by themselves: what they scatter is what they sample, no energy is made, and both directions are alike."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from tumble.physics.machine.runtime import ensure_runtime
from tumble.physics.run.tensor_kernels import Recipe, shared_kernels

KERNELS = Path(__file__).resolve().parent / "kernels"
"""A folder of its own, from which the process that compiles can import."""
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(KERNELS)
    at: Any = import_module("surface_probes")
WHITE = (1.0, 1.0, 1.0)
MATT = {at.GROUND: WHITE}
METAL = {at.MIRROR: (0.9, 0.6, 0.3), at.EDGE: WHITE}
SURFACES = {
    "matt": MATT | {at.WIDTH: 0.25},
    "plastic": MATT | {at.MIRROR: [0.04] * 3, at.EDGE: WHITE, at.COAT: (0.04, 1.0), at.WIDTH: 0.25},
    "polished floor": MATT | {at.MIRROR: [0.07] * 3, at.EDGE: [0.3] * 3, at.COAT: (0.07, 0.3), at.WIDTH: 0.15},
    "metal": METAL | {at.WIDTH: 0.2},
    "rough metal": METAL | {at.WIDTH: 1.0},
    "half metal": {at.GROUND: [0.4] * 3, at.MIRROR: [0.5] * 3, at.EDGE: WHITE, at.COAT: (0.04, 1.0), at.WIDTH: 0.3},
}
TILTS = np.radians([0.0, 35.0, 70.0, 85.0])
SHORT = 3e-4
"""The rounding of float32 in products of a few numbers, at facets 0.15 wide."""


@pytest.fixture(autouse=True)
def own_kernels(monkeypatch):
    """Processes that compile find the kernels of this test."""
    monkeypatch.syspath_prepend(KERNELS)


def asked(surface, out, way=None, random=None):
    """Rows for the probes: `out`, `way` and `random` (n, 3)."""
    rows = np.zeros((len(out), at.COLUMNS), np.float32)
    for column, numbers in surface.items():
        rows[:, column : column + np.size(numbers)] = numbers
    rows[:, at.OUT : at.OUT + 3] = out
    rows[:, at.WAY : at.WAY + 3] = out if way is None else way
    if random is not None:
        rows[:, at.RANDOM : at.RANDOM + 3] = random
    return torch.from_numpy(rows)


def ask(rows, of="opaque"):
    """The probe's answers (n, ...)."""
    recipes = Recipe(at.make_opaque_probe), Recipe(at.make_glass_probe)
    opaque, glass = shared_kernels(ensure_runtime(), "f32", recipes, "surfaces of tests")
    found = torch.zeros(len(rows), 8)
    (opaque if of == "opaque" else glass)((rows, found))
    return found.double().numpy()


def tilted(angle, count=1):
    """The direction that leaves at an angle from the normal (count, 3)."""
    return np.tile([np.sin(angle), 0.0, np.cos(angle)], (count, 1))


def grid(fine=480):
    """Directions (n, 3) over the hemisphere at the middles of a grid's cells, and the solid angle of a cell."""
    z = (np.arange(fine) + 0.5) / fine
    around = 2 * np.pi * (np.arange(fine) + 0.5) / fine
    z, around = (part.reshape(-1) for part in np.meshgrid(z, around, indexing="ij"))
    across = np.sqrt(1 - z * z)
    return np.stack([across * np.cos(around), across * np.sin(around), z], axis=-1), 2 * np.pi / fine**2


def directions(rng, count):
    z = rng.uniform(0.02, 1.0, count)
    around, across = rng.uniform(0, 2 * np.pi, count), np.sqrt(1 - z * z)
    return np.stack([across * np.cos(around), across * np.sin(around), z], axis=-1)


@pytest.mark.parametrize("name", SURFACES)
def test_densities_and_energy_by_quadrature(name):
    """Densities add up to 1, less what a mirror sends below the surface; no more light leaves than came."""
    way, angle = grid()
    for tilt in TILTS:
        found = ask(asked(SURFACES[name], np.tile(tilted(tilt), (len(way), 1)), way))
        energy, whole = found[:, :3].sum(axis=0) * angle, found[:, 3].sum() * angle
        random = np.random.default_rng(0).random((50_000, 3))
        sampled = ask(asked(SURFACES[name], np.tile(tilted(tilt), (len(random), 1)), random=random))[:, 4:7]
        assert whole == pytest.approx((sampled[:, 2] > 0).mean(), abs=0.01), tilt
        assert energy.max() <= 1.0 + 1e-3, tilt
        if name == "matt":
            assert energy == pytest.approx(np.ones(3), abs=1e-3) and whole == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("name", SURFACES)
def test_samples_have_the_density_that_is_said(name):
    """A chi-square test over 12 x 16 cells of directions, of 200,000 samples."""
    way, angle = grid()
    random = np.random.default_rng(1).random((200_000, 3))
    for tilt in TILTS[:3]:
        density = ask(asked(SURFACES[name], np.tile(tilted(tilt), (len(way), 1)), way))[:, 3]
        expected = density.reshape(12, 40, 16, 30).sum(axis=(1, 3)) * angle * len(random)
        sampled = ask(asked(SURFACES[name], np.tile(tilted(tilt), (len(random), 1)), random=random))[:, 4:7]
        above = sampled[sampled[:, 2] > 0]
        row = np.minimum((above[:, 2] * 12).astype(int), 11)
        column = np.minimum((np.arctan2(above[:, 1], above[:, 0]) % (2 * np.pi) / (2 * np.pi) * 16).astype(int), 15)
        counts = np.bincount(row * 16 + column, minlength=192).astype(float)
        expected = expected.reshape(-1)
        # cells that expect few samples are one; what is below the surface is another
        many = expected > 50
        both = [np.append(part[many], [part[~many].sum(), 0.0]) for part in (counts, expected)]
        for part in both:
            part[-1] = len(random) - part[:-1].sum()
        kept = both[1] > 5
        observed, awaited = both[0][kept], both[1][kept]
        assert chisquare(observed, awaited * observed.sum() / awaited.sum()).pvalue > 1e-4, tilt


@pytest.mark.parametrize("name", SURFACES)
def test_both_directions_are_alike(name):
    """BSDF of (out, way) and (way, out); the probe gives it times the cosine of the second."""
    rng = np.random.default_rng(2)
    out, way = directions(rng, 2000), directions(rng, 2000)
    there, back = (ask(asked(SURFACES[name], *pair))[:, :3] for pair in ((out, way), (way, out)))
    assert np.allclose(there / way[:, 2:], back / out[:, 2:], rtol=SHORT, atol=1e-6)


@pytest.mark.parametrize("width", [0.0, 0.3])
@pytest.mark.parametrize("ratio", [1.5, 1 / 1.5])
def test_glass_by_fresnel_and_snell(width, ratio):
    """Smooth: shares by Fresnel's equations, directions by Snell's law. Rough: no energy is made, little is lost."""
    random = np.random.default_rng(3).random((50_000, 3))
    for tilt in TILTS:
        rows = asked({at.WIDTH: width, at.RATIO: ratio}, tilted(tilt, len(random)), random=random)
        way, weight, through = np.split(ask(rows, "glass")[:, :5], [3, 4], axis=1)
        mean = float(weight.mean())
        assert mean <= 1.0 + 1e-6
        if width:
            assert mean > 0.75, tilt  # light that would go from facet to facet is lost
            continue
        sine = np.sin(tilt) / ratio
        expected = 1.0
        if sine < 1:
            a, b = np.cos(tilt), np.sqrt(1 - sine**2)
            expected = 0.5 * (((ratio * a - b) / (ratio * a + b)) ** 2 + ((a - ratio * b) / (a + ratio * b)) ** 2)
        assert mean == 1.0 and 1 - through.mean() == pytest.approx(expected, abs=0.01)
        passed = through[:, 0] == 1
        assert np.abs(way[~passed] - tilted(-tilt)).max() < 1e-6
        assert passed.any() == (sine < 1)
        if passed.any():
            assert np.abs(way[passed] - [-sine, 0, -np.sqrt(1 - sine**2)]).max() < 1e-6

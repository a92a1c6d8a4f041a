"""Particles in the live page and in a replay are where their group says, as large and of its colors."""

import numpy as np
import pytest
import torch

from tumble.physics.rendering import ParticleGroup, WithParticles
from tumble.viewer import Recorder, Viewer, ViewerError
from tumble.viewer.replay import read_page

from .browser import OFFLINE, Browser, needs_chromium

COUNT = 30
RADII = torch.linspace(0.02, 0.05, COUNT)
GREEN = (0.1, 0.8, 0.1, 1.0)


@pytest.fixture
def sand(slider):
    """A source of two environments whose particles fall where `state` says, and that state."""
    slider.reset()
    rng = np.random.default_rng(0)
    state = {"places": torch.as_tensor(rng.uniform([-1, -1, 0.2], [1, 1, 2], (2, COUNT, 3)), dtype=torch.float32)}
    active = torch.ones(2, COUNT, dtype=torch.bool)
    active[1, :5] = False

    def groups():
        return [ParticleGroup(centers=state["places"], radius=RADII, active=active, rgba=GREEN)]

    return WithParticles(slider, groups), state


def test_a_replay_has_the_places(sand):
    """To the steps of whole numbers, 65534 in the box around all; particles that are not there have no place."""
    source, state = sand
    recorder, seen = Recorder(source), []
    for _ in range(4):
        recorder.add()
        seen.append(state["places"].numpy().copy())
        state["places"] = state["places"] - torch.tensor([0.0, 0.0, 0.05])
    about, arrays = read_page(recorder.replay().html())
    (group,) = about["particles"]
    assert about["surfaces"] == 4 and group["opacity"] == 1.0
    found = arrays["grains0"] * np.array(group["step"]) + np.array(group["low"])
    there = np.ones((4, 2, COUNT), bool)
    there[:, 1, :5] = False
    assert ((arrays["grains0"] == 65535).all(axis=-1) == ~there).all()
    assert np.abs(found - np.stack(seen))[there].max() < np.max(group["step"])
    np.testing.assert_allclose(arrays["grain_radii0"], RADII, rtol=1e-6)
    assert (arrays["grain_colors0"] == np.round(255 * np.array(GREEN[:3]))).all()


def test_a_replay_without_particles_has_none_of_their_arrays(slider):
    recorder = Recorder(slider)
    recorder.add()
    about, arrays = read_page(recorder.replay().html())
    assert about["particles"] == [] and about["surfaces"] == 3
    assert not [name for name in arrays if name.startswith("grain")]


def test_a_replay_refuses_groups_that_change(slider):
    slider.reset()
    groups = []
    recorder = Recorder(WithParticles(slider, groups))
    recorder.add()
    groups.append(ParticleGroup(centers=torch.zeros(2, 3, 3), radius=0.1))
    with pytest.raises(ViewerError, match="the same groups of particles in each frame"):
        recorder.add()


def test_the_live_page_shows_the_places(sand):
    pytest.importorskip("viser")
    source, state = sand
    viewer = Viewer(source, play=False)
    try:
        ((_, handle),) = viewer._particles._shown
        places = viewer._stage.offsets[:, None] + state["places"].numpy()
        np.testing.assert_allclose(handle.batched_positions.reshape(2, COUNT, 3)[0], places[0], atol=1e-6)
        expected = np.tile(RADII.numpy(), (2, 1))
        expected[1, :5] = 0.0
        np.testing.assert_allclose(handle.batched_scales.reshape(2, COUNT), expected, rtol=1e-6)
        state["places"] = state["places"] + 0.5
        viewer._draw()
        np.testing.assert_allclose(handle.batched_positions.reshape(2, COUNT, 3)[0], places[0] + 0.5, atol=1e-6)
    finally:
        viewer.close()


@pytest.mark.slow
@needs_chromium
def test_a_browser_draws_a_replay_with_particles(sand, tmp_path):
    """Green pixels, of which there are none without them, and no error on the page."""
    source, _ = sand
    recorder = Recorder(source)
    recorder.add()
    path = recorder.replay().save(tmp_path / "sand.html")
    browser = Browser(tmp_path / "profile", OFFLINE)
    try:
        browser.open(path.as_uri())
        browser.until("window.replay !== undefined && replay.drawn > 0")
        pixels = browser.picture().astype(int)
        green = (pixels[..., 1] > pixels[..., [0, 2]].max(axis=2) + 60).sum()
        assert green > 100 and not browser.problems
        assert browser.ask("replay.renderer.groups.at(-1).count") == 2 * COUNT - 5
    finally:
        browser.close()

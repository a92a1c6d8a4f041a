"""Particles fill shapes: volumes, bounds, the same places for the same seed, and what is refused."""

import numpy as np
import pytest
import trimesh

from tumble.soft.mpm import sampling


@pytest.mark.parametrize("rng", [None, 3])
def test_shapes_are_filled_evenly(rng):
    """Oracle: volumes of shapes, to the share of particles at their surface; the middle is the shape's."""
    draw = lambda: None if rng is None else np.random.default_rng(rng)  # noqa: E731
    for places, volume, half in (
        (sampling.in_box((0.3, 0.2, 0.1), 0.01, draw()), 0.006, (0.15, 0.1, 0.05)),
        (sampling.in_ball(0.1, 0.01, draw()), 4 / 3 * np.pi * 1e-3, (0.1, 0.1, 0.1)),
        (sampling.in_cylinder(0.1, 0.2, 0.01, draw()), np.pi * 2e-3, (0.1, 0.1, 0.1)),
        (sampling.in_ball(0.1, 0.01, draw(), 0.04), 4 / 3 * np.pi * (1e-3 - 0.04**3), (0.1, 0.1, 0.1)),
    ):
        assert len(places) * 1e-6 == pytest.approx(volume, rel=0.02)
        assert (np.abs(places) <= np.array(half) + 1e-12).all()
        assert np.abs(places.mean(0)).max() < 1e-3


def test_a_cell_has_a_particle():
    """Also at random: cells of a grid have one each."""
    for rng in (None, np.random.default_rng(0)):
        places = sampling.in_box((0.4, 0.3, 0.2), 0.1, rng)
        cells = np.floor((places + np.array([0.2, 0.15, 0.1])) / 0.1 + 1e-9)
        assert len(np.unique(cells, axis=0)) == len(cells) == 24
    first, second = (sampling.in_ball(0.1, 0.02, np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(first, second)


def test_a_mesh_is_filled():
    """Oracle: a cylinder as a mesh, and as itself; a box whose faces look inwards is turned over."""
    mesh = trimesh.creation.cylinder(radius=0.1, height=0.2, sections=64)
    places, volume = sampling.in_mesh(mesh.vertices, mesh.faces, 0.02)
    assert volume == pytest.approx(mesh.volume, rel=1e-9)
    assert len(places) * 0.02**3 == pytest.approx(volume, rel=0.03)
    assert np.hypot(*places[:, :2].T).max() < 0.1
    box = trimesh.creation.box((0.2, 0.2, 0.2))
    turned, volume = sampling.in_mesh(box.vertices + 1.0, box.faces[:, ::-1], 0.05)
    assert len(turned) == 64 and volume == pytest.approx(0.008) and np.allclose(turned.mean(0), 1.0)


def test_what_cannot_be_filled_is_refused():
    box = trimesh.creation.box((0.2, 0.2, 0.2))
    with pytest.raises(ValueError, match="it is not closed: 4 of its edges have a face on one side only"):
        sampling.in_mesh(box.vertices, box.faces[:-2], 0.05)
    sheet = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
    with pytest.raises(ValueError, match="encloses no volume"):
        sampling.in_mesh(sheet, np.array([[0, 1, 2]]), 0.05)
    with pytest.raises(ValueError, match=r"1 x 1 x 1 m would have 1e\+09 particles, and 16,777,216 are the most"):
        sampling.in_box((1, 1, 1), 0.001)
    with pytest.raises(ValueError, match="a particle size of 0 m: expected a length above 0"):
        sampling.in_box((1, 1, 1), 0.0)

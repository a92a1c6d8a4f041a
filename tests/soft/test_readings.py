"""Observations of matter: on known clouds, and with the same bits for any batch."""

import numpy as np
import pytest
import torch

from tumble.soft.mpm import readings


@pytest.fixture(scope="module")
def cloud():
    """Positions of 301 particles in five environments, of which some do not exist."""
    draw = torch.Generator().manual_seed(0)
    pos = torch.rand(5, 301, 3, generator=draw) * torch.tensor([2.0, 1.0, 0.5]) - torch.tensor([1.0, 0.0, 0.0])
    return pos, torch.rand(5, 301, generator=draw) > 0.3


def test_numbers_are_those_of_numpy(cloud):
    pos, active = cloud
    for env in range(5):
        there = pos[env, active[env]].double().numpy()
        assert np.allclose(readings.centroid(pos, active)[env], there.mean(0), atol=1e-6)
        assert np.allclose(readings.spread(pos, active)[env], there.std(0), atol=1e-6)
        inside = ((there >= (-0.5, 0.2, 0)) & (there <= (0.5, 0.8, 0.4))).all(1)
        box = ((-0.5, 0.2, 0.0), (0.5, 0.8, 0.4))
        assert readings.count_inside(pos, active, *box)[env] == inside.sum()
        assert readings.share_inside(pos, active, *box)[env] == pytest.approx(inside.mean(), rel=1e-6)
        heights = readings.height_map(pos, active, (-1, 0), (1, 1), (4, 3))[env]
        assert heights.shape == (4, 3)
        for i, j in np.ndindex(4, 3):
            column = (np.floor((there[:, 0] + 1) / 0.5) == i) & (np.floor(there[:, 1] * 3) == j)
            assert heights[i, j] == np.float32(there[column, 2].max())


def test_columns_without_particles_are_empty(cloud):
    pos, active = cloud
    heights = readings.height_map(pos, active, (5, 5), (6, 6), (2, 2))
    assert heights.shape == (5, 2, 2) and (heights == -torch.inf).all()
    nothing = torch.zeros_like(active)
    assert readings.share_inside(pos, nothing, (-9, -9, -9), (9, 9, 9)).tolist() == [0.0] * 5
    assert readings.centroid(pos, nothing).isnan().all()
    with pytest.raises(ValueError, match="height_map: expected lower below upper"):
        readings.height_map(pos, active, (1, 0), (0, 1), (2, 2))


def test_an_environment_has_its_bits_in_any_batch(cloud):
    pos, active = cloud
    for function in (readings.centroid, readings.spread):
        alone = torch.cat([function(pos[[env]], active[[env]]) for env in range(5)])
        assert torch.equal(function(pos, active), alone)


def test_key_particles_lie_far_apart():
    """Oracle: each is as far from those before it as any particle is; the first is nearest to the middle."""
    places = np.random.default_rng(1).random((60, 3))
    found = readings.key_particles(places, 8)
    assert found[0] == np.linalg.norm(places - places.mean(0), axis=1).argmin()
    for count in range(1, 8):
        gaps = np.linalg.norm(places[:, None] - places[found[:count]], axis=2).min(1)
        assert gaps[found[count]] == gaps.max()
    assert sorted(readings.key_particles(places, 60)) == list(range(60))
    with pytest.raises(ValueError, match="key_particles: count=61: expected a number from 1 to 60"):
        readings.key_particles(places, 61)

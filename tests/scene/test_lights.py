"""Lights of a scene: they take the place of the sun in pictures, and shine where they are said to."""

import numpy as np
import pytest

import tumble.scene as gs
from tumble.physics.machine.runtime import init

HEIGHT, CUTOFF = 3.0, 20.0
"""A lamp above the floor, m, and the half angle of its cone, degrees."""
EYE = 6.0
"""m above the floor; a field of view of 60 degrees."""


@pytest.fixture(scope="module")
def pictures():
    """The floor from above without lights, under a lamp, and under a weaker one; red, green and blue from 0 to 1."""
    init(precision="32")
    return [made(None), made(1.0), made(0.5)]


def made(intensity):
    scene = gs.Scene()
    scene.add_entity(gs.morphs.Box(size=(8, 8, 0.1), pos=(0, 0, -0.05), fixed=True), surface=gs.surfaces.Rough())
    if intensity is not None:
        scene.add_light((0.5, 0, HEIGHT), (0, 0, -1), color=(1.0, 0.9, 0.8), intensity=intensity, cutoff=CUTOFF)
    camera = scene.add_camera(res=(64, 64), pos=(0, 0, EYE), lookat=(0, 0, 0), up=(0, 1, 0), fov=60)
    scene.build()
    picture = camera.render()[0].astype(float) / 255
    scene.close()
    return picture


def distances():
    """Return the distance of the floor that each pixel sees from the point below the lamp, (64, 64) m."""
    ahead = ((np.arange(64) + 0.5) / 32 - 1) * np.tan(np.radians(30)) * EYE
    return np.hypot(ahead[None, :] - 0.5, -ahead[:, None])


def test_a_lamp_shines_within_its_cone(pictures):
    _, lit, _ = pictures
    far, edge = distances(), HEIGHT * np.tan(np.radians(CUTOFF))
    inside, outside = lit[far < 0.8 * edge].sum(-1), lit[far > edge + 0.1].sum(-1)
    assert inside.min() > outside.max() + 0.1


def test_outside_the_cone_the_headlight_alone_is_left(pictures):
    plain, lit, weak = pictures
    outside = distances() > HEIGHT * np.tan(np.radians(CUTOFF)) + 0.1
    np.testing.assert_array_equal(lit[outside], weak[outside])
    assert (lit[outside].sum(-1) < plain[outside].sum(-1) - 0.1).all(), "the sun is off"


def test_a_stronger_lamp_is_brighter(pictures):
    _, lit, weak = pictures
    below = distances() < 0.5
    assert (lit[below].sum(-1) > weak[below].sum(-1) + 0.05).all()

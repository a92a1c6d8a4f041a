"""Distances of points from shapes beside MuJoCo's mj_geomDistance of a speck."""

import mujoco
import numpy as np
import pytest

from tumble.soft.mpm.contact.shapes import CLOSED

from .arithmetic import Numpy

SPECK = 1e-9
"""m: radius of the sphere that stands for a point."""
SIZES = {
    "sphere": (0.3,),
    "capsule": (0.1, 0.2),
    "ellipsoid": (0.1, 0.2, 0.3),
    "cylinder": (0.2, 0.1),
    "box": (0.1, 0.2, 0.3),
}
CLOSE = {"ellipsoid": 1e-4}
"""m: Newton's method is given eight steps; the other forms are exact, to MuJoCo's search."""


def distances(kind, points):
    """MuJoCo's distances of points outside, and the directions away, from its nearest points."""
    size = " ".join(map(str, SIZES[kind]))
    mjm = mujoco.MjModel.from_xml_string(
        f"<mujoco><option ccd_tolerance='1e-12' ccd_iterations='500'/><worldbody><geom type='{kind}' size='{size}'/>"
        f"<body mocap='true'><geom type='sphere' size='{SPECK}'/></body></worldbody></mujoco>"
    )
    data, fromto, found = mujoco.MjData(mjm), np.zeros(6), []
    for point in points:
        data.mocap_pos[0] = point
        mujoco.mj_forward(mjm, data)
        distance = mujoco.mj_geomDistance(mjm, data, 0, 1, 10.0, fromto)
        found.append((distance, *(fromto[3:] - fromto[:3])))
    found = np.array(found)
    return found[:, 0], found[:, 1:] / np.linalg.norm(found[:, 1:], axis=1, keepdims=True)


@pytest.mark.parametrize("kind", SIZES)
def test_distances_outside_are_mujocos(kind):
    points = np.random.default_rng(0).uniform(-0.6, 0.6, (400, 3))
    found, away = CLOSED[kind](Numpy, SIZES[kind], list(points.T))
    outside = found > 0.01
    exact, direction = distances(kind, points[outside])
    bound = CLOSE.get(kind, 1e-6)
    np.testing.assert_allclose(found[outside], exact, atol=bound)
    np.testing.assert_allclose(np.array(away).T[outside], direction, atol=bound * 50)


@pytest.mark.parametrize("kind", [*SIZES, "plane"])
def test_the_direction_is_the_gradient(kind):
    """In and out: differences of the distance, away from edges, where they have none."""
    size, step = SIZES.get(kind, (1.0,)), 1e-6
    points = np.random.default_rng(1).uniform(-0.5, 0.5, (400, 3))
    distance, away = CLOSED[kind](Numpy, size, list(points.T))
    slopes = []
    for axis in range(3):
        ends = [CLOSED[kind](Numpy, size, list((points + side * step * np.eye(3)[axis]).T))[0] for side in (1, -1)]
        slopes.append((ends[0] - ends[1]) / (2 * step))
    smooth = np.abs(np.linalg.norm(slopes, axis=0) - 1) < 1e-3
    if kind == "ellipsoid":  # inside it is a distance of first order, and its slope is not 1
        smooth &= distance > 0
    assert smooth.mean() > 0.9
    np.testing.assert_allclose(np.array(away)[:, smooth], np.array(slopes)[:, smooth], atol=0.03)
    np.testing.assert_allclose(np.linalg.norm(away, axis=0), 1.0, atol=1e-12)


@pytest.mark.parametrize("kind", SIZES)
def test_places_without_a_direction_have_one(kind):
    """The middle of a shape, and its axis: finite, and of length 1."""
    points = np.array([[0, 0, 0], [0, 0, 0.05], [0, 0, 0.5], [0.05, 0, 0]], float)
    distance, away = CLOSED[kind](Numpy, SIZES[kind], list(points.T))
    assert np.isfinite(distance).all()
    np.testing.assert_allclose(np.linalg.norm(away, axis=0), 1.0, atol=1e-9)

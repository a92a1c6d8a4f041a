"""Morphs, materials, surfaces and options: what they take, and what they refuse."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tumble
import tumble.scene as gs
from tumble.scene.poses import quat_of_euler, quat_of_z

from ..cases import cases

KIND = {"Box": {"size": (1, 1, 1)}, "MJCF": {"file": "ant.xml"}, "Mesh": {"file": "duck.obj"}}


def test_the_scene_has_one_door():
    assert tumble.Scene is gs.Scene


@pytest.mark.parametrize("degrees", [(10, 20, 30), (-100, 80, 190), (0, 90, 0)])
def test_euler_is_about_fixed_axes_in_degrees(degrees):
    """Oracle: scipy's extrinsic x-y-z."""
    wanted = Rotation.from_euler("xyz", degrees, degrees=True).as_matrix()
    x, y, z, w = 1, 2, 3, 0
    found = Rotation.from_quat(quat_of_euler(degrees)[[x, y, z, w]]).as_matrix()
    np.testing.assert_allclose(found, wanted, atol=1e-15)


@pytest.mark.parametrize("direction", [(0, 0, 2), (0, 0, -1), (1, 0, 0), (-1, 2, -3)])
def test_a_plane_turns_its_z_axis_to_its_normal(direction):
    turn = Rotation.from_quat(np.roll(quat_of_z(direction), -1))
    np.testing.assert_allclose(turn.apply([0, 0, 1]), direction / np.linalg.norm(direction), atol=1e-15)


def test_a_box_from_its_corners_is_that_from_its_middle():
    box = gs.morphs.Box(lower=(0, 1, 2), upper=(1, 3, 5))
    assert box.size == (1, 2, 3) and box.pos == (0.5, 2, 3.5)


REFUSED = {
    "a misspelt argument": (lambda: gs.morphs.Box(sise=(1, 1, 1)), TypeError, "no argument 'sise'; nearest: size"),
    "a value by position": (lambda: gs.morphs.Sphere(0.1), TypeError, "Sphere takes only keyword arguments"),
    "no size": (lambda: gs.morphs.Box(), ValueError, "either size, or both lower and upper"),
    "a flat box": (lambda: gs.morphs.Box(size=(1, 0, 1)), ValueError, "size=.* above 0"),
    "crossed corners": (lambda: gs.morphs.Box(lower=(0, 0, 0), upper=(1, -1, 1)), ValueError, "must be below"),
    "a negative radius": (lambda: gs.morphs.Sphere(radius=-1), ValueError, "radius=-1: it must be above 0"),
    "two numbers as a place": (lambda: gs.morphs.Sphere(pos=(0, 0)), ValueError, "pos=.*expected 3 finite numbers"),
    "a place that is none": (lambda: gs.morphs.Sphere(pos=(0, 0, np.nan)), ValueError, "pos=.*3 finite"),
    "two orientations": (lambda: gs.morphs.Sphere(euler=(0, 0, 0), quat=(1, 0, 0, 0)), ValueError, "not both"),
    "a quaternion of length 0": (lambda: gs.morphs.Sphere(quat=(0, 0, 0, 0)), ValueError, "must have a length"),
    "nothing at all": (lambda: gs.morphs.Sphere(visualization=False, collision=False), ValueError, "nothing would"),
    "a plane that moves": (lambda: gs.morphs.Plane(fixed=False), ValueError, "it cannot move"),
    "bits that are none": (lambda: gs.morphs.Sphere(contype=-1), ValueError, "contype=-1: expected a bit mask"),
    "no file": (lambda: gs.morphs.MJCF(), ValueError, "file='': expected the path"),
    "no density": (lambda: gs.materials.Rigid(rho=0), ValueError, "rho=0: it must be above 0"),
    "negative friction": (lambda: gs.materials.Rigid(friction=-0.1), ValueError, "friction=-0.1: it must be at least"),
    "a colour beyond 1": (lambda: gs.surfaces.Default(color=(2, 0, 0)), ValueError, "from 0 to 1"),
    "no time": (lambda: gs.options.SimOptions(dt=0), ValueError, "dt=0: it must be above 0"),
    "half a substep": (lambda: gs.options.SimOptions(substeps=0.5), ValueError, "substeps=0.5: expected a whole"),
    "half a gradient": (lambda: gs.options.SimOptions(requires_grad=0.5), ValueError, "requires_grad"),
    "an unknown integrator": (lambda: gs.options.RigidOptions(integrator="RK5"), ValueError, "nearest: RK4"),
    "an unknown machine": (lambda: gs.init(backend="tpu"), ValueError, "gs.cpu, gs.gpu or gs.cuda"),
}


@cases("what", REFUSED)
def test_nonsense_is_refused_in_a_sentence(what):
    call, error, message = REFUSED[what]
    with pytest.raises(error, match=message):
        call()

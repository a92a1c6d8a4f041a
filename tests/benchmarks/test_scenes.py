"""The crowded scenes: what the command line names is there, and each is what its name says."""

import mujoco
import numpy as np
import pytest

from tumble.benchmarks import main
from tumble.benchmarks.scenes import SCENES

FREE, HINGE = mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_HINGE


def test_the_command_line_names_every_scene():
    assert tuple(SCENES) == main.SCENES


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_has_as_many_bodies_as_its_name_says(name):
    kind, count = name.rsplit("-", 1)
    mj = SCENES[name].build().compile()
    assert np.sum(mj.jnt_type == (HINGE if kind == "chain" else FREE)) == int(count)


def test_bodies_touch_each_other_in_piles_and_nowhere_else():
    for name, touching in {"spheres-27": True, "capsules-27": True, "boxes-30": False, "chain-100": False}.items():
        mj = SCENES[name].build().compile()
        data = mujoco.MjData(mj)
        for _ in range(150):
            mujoco.mj_step(mj, data)
        bodies = mj.geom_bodyid[data.contact.geom]
        assert bool((bodies > 0).all(1).any()) == touching, name

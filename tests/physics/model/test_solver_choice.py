"""Which solver a model gets: what the user says, what the file says, or the rule."""

import mujoco
import pytest

from tumble.benchmarks.scenes import SCENES, SPHERE, pile, robots
from tumble.physics import Model

from ...cases import cases

BALL = '<mujoco><option solver="{}"/><worldbody><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>'


def test_a_file_says_what_it_wants():
    assert Model.from_mjcf(BALL.format("CG")).solver == "cg"
    assert Model.from_mjcf(BALL.format("Newton")).solver == "newton"
    pgs = Model.from_mjcf(BALL.format("PGS"))
    assert pgs.solver == "newton"
    assert pgs.notes == ["solver PGS: Tumble uses Newton, which solves the same convex problem"]


def test_the_user_says_it_last():
    assert Model.from_mjcf(BALL.format("CG"), solver="newton").solver == "newton"
    assert Model.from_mjcf(BALL.format("Newton"), solver="cg").solver == "cg"
    assert Model.from_mjcf(BALL.format("CG"), solver="auto").solver == "cg"
    with pytest.raises(ValueError, match="option solver: no such value 'fast'"):
        Model.from_mjcf(BALL.format("CG"), solver="fast")


@cases("scene", SCENES)
def test_crowds_of_bodies_get_conjugate_gradients(scene):
    """Robots in one file stay with Newton, as do bodies that cannot touch each other; notes say what was chosen."""
    model = Model.from_mjspec(SCENES[scene].build())
    crowd = scene.startswith(("spheres", "capsules", "bin-", "pyramid"))
    assert model.solver == ("cg" if crowd else "newton")
    assert ("conjugate gradients" in "".join(model.notes)) == crowd
    assert Model.from_mjspec(SCENES[scene].build(), solver="newton").solver == "newton"


def test_a_crowd_needs_bodies_that_meet():
    few = pile(SPHERE, [0.1, 0, 0], 15)
    assert Model.from_mjspec(few).solver == "newton"
    compiled = robots("humanoid.xml", 10).compile()
    assert Model.from_mjmodel(compiled, solver="auto").solver == "newton"
    assert Model.from_mjmodel(pile(SPHERE, [0.1, 0, 0], 16).compile()).solver == "cg"
    assert isinstance(compiled, mujoco.MjModel)

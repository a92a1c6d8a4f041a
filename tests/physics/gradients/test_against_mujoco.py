"""Derivatives of steps are MuJoCo's: Jacobians beside fourth-order differences of mj_step, in every kind of model.

The default run has one model of all mechanisms, and one pair of convex shapes, in a few states; `-m slow` all models of
the parity suite, with all integrators, in 20 states and the reference pose at rest, pairs of shapes, terrain and
distance fields.
"""

import mujoco
import numpy as np
import pytest

from tumble.physics import Model, RigidSolver

from ...widths import WIDTH
from ..parity import catalogue
from . import parity
from .differences import derivative, exact

pytestmark = pytest.mark.usefixtures("double")

FEW = (
    *("ball_chain", "everything", "condim_6, elliptic", "surface_velocity", "adhesion", "equalities", "tendon_paths"),
    *("activations", "dc_motor", "orientation", "fluid_ellipsoids", "actuator_inertia, on", "random 1"),
)
"""Models that together have most mechanisms."""
REMEMBER = ("delays", "plastic", "pid", "activations")
"""Models whose steps leave more behind than positions and velocities: seen in the steps that follow."""
OTHERWISE = (
    *("ellipsoid and cylinder", "cube and prism", "height field and box, by surface", "dead bands", "drag"),
    "distance fields: torus and sphere",
)
STATES, STEPS = 3, 3


def quick(chosen: str, *names: str) -> list:
    """Mark all names but one as slow."""
    return [name if name == chosen else pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.mark.parametrize("name", quick("everything", *FEW))
def test_jacobians_are_mujocos(name):
    row = parity.model_row(name, STATES, ("Euler",))
    assert not row.beyond, "\n".join(row.beyond)
    assert row.settled > 0


@pytest.mark.parametrize("integrator", quick("implicitfast", *parity.INTEGRATORS[1:]))
def test_jacobians_are_mujocos_with_other_integrators(integrator):
    row = parity.model_row("everything", STATES, (integrator,))
    assert not row.beyond, "\n".join(row.beyond)
    assert row.settled > 0


@pytest.mark.parametrize("name", quick("activations", *REMEMBER))
def test_jacobians_of_several_steps_are_mujocos(name):
    mjm = exact(catalogue.load(name), "implicitfast")
    row = parity.compare(name, mjm, parity.with_rest(mjm, STATES), STEPS)
    assert not row.beyond, "\n".join(row.beyond)
    assert row.settled > 0


@pytest.mark.parametrize("name", quick("cube and prism", *OTHERWISE))
def test_jacobians_are_differences_of_the_plain_solver(name):
    """Where MuJoCo's contacts are less exact, or there are none."""
    row = parity.row_of(name, STATES)
    assert not row.beyond, "\n".join(row.beyond)


def test_a_missing_term_is_seen():
    """The comparison would see if a column of a Jacobian were zero, also one of small entries."""
    mjm = exact(catalogue.load("everything"), "Euler")
    state = parity.with_rest(mjm, 1)[[1]]
    theirs = derivative(mjm, state)
    (jacobian,) = parity.transition(RigidSolver(Model.from_mjmodel(mjm), 1, lanes=WIDTH), state)
    assert not parity.errors(jacobian, theirs)[1].any()
    for j in np.flatnonzero(theirs.settled & (np.abs(theirs.jacobian).max(axis=0) > 1e-6 * theirs.scale)):
        spoiled = np.array(jacobian)
        spoiled[:, j] = 0.0
        assert parity.errors(spoiled, theirs)[1][j]


def test_kinks_and_switches_are_told_apart():
    """A ball above a plane, on its margin, and a control at the end of its range."""
    mjm = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .1'>"
        "<joint name='z' type='slide' axis='0 0 1'/>"
        "<geom size='.1'/></body></worldbody>"
        "<actuator><motor joint='z' gear='100' ctrlrange='0 1'/></actuator></mujoco>"
    )
    found = derivative(exact(mjm, "Euler"), parity.with_rest(mjm, 1)[[0]])
    assert found.reasons == ["contacts come or go", "", "kink"]


@pytest.mark.slow
@pytest.mark.parametrize("name", parity.names(12))
def test_jacobians_of_every_model(name):
    row = parity.row_of(name, 20)
    print(row.describe())
    assert not row.beyond, "\n".join(row.beyond)

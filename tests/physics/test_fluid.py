"""Fluids: terminal velocities in closed form, and environments with a fluid of their own."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver

from ..models.purpose import FOLDER
from .parity.catalogue import load
from .parity.states import sample

pytestmark = pytest.mark.usefixtures("double")

LANES = 4
FILE = FOLDER / "fluid.xml"
OWN = {
    "density": np.array([300.0, 0.0, 900.0, 20.0]),
    "viscosity": np.array([0.8, 3.0, 0.0, 0.1]),
    "wind": np.array([[0.6, -0.4, 0.3], [0.0, 0.0, 0.0], [-2.0, 1.0, 0.5], [5.0, 0.0, 0.0]]),
}
ROUNDING = 1e-9
"""Relative to the largest entry: as parity in double precision."""


@pytest.fixture(scope="module")
def mjm():
    mjm = load("fluid")
    mjm.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    return mjm


@pytest.fixture(scope="module")
def states(mjm):
    return sample(mjm, LANES, 3)


@pytest.fixture(scope="module")
def solver(mjm):
    return RigidSolver(Model.from_mjmodel(mjm), LANES, lanes=LANES)


def begin(solver, states):
    solver.reset()
    solver.set_state(states.qpos, states.qvel)


def test_numbers_of_their_own_equal_mujocos(mjm, states, solver):
    """Forces and ten steps, in a fluid of each environment's own: one is not viscous, one has no density."""
    solver.update_parameters(OWN)
    begin(solver, states)
    solver.forward()
    force = solver.get("qfrc_passive").numpy()
    solver.step(10)
    qvel = solver.qvel.numpy()
    for env in range(LANES):
        for name, values in OWN.items():
            setattr(mjm.opt, name, values[env])
        data = mujoco.MjData(mjm)
        data.qpos[:], data.qvel[:] = states.qpos[env], states.qvel[env]
        mujoco.mj_forward(mjm, data)
        assert np.abs(data.qfrc_fluid).max() > 1.0
        assert np.abs(force[env] - data.qfrc_passive).max() < ROUNDING * np.abs(data.qfrc_passive).max()
        mujoco.mj_step(mjm, data, 10)
        assert np.abs(qvel[env] - data.qvel).max() < ROUNDING * np.abs(data.qvel).max()
    for name in OWN:
        setattr(mjm.opt, name, OWN[name][0])


def test_bad_states_and_numbers_stay_where_they_are(states, solver):
    """A broken environment changes no bit of another; nor does a neighbour's fluid."""
    solver.update_parameters(OWN)
    begin(solver, states)
    solver.step(5)
    clean = solver.qvel.clone()
    qvel = states.qvel.copy()
    qvel[1] = np.nan
    solver.set_parameters("density", OWN["density"] * [1, 1, 1, 9])
    solver.reset()
    solver.set_state(states.qpos, qvel)
    solver.step(5)
    assert torch.equal(solver.qvel[[0, 2]], clean[[0, 2]])
    assert not torch.equal(solver.qvel[3], clean[3])


@pytest.mark.parametrize(("density", "viscosity"), [(300.0, 0.0), (0.0, 40.0), (300.0, 40.0)])
def test_a_sphere_sinks_at_its_terminal_velocity(mjm, solver, density, viscosity):
    """Weight = 6 pi mu r v + rho c pi r^2 v^2 of MuJoCo's ellipsoid with the default blunt drag c = 1/2."""
    solver.update_parameters({"density": density, "viscosity": viscosity, "wind": np.zeros(3)})
    solver.reset()
    for _ in range(20):
        solver.step(200)
    radius, mass = 0.1, mjm.body_mass[mjm.nbody - 1]
    a, b, c = density * 0.5 * np.pi * radius**2, 6 * np.pi * viscosity * radius, mass * 9.81
    speed = (np.sqrt(b * b + 4 * a * c) - b) / (2 * a) if a else c / b
    dof = mjm.body_dofadr[mjm.nbody - 1]
    assert np.allclose(solver.qvel[:, dof + 2], -speed, rtol=1e-6)


def test_only_models_in_a_fluid_have_one():
    dry = Model.from_mjcf("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
    assert dry.sizes["nfluid"] == 0
    still = Model.from_mjcf(FILE, disableflags=["spring", "damper"])
    assert still.sizes["nfluid"] == 0
    assert Model.from_mjcf(FILE).sizes["nfluid"] == 8


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"density": -1.0}, r"density of environment 0 is -1: it must not be negative"),
        ({"wind": [0.0, np.nan, 0.0]}, r"wind\[1\] of environment 0 is nan: it must be finite"),
        ({"viscosity": [1.0, 2.0]}, r"viscosity: expected shape \(4,\)"),
    ],
)
def test_impossible_fluids_are_refused(solver, numbers, message):
    with pytest.raises(ValueError, match=message):
        solver.update_parameters(numbers)

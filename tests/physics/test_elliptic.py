"""Elliptic friction cones: MuJoCo's contacts by both solvers, and the angle of friction in every direction.

Rows and fields are compared with MuJoCo's in the parity suite; here are the other solver, states of rows, and a law.
"""

import copy

import mujoco
import numpy as np
import pytest

from tumble.physics import Model, RigidSolver

from .parity.catalogue import load
from .parity.reference import ELLIPTIC, reference_model
from .parity.run import settings_of
from .parity.states import sample

pytestmark = pytest.mark.usefixtures("double")

CONVERGED = {"tolerance": 1e-18, "iterations": 300, "ls_iterations": 100}
SOLUTION = 1e-8
"""Of the largest number: the square root of the tolerance, and ten times that for conjugate gradients."""
COUNT, LANES = 32, 4
MU, IMPRATIO = 0.6, 20.0
CREEP = 0.01
"""Part of the way of a block without friction: a soft contact that holds lets it creep."""


@pytest.mark.parametrize("which", ["newton", "cg"])
def test_contacts_are_mujocos_by_both_solvers(which):
    mjm = load("mixing, elliptic")
    theirs = reference_model(mjm, **settings_of(mjm))
    theirs.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ISLAND)  # which leave efc_state in another order
    states = sample(theirs, COUNT)
    ours = copy.copy(mjm)
    ours.opt.solver = int(mujoco.mjtSolver.mjSOL_NEWTON if which == "newton" else mujoco.mjtSolver.mjSOL_CG)
    for name, value in CONVERGED.items():
        setattr(ours.opt, name, value)
    solver = RigidSolver(Model.from_mjmodel(ours), COUNT, lanes=LANES)
    assert solver.model.solver == which
    solver.set_state(states.qpos, states.qvel)
    solver.ctrl = states.ctrl
    solver.forward()
    data, zones = mujoco.MjData(theirs), np.zeros(5, int)
    for env in range(COUNT):
        mujoco.mj_resetData(theirs, data)
        data.qpos[:], data.qvel[:], data.ctrl[:] = states.qpos[env], states.qvel[env], states.ctrl[env]
        mujoco.mj_forward(theirs, data)
        found = solver.inspect(env)
        for name in ("qacc", "qfrc_constraint"):
            own, reference = found[name], getattr(data, name)
            assert np.abs(own - reference).max() <= SOLUTION * max(1.0, np.abs(reference).max()), (env, name)
        rows = found["efc_type"] == ELLIPTIC
        assert np.array_equal(found["efc_type"][rows], data.efc_type[data.efc_type == ELLIPTIC])
        zones += np.bincount(found["efc_state"][rows], minlength=5)
    kinds = [int(getattr(mujoco.mjtConstraintState, f"mjCNSTRSTATE_{n}")) for n in ("SATISFIED", "QUADRATIC", "CONE")]
    assert (zones[kinds] > 0).all(), "each of the three zones occurs"


@pytest.mark.parametrize("which", ["newton", "cg"])
def test_the_angle_of_friction_is_the_same_in_every_direction(which):
    """A block without rolling on a slope: it holds below atan(mu), and slides above it with g (sin - mu cos)."""
    xml = f"""<mujoco><option cone="elliptic" impratio="{IMPRATIO}" tolerance="1e-14" iterations="200"/><worldbody>
    <geom type="plane" size="9 9 1" friction="{MU}"/>
    <body pos="0 0 .0999"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
    <joint type="slide" axis="0 0 1"/><geom type="sphere" size=".1" friction="{MU}" condim="3"/></body>
    </worldbody></mujoco>"""
    model, time = Model.from_mjcf(xml, solver=which), 0.6
    solver = RigidSolver(model, COUNT, lanes=LANES)
    heading = np.linspace(0, 2 * np.pi, COUNT, endpoint=False)
    angle = np.arctan(MU) + np.radians(np.tile([-1.0, 1.0], COUNT // 2))
    down = np.stack((np.sin(angle) * np.cos(heading), np.sin(angle) * np.sin(heading), -np.cos(angle)), 1)
    solver.set_parameters("gravity", 9.81 * down)
    solver.step(round(time / model.mj.opt.timestep))
    way = solver.qpos[:, :2].numpy()
    along = way @ np.stack((np.cos(heading), np.sin(heading)))
    along = along[np.arange(COUNT), np.arange(COUNT)]
    free = 0.5 * 9.81 * np.sin(angle) * time**2
    slides = np.arange(COUNT) % 2 == 1
    assert (along[~slides] < CREEP * free[~slides]).all()
    expected = 0.5 * 9.81 * (np.sin(angle) - MU * np.cos(angle)) * time**2
    assert np.abs(along[slides] - expected[slides]).max() < CREEP * free.max()
    assert expected[slides].min() > 2 * CREEP * free.max()  # so that the bounds tell one from the other
    across = np.linalg.norm(way - along[:, None] * np.stack((np.cos(heading), np.sin(heading)), 1), axis=1)
    assert across.max() < 1e-9  # a pyramid would turn it aside

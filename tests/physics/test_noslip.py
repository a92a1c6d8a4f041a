"""Noslip: MuJoCo's friction after the solver, by both solvers, and bodies that do not creep.

Rows and fields are compared with MuJoCo's in the parity suite as well.
"""

import copy

import mujoco
import numpy as np
import pytest

from tumble.physics import Model, RigidSolver

from .parity.catalogue import load
from .parity.reference import reference_model
from .parity.states import sample

pytestmark = pytest.mark.usefixtures("double")

CONVERGED = {"tolerance": 1e-18, "iterations": 300, "ls_iterations": 100}
SOLUTION = 1e-6
"""Of accelerations and forces relative to the largest: both sides stop at their own tolerance."""
SWEEPS = 3
COUNT, LANES = 32, 4
KINDS = {"newton": mujoco.mjtSolver.mjSOL_NEWTON, "cg": mujoco.mjtSolver.mjSOL_CG}


def model_of(name: str, which: str = "newton", **options: object) -> mujoco.MjModel:
    mjm = copy.copy(load(name))
    mjm.opt.solver = int(KINDS[which])
    mjm.tendon_frictionloss[:] *= 5.0  # so that most tendons are held, by losses within their limits
    for option, value in (CONVERGED | {"noslip_iterations": SWEEPS} | options).items():
        setattr(mjm.opt, option, value)
    return mjm


def solver_of(mjm: mujoco.MjModel, states: object) -> RigidSolver:
    solver = RigidSolver(Model.from_mjmodel(mjm), len(states), lanes=LANES)
    solver.set_state(states.qpos, states.qvel)
    solver.ctrl = states.ctrl
    return solver


@pytest.mark.parametrize("islands", [True, False])
@pytest.mark.parametrize("which", ["newton", pytest.param("cg", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name",
    [
        *("noslip", "tendons", "adhesion"),
        pytest.param("noslip, elliptic", marks=pytest.mark.slow),
        pytest.param("adhesion, elliptic", marks=pytest.mark.slow),
        pytest.param("repeated_pairs", marks=pytest.mark.slow),
        pytest.param("repeated_pairs, elliptic", marks=pytest.mark.slow),
    ],
)
def test_friction_after_a_few_sweeps_is_mujocos(name, which, islands):
    """Three sweeps do not converge: each is MuJoCo's only if its rows come in the same order."""
    flags = 0 if islands else int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
    mjm = model_of(name, which, disableflags=flags, noslip_tolerance=1e-4 if which == "newton" else 0.0)
    theirs = reference_model(mjm)
    states = sample(theirs, COUNT)
    solver = solver_of(mjm, states)
    assert solver.model.solver == which
    solver.forward()
    data, without, changed = mujoco.MjData(theirs), copy.copy(theirs), 0
    without.opt.noslip_iterations = 0
    for env in range(COUNT):
        values = {}
        for model in (without, theirs):
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:], data.ctrl[:] = states.qpos[env], states.qvel[env], states.ctrl[env]
            mujoco.mj_forward(model, data)
            values[model is theirs] = np.array(data.qacc)
        changed += np.abs(values[True] - values[False]).max() > 1e3 * SOLUTION * np.abs(values[True]).max()
        found = solver.inspect(env)
        for field in ("qacc", "qfrc_constraint"):
            own, reference = found[field], getattr(data, field)
            assert np.abs(own - reference).max() <= SOLUTION * max(1.0, np.abs(reference).max()), (env, field)
    assert changed > COUNT / 2


def test_each_environment_has_its_own_numbers():
    mjm = model_of("noslip")
    states = sample(reference_model(mjm), COUNT)
    rng = np.random.default_rng(1)
    friction = mjm.geom_friction * rng.uniform(0.5, 1.5, (COUNT, mjm.ngeom, 1))
    loss = mjm.dof_frictionloss * rng.uniform(0.5, 2.0, (COUNT, 1)) * (rng.random((COUNT, 1)) < 0.8)
    solver = solver_of(mjm, states)
    solver.update_parameters({"geom_friction": friction, "dof_frictionloss": loss})
    solver.forward()
    for env in range(0, COUNT, 4):
        own = reference_model(mjm)
        own.geom_friction[:], own.dof_frictionloss[:] = friction[env], loss[env]
        data = mujoco.MjData(own)
        data.qpos[:], data.qvel[:], data.ctrl[:] = states.qpos[env], states.qvel[env], states.ctrl[env]
        mujoco.mj_forward(own, data)
        assert np.abs(solver.get("qacc")[env].numpy() - data.qacc).max() <= SOLUTION * np.abs(data.qacc).max()


@pytest.mark.slow
def test_each_environment_has_its_own_losses_of_tendons():
    """Some have none; a tendon's row has its dofs and all their ancestors, here those of several branches and trees."""
    mjm = model_of("tendons", noslip_iterations=20)
    states = sample(reference_model(mjm), COUNT)
    rng = np.random.default_rng(2)
    loss = (
        mjm.tendon_frictionloss * rng.uniform(0.5, 2.0, (COUNT, mjm.ntendon)) * (rng.random((COUNT, mjm.ntendon)) < 0.8)
    )
    solver = solver_of(mjm, states)
    solver.set_parameters("tendon_frictionloss", loss)
    solver.forward()
    for env in range(COUNT):
        own = reference_model(mjm)
        own.tendon_frictionloss[:] = loss[env]
        data = mujoco.MjData(own)
        data.qpos[:], data.qvel[:], data.ctrl[:] = states.qpos[env], states.qvel[env], states.ctrl[env]
        mujoco.mj_forward(own, data)
        rows = solver.inspect(env)
        assert np.abs(rows["qacc"] - data.qacc).max() <= SOLUTION * np.abs(data.qacc).max()
        tendons = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_FRICTION_TENDON)
        assert np.count_nonzero(tendons) == np.count_nonzero(loss[env])
        np.testing.assert_allclose(rows["efc_force"][tendons], data.efc_force[tendons], atol=SOLUTION)


REPEATED = """<mujoco>
<option noslip_iterations="2" noslip_tolerance="0" tolerance="1e-18" iterations="300"/>
<worldbody><geom name="ground" type="plane" size="5 5 1"/>
<body pos="0 0 0.0995"><freejoint/><geom name="crate" type="box" size="0.1 0.09 0.1"/></body></worldbody>
<contact><pair geom1="crate" geom2="ground" condim="3" friction="0.5 0.5 0 0 0"/>
<pair geom1="crate" geom2="ground" condim="4" friction="0.9 0.3 0.05 0 0"/></contact></mujoco>"""


def test_contacts_of_several_pairs_come_pair_by_pair():
    """All contacts of the first pair of two geoms come before those of the second, as in MuJoCo."""
    model = Model.from_mjcf(REPEATED)
    solver, push = RigidSolver(model, LANES, lanes=LANES), np.array([3.0, 1.0, 0.0, 0.0, 0.0, 0.2])
    qvel = np.random.default_rng(0).normal(0.0, 0.02, (LANES, 6)) * (1, 1, 0, 0, 0, 3)
    solver.set_state(qvel=qvel)
    solver.xfrc_applied = np.tile(np.stack((0.0 * push, push)), (LANES, 1, 1))
    solver.forward()
    for env in range(LANES):
        data = mujoco.MjData(model.mj)
        data.qvel[:], data.xfrc_applied[1] = qvel[env], push
        mujoco.mj_forward(model.mj, data)
        assert data.ncon == 8
        assert np.abs(solver.get("qacc")[env].numpy() - data.qacc).max() <= 1e-9 * np.abs(data.qacc).max()


@pytest.mark.parametrize("cone", ["pyramidal", pytest.param("elliptic", marks=pytest.mark.slow)])
def test_what_holds_does_not_creep(cone):
    """A sphere that cannot turn, on a slope below the angle of friction, creeps where it is held softly."""
    mu, seconds = 0.8, 2.0
    xml = f"""<mujoco><option cone="{cone}" tolerance="1e-14"/><worldbody>
    <geom type="plane" size="9 9 1" friction="{mu}"/>
    <body pos="0 0 .0999"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0" frictionloss=".01"/>
    <joint type="slide" axis="0 0 1"/><geom type="sphere" size=".1" friction="{mu}" condim="3"/></body>
    </worldbody></mujoco>"""
    angle, ways = np.arctan(0.3 * mu), []  # each axis of a pyramid has half of the normal force
    for sweeps in (0, 20):
        model = Model.from_mjcf(
            xml,
            noslip_iterations=sweeps,
            noslip_tolerance=0.0,
            gravity=(9.81 * np.sin(angle), 0, -9.81 * np.cos(angle)),
        )
        solver = RigidSolver(model, 4, lanes=LANES)
        solver.step(500)  # it sinks in
        before = solver.qpos[:, 0].clone()
        solver.step(round(seconds / model.mj.opt.timestep))
        ways.append(float((solver.qpos[:, 0] - before).abs().max()))
    assert ways[0] > 1e-4 and ways[1] < 1e-3 * ways[0], ways

"""Several pairs of the same geoms, surfaces that move and contacts that pull, against MuJoCo."""

import copy

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver
from tumble.physics.model.support import UnsupportedModelError
from tumble.physics.solver.solver import CONTACTS_FULL

from .parity.reference import States, reference_model
from .parity.run import SETTINGS

pytestmark = pytest.mark.usefixtures("double")

XML = """<mujoco><option timestep="0.002"/>
<worldbody>
  <geom name="belt" type="plane" size="5 5 1" surfacevel="0.6 -0.3 0 0 0 2" adhesion="2" condim="4"/>
  <body name="ball" pos="0 0 0.1"><freejoint/>
    <geom name="ball" size="0.1" adhesion="1.5" gap="0.03" margin="0.005" surfacevel="0 0 0 1 2 3"/></body>
  <body name="rod" pos="0.185 0 0.1"><freejoint/>
    <geom name="rod" type="capsule" size="0.08 0.1" euler="85 10 0" priority="1" adhesion="0.7" gap="0.02"/>
    <body pos="0 -0.2 0.05"><joint axis="1 0 0" damping="0.1"/><geom name="tip" type="sphere" size="0.1"/></body></body>
</worldbody>
<contact>
  <pair name="one" geom1="ball" geom2="rod" condim="3" friction="0.8 0.3 0 0 0" adhesion="3" gap="0.05"/>
  <pair name="two" geom1="rod" geom2="ball" condim="1" friction="0.1 0.1 0 0 0" margin="0.01"/>
</contact></mujoco>"""
COUNT, LANES = 24, 4
SOLUTION = {"newton": 1e-6, "cg": 1e-6}
"""Relative to the largest entry: both sides stop at their own tolerance."""
SOLVED = ("qfrc_passive", "qacc_smooth", "qacc", "qfrc_constraint", "cfrc_ext")


def reference(**options):
    return reference_model(mujoco.MjModel.from_xml_string(XML), **(SETTINGS | options))


def drawn(mjm):
    """States near the reference, where ball and rod nearly touch each other and the belt."""
    rng = np.random.default_rng(3)
    qpos = mjm.qpos0 + 0.01 * rng.standard_normal((COUNT, mjm.nq))
    for q in (3, 10):
        qpos[:, q : q + 4] /= np.linalg.norm(qpos[:, q : q + 4], axis=1, keepdims=True)
    return States(qpos, rng.standard_normal((COUNT, mjm.nv)), np.zeros((COUNT, 0)))


def solver_of(mjm, states, which="newton", **options):
    mjm = copy.copy(mjm)
    mjm.opt.solver = {"newton": mujoco.mjtSolver.mjSOL_NEWTON, "cg": mujoco.mjtSolver.mjSOL_CG}[which]
    mjm.opt.iterations = 2000
    solver = RigidSolver(Model.from_mjmodel(mjm, **options), len(states), lanes=LANES)
    solver.set_state(states.qpos, states.qvel)
    return solver


def check(solver, compiled, states, tolerance):
    """Compare with a model of MuJoCo's for each environment; returns how many contacts were tethers, and doubled."""
    solver.forward()
    found = {name: solver.get(name).numpy() for name in SOLVED}
    contacts, tethers, doubled = solver.contacts, 0, 0
    for env in range(len(states)):
        mjm = compiled[env]
        data = mujoco.MjData(mjm)
        data.qpos[:], data.qvel[:] = states.qpos[env], states.qvel[env]
        mujoco.mj_forward(mjm, data)
        mujoco.mj_rnePostConstraint(mjm, data)
        for name, mine in found.items():
            wanted = np.array(getattr(data, name))
            scale = max(np.abs(wanted).max(), np.abs(data.qacc_smooth).max() if name == "qacc" else 1.0)
            assert np.abs(mine[env].reshape(wanted.shape) - wanted).max() <= tolerance * scale, (env, name)
        here, forces = contacts.mask[env], []
        for k, contact in enumerate(data.contact):
            force = np.zeros(6)
            mujoco.mj_contactForce(mjm, data, k, force)
            forces.append((*contact.pos, *contact.friction[:1], *force))
            tethers += contact.adhesion != 0 and contact.dist >= contact.includemargin
        mine = torch.cat((contacts.pos[env], contacts.friction[env, :, :1], contacts.force[env]), 1)[here].numpy()
        forces = np.array(forces).reshape(-1, 10)
        assert mine.shape == forces.shape, env
        doubled += len(forces) - len(np.unique(forces[:, :3], axis=0))
        forces, mine = (rows[np.lexsort(np.round(rows[:, :4], 7).T)] for rows in (forces, mine))
        assert np.abs(mine - forces).max(initial=0.0) <= 10 * tolerance * max(1.0, np.abs(forces).max(initial=0.0)), env
    return tethers, doubled


@pytest.mark.parametrize("which", ["newton", pytest.param("cg", marks=pytest.mark.slow)])
def test_forces_and_what_contacts_report(which):
    mjm = reference()
    states = drawn(mjm)
    solver = solver_of(mjm, states, which)
    tethers, doubled = check(solver, [mjm] * COUNT, states, SOLUTION[which])
    assert tethers >= 5 and doubled >= 5


def test_every_environment_has_its_own():
    """Speeds of belts, what contacts pull with, and none in some environments."""
    mjm, rng = reference(), np.random.default_rng(1)
    states = drawn(mjm)
    own = {
        "geom_surfacevel": rng.uniform(-1, 1, (COUNT, mjm.ngeom, 6)),
        "geom_adhesion": mjm.geom_adhesion * rng.uniform(0, 2, (COUNT, mjm.ngeom)),
        "pair_adhesion": mjm.pair_adhesion * rng.uniform(0, 2, (COUNT, mjm.npair)),
        "pair_gap": rng.uniform(0, 0.05, (COUNT, mjm.npair)),
    }
    own["geom_adhesion"][::4], own["pair_adhesion"][::4] = 0.0, 0.0
    own = {name: np.float64(np.float32(values)) for name, values in own.items()}
    compiled = []
    for env in range(COUNT):
        compiled.append(copy.copy(mjm))
        for name, values in own.items():
            getattr(compiled[-1], name)[:] = values[env]
    solver = solver_of(mjm, states)
    solver.reset(qpos=states.qpos, qvel=states.qvel, parameters=own)
    tethers, doubled = check(solver, compiled, states, SOLUTION["newton"])
    assert tethers >= 3 and doubled >= 3
    with pytest.raises(ValueError, match=r"pair_adhesion.*the model has none there"):
        solver.set_parameters("pair_adhesion", [0.0, 1.0])


def test_a_full_list_keeps_kinds_apart():
    """With room for two contacts an environment keeps its deepest, whichever slots they had."""
    mjm = reference()
    states = drawn(mjm)
    whole, few = solver_of(mjm, states), solver_of(mjm, states, max_contacts=2)
    whole.forward()
    few.forward()
    full = 0
    for env in range(COUNT):
        dist = np.sort(whole.contacts.dist[env][whole.contacts.mask[env]].numpy())
        assert np.allclose(np.sort(few.contacts.dist[env][few.contacts.mask[env]].numpy()), dist[:2], atol=0)
        full += len(dist) > 2
    few.step()
    assert full >= 3 and int(((few.faults & CONTACTS_FULL) > 0).sum()) == full


@pytest.mark.parametrize(("weight", "hangs"), [(3.2, True), (3.8, False)])
def test_a_ball_hangs_from_what_is_sticky_enough(weight, hangs):
    """Closed form: under a belt and a ball that pull with 2 N and 1.5 N."""
    xml = XML.replace("0.6 -0.3 0 0 0 2", "0.01 0 0 0 0 0").replace('pos="0.185 0 0.1"', 'pos="5 0 1"')
    xml = xml.replace('timestep="0.002"', 'timestep="0.002" gravity="0 0 9.81"')
    xml = xml.replace('name="ball" size="0.1"', f'name="ball" size="0.1" mass="{weight / 9.81}"')
    solver = RigidSolver(Model.from_mjcf(xml), 1, lanes=LANES)
    solver.step(500)
    assert (float(solver.qpos[0, 2]) < 0.11) == hangs


def test_pairs_with_corners_and_another_reach_are_refused():
    again = '<pair geom1="ball" geom2="box"/><pair name="far" geom1="box" geom2="ball" margin="0.01"/>'
    xml = f"""<mujoco><worldbody><body><freejoint/><geom name="ball" size="0.1"/></body>
      <body pos="0 0 1"><freejoint/><geom name="box" type="box" size="0.1 0.1 0.1"/></body></worldbody>
      <contact>{again}</contact></mujoco>"""
    with pytest.raises(UnsupportedModelError, match=r"'far'.*second pair of the same geoms with another reach"):
        Model.from_mjcf(xml)
    Model.from_mjcf(xml.replace(' margin="0.01"', ""))

"""Equality constraints: switched by environments, by both solvers, in mechanisms that close, and in files."""

import copy

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver
from tumble.physics.model.tables.pack import coupled_parents

from .parity.catalogue import load
from .parity.reference import reference_model
from .parity.run import SETTINGS
from .parity.states import sample

pytestmark = pytest.mark.usefixtures("double")

CONVERGED = {"tolerance": 1e-15, "iterations": 2000}
"""Beyond the default, at which conjugate gradients leave 2e-5."""
SOLUTION = 1e-6
"""Of accelerations and forces relative to the largest entry: both sides stop at their own tolerance."""
LANES = 4
FOUR_BAR = """<mujoco><option timestep="0.002" integrator="{}"/><default><geom contype="0" conaffinity="0"/></default>
<worldbody>
  <body name="crank"><joint name="crank" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .1"/>
    <body name="coupler" pos="0 0 .1">
      <joint axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 .4 0 0"/></body>
  </body>
  <body name="rocker" pos=".4 0 -.15"><joint axis="0 1 0" damping=".02" frictionloss=".01"/>
    <geom type="capsule" size=".02" fromto="0 0 0 0 0 .25"/></body>
  <body pos="9 0 0"><freejoint/><geom size="0.1"/></body>
</worldbody>
<equality><connect body1="coupler" body2="rocker" anchor=".4 0 0"/></equality>
<actuator><velocity joint="crank" kv="2"/></actuator></mujoco>"""
"""The free body and the friction only make its kernel that of the model `equalities`."""


def solver_of(mjm, states, which="newton"):
    mjm = copy.copy(mjm)
    mjm.opt.solver = {"newton": mujoco.mjtSolver.mjSOL_NEWTON, "cg": mujoco.mjtSolver.mjSOL_CG}[which]
    for name, value in CONVERGED.items():
        setattr(mjm.opt, name, value)
    solver = RigidSolver(Model.from_mjmodel(mjm), len(states), lanes=LANES)
    assert solver.model.solver == which
    solver.set_state(states.qpos, states.qvel)
    solver.ctrl = states.ctrl
    return solver


def mujoco_at(mjm, states, env, active):
    """MuJoCo's data in a state with these equalities."""
    data = mujoco.MjData(mjm)
    data.qpos[:], data.qvel[:], data.ctrl[:] = states.qpos[env], states.qvel[env], states.ctrl[env]
    data.eq_active[:] = active
    mujoco.mj_forward(mjm, data)
    mujoco.mj_rnePostConstraint(mjm, data)
    return data


def close(found, wanted, tolerance=SOLUTION):
    scale = np.abs(wanted).max(initial=0.0) + 1e-300
    return np.abs(np.reshape(found, wanted.shape) - wanted).max(initial=0.0) <= tolerance * scale


@pytest.mark.parametrize("which", ["newton", pytest.param("cg", marks=pytest.mark.slow)])
def test_every_environment_switches_its_own(which):
    """All quantities that equalities decide are MuJoCo's with any set of them, by both solvers."""
    mjm = reference_model(load("equalities"), **SETTINGS)
    states = sample(mjm, 12)
    active = np.random.default_rng(0).random((12, mjm.neq)) < 0.6
    active[0], active[1] = False, True
    solver = solver_of(mjm, states, which)
    solver.set_inputs(eq_active=active)
    assert solver.eq_active.dtype == torch.bool and torch.equal(solver.eq_active, torch.as_tensor(active))
    solver.forward()
    for env in range(12):
        data, found = mujoco_at(mjm, states, env, active[env]), solver.inspect(env)
        assert np.array_equal(found["efc_type"], data.efc_type[: data.nefc])
        for name in ("qacc", "qfrc_constraint", "cfrc_ext"):
            assert close(found[name], np.array(getattr(data, name))), (env, name)
        for name in ("efc_D", "efc_aref", "efc_force"):
            rows = np.array(getattr(data, name))[: data.nefc]
            assert close(found[name], rows), (env, name)


def test_what_holds_is_kept_by_files_resets_and_mujocos_state_vectors(tmp_path):
    model = Model.from_mjmodel(load("equalities"))
    solver = RigidSolver(model, 3, lanes=LANES)
    assert torch.equal(solver.eq_active[1], torch.as_tensor(model.mj.eq_active0, dtype=torch.bool))
    solver.set_inputs([1], eq_active=np.zeros((1, model.mj.neq)))
    assert not solver.eq_active[1].any() and solver.eq_active[0].any()
    state = solver.mj_state(int(mujoco.mjtState.mjSTATE_EQ_ACTIVE))
    assert state.shape == (3, model.mj.neq) and torch.equal(state > 0.5, solver.eq_active)
    solver.save(tmp_path / "state")
    again = RigidSolver(model, 3, lanes=LANES)
    again.load(tmp_path / "state")
    assert torch.equal(again.eq_active, solver.eq_active)
    solver.reset([1])
    assert torch.equal(solver.eq_active[1], solver.eq_active[0])
    solver.set_mj_state(1.0 - state, int(mujoco.mjtState.mjSTATE_EQ_ACTIVE))
    assert torch.equal(solver.eq_active, state < 0.5)
    with pytest.raises(ValueError, match="eq_active: expected shape"):
        solver.eq_active = np.zeros((3, 1))


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_a_four_bar_stays_closed_as_long_as_mujocos(integrator):
    """The two ends stay together within MuJoCo's own error (and its rounding) over many turns of the crank."""
    model = Model.from_mjcf(FOUR_BAR.format(integrator))
    solver = RigidSolver(model, LANES, lanes=LANES)
    solver.ctrl = np.array([[3.0], [-2.0], [5.0], [0.0]])
    data, worst = mujoco.MjData(model.mj), np.zeros((2, LANES))
    frames = [solver]
    for _ in range(100):
        solver.step(10)
        solver.forward()
        worst[0] = np.maximum(worst[0], _gap(solver.get("xpos").numpy(), solver.get("xmat").numpy()))
    for env in range(LANES):
        mujoco.mj_resetData(model.mj, data)
        data.ctrl[:] = frames[0].ctrl[env].numpy()
        for _ in range(1000):
            mujoco.mj_step(model.mj, data)
            if data.time % 0.02 < 1e-9:
                mujoco.mj_forward(model.mj, data)
            gap = _gap(data.xpos[None], data.xmat[None])[0]
            worst[1, env] = max(worst[1, env], gap)
    assert np.abs(solver.qpos[:3, 0].numpy()).min() > 2.0, "the crank turns"
    assert (worst[0] < worst[1] * 1.01 + 1e-9).all() and worst.max() < 5e-3, worst


def _gap(xpos, xmat):
    """Metres between the coupler's end and the rocker's (n,)."""
    xmat = xmat.reshape(*xpos.shape, 3)
    ends = xpos[:, 2] + xmat[:, 2] @ [0.4, 0, 0] - xpos[:, 3] - xmat[:, 3] @ [0, 0, 0.25]
    return np.linalg.norm(ends, axis=-1)


def test_trees_that_equalities_tie_are_one_path_in_the_hessian():
    mjm = load("equalities")
    parent = coupled_parents(mjm)
    for e in range(mjm.neq):
        rows = mujoco_rows(mjm, e)
        for i in rows:
            for j in rows[rows < i]:
                above = i
                while above > j:
                    above = parent[above]
                assert above == j, (e, i, j)


def mujoco_rows(mjm, e):
    """Dofs in the rows of equality `e`, by MuJoCo."""
    mjm = reference_model(mjm, **SETTINGS)
    data = mujoco.MjData(mjm)
    data.eq_active[:] = False
    data.eq_active[e] = True
    data.qpos[:] += 0.01
    mujoco.mj_forward(mjm, data)
    rows = np.array(data.efc_J).reshape(-1, mjm.nv)[: data.nefc][data.efc_type[: data.nefc] == 0]
    return np.flatnonzero(np.abs(rows).max(axis=0))

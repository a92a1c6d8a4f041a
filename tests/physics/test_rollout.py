"""RigidSolver.rollout: the bits of one step after the other, and where mujoco.rollout ends."""

import mujoco
import numpy as np
import pytest
import torch
from mujoco.rollout import rollout as mujoco_rollout

from tumble.physics import Model, RigidSolver

from ..test_architecture import ROOT
from .starts import run_with

NSTEP = 25
DRIFT = 1e-9
"""Relative difference in double precision after NSTEP steps: rounding (1e-16) that contacts have made grow."""


def swarm(name, num_envs, **options):
    """A solver in states off the reference, and random controls (num_envs, NSTEP, nu)."""
    model = Model.from_mjcf(str(ROOT / "assets" / f"{name}.xml"), **options)
    solver = RigidSolver(model, num_envs, outputs=("cvel", "cfrc_ext"))
    rng = np.random.default_rng(0)
    solver.set_state(qvel=rng.normal(size=(num_envs, model.mj.nv)))
    return solver, rng.uniform(-1, 1, (num_envs, NSTEP, model.mj.nu))


def one_by_one(solver, controls):
    """What `rollout` replaces: (qpos, qvel) after every step."""
    states = []
    for k in range(controls.shape[1]):
        solver.ctrl = controls[:, k]
        solver.step()
        states.append((solver.qpos, solver.qvel))
    return [torch.stack(part, 1) for part in zip(*states, strict=True)]


@pytest.mark.parametrize("precision", ["32", pytest.param("64", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "num_envs"), [("hopper", 37), ("ant", 9), ("half_cheetah", 1)])
def test_the_bits_of_single_steps(precision, name, num_envs):
    """States on the way and everything afterwards: outputs, controls, time, iterations, what is kept for later."""
    run_with(precision)
    solver, controls = swarm(name, num_envs)
    start = solver.state_dict()
    track = solver.rollout(controls)
    after = solver.state_dict()
    outputs = [solver.get("cvel"), solver.get("cfrc_ext"), solver.get("qacc"), solver.solver_niter, solver.time]
    solver.load_state_dict(start)
    qpos, qvel = one_by_one(solver, controls)
    assert torch.equal(track.qpos, qpos) and torch.equal(track.qvel, qvel)
    assert all(torch.equal(after[key], value) for key, value in solver.state_dict().items())
    again = [solver.get("cvel"), solver.get("cfrc_ext"), solver.get("qacc"), solver.solver_niter, solver.time]
    assert all(map(torch.equal, outputs, again))
    assert torch.equal(solver.ctrl, torch.as_tensor(controls[:, -1]).to(solver.dtype))


@pytest.mark.parametrize("name", ["half_cheetah", "ant"])
def test_it_ends_where_mujoco_does(name):
    """The same states and controls in `mujoco.rollout`."""
    run_with("64")
    solver, controls = swarm(name, 5, tolerance=1e-12, iterations=100)
    mj = solver.model.mj
    states = np.zeros((5, mujoco.mj_stateSize(mj, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    states[:, 1 : 1 + mj.nq], states[:, 1 + mj.nq : 1 + mj.nq + mj.nv] = solver.qpos, solver.qvel
    theirs, _ = mujoco_rollout(mj, mujoco.MjData(mj), states, controls)
    track = solver.rollout(controls)
    ours = torch.cat(track, -1).numpy()
    assert np.abs(ours - ours[:, :1]).max() > 0.05  # it moved
    theirs = theirs[..., 1 : 1 + mj.nq + mj.nv]
    assert np.abs(ours - theirs).max() < DRIFT * np.abs(theirs).max()
    np.testing.assert_allclose(solver.time, NSTEP * mj.opt.timestep)


def test_a_bad_control_stops_its_environment_alone():
    """From that step on it stands still, with its fault and its time; the others' bits are those without it."""
    run_with("32")
    solver, controls = swarm("hopper", 20)
    start = solver.state_dict()
    clean = solver.rollout(controls)
    solver.load_state_dict(start)
    controls[3, 10] = np.nan
    controls[4, 0, 1] = np.inf
    track = solver.rollout(controls)
    others = [env for env in range(20) if env not in (3, 4)]
    assert torch.equal(track.qpos[others], clean.qpos[others]) and torch.equal(track.qvel[others], clean.qvel[others])
    assert torch.equal(track.qpos[3, :10], clean.qpos[3, :10])
    assert (track.qpos[3, 10:] == track.qpos[3, 9]).all() and (track.qvel[3, 10:] == track.qvel[3, 9]).all()
    assert solver.faults.nonzero()[:, 0].tolist() == [3, 4]
    steps = (solver.time / solver.model.mj.opt.timestep).round()
    assert steps[3] == 10 and steps[4] == 0 and (steps[others] == NSTEP).all()


def test_a_model_without_actuators():
    """There is nothing to control, and still a number of steps."""
    run_with("32")
    xml = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    solver = RigidSolver(Model.from_mjcf(xml), 3)
    track = solver.rollout(np.zeros((3, 4, 0)))
    assert track.qpos.shape == (3, 4, 7) and track.qvel.shape == (3, 4, 6)
    assert (track.qvel[:, :, 2].diff(dim=1) < 0).all()  # it falls


@pytest.mark.parametrize("shape", [(20, 3), (19, 5, 3), (20, 5, 2), (20, 0, 3), (5, 20, 3)])
def test_wrong_shapes_are_named(shape):
    """Nothing has moved."""
    run_with("32")
    solver, _ = swarm("hopper", 20)
    before = solver.qpos
    with pytest.raises(ValueError, match=r"controls: expected shape \(20, nstep, 3\)"):
        solver.rollout(np.zeros(shape))
    assert torch.equal(solver.qpos, before) and solver.time.eq(0).all()


def test_a_closed_solver_says_so():
    """Instead of running on memory that is gone."""
    run_with("32")
    solver, controls = swarm("hopper", 20)
    solver.close()
    with pytest.raises(RuntimeError, match="this solver was closed"):
        solver.rollout(controls)
    for use in (solver.step, lambda: solver.get("xpos"), lambda: solver.inspect(3), lambda: solver.contacts):
        with pytest.raises(RuntimeError, match="this solver was closed"):
            use()

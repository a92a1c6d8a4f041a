"""Crowds: bodies that touch each other, several robots in one file, a long chain; both solvers against MuJoCo."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest
import torch

from tumble.benchmarks.scenes import BOX, CAPSULE, SCENES, SPHERE, pile, shake
from tumble.physics import Model, RigidSolver
from tumble.physics.model.features import Features

from ..widths import WIDTH
from .starts import run_with

CONVERGED = {"tolerance": 1e-14, "iterations": 300, "ls_iterations": 50}
ROUNDING = 1e-9
"""Of what is computed in double precision from the same positions, relative to its largest entry."""
SOLUTION = 1e-6
"""Of qacc and what follows from it: both sides stop at their own tolerance."""
DEFAULT_ERROR = 2e-5
"""Most that conjugate gradients may leave in the median at the default tolerance, relative to the largest entry."""


def settled(scene, num_envs, steps, **options):
    """A scene some time after a shaken start."""
    model = Model.from_mjspec(SCENES[scene].build(), **options)
    solver = RigidSolver(model, num_envs)
    shake(solver)
    solver.step(steps)
    solver.forward()
    return solver


def mujoco_at(model, found):
    """MuJoCo's own Newton in the state that `inspect` found, converged."""
    mj = model.mj.__copy__()
    mj.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    for name, value in CONVERGED.items():
        setattr(mj.opt, name, value)
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:] = found["eval_qpos"], found["eval_qvel"]
    mujoco.mj_forward(mj, data)
    mujoco.mj_rnePostConstraint(mj, data)
    return data


def relative(ours, theirs):
    """Largest difference over the largest entry."""
    return np.abs(np.asarray(ours) - theirs).max() / np.abs(theirs).max()


def sorted_rows(geoms, *columns):
    """Columns of contacts in the order of their geoms; contacts of one pair by their position."""
    keys = np.column_stack((geoms, np.round(columns[0], 6)))
    order = np.lexsort(keys.T[::-1])
    return [np.asarray(c)[order] for c in (geoms, *columns)]


CASES = [
    *((scene, solver) for scene in ("spheres-27", "capsules-27") for solver in ("cg", "newton")),
    ("spheres-64", "cg"),
    ("boxes-30", "cg"),
    *(("bin-boxes-27", solver) for solver in ("cg", "newton")),
    ("humanoids-10", "newton"),
    ("humanoids-3", "cg"),
    ("chain-100", "newton"),
    ("chain-100", "cg"),
]


@pytest.fixture
def one_kernel_for_cg(monkeypatch):
    """Conjugate gradients with all code that any of the scenes needs: one kernel to compile instead of four."""
    of = Features.of

    def wide(model, single):
        has = of(model, single)
        return replace(has, ball_joints=True, hulls=True, solids=True) if has.cg else has

    monkeypatch.setattr(Features, "of", staticmethod(wide))


@pytest.mark.usefixtures("one_kernel_for_cg")
@pytest.mark.parametrize(("scene", "which"), CASES)
def test_crowds_are_mujocos(scene, which):
    """Contacts, accelerations and forces; contacts in another order than MuJoCo's, which sweeps along an axis."""
    run_with("64")
    solver = settled(scene, 8, 120, solver=which, **CONVERGED)
    assert solver.model.solver == which and not solver.any_fault
    for env in (0, 5):
        found = solver.inspect(env)
        data = mujoco_at(solver.model, found)
        assert relative(found["qacc"], data.qacc) < SOLUTION
        if data.ncon:
            ours = sorted_rows(
                found["contact_geom"], found["contact_pos"], found["contact_dist"], found["contact_frame"]
            )
            theirs = sorted_rows(data.contact.geom, data.contact.pos, data.contact.dist, data.contact.frame)
            for a, b in zip(ours, theirs, strict=True):
                np.testing.assert_allclose(a, b, rtol=0, atol=ROUNDING)
            assert found["efc_J"].shape == (data.nefc, solver.model.mj.nv)
            np.testing.assert_allclose(np.sort(found["efc_D"]), np.sort(data.efc_D), rtol=ROUNDING)
            force = found["efc_J"].T @ found["efc_force"]
            np.testing.assert_allclose(force, found["qfrc_constraint"], rtol=0, atol=SOLUTION * np.abs(force).max())
            assert relative(found["qfrc_constraint"], data.qfrc_constraint) < SOLUTION
            assert relative(found["cfrc_ext"], data.cfrc_ext) < SOLUTION


def test_default_tolerance_is_near_enough():
    """The rule may choose conjugate gradients only where they leave little."""
    run_with("64")
    solver = settled("spheres-27", 32, 120, solver="auto", tolerance=1e-6)
    assert solver.model.solver == "cg"
    errors = []
    for env in range(32):
        found = solver.inspect(env)
        errors.append(relative(found["qacc"], mujoco_at(solver.model, found).qacc))
    assert np.median(errors) < DEFAULT_ERROR


def history(model, num_envs, rows=None, lanes=None, steps=60):
    """Coordinates after some steps of `num_envs` of 40 starts (or those of `rows`), each its own.

    By default one environment alone has one lane.
    """
    rng = np.random.default_rng(1)
    qpos = np.tile(model.mj.qpos0, (40, 1))
    qpos += 0.02 * rng.standard_normal(qpos.shape)
    qvel = rng.standard_normal((40, model.mj.nv))
    chosen = list(range(num_envs)) if rows is None else rows
    solver = RigidSolver(model, len(chosen), lanes=lanes)
    solver.set_state(qpos[chosen], qvel[chosen])
    solver.step(steps)
    assert not solver.any_fault
    return torch.cat([solver.qpos, solver.qvel], 1)


@pytest.mark.parametrize("which", [pytest.param("cg", marks=pytest.mark.slow), "newton"])
@pytest.mark.parametrize("shape", [SPHERE, CAPSULE, BOX])
def test_neighbours_do_not_matter_in_a_crowd(which, shape):
    """Bitwise: alone, among few, among many, and in another order."""
    run_with("32")
    model = Model.from_mjspec(pile(shape, [0.08, 0.05, 0.06], 12), solver=which)
    lanes = WIDTH if (shape, which) == (BOX, "cg") else None  # its two halves have been alone at one lane
    alone = torch.cat([history(model, 1, [i], lanes) for i in (0, 5, 30)])
    small, large = history(model, 7), history(model, 40)
    turned = history(model, 40, list(reversed(range(40))))
    assert torch.equal(alone[:2], small[[0, 5]])
    assert torch.equal(alone, large[[0, 5, 30]])
    assert torch.equal(small, large[:7])
    assert torch.equal(large, turned.flip(0))


def test_a_bad_number_stays_in_its_environment_in_a_crowd():
    run_with("32")
    model = Model.from_mjspec(pile(SPHERE, [0.08, 0, 0], 12), solver="cg")
    solver, same = RigidSolver(model, 20), RigidSolver(model, 20)
    for one in (solver, same):
        shake(one)
        one.step(60)
    broken = solver.qvel[3]
    broken[0] = torch.nan
    solver.set_state(qvel=broken[None], envs_idx=[3])
    same.set_state(qvel=same.qvel[3:4], envs_idx=[3])
    for one in (solver, same):
        one.step(20)
    others = [env for env in range(20) if env != 3]
    assert solver.faults.nonzero().flatten().tolist() == [3]
    assert torch.equal(solver.qpos[others], same.qpos[others])


def test_who_rests_has_nothing_to_solve():
    """Without any force the gradient is exactly zero, while neighbours need many iterations."""
    run_with("32")
    model = Model.from_mjspec(pile(SPHERE, [0.08, 0, 0], 12), solver="cg", gravity=[0, 0, 0])
    solver = RigidSolver(model, 20)
    shake(solver)
    resting = torch.as_tensor(model.mj.qpos0, dtype=solver.dtype)[None]
    resting[0, 2::7] += 0.2  # above the floor
    solver.set_state(qpos=resting, qvel=torch.zeros(1, model.mj.nv), envs_idx=[4])
    solver.step(40)
    assert not solver.any_fault
    assert torch.equal(solver.qpos[4], resting[0])
    assert solver.solver_niter[4] == 0 and solver.solver_niter.max() > 3

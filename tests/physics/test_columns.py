"""The GPU driver on a processor: the same bits as the CPU driver, in everything that a driver does."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tumble.benchmarks.scenes import SCENES, SPHERE, pile, shake
from tumble.physics import Model, RigidSolver
from tumble.physics.model.features import Features
from tumble.physics.run import gpu

from ..widths import WIDTH
from .parity.catalogue import everything, load
from .starts import run_in_columns, run_with
from .test_driver_host import NUM_ENVS, XML


def start_with(columns, precision, lanes=WIDTH):
    """Start one driver or the other."""
    if columns:
        run_in_columns(precision=precision)
    else:
        run_with(precision, lanes)


def steps(solver):
    """Where steps, a rollout and an evaluation lead from states that are not too regular."""
    rng = np.random.default_rng(0)
    qpos = np.tile(solver.model.mj.qpos0, (solver.num_envs, 1))
    solver.set_state(qpos, rng.standard_normal((solver.num_envs, solver.model.mj.nv)))
    nu = solver.model.mj.nu
    solver.ctrl = rng.uniform(-1, 1, (solver.num_envs, nu))
    solver.step(12)
    track = solver.rollout(rng.uniform(-1, 1, (solver.num_envs, 3, nu)))
    return [*track, solver.get("qacc"), solver.get("xpos"), solver.solver_niter, *solver.state_dict().values()]


def partial(solver):
    """Resets, states, faults, reads and parameters of some of the environments only."""
    shake(solver)
    solver.step(60)
    found = [solver.get("xpos"), solver.get("cfrc_ext", [3, 1])]
    state = solver.state_dict()
    solver.reset([1, 4])
    found += [solver.qpos, solver.get("xpos"), solver.get("cfrc_ext")]
    broken = solver.qvel[:1]
    broken[0, 0] = torch.nan
    solver.set_state(qvel=broken, envs_idx=[2])
    solver.step(2)
    found += [solver.faults, solver.qpos, solver.time]
    solver.set_state(qpos=solver.qpos[:1], envs_idx=[2])
    solver.forward([2])
    found += [solver.faults, solver.get("xpos", [2])]
    contacts = solver.contacts
    found += [contacts.mask.sum(1), *(getattr(contacts, n)[contacts.mask] for n in ("geom", "dist", "pos", "force"))]
    found += [torch.as_tensor(solver.inspect(5)[n]) for n in ("efc_J", "efc_force", "contact_pos", "qacc")]
    if solver.model.solver == "newton":
        mass = np.linspace(0.5, 2.0, solver.num_envs)[:, None] * solver.model.mj.body_mass
        solver.set_parameters("body_mass", mass)
        solver.step(3)
        solver.set_parameters("body_mass", 2 * mass[:2], envs_idx=[0, 5])
        solver.step(3)
        found += [solver.qpos, solver.get_parameters("body_mass")]
    solver.load_state_dict(state)
    solver.step()
    return [*found, solver.qpos, solver.contacts_needed]


def test_a_small_model_has_the_same_bits():
    """In single precision, by the kernels that `test_driver_host` has."""
    found = []
    for columns in (False, True):
        start_with(columns, "32")
        found.append(steps(RigidSolver(Model.from_mjcf(XML), NUM_ENVS, ("xpos",))))
    assert all(map(torch.equal, *found))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "lanes"),
    [
        pytest.param(lambda: ["everything"], WIDTH, id="one kernel", marks=pytest.mark.long),
        pytest.param(lambda: [name for _, name in everything(5)], 1, id="all"),
    ],
)
def test_every_model_has_the_same_bits(names, lanes, monkeypatch):
    """In double precision, named models and some random ones, by kernels with code that many of them need."""
    names, found = names(), []
    of = Features.of
    wide = {"ball_joints": True, "hulls": True, "solids": True, "explicit_pairs": True}
    monkeypatch.setattr(Features, "of", staticmethod(lambda model, single: replace(of(model, single), **wide)))
    for columns in (False, True):
        start_with(columns, "64", lanes)
        found.append({name: steps(RigidSolver(Model.from_mjmodel(load(name)), NUM_ENVS, ("xpos",))) for name in names})
    assert names
    wrong = [name for name in names if not all(map(torch.equal, found[0][name], found[1][name]))]
    assert not wrong, wrong


@pytest.mark.slow  # test_driver_host has some environments, too
def test_some_environments_of_a_batch():
    """Whatever is done to some of them, to robots that meet and to a crowd without room for all of its contacts."""
    crowd = Model.from_mjspec(pile(SPHERE, [0.1, 0, 0], 12), solver="cg", max_contacts=6)
    models, found = [Model.from_mjspec(SCENES["humanoids-3"].build()), crowd], []
    for columns in (False, True):
        start_with(columns, "32")
        found.append([partial(RigidSolver(model, NUM_ENVS, ("xpos", "cfrc_ext"))) for model in models])
    for one, other in zip(*found, strict=True):
        same = [torch.equal(a, b) for a, b in zip(one, other, strict=True)]
        assert all(same), same
    assert found[0][1][-1].any(), "some list was full"


def test_more_numbers_than_kernels_can_address(monkeypatch):
    """Indices have 32 bits; beyond them other environments' numbers would be taken."""
    run_in_columns()
    monkeypatch.setattr(gpu, "MOST_NUMBERS", 100_000)
    with pytest.raises(MemoryError, match=r"num_envs=64: .* at most \d+ fit; make several solvers"):
        RigidSolver(Model.from_mjspec(pile(SPHERE, [0.08, 0, 0], 12)), 64)

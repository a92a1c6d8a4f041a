"""What reading costs: one evaluation of the environments asked for, kept until their state changes."""

import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver
from tumble.physics.rendering import BatchRenderer, Look, Show
from tumble.physics.run.bound_kernel import BoundTiles
from tumble.physics.run.settings import Setting
from tumble.physics.run.step import PIPELINE

from ..test_architecture import ROOT
from .starts import run_with

NUM_ENVS = 100
NAMES = ("xpos", "qM", "qfrc_bias", "cinert", "xipos", "cfrc_ext", "geom_xpos", "qacc")


@pytest.fixture
def launches(monkeypatch):
    """Tiles of every launch since the last `clear`."""
    seen, launch = [], BoundTiles.attempt

    def launch_and_note(kernel):
        seen.append(int(kernel.call[Setting.TILES]))
        return launch(kernel)

    monkeypatch.setattr(BoundTiles, "attempt", launch_and_note)
    return seen


@pytest.fixture
def solver():
    run_with("32", lanes=16)
    return moved(RigidSolver(Model.from_mjcf(str(ROOT / "assets" / "ant.xml")), NUM_ENVS))


def moved(solver):
    """Every environment under controls of its own, some of them on the floor."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        solver.ctrl = rng.uniform(-1, 1, (NUM_ENVS, 8))
        solver.step()
    return solver


def test_a_quantity_is_evaluated_once(solver, launches):
    """All environments, then any of them; also what a quantity is derived from."""
    first = solver.get("xpos")
    assert torch.equal(solver.get("xpos"), first) and torch.equal(solver.get("xpos", [3, 98]), first[[3, 98]])
    assert launches == [7]
    solver.get("geom_xpos"), solver.get("geom_xmat", [5])
    assert launches == [7, 7]  # xquat as well


@pytest.mark.parametrize("change", ["step", "rollout", "reset", "forward", "load_state_dict"])
def test_a_change_of_the_state_is_seen(solver, launches, change):
    """The next read is what a solver of its own, which never kept anything, would read."""
    state = solver.state_dict()
    kept = {name: solver.get(name) for name in NAMES}
    arguments = {"rollout": (np.ones((NUM_ENVS, 3, 8)),), "reset": ([7, 60],), "load_state_dict": (state,)}
    if change in ("forward", "load_state_dict"):
        solver.set_state(qpos=solver.qpos + 0.1)
        assert torch.equal(solver.get("xpos"), kept["xpos"])  # those of the last evaluation
        solver.forward()
    getattr(solver, change)(*arguments.get(change, ()))
    other = RigidSolver(solver.model, NUM_ENVS)
    for name in NAMES:
        other.load_state_dict(solver.state_dict())
        found = solver.get(name)
        assert torch.equal(found, other.get(name)), name
        if change != "load_state_dict":
            assert not torch.equal(found, kept[name]), name


def test_what_was_read_after_one_step_is_evaluated_together_after_the_next(solver, launches):
    for _ in range(2):
        for name in NAMES:
            solver.get(name)
        launches.append("step")
        solver.step()
    assert launches.index("step") > 4 and launches[launches.index("step") :] == ["step", 7, 7, "step", 7]


def test_one_environment_costs_one_tile(solver, launches):
    """And has the bits that it has among all others."""
    everything = {name: solver.get(name) for name in NAMES}
    inspected = [solver.inspect(env) for env in (0, 99)]
    contacts = solver.contacts
    solver.load_state_dict(solver.state_dict())  # nothing is kept
    launches.clear()
    for env in (0, 42, 99):
        assert all(torch.equal(solver.get(name, [env])[0], everything[name][env]) for name in NAMES)
    assert set(launches) == {1} and len(launches) <= 3 * len(NAMES)
    solver.load_state_dict(solver.state_dict())  # nothing is kept
    launches.clear()
    for env, before in zip((0, 99), inspected, strict=True):
        again = solver.inspect(env)
        assert again.keys() == before.keys()
        assert all(np.array_equal(again[name], before[name]) for name in again)
    assert torch.equal(contacts.force, solver.contacts.force)
    assert launches == [1, 1, 7]
    solver.inspect(99), solver.contacts
    assert launches == [1, 1, 7]


def test_environments_far_apart_share_tiles(solver, launches):
    chosen = np.arange(0, NUM_ENVS, 5)
    some = solver.get("qfrc_bias", chosen)
    assert torch.equal(solver.get("qfrc_bias", chosen[[4, 2, 2]]), some[[4, 2, 2]])
    assert launches == [2]
    assert torch.equal(solver.get("qfrc_bias")[chosen], some)
    assert launches == [2, 7]


def test_nobody_can_write_to_what_is_kept(solver):
    solver.get("xpos").zero_()
    solver.get_many(("xpos", "qM"))["xpos"].zero_()
    assert solver.get("xpos").any()


def test_a_picture_of_one_environment_evaluates_one(solver, launches):
    renderer = BatchRenderer(solver.model, 16, 16)
    renderer.render(solver, [98])
    solver.step()
    launches.clear()
    renderer.render(solver, [98])
    assert launches == [1]


def test_a_picture_evaluates_kinematics_alone(solver, monkeypatch):
    """Whatever it shows but contacts; lights and frames of bodies, too."""
    last, launch = [], BoundTiles.attempt

    def launch_and_note(kernel):
        last.append(int(kernel.call[Setting.LAST]))
        return launch(kernel)

    monkeypatch.setattr(BoundTiles, "attempt", launch_and_note)
    renderer = BatchRenderer(
        solver.model, 16, 16, look=Look(lights="file"), show=Show(sites=True, frames="body", tendons=True)
    )
    outputs = ("depth", "normals", "points", "body")
    renderer.draw(solver, outputs, [98])
    collisions = [getattr(entry, "__name__", "") for entry in PIPELINE].index("collide")
    assert last and max(last) < collisions


def test_only_the_outputs_asked_for_are_refreshed(launches):
    """After a reset: of one environment, then of all that are left."""
    run_with("32", lanes=16)
    solver = moved(RigidSolver(Model.from_mjcf(str(ROOT / "assets" / "ant.xml")), NUM_ENVS, outputs=("cvel",)))
    solver.reset(qvel=np.random.default_rng(1).normal(size=(NUM_ENVS, 14)))
    launches.clear()
    one = solver.get("cvel", [55])
    assert launches == [1]
    every = solver.get("cvel")
    assert launches == [1, 7] and torch.equal(every[55], one[0]) and every.ne(0).any(-1).any(-1).all()
    solver.get("cvel"), solver.get_many(("cvel",), [3])
    assert launches == [1, 7]

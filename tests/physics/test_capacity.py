"""Room in the scratch that grows on demand: nobody can tell from results how much there was, or when it grew."""

import numpy as np
import pytest
import torch

import tumble
from tumble.benchmarks.scenes import SPHERE, pile, robots, shake
from tumble.physics import Model, RigidSolver
from tumble.physics.model.state.capacity import Capacity, first_capacity, most_capacity
from tumble.physics.run.programs import Program
from tumble.physics.run.tiles import growing, scratch

NUM_ENVS, NSTEP = 40, 8
TINY = Capacity(1, 0)


def begin_with(monkeypatch, room):
    """Let drivers begin with this room, but with what a model needs without any contact."""

    def first(model):
        least = Capacity(1, int(model.values["dof_depth"].sum()))
        return Capacity(*map(max, least, room)) if room else most_capacity(model)

    monkeypatch.setattr(growing, "first_capacity", first)


def humanoids(num_envs):
    """Bent, so that their limbs touch one another, deep in the floor or above it."""
    model = Model.from_mjspec(robots("humanoid.xml", 1), solver="newton")
    solver, rng = RigidSolver(model, num_envs, outputs=("cfrc_ext", "con_dist")), np.random.default_rng(3)
    qpos = np.tile(model.mj.qpos0, (num_envs, 1))
    low, high = model.mj.jnt_range[1:].T
    qpos[:, 7:] = rng.uniform(low, high, (num_envs, len(low)))
    qpos[:, 2] += np.linspace(-1.0, 1.0, num_envs)
    solver.set_state(qpos)
    return solver


def spheres(num_envs, count=12):
    """In a bin, where some touch, and with conjugate gradients."""
    model = Model.from_mjspec(pile(SPHERE, [0.1, 0, 0], count), solver="cg")
    solver = RigidSolver(model, num_envs, outputs=("cfrc_ext", "con_dist"))
    shake(solver)
    return solver


def everything(solver):
    """What a user can see of steps, a rollout, reads of some and of all, and a start anew of some."""
    seen, some = [], list(range(0, solver.num_envs, 3))
    controls = np.random.default_rng(1).uniform(-1, 1, (solver.num_envs, NSTEP, solver.model.mj.nu))
    solver.step()
    seen += [solver.get("cfrc_ext"), solver.solver_niter, *solver.state_dict().values()]
    seen += list(solver.rollout(controls))
    solver.set_state(qpos=solver.qpos[some].roll(1, 0), envs_idx=some)
    solver.forward(some)
    seen += [solver.get("cfrc_ext"), solver.get("qfrc_constraint", some)]
    seen += [getattr(solver.contacts, name) for name in ("geom", "dist", "force", "mask")]
    solver.step(3)
    seen += [solver.faults, solver.contacts_needed, *solver.state_dict().values()]
    seen += [torch.as_tensor(solver.inspect(some[-1])[name]) for name in ("efc_J", "efc_force", "contact_pos", "qacc")]
    shapes = [solver.get(name).shape for name in ("con_dist", "block_J", "H")]
    return seen, shapes


@pytest.mark.parametrize("num_envs", [1, NUM_ENVS])
@pytest.mark.parametrize("build", [humanoids, spheres])
def test_results_do_not_depend_on_the_room(build, num_envs, monkeypatch):
    """To the last bit, whether it grows in a step, a rollout or an evaluation, and in some tiles or in all."""
    found = []
    tumble.init(precision="32", threads=2)
    for room in (TINY, None):  # scratch of the first is small and grows; the second one has it already
        begin_with(monkeypatch, room)
        solver = build(num_envs)
        found.append(everything(solver))
        assert (solver._driver._room.grown > 0) == (room is TINY)
        assert num_envs == 1 or build is spheres or solver._driver.sizes["nH"] > solver._driver.sizes["nM"]
    (tight, tight_shapes), (ample, ample_shapes) = found
    assert ample_shapes == tight_shapes
    assert all(map(torch.equal, ample, tight))


@pytest.mark.parametrize(
    ("build", "num_envs"), [(humanoids, NUM_ENVS), pytest.param(spheres, 1, marks=pytest.mark.slow)]
)
def test_with_numbers_of_environments_own(build, num_envs, monkeypatch):
    found = []
    tumble.init(precision="32", threads=2)
    for room in (TINY, None):
        begin_with(monkeypatch, room)
        solver = build(num_envs)
        mass = np.random.default_rng(0).uniform(0.5, 2.0, (num_envs, 1)) * solver.model.mj.body_mass
        solver.step()
        solver.set_parameters("body_mass", mass)
        found.append(everything(solver)[0])
    assert all(map(torch.equal, *found))


def test_room_that_grows_in_the_middle_of_a_rollout(monkeypatch):
    """Environments that came far in it begin it anew, and count its steps once."""
    found = []
    tumble.init(precision="32", threads=2)
    for room in (TINY, None):
        begin_with(monkeypatch, room)
        solver = spheres(NUM_ENVS)
        lifted = solver.qpos
        lifted[:, 2::7] += 0.05
        solver.set_state(qpos=lifted)
        solver.step()
        before = solver._driver._room.grown
        track = solver.rollout(np.zeros((NUM_ENVS, 40, 0)))
        assert (solver._driver._room.grown > before) == (room is TINY)
        assert (solver.time == 41 * solver.model.mj.opt.timestep).all()
        found.append([*track, solver.get("cfrc_ext"), *solver.state_dict().values()])
    assert all(map(torch.equal, *found))


def test_room_that_grows_in_one_evaluation_of_many(monkeypatch):
    """Of some environments that are packed otherwise than in a step, while older reads are kept."""
    tumble.init(precision="32", threads=2)
    begin_with(monkeypatch, TINY)
    solver = spheres(NUM_ENVS)
    solver.forward([0])
    few = solver.get("con_present", [0])
    grown = solver._driver._room.grown
    solver.forward()
    assert solver.contacts.mask.any()
    assert solver._driver._room.grown > grown
    assert solver.get("con_present", [0]).shape == few.shape
    assert len(solver.inspect(0)["contact_pos"]) == int(solver.contacts.mask[0].sum())


def test_growing_compiles_nothing(monkeypatch):
    """And solvers that share the scratch go on, before and after it is exchanged."""
    loaded, load = [], Program._load
    monkeypatch.setattr(Program, "_load", lambda *args: (loaded.append(args[0]), load(*args))[1])
    tumble.init(precision="32", threads=2)
    begin_with(monkeypatch, TINY)
    few, many = spheres(NUM_ENVS), spheres(NUM_ENVS, 125)
    few.step()
    place = few.runtime.pool["host scratch", few._driver._arrangement.width]
    assert place._sizes[0] == scratch.FIRST[0]
    many.step(3)
    assert place._sizes[0] == many._driver._room.rows[0] > scratch.FIRST[0]
    few.step(29)
    again = spheres(NUM_ENVS)
    again.step(30)
    assert torch.equal(few.qpos, again.qpos)
    assert len(loaded) == 1


def test_no_more_room_to_be_had(monkeypatch):
    """The error names what lacks and which option helps; the environments stay where they were."""
    tumble.init(precision="32", threads=2)
    begin_with(monkeypatch, TINY)
    solver = spheres(NUM_ENVS)
    before = solver.state_dict()
    monkeypatch.setattr(scratch, "MOST_ROWS", sum(solver._driver._room.rows) // 2)
    with pytest.raises(ValueError, match=r"room for \d+ contacts .* option max_contacts .*; 10 groups of 4 env"):
        solver.step()
    assert all(torch.equal(value, before[name]) for name, value in solver.state_dict().items())
    monkeypatch.undo()
    begin_with(monkeypatch, None)
    roomy = spheres(NUM_ENVS)
    for one in (solver, roomy):
        one.step()
    assert torch.equal(solver.qpos, roomy.qpos)


def test_how_room_begins_and_grows():
    """Small models have all the room that they could need; large ones a small part of it."""
    ant, many = (Model.from_mjspec(robots(*of), solver="newton") for of in (("ant.xml", 1), ("humanoid.xml", 20)))
    assert first_capacity(ant) == most_capacity(ant)
    first, most = first_capacity(many), most_capacity(many)
    assert first.contacts < most.contacts / 20 and first.entries < most.entries / 10
    assert Capacity(10, 100).for_more(Capacity(11, 0), Capacity(50, 500)) == Capacity(15, 100)
    assert Capacity(10, 100).for_more(Capacity(20, 160), Capacity(18, 500)) == Capacity(18, 160)

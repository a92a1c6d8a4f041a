"""What drivers do beside their kernels: rows to the right environments, marks of what is stale, settings of launches.

Both drivers, the CPU's with a tile that is not full and the GPU's on a processor, with one small model, so that a
driver's kernel is compiled once for all of this. Whatever they hand out is compared with what was written, with closed
forms, and with environments that came to the same state on another way.
"""

import gc
import weakref

import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.model.state.memory import COORDINATES, EVALUATED_FORCES, EVALUATION, FORCES, MEMORY
from tumble.physics.run.settings import Count
from tumble.physics.solver.solver import NON_FINITE

from ..widths import WIDTH
from .starts import run_in_columns

NUM_ENVS, HEIGHT, STEP = 6, 0.5, 0.01
XML = f"""
<mujoco><option timestep="{STEP}"/><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 {HEIGHT}"><joint name="z" type="slide" axis="0 0 1"/><joint name="t" axis="0 1 0"/>
<geom size=".1" pos=".2 0 0"/></body></worldbody><actuator><motor joint="t" gear=".1"/></actuator></mujoco>
"""
STIFF = XML.replace('size="1 1 1"', 'size="1 1 1" solref="-1e6 -1e3"').replace("<option", '<option integrator="RK4"')
SOME, OTHERS = [4, 0, 3], [1, 2, 5]
"""Environments in no order, so that neither a sorted nor a reversed list will do."""


@pytest.fixture(scope="module", params=["cpu", "columns"])
def driver(request):
    """Solvers have one driver or the other; later tests in this process those that they expect."""
    tumble.init(precision="32", lanes=4, threads=1) if request.param == "cpu" else run_in_columns()
    return request.param


@pytest.fixture(scope="module")
def model(driver):
    return Model.from_mjcf(XML)


@pytest.fixture
def make(model):
    """Solvers whose environments all are in different states."""

    def made(outputs=()):
        solver = RigidSolver(model, NUM_ENVS, outputs)
        solver.set_state(*states())
        solver.ctrl = np.linspace(-1, 1, NUM_ENVS)[:, None]
        solver.forward()
        return solver

    return made


def states(count=NUM_ENVS, seed=0):
    """Positions and velocities (count, 2)."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-0.2, 0.2, (count, 2)).astype(np.float32), rng.standard_normal((count, 2)).astype(np.float32)


def heights(solver, envs_idx=None):
    """How high the bodies are where they were evaluated, and are to be, by their coordinates there."""
    return solver.get("xpos", envs_idx)[:, 1, 2]


def of(qpos):
    return torch.as_tensor(qpos)[:, 0] + np.float32(HEIGHT)


def near(found, wanted, atol=1e-6):
    assert torch.allclose(torch.as_tensor(found), torch.as_tensor(wanted), rtol=0, atol=atol), (found, wanted)


def same(one, other):
    """Whether two solvers are in the same state, to the bit."""
    mine, theirs = one.state_dict(), other.state_dict()
    return all(torch.equal(mine[name], theirs[name]) for name in mine)


def same_state(one, other):
    """Whether two solvers are in the same state, whatever numbers of the model they have of their own."""
    mine, theirs = one.state_dict(), other.state_dict()
    return all(torch.equal(mine[name], theirs[name]) for name in ("memory", "counters"))


# ---- rows


def test_rows_go_to_their_environments(make):
    """All of them, some in no order, and one row for everybody."""
    solver, (qpos, qvel) = make(), states()
    assert np.array_equal(solver.qpos, qpos) and np.array_equal(solver.qvel, qvel)
    some = states(len(SOME), 1)[0]
    solver.set_state(some, envs_idx=SOME)
    qpos[SOME] = some
    assert np.array_equal(solver.qpos, qpos) and np.array_equal(solver.qvel, qvel)
    assert np.array_equal(solver.get("qpos", SOME), some)
    assert np.array_equal(solver.coordinates(), np.hstack([qpos, qvel]))
    solver.ctrl = [0.25]
    assert (solver.ctrl == 0.25).all()
    solver.set_inputs([2, 1], qfrc_applied=[3.0, 4.0])
    assert solver.qfrc_applied.tolist() == [[3.0, 4.0] if env in (1, 2) else [0.0, 0.0] for env in range(NUM_ENVS)]


def test_a_reset_begins_where_it_is_told_to(make):
    """In its environments alone, with all that followed from their states before forgotten."""
    solver = make()
    solver.step(3)
    before, moving, high = solver.qpos, solver.qvel, heights(solver)
    some, fast = states(len(SOME), 2)
    solver.reset(SOME, some, fast)
    assert np.array_equal(solver.qpos[SOME], some) and np.array_equal(solver.qvel[SOME], fast)
    assert torch.equal(solver.qpos[OTHERS], before[OTHERS]) and torch.equal(solver.qvel[OTHERS], moving[OTHERS])
    near(heights(solver)[SOME], of(some))  # the last evaluation is there, too
    assert torch.equal(heights(solver)[OTHERS], high[OTHERS])
    near(solver.get("cvel", SOME)[:, 1, 1], fast[:, 1])
    assert solver.time.tolist() == pytest.approx([0.0 if env in SOME else 3 * STEP for env in range(NUM_ENVS)])
    assert not solver.ctrl[SOME].any() and solver.ctrl[OTHERS].any()
    fresh = RigidSolver(solver.model, len(SOME))
    fresh.reset(qpos=some, qvel=fast)
    solver.step()
    fresh.step()
    assert torch.equal(solver.qpos[SOME], fresh.qpos)
    solver.reset([5])
    assert not solver.qpos[5].any() and not solver.qvel[5].any() and solver.qpos[4].any()


def test_reads_of_some_are_theirs(make):
    """Of fields, of fields with integers, and of everything that one environment has."""
    solver = make()
    solver.set_state(qpos=[-HEIGHT, 0.1], envs_idx=[2, 4])  # on the ground
    solver.step()
    whole, contacts = {name: solver.get(name) for name in ("xpos", "qacc", "qfrc_bias", "cvel")}, solver.contacts
    assert contacts.mask.sum(1).tolist() == [int(env in (2, 4)) for env in range(NUM_ENVS)]
    solver.forward([])  # nothing new, and nothing kept
    for name, numbers in whole.items():
        assert torch.equal(solver.get(name, SOME), numbers[SOME]), name
        assert torch.equal(solver.get(name, [2]), numbers[[2]]), name
    for env in (2, 3, 4):
        found = solver.inspect(env)
        assert np.array_equal(found["qacc"], whole["qacc"][env]) and np.array_equal(found["xpos"], whole["xpos"][env])
        assert len(found["contact_dist"]) == int(env in (2, 4))


# ---- applied forces


def push(solver):
    solver.qfrc_applied = np.linspace(1.0, 2.0, NUM_ENVS)[:, None] * [3.0, 0.1]


def drive(solver):
    solver.set_dofs_kv(1.0)
    solver.control_dofs_velocity(np.linspace(1.0, 2.0, NUM_ENVS)[:, None] * [3.0, 0.1])


@pytest.mark.parametrize("force", [push, drive])
def test_a_loaded_state_has_its_forces(make, force):
    """In a solver that had none before, for a step and for an evaluation, whether or not it launched already."""
    one = make()
    still = make()
    force(one)
    saved = one.state_dict()
    one.step(2)
    still.step(2)
    assert not torch.equal(one.qvel, still.qvel)
    for launched in (False, True):
        other = RigidSolver(one.model, NUM_ENVS, ("xpos",))
        if launched:
            other.step()
            other.forward()
            other.get("qacc_smooth")
            other.get("xpos")
        other.load_state_dict(saved)
        other.step(2)
        assert same(one, other)
        assert torch.equal(one.get("qacc"), other.get("qacc"))


def test_forces_that_come_after_launches(make):
    """Steps, rollouts and evaluations of every kind read them from then on; one that was before has none."""
    both = solver, still = make(("xpos", "qfrc_smooth")), make(("xpos", "qfrc_smooth"))
    for other in both:
        other.step()
        other.rollout(np.zeros((NUM_ENVS, 1, 1)))
        other.forward([1])
        other.get_many(("qfrc_smooth", "qacc_smooth"))
        other.get("qacc_smooth", [1, 2])
    push(solver)
    assert torch.equal(solver.get("qacc_smooth"), still.get("qacc_smooth"))
    for index in ([1, 2], None):
        for other in both:
            other.forward(index)
        forces = solver.get("qfrc_smooth") - still.get("qfrc_smooth")
        pushed = [1, 2] if index else list(range(NUM_ENVS))
        near(forces[pushed], solver.qfrc_applied[pushed], 2e-5)  # differences of weights of 40 N
        assert index is None or not forces[[0, 3, 4, 5]].any()
        faster = solver.get("qacc_smooth", [1, 2]) - still.get("qacc_smooth", [1, 2])
        assert (faster[:, 0] > 0.5).all()
        faster = solver.get("qacc_smooth") - still.get("qacc_smooth")
        assert (faster[pushed, 0] > 0.5).all()
    for other in both:
        other.rollout(np.zeros((NUM_ENVS, 1, 1)))
    assert ((solver.qvel - still.qvel)[:, 0] > 0.5 * STEP).all()


# ---- motion


def test_a_rollout_ends_as_its_steps_do(make):
    """With the last of its controls in force: in the next step, too."""
    controls = np.random.default_rng(3).uniform(-1, 1, (NUM_ENVS, 4, 1)).astype(np.float32)
    one, other = make(("xpos",)), make(("xpos",))
    found = one.rollout(controls)
    for k in range(4):
        other.ctrl = controls[:, k]
        other.step()
        assert torch.equal(found.qpos[:, k], other.qpos) and torch.equal(found.qvel[:, k], other.qvel)
    assert np.array_equal(one.ctrl, controls[:, -1]) and same(one, other)
    assert torch.equal(one.get("xpos"), other.get("xpos")) and torch.equal(one.get("qacc"), other.get("qacc"))
    one.step()
    other.step()
    assert same(one, other) and one.time.tolist() == pytest.approx([5 * STEP] * NUM_ENVS)


def test_as_many_steps_as_are_asked_for(make):
    one, other = make(), make()
    for n in (1, 3, 3, 1, 2):
        one.step(n)
        for _ in range(n):
            other.step()
        assert same(one, other)
    one.rollout(np.zeros((NUM_ENVS, 2, 1)))  # of one step each, whatever a step had before
    assert one.time.tolist() == pytest.approx([12 * STEP] * NUM_ENVS)


# ---- evaluations


def test_an_evaluation_is_where_it_was_until_it_is_moved(make):
    """After a step before its motion, after `set_state` as before, after `forward` at the state: there alone."""
    for outputs in ((), ("xpos",), ("xpos", "cvel")):
        solver, qpos = make(outputs), states()[0]
        near(heights(solver), of(qpos))
        solver.step()
        moved = solver.qpos
        near(heights(solver), of(qpos))
        solver.step()
        near(heights(solver), of(moved))
        some = states(len(SOME), 4)[0]
        solver.set_state(some, envs_idx=SOME)
        near(heights(solver), of(moved))
        solver.forward(SOME[:2])
        now = moved.clone()
        now[SOME[:2]] = torch.from_numpy(some[:2])
        near(heights(solver), of(now))
        near(heights(solver, [3, 4]), of(now)[[3, 4]])
        solver.set_state(states(5, 5)[0], envs_idx=[5, 3, 1, 0, 4])  # more than a tile of them
        solver.forward([1, 5, 4, 3, 0])
        now = solver.qpos
        now[2] = moved[2]
        near(heights(solver, [0, 5, 4, 3, 1]), of(now)[[0, 5, 4, 3, 1]])
        near(heights(solver), of(now))
        solver.forward()
        near(heights(solver), of(solver.qpos))
        near(solver.get("cvel")[:, 1, 1], solver.qvel[:, 1])


def test_several_quantities_between_two_changes(make):
    """Asked for one after the other, together, of some and of all: those of one moment, whatever is kept."""
    solver, twin = make(("xpos",)), make()
    for _ in range(3):
        solver.step()
        twin.step()
        first = solver.get("qacc")
        assert torch.equal(first, twin.get("qacc"))
        first.zero_()  # a copy
        for one in (first := solver.get("xpos"), solver.get("xpos", SOME)):
            kept = one.clone()
            solver.step()
            assert torch.equal(one, kept)
            twin.step()
        assert not torch.equal(first, solver.get("xpos"))
        names = ("cvel", "qacc", "xpos", "qfrc_bias")
        found = solver.get_many(names)
        assert all(torch.equal(found[name], twin.get(name)) for name in names)
        assert torch.equal(solver.get("cinert", SOME), twin.get("cinert")[SOME])
        assert torch.equal(solver.contacts.dist, twin.contacts.dist)


def test_fields_with_the_integers_of_their_environments(make):
    """Those asked for without integers before; of all; and, of what was computed for all, of some in any order."""
    solver, names = make(), ("con_dist", "xpos")
    solver.set_state(qpos=[-HEIGHT, 0.1], envs_idx=[4])  # on the ground, in the second tile
    solver.forward()
    inside = solver._driver
    assert set(inside.evaluate(names, None)) == set(names)
    whole = inside.evaluate_together(names, None)
    lanes = len(whole.fields["xpos"]) // len(whole.indices)
    assert whole.indices.shape[1] > 0 and not torch.equal(whole.indices[0], whole.indices[4 // lanes])
    for env in range(NUM_ENVS):
        some = inside.evaluate_together(names, np.array([env]))
        assert torch.equal(some.fields["xpos"][0], whole.fields["xpos"][env])
        assert torch.equal(some.indices[0], whole.indices[env // lanes])  # those computed for all: nothing moved


def test_forward_forgets_what_belongs_to_the_step_before(driver):
    """What was integrated and what rounding took off, of Runge-Kutta's last stage; and in which step that was."""
    solver = RigidSolver(Model.from_mjcf(STIFF), NUM_ENVS)
    inside, tiny, some = solver._driver, solver._numbers.numbers(1e-9), [env in SOME for env in range(NUM_ENVS)]
    assert inside.read("eval_rest").shape == inside.read("eval_qacc").shape == (NUM_ENVS, 2)
    solver.set_mj_state([5 * STEP], 1)  # mjSTATE_TIME
    for name in ("eval_rest", "eval_qacc"):
        inside.write(name, tiny, None)
    solver.forward(SOME)
    assert inside.read("eval_rest").any(1).tolist() == [not forgotten for forgotten in some]
    assert (inside.read("eval_qacc") > 1e20).all(1).tolist() == some  # NOT_INTEGRATED
    assert inside.count(Count.EVALUATED).tolist() == [5 * forgotten for forgotten in some]


def test_the_last_evaluation_lies_as_the_state_does():
    """In memory, so that `forward` and kernels may copy all of it at once."""
    assert MEMORY["KEPT"][: len(EVALUATION)] == EVALUATION and MEMORY["KEPT_FORCES"] == EVALUATED_FORCES
    assert (*MEMORY["STATE"], *MEMORY["INPUTS"]) == COORDINATES and MEMORY["FORCES"] == FORCES
    for present, last in ((COORDINATES, EVALUATION[: len(COORDINATES)]), (FORCES, EVALUATED_FORCES)):
        assert [(field.dims, field.width) for field in present] == [(field.dims, field.width) for field in last]


# ---- faults and numbers of environments' own


def test_a_fault_stays_in_its_environment(make):
    solver = make(("xpos",))
    solver.step()
    high = heights(solver)
    solver.set_state(qvel=[[np.nan, 0.0]], envs_idx=[4])
    solver.forward()  # not where the state is not finite
    assert not solver.any_fault and torch.equal(heights(solver)[[4]], high[[4]])
    solver.step()
    assert solver.any_fault and solver.faults.tolist() == [NON_FINITE * (env == 4) for env in range(NUM_ENVS)]
    assert solver.time.tolist() == pytest.approx([STEP * (1 + (env != 4)) for env in range(NUM_ENVS)])
    solver.set_state(*states(), envs_idx=None)
    assert not solver.any_fault
    solver.set_state(qvel=[[np.inf, 0.0]] * 2, envs_idx=[5, 1])
    solver.step()
    solver.reset([1])
    assert solver.faults.tolist() == [NON_FINITE * (env == 5) for env in range(NUM_ENVS)]


def test_a_saved_state_has_times_and_faults(make):
    both = solver, other = make(("xpos",)), make(("xpos",))
    solver.set_state(qvel=[[np.nan, 0.0]], envs_idx=[2])
    for n, one in zip((3, 1), both, strict=True):
        one.step(n)
        one.get_many(("xpos", "qacc"))
    other.load_state_dict(solver.state_dict())
    assert same(solver, other) and torch.equal(solver.time, other.time) and torch.equal(solver.faults, other.faults)
    for name in ("xpos", "qacc"):
        assert torch.equal(solver.get(name), other.get(name))
    for name in ("memory", "counters"):
        broken = solver.state_dict()
        broken[name] = broken[name][:-1]
        with pytest.raises(ValueError, match=name):
            other.load_state_dict(broken)


def test_times_that_are_written(make):
    solver = make()
    solver.set_mj_state([[0.3], [0.5]], 1, [5, 2])  # mjSTATE_TIME
    assert solver.time.tolist() == pytest.approx([0.0, 0.0, 0.5, 0.0, 0.0, 0.3])
    solver.step()
    assert solver.time.tolist() == pytest.approx([STEP * n for n in (1, 1, 51, 1, 1, 31)])


def test_numbers_of_environments_own(make, driver):
    """Steps, rollouts and evaluations have them, in their environments, from when they are set and set again."""
    if driver == "columns":
        pytest.skip("another kernel, of minutes: test_columns.py has it")
    solver, still = make(("xpos", "qfrc_bias")), make(("xpos", "qfrc_bias"))
    for other in (solver, still):
        other.step()
    mass = np.tile(solver.model.mj.body_mass, (NUM_ENVS, 1))
    mass[SOME] *= [[2.0], [3.0], [4.0]]
    solver.set_parameters("body_mass", mass)
    ratio = torch.from_numpy(mass[:, 1] / mass[OTHERS[0], 1]).float()
    solver.forward()
    still.forward()
    assert torch.allclose(solver.get("qfrc_bias")[:, 0], still.get("qfrc_bias")[:, 0] * ratio, rtol=1e-4)
    solver.set_parameters("body_mass", mass[OTHERS[:2]] * [[5.0], [6.0]], envs_idx=[5, 3])
    ratio[[5, 3]] = torch.tensor([5.0, 6.0])
    assert torch.allclose(solver.get("qfrc_bias")[:, 0], still.get("qfrc_bias")[:, 0] * ratio, rtol=1e-4)
    solver.step()  # as before there were such numbers
    still.step()
    assert torch.equal(solver.time, still.time) and solver.time.min() > 1.5 * STEP
    controls = np.ones((NUM_ENVS, 2, 1), np.float32)
    ends = solver.rollout(controls).qvel[:, -1, 1], still.rollout(controls).qvel[:, -1, 1]
    assert torch.equal(*(end[[1, 2]] for end in ends)) and not (ends[0] == ends[1])[[0, 3, 4, 5]].any()
    assert solver.get_parameters("body_mass")[:, 1].tolist() == pytest.approx((ratio * mass[1, 1]).tolist())


DAMPED = {"dof_damping": [0.4, 0.03], "gravity": [0.0, 0.5, -5.0]}
FILE_WITH_THEM = (
    XML.replace("<option", '<option gravity="0 .5 -5"')
    .replace('name="z"', 'name="z" damping=".4"')
    .replace('name="t"', 'name="t" damping=".03"')
)


def test_numbers_for_all_environments_are_those_of_a_file(make, model):
    """To the bit, and with the kernel of a solver without any; the file's own come back with a state that has none."""
    solver, plain, of_file = make(("xpos",)), make(("xpos",)), RigidSolver(Model.from_mjcf(FILE_WITH_THEM), NUM_ENVS)
    of_file.load_state_dict(solver.state_dict())
    before = solver.state_dict()
    solver.step()
    plain.step()
    solver.load_state_dict(before)
    solver.update_parameters(DAMPED)
    for one in (solver, of_file):
        one.step(20)
    assert same_state(solver, of_file) and torch.equal(solver.get("xpos"), of_file.get("xpos"))
    assert not torch.equal(solver.qpos, plain.qpos)
    assert solver._driver._launches.kernel is plain._driver._launches.kernel
    # saved, and gone on with in a fresh solver; then the file's
    other = RigidSolver(model, NUM_ENVS)
    other.load_state_dict(solver.state_dict())
    for one in (solver, of_file, other):
        one.step(3)
    assert same_state(other, of_file) and same(other, solver)
    assert solver._driver._launches.kernel is other._driver._launches.kernel is plain._driver._launches.kernel
    solver.load_state_dict(before)
    solver.step()
    assert same_state(solver, plain) and not solver.get_parameters("dof_damping").any()


def test_numbers_of_all_environments_become_numbers_of_each(make, model):
    """And of all again: every other environment keeps what it had, whichever way the numbers were given."""

    def one_by_one(solver, numbers):
        for env in range(NUM_ENVS):
            solver.update_parameters({name: values[env] for name, values in numbers.items()}, [env])

    shared, own = make(), make()
    everyone = {name: np.tile(values, (NUM_ENVS, 1)) for name, values in DAMPED.items()}
    shared.update_parameters(DAMPED)
    one_by_one(own, everyone)
    saved = shared.state_dict([2])
    for change in (
        lambda s: None,
        lambda s: s.set_parameters("dof_damping", DAMPED["dof_damping"], SOME),  # as they are
        lambda s: s.set_parameters("body_mass", 2 * model.mj.body_mass, SOME),  # another number, of some
        lambda s: s.set_parameters("gravity", [0.0, 0.0, 3.0], OTHERS),
        lambda s: s.load_state_dict(saved, [3, 1]),  # of an environment before these changes
        lambda s: s.reset([5], parameters={"dof_damping": [0.0, 0.5]}),
        lambda s: s.update_parameters(everyone | {"body_mass": 1.5 * model.mj.body_mass}),  # the same for all again
        lambda s: s.reset(),
    ):
        for solver in (shared, own):
            change(solver)
            solver.step(3)
        assert same(shared, own)
    # a state whose environments differ, into a solver whose environments share numbers
    own.set_parameters("gravity", [0.0, 0.0, 3.0], SOME)
    one = make()
    one.update_parameters(DAMPED)
    one.step()
    one.load_state_dict(own.state_dict())
    for solver in (one, own):
        solver.step(3)
    assert same(one, own) and torch.equal(one.get("qacc"), own.get("qacc"))


def test_outputs_stay_where_they_are_when_environments_get_own_numbers(make, model):
    """A step delivers what an evaluation computes, and the closed form, though the scratch has numbers of each now."""
    solver, other = make(("xpos",)), make()
    for one in (solver, other):
        one.set_parameters("body_mass", 2 * model.mj.body_mass, SOME)
        one.step(3)
    assert torch.equal(solver.get("xpos"), other.get("xpos"))
    solver.forward()
    near(heights(solver), of(solver.qpos))


# ---- the end


def test_a_batch_is_freed_with_its_last_reference(make):
    """At once, without a collection: on a GPU the next batch may need the memory."""
    solver = make(("xpos",))
    solver.step()
    solver.get_many(("xpos", "qacc")), solver.get("xpos", SOME), solver.contacts
    solver.reset([1])
    solver.get("xpos")
    driver = weakref.ref(solver._driver)
    gc.disable()
    try:
        del solver
        assert driver() is None
    finally:
        gc.enable()


def test_views_are_of_the_state_itself(driver, model):
    """Of a solver of lane width 1, and of the GPU driver, whose numbers of an environment lie anywhere."""
    solver = RigidSolver(model, 3, ("xpos",), lanes=1)
    solver.set_state(*states(3))
    solver.step()
    block, place = solver.view("qpos")
    assert torch.equal(block[:, place], solver.qpos)
    block, place = solver.view("xpos")
    assert torch.equal(block[:, place].reshape(3, -1), solver.get("xpos").reshape(3, -1))
    block, place = solver.view("ctrl")
    block[:, place] = torch.tensor([[1.0], [2.0], [3.0]])
    assert solver.ctrl.tolist() == [[1.0], [2.0], [3.0]]
    block, place = solver.view("faults")
    assert not block[:, place].any() and solver.view("qacc") is None


def test_views_of_one_environment_in_lanes_are_of_the_state_itself(model):
    solver = RigidSolver(model, 1, ("xpos",), lanes=WIDTH)
    solver.set_state(*states(1))
    block, place = solver.view("ctrl")
    block[:, place] = 2.0
    assert solver.ctrl.tolist() == [[2.0]]
    solver.step()
    for name in ("qpos", "xpos"):
        block, place = solver.view(name)
        assert torch.equal(block[:, place].flatten(), solver.get(name).flatten() if name == "xpos" else solver.qpos[0])
    assert solver.view("qacc") is None

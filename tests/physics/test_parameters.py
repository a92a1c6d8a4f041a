"""Environments with model numbers of their own equal compiled MuJoCo models of their own."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver

from ..cases import cases
from ..widths import WIDTH
from .own_numbers import XML, compiled, random_numbers
from .parity import run
from .parity.compare import Tally
from .parity.reference import Reference, States, evaluate, reference_model
from .parity.subjects import Tumble

pytestmark = pytest.mark.usefixtures("double")

COUNT = 64


@pytest.fixture(scope="module")
def model(double):
    return Model.from_mjcf(XML, **run.SETTINGS)


@pytest.fixture(scope="module")
def numbers(model):
    return random_numbers(model.mj, COUNT, np.random.default_rng(3))


@pytest.fixture(scope="module")
def models(model, numbers):
    return [reference_model(compiled(XML, numbers, env), **run.SETTINGS) for env in range(COUNT)]


@pytest.fixture(scope="module")
def solver(model, numbers):
    solver = RigidSolver(model, COUNT, outputs=("xpos",))
    for name, values in numbers.items():
        solver.set_parameters(name, values)
    return solver


def states_near(models, rng) -> States:
    """Around each model's own reference, low enough to touch the floor."""
    mjm = models[0]
    qpos, qvel = np.zeros((COUNT, mjm.nq)), rng.normal(0, 0.5, (COUNT, mjm.nv))
    for env, own in enumerate(models):
        qpos[env] = own.qpos0
        mujoco.mj_integratePos(own, qpos[env], rng.normal(0, 0.2, own.nv), 1.0)
        qpos[env, 2] -= rng.uniform(0.05, 0.2)
    return States(qpos, qvel, rng.uniform(-1.5, 1.5, (COUNT, mjm.nu)))


class Own(Tumble):
    """The harness' subject around a solver that is there."""

    def __init__(self, solver):
        self.mjm, self.solver = solver.model.mj, solver


def test_every_number_that_follows_is_mujocos(solver, models, numbers):
    """What `mj_setConst` makes of the numbers is what MuJoCo's compiler makes of them."""
    for name, values in numbers.items():
        assert np.allclose(solver.get_parameters(name), values, rtol=1e-15, atol=1e-15), name
    derived = ("body_subtreemass", "body_invweight0", "dof_invweight0", "dof_M0", "actuator_acc0", "geom_rbound")
    for name in (*derived, "tendon_invweight0", "tendon_length0"):
        theirs = np.stack([getattr(mjm, name) for mjm in models])
        assert np.allclose(solver.get_parameters(name), theirs, rtol=1e-9, atol=1e-12), name


def test_fields_equal_those_of_compiled_models(solver, models):
    """Every field, contact and row that the parity proof compares."""
    states = states_near(models, np.random.default_rng(0))
    each = [evaluate(mjm, states[env : env + 1]) for env, mjm in enumerate(models)]
    theirs = Reference(
        {name: np.concatenate([one.fields[name] for one in each]) for name in each[0].fields},
        [one.contacts[0] for one in each],
        [one.rows[0] for one in each],
        *(
            np.concatenate([getattr(one, name) for one in each])
            for name in ("qfrc_fluid", "qfrc_spring", "qfrc_damper", "wrapped")
        ),
    )
    report = run.Report("own numbers", "64", COUNT, Tally(COUNT), settings="")
    subject = Own(solver)
    subject.load(states)
    subject.forward()
    run._compare_forward(report, models[0], subject, states, theirs, COUNT)
    run._note_what_occurred(report, models[0], theirs)
    assert not report.failures, report.describe()
    seen = ("contact plane-sphere", "contact plane-capsule", "contact plane-cylinder", "contact plane-box")
    assert all(report.seen[f"condim {dim}"] for dim in (1, 3, 4, 6))
    wanted = (*seen, "limit ball", "limit hinge", "limit slide", "spring", "damper")
    wanted += ("moment site", "moment slidercrank", "moment body")
    assert [name for name in wanted if not report.seen[name]] == []
    assert all(report.seen[f"friction loss, {what}"] for what in ("holding", "overcome"))


def test_a_rollout_equals_those_of_compiled_models(solver, models):
    """Twenty steps under controls of their own, without re-sync."""
    states = states_near(models, np.random.default_rng(1))
    Own(solver).load(states)
    solver.step(20)
    for env, mjm in enumerate(models):
        data = mujoco.MjData(mjm)
        data.qpos[:], data.qvel[:], data.ctrl[:] = states.qpos[env], states.qvel[env], states.ctrl[env]
        mujoco.mj_step(mjm, data, 20)
        assert np.abs(solver.qpos[env].numpy() - data.qpos).max() < 1e-6, env
        assert np.abs(solver.qvel[env].numpy() - data.qvel).max() < 1e-4, env


def test_a_reset_keeps_them_and_begins_at_the_reference_of_each(solver, numbers):
    """The derived quantities belong to them at once; a reset that brings others brings them to its environments."""
    solver.reset()
    assert np.array_equal(solver.qpos, numbers["qpos0"])
    assert np.array_equal(solver.get_parameters("body_mass"), numbers["body_mass"])
    before = solver.state_dict()
    rows = [3, 40]
    mass = solver.get_parameters("body_mass", rows) * 2
    solver.reset(rows, parameters={"body_mass": mass, "gravity": [0.0, 0.0, -1.0]})
    assert torch.equal(solver.get_parameters("body_mass", rows), mass)
    others = np.setdiff1d(np.arange(COUNT), rows)
    for name in (*numbers, "body_subtreemass", "dof_invweight0"):
        kept = before[f"parameters.{name}"][others]
        assert torch.equal(solver.get_parameters(name, others), kept), name
    assert torch.allclose(solver.get_parameters("body_subtreemass", rows)[:, 0], mass.sum(1), rtol=1e-14)
    solver.load_state_dict(before)
    assert np.array_equal(solver.get_parameters("body_mass"), numbers["body_mass"])


def test_a_saved_state_carries_them(model, solver, models):
    """Into a solver that has none; the future is the same to the bit. A state without them takes them away."""
    states = states_near(models, np.random.default_rng(2))
    Own(solver).load(states)
    solver.step(3)
    other = RigidSolver(model, COUNT)
    plain = other.state_dict()
    other.load_state_dict(solver.state_dict())
    for one in (solver, other):
        one.step(5)
    assert torch.equal(solver.qpos, other.qpos) and torch.equal(solver.get("xpos"), other.get("xpos"))
    other.load_state_dict(plain)
    assert torch.equal(other.get_parameters("body_mass", [7])[0], torch.as_tensor(model.mj.body_mass))
    fresh = RigidSolver(model, COUNT)
    for one in (other, fresh):
        one.step(5)
    assert torch.equal(other.qpos, fresh.qpos)


@pytest.mark.parametrize("count", [1, 4])
def test_numbers_that_all_environments_share(model, numbers, models, count):
    """Fifty steps: MuJoCo's with the compiled model, and the bits of environments that are each given these numbers."""
    alike = {name: np.repeat(values[:1], count, 0) for name, values in numbers.items()}
    states = states_near(models[:1] * COUNT, np.random.default_rng(5))[:count]
    shared, own = RigidSolver(model, count), RigidSolver(model, 4)
    shared.update_parameters(alike)
    own.update_parameters({name: np.repeat(values[:1], 4, 0) for name, values in numbers.items()}, range(4))
    assert shared._overrides.share and own._overrides.differing
    for name in numbers:
        assert torch.equal(shared.get_parameters(name), own.get_parameters(name)[:count]), name
    Own(shared).load(states)
    Own(own).load(states[np.arange(4) % count])
    for _ in range(50):
        for solver in (shared, own):
            solver.step()
    assert torch.equal(shared.qpos, own.qpos[:count]) and torch.equal(shared.qvel, own.qvel[:count])
    for env in range(count):
        data = mujoco.MjData(models[0])
        data.qpos[:], data.qvel[:], data.ctrl[:] = states.qpos[env], states.qvel[env], states.ctrl[env]
        mujoco.mj_step(models[0], data, 50)
        assert np.abs(shared.qpos[env].numpy() - data.qpos).max() < 1e-6, env
        assert np.abs(shared.qvel[env].numpy() - data.qvel).max() < 1e-4, env


@pytest.mark.parametrize("lanes", [WIDTH, pytest.param(1, marks=pytest.mark.slow)])
def test_an_environment_has_the_same_bits_alone(model, solver, numbers, models, lanes):
    """Whatever its neighbours' numbers are, and however wide the lanes."""
    states = states_near(models, np.random.default_rng(4))
    Own(solver).load(states)
    solver.step(10)
    for env in (0, 21):
        alone = RigidSolver(model, 1, ("xpos",), lanes)
        alone.reset(parameters={name: values[[env]] for name, values in numbers.items()})
        Own(alone).load(states[[env]])
        alone.step(10)
        assert torch.equal(alone.qpos[0], solver.qpos[env])
        assert torch.equal(alone.qvel[0], solver.qvel[env])


def test_an_absurd_number_stops_its_own_environment_alone(model, numbers):
    """A spring that no step can follow."""
    sound, hurt = (RigidSolver(model, 20) for _ in range(2))
    for solver in (sound, hurt):
        for name in ("jnt_stiffness", "body_mass"):
            solver.set_parameters(name, numbers[name][:20])
    hurt.set_parameters("jnt_stiffness", 1e300, [13])
    for solver in (sound, hurt):
        solver.set_state(qvel=np.full(model.mj.nv, 0.3))
        solver.step(10)
    others = torch.arange(20) != 13
    assert hurt.faults.nonzero().flatten().tolist() == [13]
    assert torch.equal(sound.qpos[others], hurt.qpos[others])


def test_rays_meet_geoms_of_their_own_sizes(solver, models):
    """Of all environments, and of some of them, as in the models compiled for each."""
    solver.reset()
    rng, geom = np.random.default_rng(5), np.zeros(1, np.int32)
    pnt, vec = np.array([0.3, -1.5, 1.5]), rng.normal([-0.3, 1.5, -1.2], 0.4, (40, 3))
    whole, part = solver.ray(pnt, vec), solver.ray(pnt, vec, envs_idx=[7, 3])
    assert torch.equal(part.distance, whole.distance[[7, 3]]) and torch.equal(part.geom, whole.geom[[7, 3]])
    for env, mjm in enumerate(models):
        data = mujoco.MjData(mjm)
        mujoco.mj_forward(mjm, data)
        found = [(mujoco.mj_ray(mjm, data, pnt, ray, None, True, -1, geom), int(geom[0])) for ray in vec]
        assert whole.geom[env].tolist() == [g for _, g in found]
        assert np.allclose(whole.distance[env], [distance for distance, _ in found], rtol=1e-11, atol=0)
    assert len(whole.geom.unique()) > 4


@cases(
    "name, values, rows, error, message",
    [
        ("body_mas", 1.0, None, KeyError, "did you mean body_mass"),
        ("dof_invweight0", 1.0, None, KeyError, "it follows from .*body_mass"),
        ("body_mass", np.ones(3), None, ValueError, r"body_mass: expected shape \(20, 7\).* got \(3,\)"),
        ("body_mass", -1.0, [4], ValueError, r"body_mass\[0\] of environment 4 is -1: it must not be negative"),
        ("body_mass", 0.0, [4], ValueError, r"body_mass\[1\] of environment 4 is 0: it must stay above 0"),
        ("gravity", np.nan, [5, 6], ValueError, r"gravity\[0\] of environment 5 is nan: it must be finite"),
        ("jnt_range", [1.0, -1.0], None, ValueError, "a lower bound must not be above"),
        ("body_quat", 0.0, None, ValueError, "a quaternion must have a length"),
        ("dof_frictionloss", 1.0, [4], ValueError, r"dof_frictionloss\[0\] of environment 4 is 1: the model has none"),
        ("body_mass", "heavy", None, ValueError, "not an array of numbers"),
        ("body_mass", 1.0, [20], IndexError, "no environment 20"),
    ],
)
def test_errors_say_what_to_do(model, name, values, rows, error, message):
    """Nothing is set; the next step is that of an environment without numbers of its own."""
    solver = RigidSolver(model, 20)
    with pytest.raises(error, match=message):
        solver.set_parameters(name, values, rows)
    assert not solver._overrides


def test_a_model_that_came_compiled_says_which_numbers_it_cannot_change():
    """MuJoCo compiles simple bodies otherwise, and cannot be asked for that any more."""
    xml = '<mujoco><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
    compiled_before = RigidSolver(Model.from_mjmodel(mujoco.MjModel.from_xml_string(xml)), 2)
    with pytest.raises(ValueError, match=r"body_ipos.*simple"):
        compiled_before.set_parameters("body_ipos", [0.1, 0.0, 0.0])
    compiled_before.set_parameters("body_mass", 2.0)
    from_file = RigidSolver(Model.from_mjcf(xml), 2)
    from_file.set_parameters("body_ipos", [0.1, 0.0, 0.0])


def test_conjugate_gradients_see_them_too():
    """A crowd of spheres, and each environment's own compiled model."""
    bodies = ""
    for i in range(12):
        bodies += f'<body pos="{0.21 * (i % 3)} {0.21 * (i // 3 % 3)} {0.12 + 0.19 * (i // 9)}"><freejoint/>'
        bodies += f'<geom size="0.1" condim="{3 - 2 * (i % 2)}"/></body>'
    floor = '<compiler angle="radian"/><worldbody><geom type="plane" size="5 5 1"/>'
    xml = f"<mujoco>{floor}{bodies}</worldbody></mujoco>"
    model = Model.from_mjcf(xml, solver="CG", tolerance=1e-14, iterations=300)
    numbers = random_numbers(model.mj, 8, np.random.default_rng(0))
    solver = RigidSolver(model, 8)
    qvel = np.random.default_rng(1).normal(0, 0.3, (8, model.mj.nv))
    solver.reset(qvel=qvel, parameters=numbers)
    for env in range(8):
        mjm = reference_model(compiled(xml, numbers, env), **run.SETTINGS)
        data = mujoco.MjData(mjm)
        data.qvel[:] = qvel[env]
        mujoco.mj_forward(mjm, data)
        assert data.ncon > 9
        assert np.abs(solver.get("qacc", [env])[0].numpy() - data.qacc).max() < 1e-6 * np.abs(data.qacc).max()

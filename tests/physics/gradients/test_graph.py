"""Solvers whose state is part of torch's graph: their numbers, and gradients against differences of plain solvers."""

import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver

from ..starts import run_in_columns, run_with

pytestmark = pytest.mark.usefixtures("double")

XML = """<mujoco><option timestep="0.004"/><worldbody>
<geom type="plane" size="5 5 .1"/>
<body name="box" pos="0 0 0.098"><freejoint/><geom type="box" size=".1 .1 .1" friction="0.6" condim="3"/></body>
<body name="arm" pos="0.6 0 0.5"><joint name="swing" axis="0 1 0" damping=".1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".03"/><site name="tip" pos="0 0 -.2"/>
  <body pos="0 0 -.25"><joint name="wrist" axis="1 0 0"/><geom type="capsule" fromto="0 0 0 0 0 -.1" size=".02"/></body>
</body>
<body name="hand" mocap="true" pos="-0.145 0 0.12"><geom type="sphere" size="0.05"/></body>
</worldbody>
<actuator><motor joint="swing" gear="2"/>
<general joint="wrist" dyntype="filter" dynprm="0.05" gainprm="0.3"/></actuator></mujoco>"""
COUNT = 2
BOX, SWING, WRIST = slice(0, 6), 6, 7
DISTANCE = 5e-6
"""Of the differences: at 3e-5 corners of the box leave the plane, and rounding has the larger share below 1e-6."""
TOLERANCE = 1e-7
"""Of a derivative along a direction and 1: rounding of the differences, in stiff contacts."""
READ = ("xpos", "xquat", "site_xpos", "cvel", "subtree_com", "qacc", "actuator_force")


def made(**options):
    return Model.from_mjcf(XML, **options)


def drawn(seed=0):
    """Numbers that are given to a solver, at random: the box stands on the plane, and the hand presses it."""
    rng = np.random.default_rng(seed)

    def near(numbers, spread):
        start = np.broadcast_to(np.asarray(numbers, float), (COUNT, len(numbers)))
        return torch.from_numpy(start + spread * rng.standard_normal(start.shape))

    qpos = near([0, 0, 0.098, 1, 0, 0, 0, 0.3, -0.2], 0.004)
    given = {"qpos": qpos, "qvel": near([0.3, 0.1, 0, 0, 0, 0.2, 1, -1], 0.2), "act": near([0.4], 0.2)}
    given |= {"ctrl": near([0.3, -0.4], 0.3), "mocap_pos": near([-0.145, 0, 0.12], 0.001)}
    given |= {"push": near([1.0, 2.0], 0.5), "wrench": near([0.5, -1, 0.3, 0.1, 0.1, 0.2], 0.3)}
    return given | {"kp": near([3.0], 0.5), "target": near([0.5], 0.2), "force": near([0.2], 0.1)}


def moved(solver, given):
    """Write all that is given, in several ways, take steps, and return what is read on the way and in the end."""
    solver.set_state(qpos=given["qpos"], qvel=given["qvel"], act=given["act"])
    solver.inputs.set(ctrl=given["ctrl"], mocap_pos=given["mocap_pos"][:, None])
    solver.inputs.set_columns(qfrc_applied=([0, SWING], given["push"]))
    solver.inputs.set_columns(xfrc_applied=(6 + np.arange(6), given["wrench"]))
    found = {}
    solver.step()
    found["after a step"] = solver.get("xpos")  # of the evaluation with which the step began
    solver.joints.set_kp(given["kp"], [WRIST])
    solver.joints.control_position(given["target"], [WRIST])
    solver.joints.control_force(given["force"], [SWING])
    solver.step(3)
    found["late velocities"] = solver.get("cvel")
    solver.forward([1])  # the other environment's are those of the last step
    found["of one at present"] = solver.get("xpos", [1, 0])
    ctrl = torch.cat((solver.qvel[:, [SWING]] * -0.2, given["ctrl"][:, 1:]), 1)  # a feedback, through the graph
    solver.set_state(qvel=0.9 * solver.qvel)
    solver.step(2, ctrl=ctrl)
    found |= {"qpos": solver.qpos, "qvel": solver.qvel, "act": solver.act, "both": solver.state.coordinates()}
    solver.forward()
    return found | solver.quantities.get_many(READ) | {"one column": solver.state.get_columns("qpos", [SWING + 1])}


@pytest.fixture(scope="module")
def case(double):
    """Tensors given to a solver, what it returned, and a function of the plain solver's results."""
    model = made()
    given = {name: numbers.requires_grad_() for name, numbers in drawn().items()}
    found = moved(RigidSolver(model, COUNT, requires_grad=True), given)
    plain = RigidSolver(model, COUNT)

    def values(change):
        plain.state.reset()
        plain.joints.set_kp(0.0)
        return moved(plain, {name: (x + change[name] if name in change else x).detach() for name, x in given.items()})

    return given, found, values


def test_numbers_are_those_of_a_plain_solver_to_the_last_bit(case):
    _, found, values = case
    for name, numbers in values({}).items():
        assert found[name].requires_grad and torch.equal(found[name].detach(), numbers), name


@pytest.mark.parametrize("name", list(drawn()))
def test_gradients_are_those_of_differences(case, name):
    """Of every number read, weighted at random, along a direction of what is given."""
    given, found, values = case
    rng = torch.Generator().manual_seed(len(name))
    along = torch.randn(given[name].shape, generator=rng, dtype=torch.float64)
    ends = {at: values({name: at * DISTANCE * along}) for at in (1, -1, 2, -2)}
    largest = 0.0
    for read, numbers in found.items():
        weight = torch.randn(numbers.shape, generator=rng, dtype=torch.float64)
        (gradient,) = torch.autograd.grad((weight * numbers).sum(), given[name], retain_graph=True, allow_unused=True)
        at = {side: float((weight * end[read]).sum()) for side, end in ends.items()}
        quotient = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * DISTANCE)
        derivative = 0.0 if gradient is None else float((gradient * along).sum())
        assert abs(derivative - quotient) < TOLERANCE * (1.0 + abs(quotient)), read
        largest = max(largest, abs(quotient))
    assert largest > 1.0


def test_a_reset_of_some_environments_cuts_the_graph_of_these():
    solver = RigidSolver(made(), COUNT, requires_grad=True)
    given = drawn()
    ctrl = given["ctrl"].requires_grad_()
    solver.set_state(qpos=given["qpos"])
    solver.ctrl = ctrl
    solver.step()
    solver.reset([0])
    (solver.qpos.sum() + solver.qvel.sum()).backward()
    assert not ctrl.grad[0].any() and ctrl.grad[1].any()
    solver.gradients.detach()
    assert not solver.qpos.requires_grad and not solver.ctrl.requires_grad
    qpos = given["qpos"].requires_grad_()
    solver.reset(qpos=qpos)
    assert torch.autograd.grad(solver.qpos.sum(), qpos)[0].eq(1.0).all()
    solver.reset()
    assert not solver.qpos.requires_grad and not solver.get("xpos").requires_grad


def test_steps_without_gradients_are_constants():
    solver = RigidSolver(made(), COUNT, requires_grad=True)
    ctrl = drawn()["ctrl"].requires_grad_()
    with torch.no_grad():
        solver.ctrl = ctrl
        solver.step()
    assert not solver.qpos.requires_grad
    solver.step(ctrl=ctrl)
    assert solver.qpos.requires_grad
    with torch.no_grad():
        assert not solver.qpos.requires_grad
        solver.step()
    assert not solver.qpos.requires_grad and solver.ctrl.requires_grad  # the controls hold
    solver.forward()
    force = solver.get("actuator_force")[:, 0]
    assert torch.allclose(torch.autograd.grad(force.sum(), ctrl)[0][:, 0], torch.ones(COUNT, dtype=torch.float64))


def test_copies_are_given_and_taken():
    """Changes in place of what was given or returned do not reach the solver, nor its gradients."""
    solver = RigidSolver(made(), COUNT, requires_grad=True)
    qvel = drawn()["qvel"].requires_grad_()
    solver.set_state(qvel=qvel)
    solver.step()
    end = solver.qvel
    end *= 2.0
    with torch.no_grad():
        qvel += 1.0
    twice = torch.autograd.grad(end.sum(), qvel, retain_graph=True)[0]
    assert torch.allclose(twice, 2 * torch.autograd.grad(solver.qvel.sum(), qvel)[0], rtol=1e-12)


def test_wrong_uses_are_refused_in_a_sentence():
    solver = RigidSolver(made(), COUNT, requires_grad=True)
    ctrl = drawn()["ctrl"].requires_grad_()
    solver.step(ctrl=ctrl)
    solver.qpos.sum().backward()
    with pytest.raises(RuntimeError, match="cut the graph by a reset or"):
        solver.qpos.sum().backward()
    with pytest.raises(ValueError, match=r"rollout: .* call step"):
        solver.rollout(ctrl[:, None])
    with pytest.raises(ValueError, match="eq_active: steps have no derivative by it"):
        solver._driver.write("eq_active", ctrl, None)
    assert solver.view("qpos") is None
    with pytest.raises(NotImplementedError, match="noslip_iterations"):
        RigidSolver(made(noslip_iterations=3), 1, requires_grad=True)


def quotient(values, along):
    """Return the derivative of a number, a function of the distance along a direction, by differences."""
    at = {side: float(values(side * along)) for side in (DISTANCE, -DISTANCE, 2 * DISTANCE, -2 * DISTANCE)}
    near, far = at[DISTANCE] - at[-DISTANCE], at[2 * DISTANCE] - at[-2 * DISTANCE]
    return (8 * near - far) / (12 * DISTANCE)


def test_runge_kutta_steps_have_gradients_of_coordinates_alone():
    """Its last evaluation is that of a later stage, for which there are no Jacobians."""
    model, given = made(integrator="rk4"), drawn()
    solver, plain = RigidSolver(model, COUNT, requires_grad=True), RigidSolver(model, COUNT)
    qvel = given["qvel"].requires_grad_()
    weight = torch.randn(COUNT, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def end(solver, qvel):
        solver.reset(qpos=given["qpos"], qvel=qvel)
        solver.step(2)
        return (weight * solver.qvel).sum()

    total = end(solver, qvel)
    assert torch.equal(solver.get("xpos").detach(), (end(plain, qvel.detach()), plain.get("xpos"))[1])
    derivative = (torch.autograd.grad(total, qvel)[0] * weight).sum()
    differences = quotient(lambda along: end(plain, qvel.detach() + along), weight)
    assert abs(derivative - differences) < TOLERANCE * (1.0 + abs(differences))
    with pytest.raises(NotImplementedError, match="no gradients with the integrator RK4; let the loss depend on"):
        solver.get("xpos").sum().backward()


@pytest.mark.slow  # another kernel, with numbers of environments' own
def test_environments_with_masses_of_their_own():
    """Of as many environments as have lanes of their own; a getter of some of them reads theirs."""
    count, chosen = 9, [7, 2]
    solver, plain = RigidSolver(made(), count, requires_grad=True), RigidSolver(made(), count)
    rng = np.random.default_rng(2)
    mass = made().mj.body_mass * rng.uniform(0.7, 1.5, (count, 1))
    start = torch.from_numpy(np.concatenate([drawn(seed)["qpos"].numpy() for seed in range(5)])[:count])
    push = torch.from_numpy(rng.standard_normal((count, 2))).requires_grad_()
    weight = torch.randn(len(chosen), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for each in (solver, plain):
        each.set_parameters("body_mass", mass)

    def end(solver, push):
        solver.reset(qpos=start)
        solver.inputs.set_columns(qfrc_applied=([0, SWING], push))
        solver.step(3)
        return (weight * (solver.get("site_xpos", chosen)[:, 0, 0] + solver.get("qacc", chosen)[:, SWING])).sum()

    gradient = torch.autograd.grad(end(solver, push), push)[0]
    assert not gradient[[k for k in range(count) if k not in chosen]].any()
    along = torch.from_numpy(rng.standard_normal((count, 2)))
    differences = quotient(lambda change: end(plain, push.detach() + change), along)
    derivative = (gradient * along).sum()
    assert abs(differences) > 1e-3
    assert abs(derivative - differences) < TOLERANCE * (1.0 + abs(differences))


@pytest.mark.slow  # another driver
def test_the_driver_of_a_gpu_gives_the_same_gradients():
    """On the processor: beside the driver of lanes, which is compared with differences above."""
    gradients = []
    for begin in (run_with, run_in_columns):
        begin("64")
        given = {name: numbers.requires_grad_() for name, numbers in drawn().items()}
        solver = RigidSolver(made(), COUNT, requires_grad=True)
        found = moved(solver, given)
        gradients.append(torch.autograd.grad(sum(x.sum() for x in found.values()), list(given.values())))
        solver.reset(qpos=given["qpos"])
        assert torch.autograd.grad(solver.qpos.sum(), given["qpos"])[0].eq(1.0).all()
    run_with("64")
    for mine, theirs in zip(*gradients, strict=True):
        assert (mine - theirs).abs().max() < TOLERANCE * mine.abs().max()

"""`solver.gradients` as users call it: parameters, several steps, readings, rollouts, other precisions, wrong uses."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver

from ...test_architecture import ROOT
from ..starts import run_in_columns, run_with

EXACT = {"tolerance": 1e-12, "iterations": 100, "ls_iterations": 100, "integrator": "Euler"}
"""Options with which solvers end at the optimum, and step once in an evaluation."""
ROUNDING = 1e-12
"""Two ways through the same tangents, relative to the largest number."""
DIFFERENCES = 1e-7
"""Fourth-order differences with a length of 2e-5 of parameters of stiff contacts: their rounding is about 1e-8."""
CONSTANTS = 1e-6
"""The same where constants of mj_setConst follow, whose own differences have a length of 3e-6 (kinks of invweight0)."""
ROLLOUT = 1e-6
"""Central differences with a length of 1e-6 through 32 steps with contacts."""
SINGLE = 1e-4
"""States in single precision are 1e-7 from those in double, and contacts make that grow."""


def make(name: str, num_envs: int = 4, steps: int = 40, **options) -> RigidSolver:
    """A solver whose environments moved apart under random controls, so that some have contacts."""
    solver = RigidSolver(Model.from_mjcf(str(ROOT / "assets" / f"{name}.xml"), **{**EXACT, **options}), num_envs)
    rng = np.random.default_rng(3)
    solver.set_state(qvel=0.1 * rng.normal(size=(num_envs, solver.model.mj.nv)))
    for _ in range(steps):
        solver.step(ctrl=rng.uniform(-0.5, 0.5, (num_envs, solver.model.mj.nu)))
    return solver


def along(result) -> torch.Tensor:
    """The tangents of a state side by side, (n, k, 2 nv + na)."""
    return torch.cat(tuple(result), 2)


def largest(error: torch.Tensor, of: torch.Tensor) -> float:
    """The largest error, relative to the largest number."""
    return float(error.abs().max() / of.abs().max())


def test_products_are_jacobians_times_directions():
    run_with("64")
    solver = make("hopper")
    torch.manual_seed(0)
    qpos, qvel, ctrl = torch.randn(3, 6), torch.randn(4, 3, 6), torch.randn(1, 3)
    for n in (1, 3):
        A, B = solver.gradients.transition(n=n)
        state = torch.cat((qpos.expand(4, 3, 6), qvel), 2).double()
        expected = state @ A.mT + ctrl.double() @ B.mT
        found = along(solver.gradients.jvp(qpos=qpos, qvel=qvel, ctrl=ctrl, n=n))
        assert largest(found - expected, expected) < ROUNDING
    chosen = solver.gradients.transition(envs_idx=[2, 0])
    assert torch.equal(chosen.A, solver.gradients.transition().A[[2, 0]])


def test_the_state_stays_as_it_is():
    run_with("64")
    solver = make("hopper")
    before = solver.state_dict()["memory"].clone()
    solver.gradients.transition(n=2)
    solver.gradients.jvp(ctrl=torch.ones(1, 3), parameters={"body_mass": torch.ones(1, 5)})
    assert torch.equal(solver.state_dict()["memory"], before)
    assert not solver.parameters.own


PARAMETERS = {
    "gravity": DIFFERENCES,
    "dof_damping": DIFFERENCES,
    "geom_friction": DIFFERENCES,
    "actuator_gear": CONSTANTS,
    "dof_armature": CONSTANTS,
    "body_mass": CONSTANTS,
    "body_ipos": CONSTANTS,
}


@pytest.mark.parametrize(("name", "tolerance"), PARAMETERS.items())
def test_parameters_move_the_step_as_in_mujoco(name, tolerance):
    """Differences of MuJoCo with an edited model, in which mj_setConst makes constants follow."""
    run_with("64")
    solver = make("hopper")
    mjm, rng = solver.model.editable(), np.random.default_rng(0)
    numbers = mjm.opt.gravity if name == "gravity" else getattr(mjm, name)
    if name == "geom_friction":
        numbers[0] *= 0.9  # contacts take the larger friction of two geoms: no tie
        solver.set_parameters(name, numbers)
    own, direction = np.array(numbers), rng.uniform(0.5, 1.0, numbers.shape) * (np.abs(numbers) > 0)
    data, states = mujoco.MjData(mjm), (solver.qpos.numpy(), solver.qvel.numpy(), solver.ctrl.numpy())

    def ends(h: float) -> np.ndarray:
        numbers[:] = own + h * direction
        mujoco.mj_setConst(mjm, data)
        found = []
        for qpos, qvel, ctrl in zip(*states, strict=True):
            mujoco.mj_resetData(mjm, data)
            data.qpos, data.qvel, data.ctrl = qpos, qvel, ctrl
            mujoco.mj_step(mjm, data)
            found.append(np.array(data.qvel))
        return np.array(found)

    h = 2e-5 * np.abs(own).max()
    expected = (8 * (ends(h) - ends(-h)) - (ends(2 * h) - ends(-2 * h))) / (12 * h)
    found = solver.gradients.jvp(parameters={name: direction[None]}).qvel[:, 0].numpy()
    assert np.abs(expected).max() > 1e-6
    assert np.abs(found - expected).max() < tolerance * np.abs(expected).max()


def rolled(solver: RigidSolver, start: tuple, controls: torch.Tensor, n: int, fields: tuple = ()) -> torch.Tensor:
    """A number of each environment (n,), made of everything that a rollout returns."""
    result = solver.gradients.rollout(*start, controls, n=n, fields=fields)
    parts = [result.qpos, result.qvel, *result.fields.values()]
    generator = torch.Generator().manual_seed(1)
    weights = [torch.randn(part.shape[1:], generator=generator, dtype=part.dtype) for part in parts]
    return sum((part * weight).flatten(1).sum(1) for part, weight in zip(parts, weights, strict=True))


@pytest.mark.parametrize(
    ("name", "periods", "n", "fields"),
    [("hopper", 6, 2, ("xpos", "cvel", "qacc", "subtree_com")), pytest.param("ant", 32, 1, (), marks=pytest.mark.slow)],
)
def test_rollouts_equal_differences(name, periods, n, fields):
    run_with("64")
    solver = make(name)
    start = solver.qpos.requires_grad_(), solver.qvel.requires_grad_()
    generator = torch.Generator().manual_seed(0)
    controls = torch.rand((4, periods, solver.model.mj.nu), generator=generator, dtype=torch.float64) - 0.5
    controls.requires_grad_()
    rolled(solver, start, controls, n, fields).sum().backward()
    for number, changed in enumerate((*start, controls)):
        direction = torch.randn(changed.shape, generator=generator, dtype=torch.float64)
        direction /= direction.flatten(1).norm(dim=1).reshape(-1, *[1] * (changed.ndim - 1))
        inputs = [x.detach() for x in (*start, controls)]
        ends = []
        for side in (1.0, -1.0, 2.0, -2.0):
            moved = [x + side * 1e-6 * direction if k == number else x for k, x in enumerate(inputs)]
            with torch.no_grad():
                ends.append(rolled(solver, tuple(moved[:2]), moved[2], n, fields))
        expected = (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / 12e-6  # 32 steps of contacts bend much
        found = (changed.grad * direction).flatten(1).sum(1)
        assert largest(found - expected, expected) < ROLLOUT


def sensors_with_derivatives() -> mujoco.MjModel:
    """All sensors of the tests but those that cast rays or measure distances."""
    spec = mujoco.MjSpec.from_file(str(ROOT / "tests" / "models" / "sensors.xml"))
    kinds = mujoco.mjtSensor
    without = kinds.mjSENS_RANGEFINDER, kinds.mjSENS_GEOMDIST, kinds.mjSENS_GEOMNORMAL, kinds.mjSENS_GEOMFROMTO
    for sensor in list(spec.sensors):
        if sensor.type in (*without, kinds.mjSENS_CONTACT):  # contacts of a sensor change their order at ties
            spec.delete(sensor)
    for name, value in {**EXACT, "integrator": mujoco.mjtIntegrator.mjINT_EULER}.items():
        setattr(spec.option, name, value)
    return spec.compile()


def test_readings_equal_differences_of_mujoco():
    run_with("64")
    mjm = sensors_with_derivatives()
    data, solver = mujoco.MjData(mjm), RigidSolver(Model.from_mjmodel(mjm), 1)
    rng = np.random.default_rng(0)
    mujoco.mj_integratePos(mjm, data.qpos, 0.1 * rng.normal(size=mjm.nv), 1.0)
    data.qvel[:], data.ctrl[:] = 0.3 * rng.normal(size=mjm.nv), 0.3 * rng.normal(size=mjm.nu)
    start = data.qpos.copy(), data.qvel.copy(), data.ctrl.copy(), data.act.copy()
    solver.set_state(qpos=start[0][None], qvel=start[1][None])
    solver.set_inputs(ctrl=start[2][None])
    found = solver.gradients.transition_and_sensors()

    def readings(column: int, h: float) -> np.ndarray:
        data.qpos, data.qvel, data.ctrl, data.act = start
        if column < mjm.nv:
            mujoco.mj_integratePos(mjm, data.qpos, np.eye(mjm.nv)[column], h)
        elif column < 2 * mjm.nv:
            data.qvel[column - mjm.nv] += h
        elif column < 2 * mjm.nv + mjm.na:
            data.act[column - 2 * mjm.nv] += h
        else:
            data.ctrl[column - 2 * mjm.nv - mjm.na] += h
        mujoco.mj_forward(mjm, data)
        return data.sensordata.copy()

    h, columns = 1e-5, range(2 * mjm.nv + mjm.na + mjm.nu)
    expected = [8 * (readings(c, h) - readings(c, -h)) - (readings(c, 2 * h) - readings(c, -2 * h)) for c in columns]
    expected = np.array(expected).T / (12 * h)
    mine = torch.cat((found.C, found.D), 2)[0].numpy()
    size = np.maximum(np.abs(expected).max(1, keepdims=True), 1.0)
    assert np.abs((mine - expected) / size).max() < DIFFERENCES
    assert np.abs(mine).max(1).min() > 0 or (np.abs(expected).max(1) > 0).sum() == (np.abs(mine).max(1) > 0).sum()


def test_other_precisions_and_the_gpus_driver():
    """Derivatives are computed in double precision on the processor, from the states that the solver has."""

    def of(solver: RigidSolver, states: tuple) -> torch.Tensor:
        solver.set_state(qpos=states[0], qvel=states[1])
        solver.set_inputs(ctrl=states[2])
        return torch.cat(tuple(solver.gradients.transition()), 2)

    run_with("64")
    solver = make("hopper")
    states = solver.qpos, solver.qvel, solver.ctrl
    exact = of(solver, states)
    run_with("32")
    single = of(make("hopper", steps=0), states)
    assert single.dtype == torch.float32
    assert largest(single.double() - exact, exact) < SINGLE
    run_in_columns("64")
    assert torch.equal(of(make("hopper", steps=0), states), exact)


def test_an_environment_that_is_not_finite_gets_nan_and_touches_no_other():
    run_with("64")
    solver = make("hopper")
    before = solver.gradients.transition().A
    qpos = solver.qpos
    qpos[1, 2] = torch.nan
    warm = solver.qacc_warmstart
    solver.set_state(qpos=qpos)
    after = solver.gradients.transition().A
    assert after[1].isnan().all()
    others = [0, 2, 3]
    assert warm.shape == (4, 6)
    assert largest(after[others] - before[others], before) < 1e-9  # the warm starts are others


def test_wrong_uses():
    run_with("64")
    solver = make("hopper", steps=0)
    gradients, controls = solver.gradients, torch.zeros(4, 2, 3, dtype=torch.float64)
    with pytest.raises(ValueError, match="no argument requires a gradient"):
        gradients.rollout(controls=controls)
    with pytest.raises(ValueError, match=r"controls: expected shape \(4, periods, 3\)"):
        gradients.rollout(controls=controls[0].requires_grad_())
    with pytest.raises(ValueError, match="at least one of qpos"):
        gradients.jvp()
    with pytest.raises(ValueError, match=r"qvel: expected tangents along k directions, \(k, 6\)"):
        gradients.jvp(qvel=torch.zeros(4))
    with pytest.raises(ValueError, match="one number of directions"):
        gradients.jvp(qvel=torch.zeros(2, 6), ctrl=torch.zeros(3, 3))
    with pytest.raises(KeyError, match="body_masss"):
        gradients.jvp(parameters={"body_masss": torch.zeros(1, 5)})
    with pytest.raises(KeyError, match="xposs"):
        gradients.rollout(controls=controls.requires_grad_(), fields=("xposs",))
    changed = torch.zeros(4, 2, 3, dtype=torch.float64).requires_grad_()
    scaled = changed * 1.0
    result = gradients.rollout(controls=scaled)
    scaled.add_(1.0)
    with pytest.raises(RuntimeError, match="inplace operation"):
        result.qvel.sum().backward()


def test_models_without_derivatives_are_refused_by_name():
    run_with("64")
    solver = make("hopper", steps=0, noslip_iterations=2)
    with pytest.raises(NotImplementedError, match="noslip_iterations"):
        solver.gradients.transition()

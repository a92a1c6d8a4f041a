"""Writes of single numbers: only the environments and columns named change, as if whole rows were written."""

import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver

from .starts import run_in_columns

XML = """<mujoco><option timestep="0.004" integrator="implicitfast"/><worldbody>
<body pos="0 0 1"><joint name="hinge" axis="0 1 0" damping=".1"/><geom type="capsule" size=".04 .2"/>
  <body pos="0 0 .4"><joint name="slide" type="slide" axis="0 .2 1" armature="0.05"/>
    <geom type="capsule" size=".04 .2"/>
    <body pos="0 0 .3"><joint name="ball" type="ball"/><geom type="capsule" size=".04 .1"/></body></body></body>
<body pos="2 0 1"><joint type="free"/><geom type="box" size=".1 .2 .05"/></body>
</worldbody><actuator><motor joint="hinge"/><motor joint="slide"/></actuator></mujoco>"""
COUNT = 7


def drawn(rng, count):
    """Some of so many numbers, in a random order; at least one."""
    return rng.permutation(count)[: rng.integers(1, count + 1)]


def written(solver, rng):
    """Random writes of columns, each beside the same write of whole rows, which numpy makes."""
    expected = {name: getattr(solver, name).cpu().numpy() for name in ("qpos", "qvel", "ctrl", "xfrc_applied")}
    expected = {name: rows.reshape(COUNT, -1) for name, rows in expected.items()}
    for turn in range(24):
        name = ("qpos", "qvel", "ctrl", "xfrc_applied")[turn % 4]
        envs, columns = drawn(rng, COUNT), drawn(rng, expected[name].shape[1])
        values = rng.standard_normal((len(envs), len(columns)))
        given = [values, torch.as_tensor(values), values[0], 0.25][turn % 3 + (turn == 20)]
        which = envs.tolist() if turn % 2 else torch.as_tensor(envs)
        write = (solver.inputs if name in ("ctrl", "xfrc_applied") else solver.state).set_columns
        if turn == 8:
            envs = which = None
            given = values = values[0]
        write(which, **{name: (columns, given)})
        rows = slice(None) if envs is None else envs[:, None]
        expected[name][rows, columns] = given
        for each, numbers in expected.items():
            assert np.array_equal(getattr(solver, each).cpu().numpy().reshape(COUNT, -1), numbers), (turn, name, each)
        found = solver.state.get_columns(name, columns, which).cpu().numpy()
        assert np.array_equal(found, expected[name][rows, columns].reshape(found.shape))


@pytest.mark.parametrize("columns", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_only_what_is_named_changes(columns):
    run_in_columns(precision="64") if columns else tumble.init(precision="64")
    solver = RigidSolver(Model.from_mjcf(XML), COUNT)
    written(solver, np.random.default_rng(0))
    solver.set_dofs_kp([1.0, 2.0], [1, 4], [6])
    solver.set_dofs_force_range(-2.0, [3.0, 4.0], [4, 1], [6, 0])
    assert solver.get_dofs_kp(None, [5, 6]).tolist() == [[0] * 11, [0, 1, 0, 0, 2, *[0] * 6]]
    low, high = solver.get_dofs_force_range([1, 2, 4], [0, 1, 6])
    assert low.tolist() == [[-2, -1e30, -2], [-1e30] * 3, [-2, -1e30, -2]]
    assert high.tolist() == [[4, 1e30, 3], [1e30] * 3, [4, 1e30, 3]]
    solver.parameters.set_items([2, 4], dof_damping=([1, 3], [[0.5, 0.6], [0.7, 0.8]]), body_mass=([2], 9.0))
    damping, mass = solver.get_parameters("dof_damping"), solver.get_parameters("body_mass")
    mj = solver.model.mj
    wanted = np.tile(mj.dof_damping.reshape(mj.nv, -1)[:, 0], (COUNT, 1))
    wanted[2, [1, 3]], wanted[4, [1, 3]] = [0.5, 0.6], [0.7, 0.8]
    assert np.array_equal(damping.numpy().reshape(COUNT, mj.nv, -1)[..., 0], wanted)
    assert mass[:, 2].tolist() == [mj.body_mass[2]] * 2 + [9, mj.body_mass[2], 9] + [mj.body_mass[2]] * 2
    with pytest.raises(ValueError, match=r"dof_damping: expected shape \(1, 2\) or \(2,\), got \(3,\)"):
        solver.parameters.set_items([0], dof_damping=([0, 1], [1, 2, 3]))


@pytest.mark.parametrize("columns", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_changed_is_evaluated_anew_and_nothing_else(columns):
    """`forward_changed` gives what `forward` does, to the bit, and leaves the environments that stood still alone."""
    run_in_columns(precision="64") if columns else tumble.init(precision="64")
    solver, other = (RigidSolver(Model.from_mjcf(XML), COUNT) for _ in range(2))
    for each in (solver, other):
        each.step(3)
        each.forward_changed()
        assert torch.equal(each.get("eval_qpos"), each.qpos)
        each.state.set_columns([1, 5], qpos=([0, 1], [[0.3, 0.1], [0.2, 0.4]]), qvel=([7], 2.0))
        each.state.set_columns([5], qvel=([2], 1.0))
        each.inputs.set_columns([3], xfrc_applied=([12, 14], [4.0, -5.0]))
    stale = solver.get("eval_qpos")
    assert not torch.equal(stale[[1, 5]], solver.qpos[[1, 5]])
    solver.forward_changed()
    other.forward()
    for name in ("eval_qpos", "xpos", "qacc", "cvel", "qfrc_external"):
        assert torch.equal(solver.get(name), other.get(name)), name
    assert solver.get("qfrc_external", [3]).any() and torch.equal(solver.qpos, other.qpos)
    solver.state.set_columns([2], qvel=([0], 1e11))  # larger than any state may be
    solver.forward_changed()
    assert torch.equal(solver.get("eval_qvel", [2]), other.get("eval_qvel", [2]))


def test_wrong_columns_are_refused_before_anything_is_written():
    tumble.init(precision="64")
    solver = RigidSolver(Model.from_mjcf(XML), 2)
    before = solver.qpos, solver.qvel
    for call, error, message in (
        (lambda: solver.state.set_columns(qpos=([13], 0.0)), IndexError, "columns of qpos: there is no 13"),
        (lambda: solver.state.set_columns(qpos=([-1], 0.0)), IndexError, "there is no -1; they are numbered 0 to 12"),
        (lambda: solver.state.set_columns(qpos=([0.5], 0.0)), IndexError, "expected a list of whole numbers"),
        (lambda: solver.state.set_columns(qpos=([0], 1.0), qvel=([0], np.nan)), ValueError, "qvel is nan: it must be"),
        (
            lambda: solver.state.set_columns(qpos=([0], 1.0), qvel=([0, 1], [0, np.inf])),
            ValueError,
            r"qvel\[1\] is inf",
        ),
        (lambda: solver.state.set_columns([1], qpos=([0, 1], [1, 2, 3])), ValueError, r"qpos: expected shape \(1, 2\)"),
        (lambda: solver.state.set_columns(place=([0], 1.0)), TypeError, "no part of the state is named 'place'"),
        (lambda: solver.state.set_columns([2], qpos=([0], 1.0)), IndexError, "there is no environment 2"),
        (lambda: solver.inputs.set_columns(ctrl=([2], 1.0)), IndexError, "columns of ctrl: there is no 2"),
        (lambda: solver.set_dofs_kp(np.inf), ValueError, "kp is inf: it must be finite"),
    ):
        with pytest.raises(error, match=message):
            call()
    assert torch.equal(solver.qpos, before[0]) and torch.equal(solver.qvel, before[1]) and not solver.ctrl.any()


def test_a_position_with_a_velocity_is_a_position_servo_with_a_moving_target():
    """The law in numpy: kp (q* - q) + kv (v* - v), within the range, in environments of their own gains."""
    tumble.init(precision="64")
    solver, rng = RigidSolver(Model.from_mjcf(XML), COUNT), np.random.default_rng(3)
    kp, kv, target, speed = rng.uniform(0.5, 5, (4, COUNT, 2))
    solver.state.set_columns(
        qpos=([0, 1], rng.uniform(-1, 1, (COUNT, 2))), qvel=([0, 1], rng.uniform(-1, 1, (COUNT, 2)))
    )
    solver.set_dofs_kp(kp, [0, 1])
    solver.set_dofs_kv(kv, [0, 1])
    solver.set_dofs_force_range(-12.0, 12.0, [0, 1])
    solver.control_dofs_position_velocity(target, speed, [0, 1])
    solver.forward_changed()
    q, v = solver.qpos[:, :2].numpy(), solver.qvel[:, :2].numpy()
    law = np.clip(kp * (target - q) + kv * (speed - v), -12, 12)
    assert 0 < (np.abs(law) == 12).sum() < law.size
    np.testing.assert_allclose(solver.get("qfrc_actuator")[:, :2], law, rtol=1e-13, atol=1e-13)
    solver.control_dofs_position(target, [0, 1])
    solver.forward_changed()
    law = np.clip(kp * (target - q) - kv * v, -12, 12)
    np.testing.assert_allclose(solver.get("qfrc_actuator")[:, :2], law, rtol=1e-13, atol=1e-13)
    assert solver.joints.get_targets([0, 2], [1])["mode"].tolist() == [[3, 0]]

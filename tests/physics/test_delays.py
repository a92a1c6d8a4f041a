"""Delays of actuators: what acts is MuJoCo's where its times are exact; past controls are a part of the state."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver

from ..widths import WIDTH
from .parity.catalogue import load
from .parity.reference import put as put_in
from .parity.states import random_ctrl, sample
from .starts import run_in_columns, run_with

ENVS, STEPS = 4, 200
GROWN = 1e-9
"""Of so many steps in double precision without re-sync, relative to the largest number."""
HISTORY = int(mujoco.mjtState.mjSTATE_HISTORY)
TIME = int(mujoco.mjtState.mjSTATE_TIME)
WHOLE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
SLIDES = """<mujoco><option timestep="{}"/>
<worldbody><body><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/><geom size=".1"/>
</body></worldbody>
<actuator><motor name="line" joint="x" delay="{}" nsample="6" interp="linear"/><motor name="prompt" joint="x"/>
<motor name="hold" joint="y" delay="{}" nsample="5"/></actuator>
<keyframe><key name="later" time="0.25" ctrl="0.7 0.1 0.2"/></keyframe></mujoco>"""
STEP = 1 / 512


@pytest.fixture(autouse=True)
def double():
    run_with("64")


def slides(step=STEP, line=2.5, hold=3.0):
    return Model.from_mjcf(SLIDES.format(step, line * step, hold * step))


def in_order(mjm, history):
    """Buffers of controls with the oldest sample first, as `mj_state` gives them."""
    found = np.zeros_like(history)
    for a in np.flatnonzero(mjm.actuator_historyadr >= 0):
        first, n = mjm.actuator_historyadr[a], mjm.actuator_history[a, 0]
        width, ring = mjm.actuator_ctrlnum[a], (int(history[first + 1]) + 1 + np.arange(n)) % n
        found[first + 1] = n - 1
        found[first + 2 : first + 2 + n] = history[first + 2 + ring]
        rows = slice(first + 2 + n, first + 2 + n + n * width)
        found[rows] = history[rows].reshape(n, width)[ring].ravel()
    return found


def assert_close(ours, theirs):
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=0, atol=GROWN * np.abs(theirs).max())


@pytest.fixture(scope="module", params=["implicitfast", "RK4"])
def mjm(request):
    number = int(getattr(mujoco.mjtIntegrator, f"mjINT_{request.param.upper()}"))
    mjm = load("delays")
    mjm.opt.integrator = number
    return mjm


@pytest.fixture(scope="module")
def states(mjm):
    return sample(mjm, ENVS, 3)


@pytest.fixture(scope="module")
def controls(mjm):
    rng = np.random.default_rng(0)
    return np.array([[random_ctrl(mjm, rng) for _ in range(STEPS)] for _ in range(ENVS)])


@pytest.fixture
def solver(mjm):
    return RigidSolver(Model.from_mjmodel(mjm), ENVS)


def put(solver, states):
    solver.reset()
    solver.set_state(qpos=states.qpos, qvel=states.qvel, act=states.act)
    solver.set_mj_state(states.history, HISTORY)


def test_a_rollout_is_mujocos(mjm, states, controls, solver):
    """Other controls in every step; where it ends the histories are equal to the bit, the times among them."""
    put(solver, states)
    track = solver.rollout(controls)
    found = solver.mj_state(HISTORY).numpy()
    data = mujoco.MjData(mjm)
    for env in range(ENVS):
        put_in(mjm, data, states, env)
        for step in range(STEPS):
            data.ctrl[:] = controls[env, step]
            mujoco.mj_step(mjm, data)
            assert_close(track.qpos[env, step], data.qpos)
        assert_close(solver.act[env], data.act)
        assert np.array_equal(found[env], in_order(mjm, data.history))


def test_mujocos_states_and_files_go_on(mjm, states, controls, solver, tmp_path):
    put(solver, states)
    solver.rollout(controls[:, :17])
    solver.save(tmp_path / "state")
    state = solver.mj_state(WHOLE)
    solver.rollout(controls[:, 17:60])
    wanted, qpos = solver.mj_state(WHOLE), solver.qpos
    other = RigidSolver(solver.model, ENVS)
    for go_back in (lambda: other.load(tmp_path / "state"), lambda: other.set_mj_state(state, WHOLE)):
        go_back()
        assert torch.equal(other.mj_state(WHOLE), state)
        other.rollout(controls[:, 17:60])
        assert torch.equal(other.mj_state(WHOLE), wanted) and torch.equal(other.qpos, qpos)
    data, vector = mujoco.MjData(mjm), np.zeros(state.shape[1])
    put_in(mjm, data, states, 1)
    for step in range(17):
        data.ctrl[:] = controls[1, step]
        mujoco.mj_step(mjm, data)
    mujoco.mj_getState(mjm, data, vector, WHOLE)
    other.set_mj_state(vector, WHOLE, [2])
    mujoco.mj_step(mjm, data, 9)
    other.step(9)
    assert_close(other.qpos[2], data.qpos)
    assert np.array_equal(other.mj_state(HISTORY, [2])[0].numpy(), in_order(mjm, data.history))


def test_a_reset_forgets_in_its_environments_alone(mjm, states, controls, solver):
    put(solver, states)
    solver.rollout(controls[:, :20])
    before = solver.mj_state(WHOLE)
    solver.reset([1])
    after, fresh = solver.mj_state(WHOLE), RigidSolver(solver.model, 1, lanes=WIDTH).mj_state(WHOLE)[0]
    assert torch.equal(after[1], fresh) and torch.equal(after[[0, 2, 3]], before[[0, 2, 3]])
    assert np.array_equal(solver.mj_state(HISTORY)[1].numpy(), in_order(mjm, mujoco.MjData(mjm).history))


@pytest.mark.parametrize("broken", ["ctrl", "history", "qvel"])
def test_where_an_environment_stops_its_past_stays_and_no_other_changes(broken, mjm, states, controls, solver):
    put(solver, states)
    solver.rollout(controls[:, :30])
    sound = solver.mj_state(WHOLE)
    put(solver, states)
    before = solver.mj_state(HISTORY)[2]
    told, history, qvel = controls[:, :30].copy(), states.history.copy(), states.qvel.copy()
    told[2, 0 if broken == "ctrl" else slice(0), 0] = np.nan
    if broken == "history":
        history[2, mjm.actuator_historyadr[0] + 2 + mjm.actuator_history[0, 0]] = np.nan
        solver.set_mj_state(history, HISTORY)
    if broken == "qvel":
        qvel[2, 0] = 1e9  # it diverges in its first step
        solver.set_state(qvel=qvel)
        before = solver.mj_state(HISTORY)[2]
    solver.rollout(told)
    assert solver.faults.tolist() == [0, 0, 1, 0]
    assert torch.equal(solver.mj_state(WHOLE)[[0, 1, 3]], sound[[0, 1, 3]])
    if broken != "history":
        assert torch.equal(solver.mj_state(HISTORY)[2], before)
    assert solver.mj_state(HISTORY).isfinite().all()


@pytest.mark.parametrize("columns", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["lanes", "columns"])
def test_keyframes_are_mujocos(columns):
    """A keyframe's time is far from that of its samples: a line between them begins at the reset."""
    if columns:
        run_in_columns(precision="64")
    model = slides()
    solver, data = RigidSolver(model, 2), mujoco.MjData(model.mj)
    solver.step(3)
    solver.reset_to_keyframe("later", [1])
    mujoco.mj_resetDataKeyframe(model.mj, data, 0)
    forces = []
    for _ in range(6):
        mujoco.mj_step(model.mj, data)
        solver.step()
        forces.append(float(data.actuator_force[0]))
        np.testing.assert_allclose(solver.get("actuator_force")[1].numpy(), data.actuator_force, atol=1e-14)
        found = solver.mj_state(HISTORY, [1])[0].numpy()
        np.testing.assert_allclose(found, in_order(model.mj, data.history), atol=1e-14)
    assert 0 < forces[2] < 0.7 and forces[-1] == 0.7


def test_a_delay_of_three_steps_is_one_for_ever():
    """In single precision; MuJoCo's times, sums of steps of two milliseconds, lose the sample after sixteen seconds."""
    run_with("32")
    model, count = slides(0.002), 9000
    told = np.arange(1.0, count + 1)
    solver, data = RigidSolver(model, 4), mujoco.MjData(model.mj)
    controls = np.zeros((4, count, 3))
    controls[..., 2] = told
    solver.rollout(controls)
    assert solver.get("actuator_force")[:, 2].tolist() == [told[-4]] * 4
    late = []
    for control in told:
        data.ctrl[2] = control
        data.qvel[:] = 0.0
        mujoco.mj_step(model.mj, data)
        late.append(control - data.actuator_force[2])
    assert set(late[100:8000]) == {3.0} and late[-1] == 4.0


def test_environments_have_delays_of_their_own():
    model = slides()
    solver, rng = RigidSolver(model, ENVS), np.random.default_rng(2)
    own = np.array([[2.2, 0, 1], [0, 0, 2], [4.75, 0, 0], [20, 0, 4]]) * STEP
    solver.set_parameters("actuator_delay", own)
    assert np.array_equal(solver.get_parameters("actuator_delay").numpy(), own)
    controls, forces = rng.normal(0, 1, (ENVS, 30, 3)), np.zeros((ENVS, 30, 3))
    for step in range(30):
        solver.ctrl = controls[:, step]
        solver.step()
        forces[:, step] = solver.get("actuator_force").numpy()
    for env in range(ENVS):
        theirs = model.editable()
        theirs.actuator_delay[:] = own[env]
        data = mujoco.MjData(theirs)
        for step in range(30):
            data.ctrl[:] = controls[env, step]
            mujoco.mj_step(theirs, data)
            np.testing.assert_allclose(forces[env, step], data.actuator_force, atol=1e-13)


def test_impossible_delays_and_histories_are_named():
    model = slides()
    solver, mj = RigidSolver(model, 2), model.mj
    with pytest.raises(ValueError, match=r"actuator_delay\[1\] of environment 0 is 0.1: .* no samples"):
        solver.set_parameters("actuator_delay", np.full(3, 0.1))
    with pytest.raises(ValueError, match=r"actuator_delay\[0\] of environment 0 is -1: it must not be negative"):
        solver.set_parameters("actuator_delay", np.full(3, -1.0))
    solver.step(9)
    whole = solver.mj_state(WHOLE)
    with pytest.raises(
        ValueError, match=r"history of line: its newest sample .* mjSTATE_TIME and mjSTATE_HISTORY both"
    ):
        solver.set_mj_state(np.zeros(1), TIME)
    buffers = solver.mj_state(HISTORY).numpy()
    for place, value, words in ((1, 1.5, "cursor"), (1, 6, "cursor"), (3, -1.0, "increase"), (7, 1.0, "newest")):
        wrong = buffers.copy()
        wrong[1, mj.actuator_historyadr[0] + place] = value
        with pytest.raises(ValueError, match=f"history of line: .*{words}"):
            solver.set_mj_state(wrong, HISTORY)
    assert torch.equal(solver.mj_state(WHOLE), whole)
    solver.set_mj_state(np.full(1, 20 * STEP), TIME)  # samples stay at their times, as MuJoCo's do
    assert np.array_equal(solver.mj_state(HISTORY).numpy(), buffers)


SLEEPER = """<mujoco><option timestep="0.001953125"><flag sleep="enable"/></option>
<worldbody><body sleep="allowed"><joint name="x" type="slide" axis="1 0 0" damping="5"/><geom size=".1"/></body>
</worldbody><actuator><motor joint="x" delay="0.005859375" nsample="5" interp="linear"/></actuator></mujoco>"""


@pytest.mark.parametrize("integrator", ["EULER", "RK4"])
def test_time_passes_while_all_sleep(integrator):
    """MuJoCo remembers controls of what is asleep."""
    mjm = mujoco.MjModel.from_xml_string(SLEEPER)
    mjm.opt.integrator = int(getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}"))
    solver, data = RigidSolver(Model.from_mjmodel(mjm), 4), mujoco.MjData(mjm)
    solver.step(30)
    mujoco.mj_step(mjm, data, 30)
    assert solver.asleep.all() and data.ntree_awake == 0
    for told in (0.3, 0.5, -0.2, 0.1, 0.6, 0.4):
        solver.ctrl, data.ctrl[:] = np.full((4, 1), told), told
        solver.step()
        mujoco.mj_step(mjm, data)
        assert np.array_equal(solver.mj_state(HISTORY)[3].numpy(), in_order(mjm, data.history))
    assert solver.asleep.all() and data.ntree_awake == 0
    solver.set_state(qvel=np.full((4, 1), 0.5))
    data.qvel[:] = 0.5
    solver.step(5)
    mujoco.mj_step(mjm, data, 5)
    assert_close(solver.qvel[0], data.qvel)
    assert data.actuator_force[0] == 0.4

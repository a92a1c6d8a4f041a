"""Sensors with samples: what they show and remember is MuJoCo's, step by step, and a part of the state."""

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver

from ..widths import WIDTH
from .starts import run_in_columns, run_with
from .test_delays import in_order
from .test_sensors import _place

ENVS, STEPS = 3, 40
STEP = 1 / 512
"""Seconds, exact in binary: MuJoCo's times are sums of steps."""
CLOSE = 1e-11
"""Of positions, relative to a sensor's largest reading, after so many steps in double precision without re-sync."""
HISTORY = int(mujoco.mjtState.mjSTATE_HISTORY)
TIME = int(mujoco.mjtState.mjSTATE_TIME)
WHOLE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


def late(nsample: int, delay: float = 0.0, interval: float = 0.0, phase: float = 0.0, interp: str = "zoh") -> str:
    """Attributes of a sensor, its times in steps."""
    times = f'delay="{delay * STEP!r}" interval="{interval * STEP!r} {phase * STEP!r}"'
    return f'nsample="{nsample}" interp="{interp}" {times}'


SENSORS = f"""<sensor>
  <jointpos name="angle" joint="hip"/>
  <jointpos name="angle late" joint="hip" {late(6, 2.5, interp="linear")}/>
  <jointpos name="angle of the last step" joint="hip" {late(1, 0.5)}/>
  <jointvel name="speed remembered" joint="hip" {late(4)}/>
  <jointvel name="speed now and then" joint="hip" {late(2, 0, 3)}/>
  <jointvel name="speed on a grid of its own" joint="hip" {late(2, 0, 2.5, -1.25, "linear")}/>
  <framepos name="place" objtype="body" objname="foot" {late(4, 3)}/>
  <framequat name="turn" objtype="body" objname="foot" {late(5, 1.75, interp="cubic")}/>
  <gyro name="gyro" site="sole" {late(5, 4.25, 2, 0, "cubic")}/>
  <velocimeter name="longer ago than it remembers" site="sole" {late(2, 9, interp="linear")}/>
  <accelerometer name="shocks" site="sole" cutoff="30" {late(7, 5.5, interp="cubic")}/>
  <subtreecom name="center" body="thigh" {late(3, 0, 4, -3)}/>
  <touch name="touch" site="sole" {late(6, 3.5, interp="linear")}/>
  <rangefinder name="range" site="sole" {late(3, 2, 3, -0.5)}/>
  <distance name="gap" geom1="foot" geom2="floor" cutoff="2" {late(3, 1, 2, -1, "linear")}/>
  <actuatorfrc name="force" actuator="hip" {late(4, 2)}/>
  <e_kinetic name="energy" {late(4, 1.5, interp="cubic")}/>
  <clock name="clock" {late(3, 2)}/>
  <clock name="clock now and then" {late(1, 0, 7)}/>
  <clock name="more often than steps" {late(3, 1.5, 0.4, 0, "linear")}/>
</sensor>"""
XML = f"""<mujoco><option timestep="{STEP!r}"/><compiler angle="radian"/>
<worldbody><geom name="floor" type="plane" size="9 9 1"/>
  <body name="thigh" pos="0 0 0.384"><joint name="rail" type="slide" axis="0 0 1"/>
    <joint name="hip" axis="0 1 0.2" damping="0.1"/>
    <geom type="capsule" size="0.04" fromto="0 0 0 0.1 0 -0.2"/>
    <body name="foot" pos="0.1 0 -0.25"><joint name="ankle" type="ball" damping="0.05" stiffness="1"/>
      <geom name="foot" type="sphere" size="0.08" pos="0.02 0 -0.05"/>
      <site name="sole" type="sphere" size="0.2" pos="0 0.01 -0.06" euler="0.3 0.2 0.1"/>
    </body>
  </body>
</worldbody>
<actuator><motor name="hip" joint="hip" gear="3" delay="{2 * STEP!r}" nsample="3"/></actuator>
{SENSORS}
<keyframe><key name="later" time="0.25" qpos="0.1 0.3 1 0 0 0" ctrl="0.7"/></keyframe></mujoco>"""


@pytest.fixture(autouse=True)
def double():
    run_with("64")


def model_with(integrator: str = "IMPLICITFAST", xml: str = XML) -> mujoco.MjModel:
    mjm = mujoco.MjModel.from_xml_string(xml)
    mjm.opt.integrator = int(getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}"))
    mjm.opt.tolerance, mjm.opt.iterations = 1e-15, 100
    return mjm


def controls(steps: int = STEPS) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1, 1, (ENVS, steps, 1))


def begin(solver: RigidSolver) -> np.ndarray:
    """Put every environment elsewhere; their velocities."""
    qvel = np.random.default_rng(1).normal(0, 1.5, (ENVS, solver.model.mj.nv))
    qvel[:, 0] = (-0.5, -0.2, 0.1)
    solver.reset(qvel=qvel)
    return qvel


def solver_of(mjm: mujoco.MjModel, outputs: tuple[str, ...] = ()) -> RigidSolver:
    return RigidSolver(Model.from_mjmodel(mjm), ENVS, outputs)


def mujocos(mjm: mujoco.MjModel, qvel: np.ndarray) -> mujoco.MjData:
    data = mujoco.MjData(mjm)
    data.qvel[:] = qvel
    return data


def ordered(mjm: mujoco.MjModel, history: np.ndarray) -> np.ndarray:
    """Buffers of controls and readings with the oldest sample first, as `mj_state` gives them."""
    found = in_order(mjm, history)
    for s in np.flatnonzero(mjm.sensor_history[:, 0] > 0):
        first, n, dim = mjm.sensor_historyadr[s], mjm.sensor_history[s, 0], mjm.sensor_dim[s]
        ring = (int(history[first + 1]) + 1 + np.arange(n)) % n
        found[first], found[first + 1] = history[first], n - 1
        found[first + 2 : first + 2 + n] = history[first + 2 + ring]
        rows = slice(first + 2 + n, first + 2 + n + n * dim)
        found[rows] = history[rows].reshape(n, dim)[ring].ravel()
    return found


def scales(mjm: mujoco.MjModel) -> np.ndarray:
    """Size of what a column reads, by which errors are divided: forces and accelerations are larger than angles."""
    return np.repeat(
        np.where(np.isin(mjm.sensor_needstage, [int(mujoco.mjtStage.mjSTAGE_ACC)]), 100.0, 1.0), mjm.sensor_dim
    )


def test_the_model_has_every_way_of_being_late():
    mjm = model_with()
    delayed, ticking = mjm.sensor_delay > 0, mjm.sensor_interval[:, 0] > 0
    ways = {tuple(map(bool, row)) for row in zip(delayed, ticking, mjm.sensor_history[:, 0] > 0, strict=True)}
    assert ways == {(True, True, True), (True, False, True), (False, True, True), (False, False, True), (False,) * 3}
    assert set(mjm.sensor_history[delayed & ticking, 1]) == {0, 1, 2}
    model = Model.from_mjmodel(mjm)
    assert not any("not computed" in line for line in model.unused)
    assert mujoco.mj_stateSize(mjm, HISTORY) == RigidSolver(model, 1, lanes=WIDTH).mj_state(HISTORY).shape[1]


@pytest.mark.parametrize("integrator", ["EULER", "IMPLICITFAST", "RK4"])
def test_readings_and_memories_are_mujocos_in_every_step(integrator):
    mjm = model_with(integrator)
    solver = solver_of(mjm, ("sensordata",))
    qvel, told = begin(solver), controls()
    read, kept = [], []
    for step in range(STEPS):
        solver.ctrl = told[:, step]
        solver.step()
        read.append(solver.sensordata.numpy())
        kept.append(solver.mj_state(HISTORY).numpy())
    touched = 0
    for env in range(ENVS):
        data = mujocos(mjm, qvel[env])
        for step in range(STEPS):
            data.ctrl[:] = told[env, step]
            mujoco.mj_step(mjm, data)
            error = np.abs(read[step][env] - data.sensordata) / scales(mjm)
            assert error.max() <= CLOSE, (env, step, mjm.sensor(int(error.argmax())).name)
            np.testing.assert_allclose(kept[step][env], ordered(mjm, data.history), rtol=0, atol=100 * CLOSE)
            touched += data.ncon > 0
    assert STEPS < touched < ENVS * STEPS


def test_steps_together_a_rollout_and_partial_reads_are_steps_one_by_one():
    mjm = model_with()
    one, many, rolled = (solver_of(mjm, outputs) for outputs in (("sensordata",), (), ()))
    told = controls(20)
    for solver in (one, many, rolled):
        begin(solver)
    for step in range(20):
        one.ctrl = told[:, step]
        one.step()
    track = rolled.rollout(told)
    assert torch.equal(track.qpos[:, -1], one.qpos) and torch.equal(rolled.ctrl, one.ctrl)
    assert torch.equal(rolled.mj_state(WHOLE), one.mj_state(WHOLE))
    assert torch.equal(rolled.sensordata, one.sensordata)
    many.load_state_dict(rolled.state_dict())
    many.step(7)
    for _ in range(7):
        one.step()
    assert torch.equal(many.mj_state(WHOLE), one.mj_state(WHOLE))
    whole = one.sensordata
    assert torch.equal(many.get("sensordata", [2, 0]), whole[[2, 0]])
    assert torch.equal(many.sensor("gyro", [1]), whole[[1], _place(mjm, mjm.sensor("gyro").id)])
    assert np.array_equal(many.inspect(1)["sensordata"], whole[1])


def test_an_evaluation_shows_the_present_and_takes_no_sample():
    """MuJoCo's mj_forward; the environments that are not evaluated keep what the step showed."""
    mjm = model_with()
    solver = solver_of(mjm)
    qvel, told = begin(solver), controls(12)
    solver.rollout(told)
    shown, kept = solver.sensordata, solver.mj_state(HISTORY)
    solver.forward([2])
    data = mujocos(mjm, qvel[2])
    for step in range(12):
        data.ctrl[:] = told[2, step]
        mujoco.mj_step(mjm, data)
    assert not np.allclose(data.sensordata, solver.sensordata[2], atol=1e-3)
    mujoco.mj_forward(mjm, data)
    assert (np.abs(solver.sensordata[2].numpy() - data.sensordata) / scales(mjm)).max() <= CLOSE
    assert torch.equal(solver.sensordata[:2], shown[:2]) and torch.equal(solver.mj_state(HISTORY), kept)
    solver.set_state(qvel=qvel)
    assert torch.equal(solver.sensordata[:2], shown[:2]) and torch.equal(solver.mj_state(HISTORY), kept)


def test_a_reset_and_states_of_mujocos():
    mjm = model_with()
    solver, other = solver_of(mjm), solver_of(mjm)
    qvel, told = begin(solver), controls(30)
    solver.rollout(told[:, :13])
    data = mujocos(mjm, qvel[0])
    for step in range(13):
        data.ctrl[:] = told[0, step]
        mujoco.mj_step(mjm, data)
    vector = np.zeros(mujoco.mj_stateSize(mjm, WHOLE))
    mujoco.mj_getState(mjm, data, vector, WHOLE)
    assert int(data.history[mjm.sensor_historyadr[1] + 1]) != mjm.sensor_history[1, 0] - 1  # its ring begins elsewhere
    other.set_mj_state(vector, WHOLE, [1])
    other.forward([1])
    np.testing.assert_allclose(other.mj_state(WHOLE, [1])[0], solver.mj_state(WHOLE)[0], rtol=0, atol=100 * CLOSE)
    for step in range(13, 30):
        data.ctrl[:] = told[0, step]
        mujoco.mj_step(mjm, data)
    other.rollout(told[[1, 0, 2], 13:])
    assert (np.abs(other.sensordata[1].numpy() - data.sensordata) / scales(mjm)).max() <= CLOSE
    before = solver.mj_state(WHOLE)
    solver.reset([2])
    after = solver.mj_state(HISTORY)[2].numpy()
    assert np.array_equal(after, ordered(mjm, mujoco.MjData(mjm).history))
    assert torch.equal(solver.mj_state(WHOLE)[:2], before[:2])
    assert not solver.sensor("place")[2].any() and solver.sensor("place")[1].any()
    moved = solver_of(mjm)
    moved.load_state_dict(solver.state_dict())
    assert torch.equal(moved.sensordata, solver.sensordata)


@pytest.mark.parametrize("columns", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["lanes", "columns"])
def test_keyframes_are_mujocos(columns):
    """A keyframe's time is far from that of the samples, and sensors with intervals catch up, a tick a step."""
    if columns:
        run_in_columns(precision="64")
    mjm = model_with()
    solver, data = solver_of(mjm), mujoco.MjData(mjm)
    solver.step(3)
    solver.reset_to_keyframe("later", [1])
    mujoco.mj_resetDataKeyframe(mjm, data, 0)
    mujoco.mj_forward(mjm, data)
    for _ in range(10):
        assert (np.abs(solver.sensordata[1].numpy() - data.sensordata) / scales(mjm)).max() <= CLOSE
        np.testing.assert_allclose(
            solver.mj_state(HISTORY, [1])[0], ordered(mjm, data.history), rtol=0, atol=100 * CLOSE
        )
        solver.step()
        mujoco.mj_step(mjm, data)


def test_where_an_environment_stops_it_remembers_what_it_did():
    mjm = model_with()
    solver = solver_of(mjm)
    begin(solver)
    solver.rollout(controls(20))
    sound = solver.mj_state(WHOLE)
    begin(solver)
    told = controls(20)
    told[1, 9] = np.nan
    solver.rollout(told[:, :9])
    before, shown = solver.mj_state(HISTORY)[1], None
    solver.rollout(told[:, 9:])
    assert solver.faults.tolist() == [0, 1, 0]
    assert torch.equal(solver.mj_state(WHOLE)[[0, 2]], sound[[0, 2]])
    assert torch.equal(solver.mj_state(HISTORY)[1], before) and solver.sensordata.isfinite().all(), shown


SLEEPER = f"""<mujoco><option timestep="{STEP!r}"><flag sleep="enable"/></option>
<worldbody><body name="b" sleep="allowed"><joint name="x" type="slide" axis="1 0 0" damping="5"/><geom size=".1"/>
</body></worldbody><sensor><framepos objtype="body" objname="b" {late(8, 6)}/><jointpos joint="x" {late(4, 0, 3)}/>
<framelinvel objtype="body" objname="b" {late(9, 7.5, 2, -1, "cubic")}/><clock {late(5, 4)}/></sensor></mujoco>"""


def test_time_passes_while_all_sleep():
    mjm = mujoco.MjModel.from_xml_string(SLEEPER)
    solver, data = RigidSolver(Model.from_mjmodel(mjm), 4), mujoco.MjData(mjm)
    solver.set_state(qpos=np.full((4, 1), 0.3), qvel=np.full((4, 1), 1e-4))
    data.qpos[:], data.qvel[:] = 0.3, 1e-4
    for _ in range(30):
        solver.step()
        mujoco.mj_step(mjm, data)
        np.testing.assert_allclose(solver.sensordata[3], data.sensordata, rtol=0, atol=CLOSE)
        np.testing.assert_allclose(solver.mj_state(HISTORY)[3], ordered(mjm, data.history), rtol=0, atol=CLOSE)
    assert solver.asleep.all() and data.ntree_awake == 0


@pytest.mark.slow
def test_single_precision_is_as_near_as_its_state():
    """Of all readings of a rollout half are within 1e-7, and nine tenths within 1e-6."""
    run_with("32")
    mjm = model_with()
    solver = solver_of(mjm)
    qvel, told = begin(solver), controls()
    errors: list[np.ndarray] = []
    datas = [mujocos(mjm, row) for row in qvel]
    for step in range(STEPS):
        solver.ctrl = told[:, step]
        solver.step()
        found = solver.sensordata.double().numpy()
        for env, data in enumerate(datas):
            data.ctrl[:] = told[env, step]
            mujoco.mj_step(mjm, data)
            errors.append(np.abs(found[env] - data.sensordata) / scales(mjm))
    spread = np.sort(np.concatenate(errors))
    assert spread[len(spread) // 2] <= 1e-7 and spread[int(0.9 * len(spread))] <= 1e-6 and spread[-1] <= 1e-4
    buffers = solver.mj_state(HISTORY)[0].numpy()
    s = mjm.sensor("speed on a grid of its own").id
    assert np.array_equal(  # times are exact
        buffers[mjm.sensor_historyadr[s] + 2 :][:2], ordered(mjm, datas[0].history)[mjm.sensor_historyadr[s] + 2 :][:2]
    )


def test_an_interval_of_tenths_of_a_step_stays_on_its_grid():
    """In single precision, after a thousand ticks: what rounding takes off an age is kept for the next step."""
    run_with("32")
    xml = f"""<mujoco><option timestep="{STEP!r}"/>
    <worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>
    <sensor><clock name="c" nsample="1" interval="{2.7 * STEP!r}"/></sensor></mujoco>"""
    solver = RigidSolver(Model.from_mjcf(xml), 1, lanes=WIDTH)
    steps = 2_701  # the last evaluation is at a tick
    solver.step(steps)
    ticks = np.ceil(np.arange(steps) * 2.7 - 1e-6).astype(int)
    last = ticks[ticks < steps].max()
    assert float(solver.sensor("c")[0, 0]) == pytest.approx(last * STEP)


def test_impossible_histories_are_named():
    mjm = model_with()
    solver = solver_of(mjm)
    solver.step(9)
    buffers, first = solver.mj_state(HISTORY).numpy(), mjm.sensor_historyadr[mjm.sensor("place").id]
    for place, value, words in ((1, 4, "cursor"), (3, -1.0, "increase"), (5, 1.0, "newest"), (7, np.nan, "finite")):
        wrong = buffers.copy()
        wrong[1, first + place] = value
        with pytest.raises(ValueError, match=f"history of place: .*{words}"):
            solver.set_mj_state(wrong, HISTORY)
    with pytest.raises(ValueError, match="mjSTATE_TIME and mjSTATE_HISTORY both"):
        solver.set_mj_state(np.zeros(1), TIME)
    assert np.array_equal(solver.mj_state(HISTORY).numpy(), buffers)


def test_sensors_that_are_switched_off_remember_nothing():
    mjm = model_with()
    mjm.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
    solver = solver_of(mjm)
    solver.step(5)
    assert not solver.sensordata.any() and solver.model.sizes["nsensorsample"] == 0


@pytest.mark.slow
def test_gpu_driver_remembers_the_same():
    """The GPU driver on a processor."""
    found = []
    for columns in (False, True):
        if columns:
            run_in_columns(precision="64")
        else:
            tumble.init(precision="64", lanes=1)
        solver = solver_of(model_with(), ("sensordata",))
        begin(solver)
        solver.rollout(controls(15))
        solver.reset([1])
        solver.step(4)
        found.append((solver.sensordata, solver.mj_state(HISTORY), solver.get("sensordata", [2])))
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, rtol=1e-9, atol=1e-9)

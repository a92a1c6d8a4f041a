"""Sensors: MuJoCo's sensordata after forward and after steps, of every type, in every environment by itself."""

import copy

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.files.mjmodel.sensors import ELSEWHERE, REASONS
from tumble.physics.solver.sensors.readings import READERS

from ..models import sensor_table
from .own_numbers import XML, compiled, random_numbers
from .parity.catalogue import load
from .parity.reference import reference_model
from .parity.run import SETTINGS
from .parity.states import sample
from .starts import run_in_columns

pytestmark = pytest.mark.usefixtures("double")

SMOOTH, CONSTRAINED = 1e-9, 1e-6
"""Relative to a sensor's largest reading: of poses and velocities, and of what the constraint solvers decide."""
DECIDED = (
    "TOUCH",
    "CONTACT",
    "ACCELEROMETER",
    "FORCE",
    "TORQUE",
    "FRAMELINACC",
    "FRAMEANGACC",
    "JOINTLIMITFRC",
    "TENDONLIMITFRC",
)
LANES, COUNT = 4, 120


def model_with(integrator, xml=None):
    mjm = load("sensors") if xml is None else mujoco.MjModel.from_xml_string(xml)
    return reference_model(mjm, integrator=integrator, **SETTINGS)


def solver_of(mjm, states, outputs=(), model=None):
    solver = RigidSolver(model or Model.from_mjmodel(mjm), len(states), outputs, lanes=LANES)
    solver.set_state(states.qpos, states.qvel)
    solver.ctrl = states.ctrl
    return solver


def mujocos(mjm, states, steps):
    """MuJoCo's sensordata after so many steps from every state, or after an evaluation."""
    data, found = mujoco.MjData(mjm), []
    for i in range(len(states)):
        mujoco.mj_resetData(mjm, data)
        data.qpos[:], data.qvel[:], data.ctrl[:] = states.qpos[i], states.qvel[i], states.ctrl[i]
        if steps:
            mujoco.mj_step(mjm, data, steps)
        else:
            mujoco.mj_forward(mjm, data)
        found.append(np.array(data.sensordata))
    return np.array(found)


def errors(mjm, ours, theirs):
    """Name of each sensor that is beyond its tolerance -> its error relative to its largest reading."""
    beyond, ours = {}, np.asarray(ours, np.float64)
    for i in range(mjm.nsensor):
        kind = mujoco.mjtSensor(int(mjm.sensor_type[i])).name.removeprefix("mjSENS_")
        place = slice(mjm.sensor_adr[i], mjm.sensor_adr[i] + mjm.sensor_dim[i])
        scale = np.abs(theirs[:, place]).max() + 1e-300
        error = np.abs(ours[:, place] - theirs[:, place]).max() / scale
        if not error <= (CONSTRAINED if kind in DECIDED else SMOOTH):
            beyond[mjm.sensor(i).name] = error
    return beyond


def test_the_table_of_reasons_is_that_of_the_readers():
    assert REASONS.keys() == READERS.keys()
    others = {kind for kind in map(int, mujoco.mjtSensor.__members__.values())} - READERS.keys()
    assert others == {int(getattr(mujoco.mjtSensor, f"mjSENS_{name.upper()}")) for name in ELSEWHERE}


def test_the_table_of_sensors_is_current():
    text = sensor_table.PAGE.read_text(encoding="utf-8")
    assert sensor_table.written(text) == text, "python -m tests.models.sensor_table"
    assert len(sensor_table.rows()) == len(mujoco.mjtSensor.__members__)


def test_the_model_has_every_type_that_can_be_read():
    kinds = (set(load(name).sensor_type.tolist()) for name in ("sensors", "tendons"))
    assert set.union(*kinds) == set(READERS)


@pytest.mark.parametrize("integrator", ["implicitfast", pytest.param("Euler", marks=pytest.mark.slow), "RK4"])
def test_sensordata_is_mujocos(integrator):
    """After an evaluation, and as a step leaves it: at the last evaluation, with Runge-Kutta at the first stage."""
    mjm = model_with(getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}"))
    states = sample(mjm, COUNT, 0)
    solver = solver_of(mjm, states, ("sensordata",))
    solver.forward()
    theirs = mujocos(mjm, states, 0)
    assert errors(mjm, solver.sensordata, theirs) == {}
    silent = [mjm.sensor(i).name for i in range(mjm.nsensor) if not theirs[:, _place(mjm, i)].any()]
    assert silent == ["clock"]  # which is 0 there: no other column of the model proves nothing
    solver.step()
    assert errors(mjm, solver.sensordata, mujocos(mjm, states, 1)) == {}
    solver.step()
    np.testing.assert_allclose(solver.sensor("clock"), mjm.opt.timestep, rtol=1e-12)
    if integrator != "RK4":  # two of its states stand where MuJoCo itself ends 4e-7 from its own solution
        assert errors(mjm, solver.sensordata, mujocos(mjm, states, 2)) == {}


def _place(mjm, i):
    return slice(mjm.sensor_adr[i], mjm.sensor_adr[i] + mjm.sensor_dim[i])


def test_readings_are_the_same_however_they_are_asked_for():
    """Delivered by a step or evaluated later; all, some, one sensor, one environment; and no one minds others."""
    mjm = model_with(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
    states = sample(mjm, 10, 1)
    delivered, lazy = solver_of(mjm, states, ("sensordata",)), solver_of(mjm, states)
    for solver in (delivered, lazy):
        solver.step(3)
    whole = delivered.sensordata
    assert torch.equal(whole, lazy.sensordata) and whole.shape == (10, mjm.nsensordata)
    assert torch.equal(lazy.get("sensordata", [7, 2]), whole[[7, 2]])
    both = delivered.get_many(("sensordata", "xpos"), [3])
    assert torch.equal(both["sensordata"], whole[[3]]) and torch.equal(both["xpos"], delivered.get("xpos", [3]))
    assert torch.equal(lazy.sensor("gyro"), whole[:, _place(mjm, mjm.sensor("gyro").id)])
    assert torch.equal(lazy.sensor(0, [4]), whole[[4], :1])
    np.testing.assert_array_equal(lazy.inspect(5)["sensordata"], whole[5])
    alone = solver_of(mjm, states[np.array([6])])
    alone.step(3)
    assert torch.equal(alone.sensordata[0], whole[6])
    broken = delivered.qvel[:1]
    broken[0, 0] = torch.nan
    delivered.set_state(qvel=broken, envs_idx=[1])
    delivered.step()
    lazy.step()
    kept = [i for i in range(10) if i != 1]
    assert torch.equal(delivered.sensordata[kept], lazy.sensordata[kept])


def test_a_reset_a_state_and_time():
    """Readings belong to the last evaluation; a reset and `forward` bring those of the state at hand."""
    mjm = model_with(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
    states = sample(mjm, 4, 2)
    solver = solver_of(mjm, states, ("sensordata",))
    solver.step(5)
    before = solver.sensordata
    solver.set_state(states.qpos, states.qvel)
    assert torch.equal(solver.sensordata, before)
    np.testing.assert_allclose(solver.sensor("clock")[:, 0], 4 * mjm.opt.timestep)
    solver.forward([2])
    now = mujocos(mjm, states, 0)[2]
    assert np.abs(solver.sensordata[2, :-1].numpy() - now[:-1]).max() <= CONSTRAINED * np.abs(now).max()
    assert torch.equal(solver.sensordata[[0, 1, 3]], before[[0, 1, 3]])
    np.testing.assert_allclose(solver.sensor("clock")[:, 0], np.array([4, 4, 5, 4]) * mjm.opt.timestep)
    saved = solver.state_dict()
    solver.reset([0])
    assert solver.sensor("clock")[0, 0] == 0 and solver.sensor("clock")[1, 0] > 0
    solver.load_state_dict(saved)
    np.testing.assert_allclose(solver.sensor("clock")[:, 0], np.array([4, 4, 5, 4]) * mjm.opt.timestep)


def test_the_first_stage_of_a_runge_kutta_step_is_kept_with_the_state():
    mjm = model_with(mujoco.mjtIntegrator.mjINT_RK4)
    states = sample(mjm, 4, 3)
    solver, other = solver_of(mjm, states), solver_of(mjm, states)
    solver.step(3)
    found, xpos = solver.sensordata, solver.get("xpos")
    assert torch.equal(solver.get("xpos"), xpos) and torch.equal(solver.get("sensordata", [2]), found[[2]])
    other.load_state_dict(solver.state_dict())
    assert torch.equal(other.sensordata, found) and torch.equal(other.get("xpos"), xpos)
    solver.step()
    other.step()
    assert torch.equal(solver.qpos, other.qpos)


def test_quantities_behind_sensors_are_mujocos():
    mjm = model_with(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
    states = sample(mjm, 20, 4)
    solver = solver_of(mjm, states)
    solver.forward()
    data = mujoco.MjData(mjm)
    for i in range(len(states)):
        data.qpos[:], data.qvel[:], data.ctrl[:] = states.qpos[i], states.qvel[i], states.ctrl[i]
        mujoco.mj_forward(mjm, data)
        mujoco.mj_rnePostConstraint(mjm, data)
        mujoco.mj_subtreeVel(mjm, data)
        for name in ("cacc", "cfrc_int", "subtree_linvel", "subtree_angmom"):
            wanted = np.array(getattr(data, name))
            tolerance = SMOOTH if name.startswith("subtree") else CONSTRAINED
            assert np.abs(solver.get(name, [i])[0].numpy() - wanted).max() <= tolerance * np.abs(wanted).max(), name
    inspected = solver.inspect(19)
    np.testing.assert_array_equal(inspected["cfrc_int"], solver.get("cfrc_int", [19])[0])


def test_forces_from_outside_are_felt():
    """A push of the user's counts in accelerations, and not among the forces of a joint."""
    mjm = model_with(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
    states = sample(mjm, 3, 5)
    solver, data = solver_of(mjm, states), mujoco.MjData(mjm)
    push = np.random.default_rng(0).normal(0, 5, (3, mjm.nbody, 6))
    solver.xfrc_applied = push
    solver.forward()
    theirs = []
    for i in range(3):
        mujoco.mj_resetData(mjm, data)
        data.qpos[:], data.qvel[:], data.ctrl[:] = states.qpos[i], states.qvel[i], states.ctrl[i]
        data.xfrc_applied[:] = push[i]
        mujoco.mj_forward(mjm, data)
        theirs.append(np.array(data.sensordata))
    assert errors(mjm, solver.sensordata, np.array(theirs)) == {}


SENSED = """<sensor>
  <accelerometer site="here"/><gyro site="here"/><force site="here"/><touch site="here"/>
  <framepos objtype="body" objname="hip"/><framequat objtype="geom" objname="ball"/>
  <framelinvel objtype="body" objname="foot" reftype="body" refname="hip"/><subtreeangmom body="trunk"/>
  <framepos objtype="camera" objname="follows"/><subtreelinvel body="trunk"/><subtreecom body="trunk"/>
  <jointlimitpos joint="hip"/><jointlimitfrc joint="hip"/><actuatorpos actuator="servo"/><actuatorfrc actuator="servo"/>
  <e_potential/><e_kinetic/><distance geom1="ball" geom2="floor" cutoff="3"/><rangefinder site="here"/>
  <contact geom1="ball" geom2="floor" data="found force pos normal"/>
</sensor></mujoco>"""


@pytest.mark.slow
def test_environments_with_numbers_of_their_own():
    """MuJoCo compiles the model of each environment."""
    xml = XML.replace('<body name="hip"', '<site name="here" size="0.3" euler="0.2 0.1 0.4"/><body name="hip"')
    xml = xml.replace('<position joint="hip"', '<position name="servo" joint="hip"').replace("</mujoco>", SENSED)
    mjm = mujoco.MjModel.from_xml_string(xml)
    for name, value in SETTINGS.items():
        setattr(mjm.opt, name, value)
    states = sample(mjm, 6, 6)
    solver = solver_of(mjm, states, ("sensordata",), Model.from_mjcf(xml, **SETTINGS))
    numbers = random_numbers(mjm, 6, np.random.default_rng(1))
    solver.update_parameters(numbers)
    solver.forward()
    ours, theirs = solver.sensordata, []
    for i in range(6):
        own = compiled(xml, numbers, i)
        for name, value in SETTINGS.items():
            setattr(own.opt, name, value)
        own.opt.jacobian = int(mujoco.mjtJacobian.mjJAC_DENSE)
        theirs.append(mujocos(own, states[np.array([i])], 0)[0])
    for i in range(6):
        assert np.abs(ours[i].numpy() - theirs[i]).max() <= CONSTRAINED * max(1.0, np.abs(theirs[i]).max()), i


@pytest.mark.slow
def test_the_gpu_driver_reads_the_same():
    """The GPU driver on a processor; torch adds up in another order where environments are columns."""
    for integrator in (mujoco.mjtIntegrator.mjINT_IMPLICITFAST, mujoco.mjtIntegrator.mjINT_RK4):
        mjm, found = model_with(integrator), []
        states = sample(mjm, 3, 7)
        for columns in (False, True):
            if columns:
                run_in_columns(precision="64")
            else:
                tumble.init(precision="64", lanes=1)
            solver = RigidSolver(Model.from_mjmodel(mjm), 3, ("sensordata",))
            solver.set_state(states.qpos, states.qvel)
            solver.ctrl = states.ctrl
            solver.step(2)
            found.append([solver.sensordata, solver.get("sensordata", [1])])
            assert torch.allclose(found[-1][0][[1]], found[-1][1], rtol=1e-12, atol=1e-12)
            solver.forward()
            found[-1].append(solver.sensordata)
        for one, other in zip(*found, strict=True):
            assert torch.allclose(one, other, rtol=1e-9, atol=1e-9)
    tumble.init(precision="64")


UNREAD = """<mujoco><extension><plugin plugin="mujoco.sensor.touch_grid"/></extension>
  <asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
  <worldbody><camera name="eye" resolution="4 4"/><body name="b"><joint name="j"/><geom name="g" size=".1"/>
  <geom type="mesh" mesh="m"/><site name="s"/></body></worldbody>
  <sensor><user name="mine" dim="2"/><jointpos name="angle" joint="j"/>
  <camprojection name="dot" site="s" camera="eye"/><jointpos name="late" joint="j" nsample="5" delay="0.01"/>
  <rangefinder name="image" camera="eye"/><tactile name="skin" geom="g" mesh="m"/>
  <plugin name="grid" plugin="mujoco.sensor.touch_grid" objtype="site" objname="s"><config key="size" value="2 2"/>
  <config key="fov" value="45 45"/><config key="nchannel" value="1"/><config key="gamma" value="0"/></plugin>
  </sensor></mujoco>"""


def test_what_cannot_be_read_is_named():
    model = Model.from_mjcf(UNREAD)
    assert sum("not computed" in line for line in model.unused) == 5
    solver = RigidSolver(model, 2, lanes=LANES)
    solver.set_state(qpos=[[0.3], [0.4]])
    solver.forward()
    (note,) = model.notes
    assert "'mine' is a sensor of type 'user' (" in note and "'skin' is a sensor of type 'tactile' (" in note
    assert (
        "'grid' is a sensor of type 'plugin' (code of a plugin, as touch_grid" in note
        and "'image' is a rangefinder of a camera" in note
    )
    np.testing.assert_allclose(solver.sensordata[:, 2], [0.3, 0.4])
    assert not solver.sensordata[:, :2].any() and not solver.sensordata[:, 3:].any()
    with pytest.raises(NotImplementedError, match="'image' is a rangefinder of a camera"):
        solver.sensor("image")
    with pytest.raises(KeyError, match="no sensor is named 'angel'; there are mine, angle"):
        solver.sensor("angel")
    with pytest.raises(IndexError, match="the model has 7"):
        solver.sensor(7)
    np.testing.assert_allclose(solver.sensor("angle")[:, 0], [0.3, 0.4])
    assert not solver.sensor("late").any()


def test_models_without_sensors_and_with_sensors_off():
    bare = Model.from_mjcf("<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>")
    assert RigidSolver(bare, 3, lanes=LANES).sensordata.shape == (3, 0)
    mjm = copy.copy(load("sensors"))
    mjm.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
    model = Model.from_mjmodel(mjm)
    assert not any(model.sizes[name] for name in ("nsense", "nsensed", "nlimitsense", "nstart"))
    assert not RigidSolver(model, 2, lanes=LANES).sensordata.any()

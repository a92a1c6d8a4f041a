"""PID controllers, DC motors and servos for orientations: states far away, limits, what cannot change, resets."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver
from tumble.physics.files.mjmodel.actuators import control_names

from ..models.purpose import FOLDER
from .parity.run import SETTINGS

pytestmark = pytest.mark.usefixtures("double")

COUNT = 12
PASSIVE = """<mujoco><option><flag actuation="{}"/></option>
<worldbody><body><joint name="h"/><geom size=".1" pos="1 0 0"/></body></worldbody>
<actuator><dcmotor joint="h" motorconst="0.5" resistance="0.4" input="none"/></actuator></mujoco>"""


@pytest.mark.parametrize("name", ["pid", "dc_motor", "orientation"])
@pytest.mark.parametrize("integrator", ["EULER", "IMPLICITFAST", "RK4"])
def test_states_beyond_their_limits_on_both_sides(name, integrator):
    """Integrals beyond both limits, bristles bent both ways, setpoints beyond a turn; double precision's rounding."""
    mjm = mujoco.MjModel.from_xml_path(str(FOLDER / f"{name}.xml"))
    mjm.opt.integrator = int(getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}"))
    mjm.opt.tolerance, mjm.opt.iterations = SETTINGS["tolerance"], SETTINGS["iterations"]
    rng = np.random.default_rng(4)
    shapes = {"qpos": mjm.nq, "qvel": mjm.nv, "act": mjm.na, "ctrl": mjm.nu}
    start = {field: rng.normal(0, 1.0, (COUNT, count)) for field, count in shapes.items()}
    start["act"] *= 3.0 if name == "orientation" else 1.0
    solver = RigidSolver(Model.from_mjmodel(mjm), COUNT)
    solver.set_state(**{field: torch.as_tensor(start[field]) for field in ("qpos", "qvel", "act")})
    solver.ctrl = torch.as_tensor(start["ctrl"])
    solver.step()
    data = mujoco.MjData(mjm)
    for env in range(COUNT):
        mujoco.mj_resetData(mjm, data)
        for field, values in start.items():
            getattr(data, field)[:] = values[env]
        mujoco.mj_step(mjm, data)
        assert np.abs(solver.act[env].numpy() - data.act).max() < 1e-12, env
        fastest = np.abs(data.qvel).max()
        assert np.abs(solver.qvel[env].numpy() - data.qvel).max() < 1e-9 * fastest, env  # a limit may act


def test_states_of_an_actuator_stay_what_they_are():
    """An integral gain may change, but the state is there or is not."""
    model = Model.from_mjcf(FOLDER / "pid.xml")
    solver = RigidSolver(model, 4)
    gain = np.array(model.mj.actuator_gainprm)
    with pytest.raises(ValueError, match=r"actuator_gainprm\[2\]\[0\] of environment 0 is 0: .* cannot be changed"):
        solver.set_parameters("actuator_gainprm", np.where(np.arange(9)[:, None] == 2, 0.0, gain))
    with pytest.raises(ValueError, match=r"actuator_gainprm\[0\]\[0\] of environment 0 is 3"):
        solver.set_parameters("actuator_gainprm", np.where(np.arange(9)[:, None] == 0, 3.0, gain))


def test_numbers_of_their_own():
    """Gains, biases and limits of each environment, of servos with states: a step of each is that of MuJoCo's model."""
    more = """<pid joint="hinge" kp="2" kv="0.1" ki="3" imax="0.4" slewmax="9"/>
    <dcmotor joint="hinge" motorconst="0.4" resistance="0.6" inductance="0 0.01" input="pos voltage"
     controller="2 1 0.2 30 0.5 2" thermal="1 1.5 0 0.2 0.5 0.2" cogging="0.2 4 0.3" lugre="1.2 0.08 0.3 0.5 0.6"
     saturation="1 0 90"/><velocity name="behind\""""
    xml = (FOLDER / "orientation.xml").read_text().replace('<velocity name="behind"', more)
    mjm = mujoco.MjModel.from_xml_string(xml)
    mjm.opt.integrator = int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
    rng, solver = np.random.default_rng(1), RigidSolver(Model.from_mjmodel(mjm), COUNT)
    names = ("actuator_gainprm", "actuator_biasprm", "actuator_forcerange")
    own = {n: getattr(mjm, n) * np.exp(rng.normal(0, 0.3, (COUNT, *getattr(mjm, n).shape))) for n in names}
    solver.update_parameters(own)
    shapes = {"qpos": mjm.nq, "qvel": mjm.nv, "act": mjm.na, "ctrl": mjm.nu}
    start = {field: rng.normal(0, 0.7, (COUNT, count)) for field, count in shapes.items()}
    solver.set_state(**{field: torch.as_tensor(start[field]) for field in ("qpos", "qvel", "act")})
    solver.ctrl = torch.as_tensor(start["ctrl"])
    solver.step()
    for env in range(COUNT):
        for name, values in own.items():
            getattr(mjm, name)[:] = values[env]
        data = mujoco.MjData(mjm)
        for field, values in start.items():
            getattr(data, field)[:] = values[env]
        mujoco.mj_step(mjm, data)
        assert np.abs(solver.act[env].numpy() - data.act).max() < 1e-12, env
        assert np.abs(solver.get("actuator_force", [env])[0].numpy() - data.actuator_force).max() < 1e-12, env
        assert np.abs(solver.qvel[env].numpy() - data.qvel).max() < 1e-9 * np.abs(data.qvel).max(), env


def test_damping_of_an_orientation_at_its_limit_is_explicit():
    """More velocity changes nothing there but the direction.

    MuJoCo asks whether the torque that it has brought to its limit reaches that limit. By rounding it does or does not,
    and the damping is left out or not. Where it is left out we agree; elsewhere MuJoCo's own step without damping does.
    """
    mjm = mujoco.MjModel.from_xml_path(str(FOLDER / "orientation.xml"))
    mjm.opt.integrator = int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
    servo = mujoco.mj_name2id(mjm, mujoco.mjtObj.mjOBJ_ACTUATOR, "quaternion")
    mjm.actuator_biasprm[servo, 2], mjm.actuator_forcerange[servo] = -0.05, [0.0, 0.01]
    rng, count = np.random.default_rng(0), 40
    qpos, qvel = rng.normal(0, 1.0, (count, mjm.nq)), rng.normal(0, 1.0, (count, mjm.nv))
    solver = RigidSolver(Model.from_mjmodel(mjm), count)
    solver.set_state(qpos=torch.as_tensor(qpos), qvel=torch.as_tensor(qvel))
    solver.step()
    data, out, reached = mujoco.MjData(mjm), int(mjm.actuator_outadr[servo]), []
    for env in range(count):
        mujoco.mj_resetData(mjm, data)
        data.qpos[:], data.qvel[:] = qpos[env], qvel[env]
        mujoco.mj_step(mjm, data)
        reached.append(mujoco.mju_norm3(data.actuator_force[out : out + 3]) >= 0.01)
        error = np.abs(solver.qvel[env].numpy() - data.qvel).max() / np.abs(data.qvel).max()
        assert (error < 1e-9) == reached[-1], (env, error)
    assert 0 < sum(reached) < count


def test_a_reset_tells_quaternions_not_to_turn():
    mjm = mujoco.MjModel.from_xml_path(str(FOLDER / "orientation.xml"))
    solver = RigidSolver(Model.from_mjmodel(mjm), 2)
    data = mujoco.MjData(mjm)
    assert data.ctrl.any()
    assert solver.ctrl.tolist() == [data.ctrl.tolist()] * 2
    solver.ctrl = torch.ones(2, mjm.nu)
    solver.reset([1])
    assert solver.ctrl.tolist() == [[1.0] * mjm.nu, data.ctrl.tolist()]


def test_names_of_controls_say_which_input():
    names = control_names(mujoco.MjModel.from_xml_path(str(FOLDER / "pid.xml")))
    assert names[:5] == ["usual, input pos", "usual, input vel", "between", "all, input pos", "all, input vel"]
    turns = control_names(mujoco.MjModel.from_xml_path(str(FOLDER / "orientation.xml")))
    assert turns[4:8] == [f"quaternion, input q{axis}" for axis in "wxyz"]
    assert control_names(mujoco.MjModel.from_xml_string(PASSIVE.format("enable"))) == []


@pytest.mark.parametrize("actuation", ["enable", "disable"])
def test_a_motor_without_controls_brakes(actuation):
    mjm = mujoco.MjModel.from_xml_string(PASSIVE.format(actuation))
    solver = RigidSolver(Model.from_mjmodel(mjm), 4)
    assert solver.ctrl.shape == (4, 0)
    solver.set_state(qvel=torch.full((4, 1), 2.0))
    solver.forward()
    expected = -2.0 * 0.5**2 / 0.4 if actuation == "enable" else 0.0
    assert solver.get("actuator_force").flatten().tolist() == pytest.approx([expected] * 4, rel=1e-14)

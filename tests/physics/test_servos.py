"""PID controllers and DC motors: activations of any sign, numbers that cannot change, and motors without controls."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver

from ..models.purpose import FOLDER
from .parity.run import SETTINGS
from .starts import run_with

COUNT = 12
PASSIVE = """<mujoco><option><flag actuation="{}"/></option>
<worldbody><body><joint name="h"/><geom size=".1" pos="1 0 0"/></body></worldbody>
<actuator><dcmotor joint="h" motorconst="0.5" resistance="0.4" input="none"/></actuator></mujoco>"""


@pytest.fixture(autouse=True, scope="module")
def double():
    run_with("64")


@pytest.mark.parametrize("name", ["pid", "dc_motor"])
@pytest.mark.parametrize("integrator", ["EULER", "IMPLICITFAST", "RK4"])
def test_states_beyond_their_limits_on_both_sides(name, integrator):
    """Integrals beyond both limits, bristles bent both ways, currents of both signs; double precision's rounding."""
    mjm = mujoco.MjModel.from_xml_path(str(FOLDER / f"{name}.xml"))
    mjm.opt.integrator = int(getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}"))
    mjm.opt.tolerance, mjm.opt.iterations = SETTINGS["tolerance"], SETTINGS["iterations"]
    rng = np.random.default_rng(4)
    shapes = {"qpos": mjm.nq, "qvel": mjm.nv, "act": mjm.na, "ctrl": mjm.nu}
    start = {field: rng.normal(0, 1.0, (COUNT, count)) for field, count in shapes.items()}
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


@pytest.mark.parametrize("actuation", ["enable", "disable"])
def test_a_motor_without_controls_brakes(actuation):
    mjm = mujoco.MjModel.from_xml_string(PASSIVE.format(actuation))
    solver = RigidSolver(Model.from_mjmodel(mjm), 4)
    assert solver.ctrl.shape == (4, 0)
    solver.set_state(qvel=torch.full((4, 1), 2.0))
    solver.forward()
    expected = -2.0 * 0.5**2 / 0.4 if actuation == "enable" else 0.0
    assert solver.get("actuator_force").flatten().tolist() == pytest.approx([expected] * 4, rel=1e-14)

"""Inertia and damping that actuators add to joints, and groups of actuators that are switched off."""

import mujoco
import numpy as np
import pytest

from tumble.physics import Model, RigidSolver
from tumble.physics.files.mjmodel.actuators import disabled_actuators, from_actuators

from .parity.catalogue import load
from .parity.states import sample

pytestmark = pytest.mark.usefixtures("double")

LANES = 4
ENVS = 4
STEPS = 5
ROUNDING = 1e-9
"""Of a few steps in double precision, relative to the largest number."""
SPRING = """<mujoco><worldbody><body>
<joint name="j" type="slide" axis="1 0 0"/><geom size=".1" mass="2"/></body></worldbody>
<actuator><motor joint="j" gear="3" {}/></actuator></mujoco>"""


@pytest.fixture(scope="module")
def model():
    mjm = load("actuator_inertia", integrator="implicitfast")
    mjm.opt.tolerance, mjm.opt.iterations = 1e-15, 100
    return mjm


@pytest.fixture(scope="module")
def states(model):
    return sample(model, ENVS, np.random.default_rng(3))


@pytest.fixture(scope="module")
def solver(model):
    return RigidSolver(Model.from_mjmodel(model), ENVS, lanes=LANES)


def put(solver, states, ctrl=None):
    solver.reset()
    solver.set_state(qpos=states.qpos, qvel=states.qvel)
    solver.ctrl = states.ctrl if ctrl is None else ctrl


def test_a_geared_motor_adds_its_rotor_by_the_square_of_the_gear():
    mjm = mujoco.MjModel.from_xml_string(SPRING.format('armature="0.5" damping="0.2"'))
    np.testing.assert_allclose(from_actuators(mjm, mjm.actuator_armature), [4.5], rtol=1e-15)
    np.testing.assert_allclose(from_actuators(mjm, mjm.actuator_damping), [1.8], rtol=1e-15)


def test_a_geared_motor_on_a_tendon_adds_as_much_as_the_tendon_has():
    """And its damping is a polynomial as the tendon's own is."""
    tendon = '<tendon><fixed name="t" {}><joint joint="j" coef="2"/></fixed></tendon>'
    own = SPRING.replace("</worldbody>", "</worldbody>" + tendon).replace('motor joint="j"', 'motor tendon="t"')
    geared = Model.from_mjcf(own.format('damping="1"', 'armature="0.5" damping="0.2 0.3 0.4"'))
    plain = Model.from_mjcf(own.format('armature="4.5" damping="2.8 2.7 3.6"', ""))
    for name in ("tendon_armature", "tendon_damping"):
        np.testing.assert_allclose(geared.values[name], plain.values[name], rtol=1e-15)


def test_groups_are_those_that_mujoco_switches_off(model):
    """A force of 0 that stays 0 whatever the control, or that is at the near end of its range."""
    data = mujoco.MjData(model)
    data.ctrl[:] = 0.7
    mujoco.mj_forward(model, data)
    bounds = np.where(model.actuator_forcelimited[:, None], model.actuator_forcerange, [-np.inf, np.inf])
    still = data.actuator_force == np.clip(0.0, *bounds.T)
    assert disabled_actuators(model).tolist() == still.tolist()
    assert np.flatnonzero(still).tolist() == [8, 9]


def test_environments_with_inertia_and_gains_of_their_own_move_as_in_mujoco(model, states, solver):
    rng = np.random.default_rng(5)
    armature = model.dof_armature + rng.uniform(0.01, 0.5, (ENVS, model.njnt))[:, model.dof_jntid]
    damping = model.dof_damping + rng.uniform(0.0, 0.5, (ENVS, model.njnt))[:, model.dof_jntid]
    gain = np.tile(model.actuator_gainprm, (ENVS, 1, 1))
    gain[..., 0] *= rng.uniform(0.5, 1.5, (ENVS, model.nu))
    own = RigidSolver(Model.from_mjmodel(model), ENVS, lanes=LANES)
    own.update_parameters({"dof_armature": armature, "dof_damping": damping, "actuator_gainprm": gain})
    put(own, states)
    own.step(STEPS)
    for env in range(ENVS):
        mjm = Model.from_mjmodel(model).editable()
        mjm.dof_armature[:], mjm.dof_damping[:] = armature[env], damping[env]
        mjm.actuator_gainprm[:] = gain[env]
        data = mujoco.MjData(mjm)
        mujoco.mj_setConst(mjm, data)
        np.testing.assert_allclose(own.get_parameters("dof_invweight0")[env], mjm.dof_invweight0, rtol=ROUNDING)
        mujoco.mj_resetData(mjm, data)
        data.qpos[:], data.qvel[:], data.ctrl[:] = states.qpos[env], states.qvel[env], states.ctrl[env]
        mujoco.mj_step(mjm, data, STEPS)
        np.testing.assert_allclose(own.qvel[env], data.qvel, rtol=0, atol=1e-7 * np.abs(data.qvel).max())
        np.testing.assert_allclose(own.qpos[env], data.qpos, rtol=0, atol=1e-7 * np.abs(data.qpos).max())


def test_a_broken_control_stops_no_other_environment(states, solver):
    put(solver, states)
    solver.step(STEPS)
    sound = solver.qpos.numpy().copy(), solver.qvel.numpy().copy()
    ctrl = np.array(states.ctrl)
    ctrl[1, 3] = np.nan
    put(solver, states, ctrl)
    solver.step(STEPS)
    others = [0, 2, 3]
    for was, now in zip(sound, (solver.qpos.numpy(), solver.qvel.numpy()), strict=True):
        assert (was[others] == now[others]).all() and np.isfinite(now).all()


def test_the_control_of_an_actuator_that_is_switched_off_moves_nothing(states, solver):
    put(solver, states)
    solver.step(STEPS)
    before = solver.qpos.numpy().copy()
    off = np.array(states.ctrl)
    off[:, [8, 9]] += 1.0
    put(solver, states, off)
    solver.step(STEPS)
    assert (solver.qpos.numpy() == before).all()
    on = np.array(states.ctrl)
    on[:, 10] += 1.0
    put(solver, states, on)
    solver.step(STEPS)
    assert (solver.qpos.numpy() != before).any(axis=1).all()


def test_a_gear_that_inertia_depends_on_stays_as_it_is(model, solver):
    gear = np.tile(model.actuator_gear, (ENVS, 1, 1))
    gear[2, 4, 0] = 5.0
    with pytest.raises(ValueError, match=r"actuator_gear\[4\]\[0\] of environment 2 is 5: .*armature and damping"):
        solver.set_parameters("actuator_gear", gear)

"""Springs that yield: their rest moves, is a part of the state, and stays where an environment stops."""

import mujoco
import numpy as np
import pytest

from tumble.physics import Model, RigidSolver
from tumble.physics.model.parts.plastic import resting

from ..test_architecture import ROOT
from .parity.catalogue import load
from .parity.states import sample

pytestmark = pytest.mark.usefixtures("double")

LANES = 4
ENVS = 4
STEPS = 100
GROWN = 1e-8
"""Of so many steps in double precision without re-sync, relative to the largest number."""
STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


@pytest.fixture(scope="module")
def mjm():
    return load("plastic", integrator="implicitfast")


@pytest.fixture(scope="module")
def model(mjm):
    return Model.from_mjmodel(mjm)


@pytest.fixture(scope="module")
def states(mjm):
    return sample(mjm, ENVS, 5)


@pytest.fixture(scope="module")
def solver(model):
    return RigidSolver(model, ENVS, lanes=LANES)


def put(solver, states):
    solver.reset()
    solver.set_state(qpos=states.qpos, qvel=states.qvel, plastic=states.plastic)
    solver.ctrl = states.ctrl


def mujocos(mjm, states, env):
    data = mujoco.MjData(mjm)
    data.qpos[:], data.qvel[:], data.ctrl[:] = states.qpos[env], states.qvel[env], states.ctrl[env]
    data.plastic[:] = states.plastic[env]
    return data


def assert_close(ours, theirs):
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=0, atol=GROWN * np.abs(theirs).max())


def test_what_springs_rest_at_goes_where_mujocos_does(mjm, states, solver):
    put(solver, states)
    solver.step(STEPS)
    for env in range(ENVS):
        data = mujocos(mjm, states, env)
        mujoco.mj_step(mjm, data, STEPS)
        assert np.abs(data.plastic - states.plastic[env]).max() > 0.01
        assert_close(solver.plastic[env], data.plastic)
        assert_close(solver.qpos[env], data.qpos)


@pytest.mark.parametrize("integrator", ["IMPLICITFAST", "RK4"])
def test_their_potential_is_mujocos(states, integrator):
    """Measured from where springs rest at the evaluation; after a step, from where they rested before it."""
    spec = mujoco.MjSpec.from_file(str(ROOT / "tests" / "models" / "plastic.xml"))
    spec.add_sensor(name="potential", type=mujoco.mjtSensor.mjSENS_E_POTENTIAL, objtype=mujoco.mjtObj.mjOBJ_UNKNOWN)
    mjm = spec.compile()
    mjm.opt.integrator = int(getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}"))
    solver = RigidSolver(Model.from_mjmodel(mjm), ENVS, lanes=LANES)
    put(solver, states)
    for steps in (0, 1, 30):
        if steps:
            solver.step(steps)
        else:
            solver.forward()
        for env in range(ENVS):
            data = mujocos(mjm, states, env)
            if steps == 0:
                mujoco.mj_forward(mjm, data)
            mujoco.mj_step(mjm, data, {0: 0, 1: 1, 30: 31}[steps])
            found = float(solver.sensor("potential")[env, 0])
            assert found == pytest.approx(float(data.sensordata[0]), rel=GROWN)
            stiff = mjm.qpos_spring, mjm.tendon_lengthspring
            assert not np.array_equal(data.plastic, resting(mjm, stiff[0][None], stiff[1][None])[0])


def test_it_is_in_mujocos_state_vector(mjm, states, solver):
    put(solver, states)
    vector = np.zeros(mujoco.mj_stateSize(mjm, STATE))
    data = mujocos(mjm, states, 1)
    mujoco.mj_getState(mjm, data, vector, STATE)
    assert (solver.mj_state(STATE)[1].numpy() == vector).all()
    solver.step(STEPS)
    wanted = solver.mj_state(STATE)
    solver.reset()
    solver.set_mj_state(np.tile(vector, (ENVS, 1)), STATE)
    solver.step(STEPS)
    assert (solver.mj_state(STATE) == wanted[1]).all()


def test_keyframes_have_it(mjm, solver):
    for key in ("bent", "straight"):
        solver.reset_to_keyframe(key)
        data = mujoco.MjData(mjm)
        mujoco.mj_resetDataKeyframe(mjm, data, mjm.key(key).id)
        assert (solver.plastic.numpy() == data.plastic).all(), key
        solver.step(STEPS)
        mujoco.mj_step(mjm, data, STEPS)
        for env in range(ENVS):
            assert_close(solver.plastic[env], data.plastic)


def test_where_an_environment_stops_its_springs_stay_and_no_other_changes(states, solver):
    put(solver, states)
    solver.step(STEPS)
    sound = solver.plastic.numpy().copy()
    for broken in ("ctrl", "plastic"):
        put(solver, states)
        before = solver.plastic.numpy().copy()
        if broken == "ctrl":
            ctrl = np.array(states.ctrl)
            ctrl[2, 0] = np.nan
            solver.ctrl = ctrl
        else:
            plastic = np.array(states.plastic)
            plastic[2, 0] = np.nan
            solver.set_state(plastic=plastic)
        solver.step(STEPS)
        others = [0, 1, 3]
        assert (solver.plastic.numpy()[others] == sound[others]).all()
        assert solver.faults.tolist() == [0, 0, 1, 0] and np.isfinite(solver.plastic.numpy()).all()
        if broken == "ctrl":
            assert (solver.plastic.numpy()[2] == before[2]).all()


def test_environments_with_springs_of_their_own_begin_at_their_own_rest(mjm, model):
    rng = np.random.default_rng(1)
    spring, lengths = np.tile(mjm.qpos_spring, (ENVS, 1)), np.tile(mjm.tendon_lengthspring, (ENVS, 1, 1))
    spring[:, :2] += rng.uniform(0.0, 0.3, (ENVS, 2))
    lengths[:, 1:] += rng.uniform(0.0, 0.1, (ENVS, mjm.ntendon - 1, 1))
    own = RigidSolver(model, ENVS, lanes=LANES)
    own.update_parameters({"qpos_spring": spring, "tendon_lengthspring": lengths})
    assert (own.plastic.numpy() == mujoco.MjData(mjm).plastic).all()  # until the next reset, as in MuJoCo
    own.reset()
    own.step(STEPS)
    for env in range(ENVS):
        theirs = model.editable()
        theirs.qpos_spring[:], theirs.tendon_lengthspring[:] = spring[env], lengths[env]
        data = mujoco.MjData(theirs)
        mujoco.mj_step(theirs, data, STEPS)
        assert_close(own.plastic[env], data.plastic)
        assert_close(own.qpos[env], data.qpos)

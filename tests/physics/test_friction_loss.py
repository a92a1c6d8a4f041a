"""Friction loss of dofs: closed forms, MuJoCo by both solvers, and environments of one batch."""

import mujoco
import numpy as np
import pytest

from tumble.physics import Model, RigidSolver

from .parity.catalogue import load
from .parity.reference import FRICTION, reference_model
from .parity.run import SETTINGS
from .parity.states import sample
from .test_equality import solver_of

pytestmark = pytest.mark.usefixtures("double")

"""Beyond the default, at which conjugate gradients leave 2e-5."""
SOLUTION = 1e-6
"""Of accelerations and forces relative to the largest entry: both sides stop at their own tolerance."""
ROUNDING = 1e-9
"""Of sums of a hundred steps in double precision."""

LANES = 4
MASS, LOSS, TIMESTEP = 2.0, 3.0, 0.002
SLIDER = f"""<mujoco><option timestep="{TIMESTEP}" gravity="0 0 0"/><worldbody><body>
  <joint name="j" type="slide" axis="1 0 0" frictionloss="{LOSS}"/><geom size="0.1" mass="{MASS}"/></body>
  <body pos="9 0 0"><freejoint/><geom size="0.1"/></body></worldbody>
  <actuator><motor joint="j"/></actuator></mujoco>"""
"""The free body only makes its kernel that of the model below."""
STIFFNESS = MASS * 0.9 / 0.1
"""D of its row: the default impedance 0.9 over what is left of one, times the mass."""
DAMPING = 2.0 / (0.95 * 0.02)
"""B of its reference acceleration: the default time constant and final impedance."""


def slider(ctrl, qvel=0.0):
    """An environment for each force on the slider."""
    solver = RigidSolver(Model.from_mjcf(SLIDER), len(ctrl), lanes=LANES)
    solver.ctrl = np.array(ctrl)[:, None]
    solver.set_state(qvel=np.outer(np.broadcast_to(qvel, len(ctrl)), np.eye(7)[0]))
    return solver


def test_below_the_loss_a_joint_creeps_and_above_it_is_slowed_by_the_loss():
    """The constraint is soft: F holds at the speed v with D B v = F, if F is below the loss."""
    ctrl = LOSS * np.array([-0.9, -0.5, 0.0, 0.5, 0.9, 1.5, 4.0, -2.0])
    solver = slider(ctrl)
    solver.step(100)
    speed = solver.qvel[:, 0].numpy()
    held = np.abs(ctrl) < LOSS
    np.testing.assert_allclose(speed[held], ctrl[held] / (STIFFNESS * DAMPING), rtol=1e-6, atol=1e-12)
    assert np.abs(speed[held]).max() < 2e-3 and np.abs(solver.qpos[held, 0].numpy()).max() < 4e-4
    free = (ctrl - LOSS * np.sign(ctrl))[~held] * 100 * TIMESTEP / MASS
    np.testing.assert_allclose(speed[~held], free, rtol=ROUNDING)


def test_a_sliding_joint_stops_after_the_way_that_the_loss_leaves_it():
    """v^2 m / (2 f), but for what Euler's method makes of a step, and then nothing moves."""
    start = np.array([0.5, -0.8, 1.2, 0.3])
    solver = slider(np.zeros(4), start)
    solver.step(50)
    np.testing.assert_allclose(solver.qvel[:, 0], start - np.sign(start) * 50 * TIMESTEP * LOSS / MASS, rtol=ROUNDING)
    solver.step(550)
    way = start * np.abs(start) * MASS / (2 * LOSS)
    # at its end, below the speed f / (D B), it comes to rest exponentially: a way of at most that speed over B D / m
    soft = LOSS / (STIFFNESS * DAMPING) + np.abs(start) * TIMESTEP
    assert (np.abs(solver.qpos[:, 0].numpy() - way) < soft).all()
    assert np.abs(solver.qvel.numpy()).max() < 1e-9


@pytest.mark.parametrize("which", ["newton", "cg"])
def test_rows_and_their_states_are_mujocos(which):
    """Without constraint islands, with which MuJoCo 4.0 leaves efc_state in the order of the islands' rows."""
    mjm = load("frictionloss")
    theirs = reference_model(mjm, **SETTINGS)
    theirs.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
    states = sample(theirs, 40)
    solver = solver_of(mjm, states, which)
    solver.forward()
    data, kinds = mujoco.MjData(theirs), np.zeros(5, int)
    for env in range(len(states)):
        data.qpos[:], data.qvel[:], data.ctrl[:] = states.qpos[env], states.qvel[env], states.ctrl[env]
        data.qacc_warmstart[:] = 0
        mujoco.mj_forward(theirs, data)
        found = solver.inspect(env)
        for name in ("qacc", "qfrc_constraint"):
            own, reference = found[name], getattr(data, name)
            assert np.abs(own - reference).max() < SOLUTION * np.abs(reference).max(), (env, name)
        assert np.array_equal(found["efc_type"], data.efc_type[: data.nefc])
        rows = data.efc_type[: data.nefc] == FRICTION
        assert np.array_equal(found["efc_state"][rows], data.efc_state[: data.nefc][rows])
        for name in ("efc_frictionloss", "efc_force", "efc_D", "efc_aref"):
            reference = getattr(data, name)[: data.nefc]
            scale = np.abs(reference).max()
            np.testing.assert_allclose(found[name][rows], reference[rows], rtol=0, atol=SOLUTION * scale, err_msg=name)
        kinds += np.bincount(found["efc_state"][rows], minlength=5)
    assert (kinds[1:4] > 10).all(), "each of the three states occurs"

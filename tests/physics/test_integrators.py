"""Laws of the integrators on smooth motions in space: order of convergence, and drift of what the motion keeps.

What a step is, is proven against MuJoCo in the parity suite; here MuJoCo is a peer that has the same laws to obey.
"""

import copy

import mujoco
import numpy as np
import pytest

from tumble.physics import Model, RigidSolver

pytestmark = pytest.mark.usefixtures("double")

INTEGRATORS = {"Euler": 1, "implicitfast": 1, "implicit": 1, "RK4": 4}
"""With their order."""
LANES = 4
FLYING = """<mujoco><option gravity="0 0 0" timestep="0.004"/><worldbody>
  <body pos="0 0 1"><freejoint/><geom size=".1 .06 .04" type="ellipsoid" pos=".05 0 .02"/>
    <body pos=".2 0 0"><joint type="ball" pos="-.05 0 0"/><geom type="capsule" size=".03 .1" pos=".1 .02 0"/>
      <body pos=".2 0 .05"><joint axis="0 1 .3"/><geom type="box" size=".03 .05 .1"/></body></body>
    <body pos="0 -.2 0"><joint type="slide" axis=".2 1 0"/><joint axis="1 0 0"/><geom size=".05" pos="0 0 .1"/></body>
  </body></worldbody></mujoco>"""
"""A tree of every kind of joint, on which nothing acts from outside, and no spring or damper inside."""
DRIVEN = FLYING.replace('axis="0 1 .3"', 'name="h" axis="0 1 .3" damping=".02" stiffness=".5"').replace(
    "</worldbody>",
    """<body pos="3 0 0"><freejoint/><geom type="box" size=".2 .1 .05"/></body></worldbody>
    <actuator><velocity joint="h" kv=".03"/></actuator>""",
)


def start_of(mjm: mujoco.MjModel, count: int) -> tuple[np.ndarray, np.ndarray]:
    """States with turned joints that spin at some rad/s."""
    rng, qpos = np.random.default_rng(5), np.tile(mjm.qpos0, (count, 1))
    for env in range(count):
        mujoco.mj_integratePos(mjm, qpos[env], rng.normal(0, 0.5, mjm.nv), 1.0)
    return qpos, rng.normal(0, 1.5, (count, mjm.nv))


def moved(xml: str, count: int, steps: int, **options: object) -> RigidSolver:
    solver = RigidSolver(Model.from_mjcf(xml, **options), count, lanes=LANES)
    solver.set_state(*start_of(solver.model.mj, count))
    solver.step(steps)
    return solver


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_order_of_convergence_in_space(integrator):
    """A step half as long leaves an error smaller by two to the power of the order."""
    order, count, time = INTEGRATORS[integrator], 4, 0.32
    longest = 0.02 if order == 4 else 0.002

    def end(dt: float, how: str) -> np.ndarray:
        solver = moved(DRIVEN, count, round(time / dt), timestep=dt, integrator=how)
        return np.concatenate((solver.qpos.numpy(), solver.qvel.numpy()), axis=1)

    exact = end(0.001, "RK4")
    errors = [np.linalg.norm(end(longest / k, integrator) - exact, axis=1) for k in (1, 2, 4)]
    measured = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(measured[-1] - order).max() < 0.2, measured
    assert (errors[-1] > 100 * 1e-13).all()  # rounding is far below


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "implicit"])
def test_energy_and_momentum_drift_as_mujocos(integrator):
    count, steps = 4, 250
    solver = moved(FLYING, count, steps, integrator=integrator)
    mjm = solver.model.mj
    qpos, qvel = start_of(mjm, count)
    data = mujoco.MjData(mjm)
    for env in range(count):
        before = invariants(mjm, qpos[env], qvel[env])
        mujoco.mj_resetData(mjm, data)
        data.qpos[:], data.qvel[:] = qpos[env], qvel[env]
        for _ in range(steps):
            mujoco.mj_step(mjm, data)
        theirs = invariants(mjm, data.qpos, data.qvel) - before
        ours = invariants(mjm, solver.qpos[env].numpy(), solver.qvel[env].numpy()) - before
        size = np.abs(before).max()
        drift, rounding = np.abs(theirs).max(), 1e-12 * size
        assert np.abs(ours - theirs).max() < max(1e-6 * drift, rounding)
        assert drift > 100 * rounding  # there is a drift to be equal to
        assert np.abs(ours).max() < 0.5 * size


def invariants(mjm: mujoco.MjModel, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
    """Energy (J), momentum (kg m/s) and angular momentum about the origin (kg m^2/s)."""
    data = mujoco.MjData(mjm)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(mjm, data)
    mujoco.mj_energyPos(mjm, data)
    mujoco.mj_energyVel(mjm, data)
    mujoco.mj_subtreeVel(mjm, data)
    momentum = mjm.body_subtreemass[0] * data.subtree_linvel[0]
    spin = data.subtree_angmom[0] + np.cross(data.subtree_com[0], momentum)
    return np.concatenate(([data.energy.sum()], momentum, spin))


def test_implicit_has_each_environments_own_numbers():
    count = 4
    model = Model.from_mjcf(DRIVEN, integrator="implicit")
    solver, rng, mjm = RigidSolver(model, count, lanes=LANES), np.random.default_rng(2), model.mj
    damping = mjm.dof_damping * rng.uniform(0.5, 2.0, (count, 1))
    inertia = mjm.body_inertia * rng.uniform(0.8, 1.2, (count, 1, 1))
    solver.set_parameters("dof_damping", damping)
    solver.set_parameters("body_inertia", inertia)
    qpos, qvel = start_of(mjm, count)
    solver.set_state(qpos, qvel)
    solver.step(3)
    for env in range(count):
        own = copy.copy(mjm)
        own.dof_damping[:], own.body_inertia[:] = damping[env], inertia[env]
        data = mujoco.MjData(own)
        data.qpos[:], data.qvel[:] = qpos[env], qvel[env]
        mujoco.mj_setConst(own, mujoco.MjData(own))
        for _ in range(3):
            mujoco.mj_step(own, data)
        assert np.abs(solver.qvel[env].numpy() - data.qvel).max() < 1e-9 * np.abs(data.qvel).max()

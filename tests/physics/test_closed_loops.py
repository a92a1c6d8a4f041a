"""Mechanisms that equalities close: what they let slip over ten thousand steps, against MuJoCo's own."""

import mujoco
import numpy as np
import pytest

from tumble.physics import Model, RigidSolver

pytestmark = pytest.mark.usefixtures("double")

STEPS, EVERY = 10_000, 50
NUM_ENVS = 4
ROUNDING = 1e-9  # metres: what ten thousand steps of double precision add to a gap of some hundred micrometres
DRIFT = 1e-6  # metres and radians that a load at rest may move in ten seconds


def delta_robot() -> str:
    """Three arms on a ring, each with a forearm on a ball joint, whose ends hold one plate."""
    arms, ties, motors = "", "", ""
    for k in range(3):
        angle = 120 * k
        x, y = np.cos(np.radians(angle)), np.sin(np.radians(angle))
        arms += f"""<body name="arm{k}" pos="{0.2 * x} {0.2 * y} 0" euler="0 0 {angle}">
          <joint name="shoulder{k}" axis="0 1 0" range="-80 60" damping=".3" armature=".02"/>
          <geom type="capsule" size=".015" fromto="0 0 0 .2 0 0" mass=".1"/>
          <body name="forearm{k}" pos=".2 0 0"><joint name="elbow{k}" type="ball" damping=".01"/>
            <geom type="capsule" size=".01" fromto="0 0 0 -.3 0 -.35" mass=".05"/>
            <site name="end{k}" pos="-.3 0 -.35"/></body></body>"""
        ties += f'<connect site1="end{k}" site2="joint{k}" solref=".004 1"/>'
        motors += f'<position joint="shoulder{k}" kp="30" kv="1" ctrlrange="-1 .6"/>'
    sites = "".join(
        f'<site name="joint{k}" pos="{0.1 * np.cos(2 * np.pi * k / 3)} {0.1 * np.sin(2 * np.pi * k / 3)} 0"/>'
        for k in range(3)
    )
    return f"""<mujoco><option timestep=".001"/><default><geom contype="0" conaffinity="0"/></default><worldbody>{arms}
      <body name="plate" pos="0 0 -.35"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
        <joint type="slide" axis="0 0 1"/><geom type="cylinder" size=".1 .01" mass=".2"/>{sites}</body>
      </worldbody><equality>{ties}</equality><actuator>{motors}</actuator></mujoco>"""


WELDED = """<mujoco><option timestep=".001" integrator="implicitfast"/>
<default><geom contype="0" conaffinity="0"/></default>
<worldbody><body pos="0 0 1"><joint name="a" axis="0 1 0" damping="1"/>
  <geom type="capsule" size=".04" fromto="0 0 0 .4 0 0" mass="2"/>
  <body name="hand" pos=".4 0 0"><joint name="b" axis="0 1 0" damping=".5"/>
    <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" mass="1"/></body></body>
  <body name="load" pos=".75 0 1"><freejoint/><geom type="box" size=".05 .05 .05" mass="3"/></body></worldbody>
<equality><weld body1="hand" body2="load"/></equality>
<actuator><position joint="a" kp="400" kv="20"/><position joint="b" kp="200" kv="10"/></actuator></mujoco>"""
"""An arm with a load welded to its hand."""


def gaps(mjm, data):
    """Metres between the two sites of every connect of the model."""
    return np.linalg.norm(data.site_xpos[mjm.eq_obj1id] - data.site_xpos[mjm.eq_obj2id], axis=1)


@pytest.mark.slow
def test_a_delta_robot_stays_closed_as_mujocos_does():
    model = Model.from_mjcf(delta_robot())
    mjm, rng = model.mj, np.random.default_rng(0)
    goals = rng.uniform(-0.6, 0.3, (STEPS // 500, NUM_ENVS, 3))
    solver = RigidSolver(model, NUM_ENVS, lanes=NUM_ENVS)
    worst = np.zeros((2, NUM_ENVS))
    for step in range(STEPS // EVERY):
        solver.ctrl = goals[step * EVERY // 500]
        solver.step(EVERY)
        ends = solver.get("site_xpos").numpy().reshape(NUM_ENVS, -1, 3)
        apart = np.linalg.norm(ends[:, mjm.eq_obj1id] - ends[:, mjm.eq_obj2id], axis=-1)
        worst[0] = np.maximum(worst[0], apart.max(axis=1))
    for env in range(NUM_ENVS):
        data = mujoco.MjData(mjm)
        for step in range(STEPS):
            data.ctrl[:] = goals[step // 500, env]
            mujoco.mj_step(mjm, data)
            if step % EVERY == EVERY - 1:
                worst[1, env] = max(worst[1, env], gaps(mjm, data).max())
    assert not solver.any_fault
    assert (worst[0] <= worst[1] * 1.01 + ROUNDING).all() and worst[1].max() < 2e-3, worst


@pytest.mark.slow
def test_an_arm_carries_a_welded_load_without_drift():
    model = Model.from_mjcf(WELDED)
    solver = RigidSolver(model, NUM_ENVS, lanes=NUM_ENVS)
    solver.ctrl = np.array([[-0.3, 0.2], [0.1, 0.4], [0.5, -0.5], [0.0, 0.0]])
    solver.step(STEPS // 2)
    before = solver.get("xpos").numpy(), solver.get("xquat").numpy()
    solver.step(STEPS)
    after = solver.get("xpos").numpy(), solver.get("xquat").numpy()
    for was, now in zip(before, after, strict=True):
        assert np.abs(now - was).max() < DRIFT
    data = mujoco.MjData(model.mj)
    for env in range(NUM_ENVS):
        mujoco.mj_resetData(model.mj, data)
        data.ctrl[:] = solver.ctrl[env].numpy()
        for _ in range(STEPS):
            mujoco.mj_step(model.mj, data)
        assert np.abs(after[0][env] - data.xpos).max() < DRIFT, "it hangs where MuJoCo's does"

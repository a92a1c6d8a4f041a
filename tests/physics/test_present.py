"""Quantities of the present state: those that mj_step1 computes after mj_step, and sensors as dm_control sees them."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver

MODEL = """
<mujoco>
  <option timestep="0.005" integrator="{integrator}"/>
  <worldbody>
    <geom type="plane" size="3 3 1"/>
    <body name="trunk" pos="0 0 0.3">
      <freejoint/><geom type="box" size="0.2 0.1 0.05"/><site name="imu" pos="0.1 0 0"/>
      <body name="leg" pos="0.2 0 0">
        <joint name="hip" axis="0 1 0" range="-60 60"/><geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.03"/>
        <site name="foot" pos="0 0 -0.25" size="0.05"/>
      </body>
    </body>
  </worldbody>
  <tendon><fixed name="ten"><joint joint="hip" coef="2"/></fixed></tendon>
  <actuator><motor joint="hip" gear="5"/></actuator>
  <sensor>
    <touch site="foot"/><velocimeter site="imu"/><jointpos joint="hip"/><accelerometer site="imu"/>
    <rangefinder site="imu"/><clock/><framepos objtype="body" objname="leg"/><subtreelinvel body="trunk"/>
  </sensor>
</mujoco>"""
NAMES = ("xpos", "xquat", "geom_xpos", "site_xpos", "cvel", "ten_length", "subtree_com", "sensordata", "qpos")
ERROR = 1e-9  # of the state of twenty steps with contacts, beside MuJoCo's; positions are of size 1


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_like_mj_step1_after_mj_step(integrator, double):
    model = Model.from_mjcf(MODEL.format(integrator=integrator), tolerance=1e-12)
    solver, rng = RigidSolver(model, 3), np.random.default_rng(0)
    datas = [mujoco.MjData(model.mj) for _ in range(3)]
    for data in datas:
        data.qvel[:] = rng.normal(0, 1, model.mj.nv)
    solver.set_state(qvel=np.stack([data.qvel for data in datas]))
    felt = 0.0
    for _ in range(40):
        control = rng.uniform(-1, 1, (3, 1))
        solver.step(1, control)
        last = solver.get("xpos").clone()
        found, some = solver.get_present(NAMES), solver.get_present(NAMES, [2])
        assert torch.equal(solver.get("xpos"), last)  # the last evaluation stays
        for i, data in enumerate(datas):
            data.ctrl[:] = control[i]
            mujoco.mj_step(model.mj, data)
            mujoco.mj_step1(model.mj, data)
            felt = max(felt, data.sensordata[0])
            for name in NAMES:
                expected = getattr(data, name)
                assert np.abs(found[name][i].numpy() - expected).max() < ERROR * max(1, np.abs(expected).max()), name
        for name in NAMES:
            assert torch.equal(some[name][0], found[name][2]), name
    assert felt > 1  # N: the foot touched the ground


def test_after_a_reset_both_are_the_same(double):
    solver = RigidSolver(Model.from_mjcf(MODEL.format(integrator="Euler")), 2)
    solver.step(3)
    solver.reset([1], qpos=torch.tensor([[0, 0, 1, 1, 0, 0, 0, 0.5]]))
    present, last = solver.get_present(NAMES, [1]), solver.get_many(NAMES, [1])
    assert all(torch.equal(present[name], last[name]) for name in NAMES)


def test_an_unknown_name(double):
    solver = RigidSolver(Model.from_mjcf(MODEL.format(integrator="Euler")), 1)
    with pytest.raises(KeyError, match="did you mean site_xpos"):
        solver.get_present(("site_xpo",))

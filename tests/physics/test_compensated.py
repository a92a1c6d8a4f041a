"""In single precision the state is a sum of two numbers: steps too small for qpos to show are not lost."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver

STEPS = 4000
DT = 0.001
EPSILON = 2.0**-24
"""Half the distance between 1 and the next number of float32: what one rounding may cost."""
SPHERE = f"""<mujoco><option gravity="0 0 0" timestep="{DT}"/><worldbody>
<body><freejoint/><geom size="0.1" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""
SLIDER = f"""<mujoco><option gravity="0 0 0" timestep="{DT}"/><worldbody>
<body><joint name="slide" type="slide"/><geom size="0.1" contype="0" conaffinity="0"/></body></worldbody>
<actuator><motor joint="slide"/></actuator></mujoco>"""


@pytest.mark.parametrize("num_envs", [1, 20])
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_a_drift_below_the_rounding_of_a_coordinate_adds_up(integrator, num_envs):
    """0.2 micrometres a step at 1000 m, where neighbouring numbers are 61 micrometres apart."""
    solver = start(SPHERE, integrator, num_envs)
    qpos, qvel = torch.zeros(7), torch.zeros(6)
    qpos[0], qpos[3], qvel[0] = 1000.0, 1.0, 2e-4
    solver.set_state(qpos, qvel)
    solver.step(STEPS)
    assert np.abs(solver.qpos[:, 0].double().numpy() - (1000.0 + 2e-4 * DT * STEPS)).max() <= 1000.0 * 2 * EPSILON


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_a_slow_turn_adds_up(integrator):
    """Half a ten-millionth of a radian a step about an axis along which a turn of one radian lies already."""
    solver = start(SPHERE, integrator, 20)
    qpos, qvel = torch.zeros(7), torch.zeros(6)
    qpos[3], qpos[6], qvel[5] = np.cos(0.5), np.sin(0.5), 5e-5
    solver.set_state(qpos, qvel)
    solver.step(STEPS)
    q = solver.qpos[:, 3:].double().numpy()
    angle = 2 * np.arctan2(q[:, 3], q[:, 0])
    assert np.abs(angle - 1.0 - 5e-5 * DT * STEPS).max() < 8 * EPSILON
    assert np.abs(np.linalg.norm(q, axis=1) - 1).max() < 4 * EPSILON


def test_a_small_push_adds_up():
    """A force that changes 1000 m/s by 1 micrometre a second each step; numbers there are 61 apart."""
    solver = start(SLIDER, "Euler", 20)
    solver.set_state(qvel=torch.tensor([1000.0]))
    mass = float(solver.model.mj.body_mass[1])
    solver.ctrl = torch.full((20, 1), 1e-3 * mass)
    solver.step(STEPS)
    assert np.abs(solver.qvel.double().numpy() - (1000.0 + 1e-3 * DT * STEPS)).max() <= 1000.0 * 2 * EPSILON


def test_a_quaternion_that_is_not_of_unit_length_turns_as_in_mujoco():
    """Reset noise makes such ones; a step brings them to unit length."""
    solver = start(SPHERE, "Euler", 20)
    qpos, qvel = torch.zeros(20, 7), torch.full((20, 6), 3.0)
    qpos[:, 3:] = torch.linspace(0.05, 1.5, 20)[:, None] * torch.tensor([0.7, -0.3, 0.5, 0.4])
    solver.set_state(qpos, qvel)
    solver.step(1)
    data = mujoco.MjData(solver.model.mj)
    for env in range(20):
        data.qpos[:], data.qvel[:] = qpos[env].numpy(), qvel[env].numpy()
        mujoco.mj_step(solver.model.mj, data)
        assert np.abs(solver.qpos[env].numpy() - data.qpos).max() < 8 * EPSILON


def test_set_state_and_reset_forget_the_remainder():
    """What the user writes is the whole state."""
    solver = start(SPHERE, "Euler", 20)
    qpos, qvel = torch.zeros(7), torch.zeros(6)
    qpos[0], qpos[3], qvel[0] = 1000.0, 1.0, 0.01
    solver.set_state(qpos, qvel)
    solver.step(1)
    assert (solver.get("qpos_rest")[:, 0] != 0).all()
    solver.set_state(qpos, envs_idx=[3])
    rest = solver.get("qpos_rest")[:, 0]
    assert rest[3] == 0
    assert (rest[:3] != 0).all()
    solver.reset([5])
    assert solver.get("qpos_rest")[5, 0] == 0


def test_a_saved_state_holds_the_remainder():
    first, second = start(SPHERE, "Euler", 20), start(SPHERE, "Euler", 20)
    qpos, qvel = torch.zeros(7), torch.zeros(6)
    qpos[0], qpos[3], qvel[0] = 1000.0, 1.0, 0.01
    first.set_state(qpos, qvel)
    first.step(4)
    second.load_state_dict(first.state_dict())
    assert (second.get("qpos_rest")[:, 0] != 0).all()
    first.step(500)
    second.step(500)
    for name in ("qpos", "qpos_rest"):
        assert torch.equal(first.get(name), second.get(name))


def start(xml: str, integrator: str, num_envs: int) -> RigidSolver:
    mjm = mujoco.MjModel.from_xml_string(xml)
    mjm.opt.integrator = {"Euler": 0, "RK4": 1, "implicitfast": 3}[integrator]
    return RigidSolver(Model.from_mjmodel(mjm), num_envs)

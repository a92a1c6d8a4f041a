"""The drone's figures are those published of the Crazyflie 2.x, and it falls, lifts and turns as a quadrotor does."""

import mujoco
import numpy as np
import pytest

from tumble import assets
from tumble.physics import Model, RigidSolver

MASS, GRAVITY = 0.027, 9.81  # kg, m/s^2
INERTIA = np.array([1.4e-5, 1.4e-5, 2.17e-5])  # kg m^2
KF, KM = 3.16e-10, 7.94e-12  # N/rpm^2, N m/rpm^2
THRUST_TO_WEIGHT = 2.25
ARM = 0.0397  # m
PLACES = 0.028 * np.array([[1, -1], [-1, -1], [-1, 1], [1, 1]])  # m, of rotors 1 to 4
SPIN = np.array([-1, 1, -1, 1])  # the sense in which each rotor's drag turns the body about z


@pytest.fixture(scope="module")
def drone() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(assets.find("drone.xml")))


def test_figures_are_the_published_ones(drone):
    body = drone.body("drone")
    assert body.mass == MASS and np.array_equal(body.inertia, INERTIA) and not body.ipos.any()
    sites = drone.site_pos[drone.actuator_trnid[:, 0]]
    np.testing.assert_allclose(sites[:, :2], PLACES)
    np.testing.assert_allclose(np.linalg.norm(sites[:, :2], axis=1), ARM, atol=2e-4)  # 28 mm is rounded
    np.testing.assert_allclose(drone.actuator_gear[:, 2], 1)
    np.testing.assert_allclose(drone.actuator_gear[:, 5], SPIN * KM / KF, rtol=1e-4)
    lift = drone.actuator_ctrlrange[:, 1].sum()
    assert lift / (MASS * GRAVITY) == pytest.approx(THRUST_TO_WEIGHT, rel=1e-4)
    assert drone.actuator_ctrllimited.all() and not drone.actuator_ctrlrange[:, 0].any()
    assert drone.numeric("kf").data[0] == KF
    np.testing.assert_allclose(drone.numeric("drag").data, [9.1785e-7, 9.1785e-7, 1.0311e-6])


def test_it_falls_hovers_and_turns():
    """Four drones for 0.1 s: no thrust, hover thrust, more of it at rotors 1 and 3, more of it on the left."""
    solver = RigidSolver(Model.from_mjcf(str(assets.find("drone.xml"))), num_envs=4)
    hover = MASS * GRAVITY / 4
    more = 0.1 * hover
    thrusts = hover + np.array([[-hover] * 4, [0] * 4, -more * SPIN, more * np.sign(PLACES[:, 1])])
    solver.ctrl = thrusts
    dt, steps = 0.005, 20
    solver.step(steps)
    qpos, qvel = solver.qpos.numpy(), solver.qvel.numpy()
    fall = GRAVITY * dt * dt * steps * (steps + 1) / 2  # of the semi-implicit Euler method
    assert qpos[0, 2] == pytest.approx(1 - fall, abs=1e-6)
    np.testing.assert_allclose(qpos[1], [0, 0, 1, 1, 0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(qvel[1], 0, atol=1e-5)
    yaw = -4 * more * KM / KF / INERTIA[2]  # rotors 1 and 3 turn counter-clockwise, and the body clockwise
    roll = 4 * more * 0.028 / INERTIA[0]  # the left side goes up: a turn about +x
    np.testing.assert_allclose(qvel[2, 3:], [0, 0, yaw * dt * steps], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(qvel[3, 3:], [roll * dt * steps, 0, 0], rtol=1e-4, atol=1e-4)

"""The drone and its tasks."""

import mujoco
import numpy as np
import pytest

import tumble
from tumble import assets
from tumble.envs.flight.drone_hover import DroneHover
from tumble.physics import Model, RigidSolver

from .pilot import fly

# -- The drone's figures are those published of the Crazyflie 2.x, and it falls, lifts and turns as a quadrotor does


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


# -- DroneHover: terms, observation and ends are the published formulas, and a pilot of a few lines hovers


N = 8


def matrices(quat: np.ndarray) -> np.ndarray:
    """Rotation matrices (n, 3, 3) of quaternions, by the rows of the sandwich product."""
    w, x, y, z = quat.T
    skew = np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]]).transpose(2, 0, 1)
    return np.eye(3) + 2 * w[:, None, None] * skew + 2 * skew @ skew


def expected(qpos: np.ndarray, qvel: np.ndarray, goal: np.ndarray) -> tuple[np.ndarray, dict]:
    """IsaacLab's observation and reward terms of states, each by its formula."""
    into_body = matrices(qpos[:, 3:7]).transpose(0, 2, 1)
    velocity, down, way = (
        np.einsum("nij,nj->ni", into_body, v) for v in (qvel[:, :3], np.tile([0, 0, -1], (N, 1)), goal - qpos[:, :3])
    )
    distance = np.linalg.norm(goal - qpos[:, :3], axis=1)
    terms = {
        "reward_goal": 15.0 * (1 - np.tanh(distance / 0.8)) * 0.02,
        "reward_velocity": -0.05 * np.sum(qvel[:, :3] ** 2, axis=1) * 0.02,
        "reward_rates": -0.01 * np.sum(qvel[:, 3:] ** 2, axis=1) * 0.02,
    }
    return np.concatenate((velocity, qvel[:, 3:], down, way), axis=1), terms


def test_observation_terms_and_info():
    envs = tumble.make_vec("tumble/DroneHover-v0", N, output="numpy")
    first, _ = envs.reset(seed=3)
    solver = envs.unwrapped.solver
    qpos = solver.qpos.numpy()
    goal = qpos[:, :3] + np.einsum("nij,nj->ni", matrices(qpos[:, 3:7]), first[:, 9:])
    assert np.all(np.abs(goal[:, :2]) < 0.5 + 1e-5) and np.all(np.abs(goal[:, 2] - 1) < 0.5 + 1e-5)
    np.testing.assert_allclose(first, expected(qpos, solver.qvel.numpy(), goal)[0], atol=2e-6)
    rng = np.random.default_rng(0)
    for _ in range(15):
        seen, reward, _, _, info = envs.step(rng.uniform(-1, 1, (N, 4)).astype(np.float32))
        qpos, qvel = solver.qpos.numpy(), solver.qvel.numpy()
        wanted, terms = expected(qpos, qvel, goal)
        np.testing.assert_allclose(seen, wanted, atol=2e-5)
        for name, value in terms.items():
            np.testing.assert_allclose(info[name], value, rtol=1e-5, atol=1e-6, err_msg=name)
        np.testing.assert_allclose(reward, sum(terms.values()), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(info["distance"], np.linalg.norm(goal - qpos[:, :3], axis=1), rtol=1e-5)
    envs.close()


def test_ends():
    """Too low and too high is a crash, beyond the walls the episode is cut short, in the middle it goes on."""
    envs = tumble.make_vec("tumble/DroneHover-v0", 6, output="numpy")
    envs.reset(seed=0)
    places = np.array([[0, 0, 0.09], [0, 0, 2.01], [1.51, 0, 1], [0, -1.51, 1], [0, 0, 0.11], [1.45, -1.45, 1.95]])
    qpos = np.concatenate((places, np.tile([1, 0, 0, 0], (6, 1))), axis=1)
    envs.unwrapped.solver.set_state(qpos=qpos, qvel=np.zeros((6, 6)))
    _, _, terminated, truncated, _ = envs.step(np.zeros((6, 4), np.float32))
    assert terminated.tolist() == [True, True, False, False, False, False]
    assert truncated.tolist() == [False, False, True, True, False, False]
    envs.close()


@pytest.mark.parametrize("actions", ["thrusts", "rates"])
def test_a_pilot_hovers(actions):
    """From every start it comes to the goal and stays: success after 5 s, and not before a second has passed there."""
    envs = tumble.make_vec("tumble/DroneHover-v0", 32, output="numpy", action=actions)
    seen, _ = envs.reset(seed=1)
    near = np.zeros(32, int)
    for _ in range(250):
        seen, _, terminated, truncated, info = envs.step(fly(seen, actions).astype(np.float32))
        assert not (terminated | truncated).any()
        near = np.where(info["distance"] < 0.1, near + 1, 0)
        assert np.array_equal(info["success"], near >= 50)
    assert info["success"].all() and info["distance"].max() < 0.03
    envs.close()


def test_drag_slows_the_drone_as_published():
    """At hover thrust the force is minus velocity x the rotors' summed speed x the coefficient: a decay over 5 s."""
    envs = [
        tumble.make_vec("tumble/DroneHover-v0", 1, output="numpy", rotor_drag=drag, thrust_scale=0.0, arena=99.0)
        for drag in (True, False)
    ]
    speeds = []
    for env in envs:
        env.reset(seed=0)
        env.unwrapped.solver.set_state(qpos=[[0, 0, 1, 1, 0, 0, 0]], qvel=[[1.0, 0, 0, 0, 0, 0]])
        for _ in range(100):
            env.step(np.zeros((1, 4), np.float32))
        speeds.append(float(env.unwrapped.solver.qvel[0, 0]))
        env.close()
    rpm = np.sqrt(0.027 * 9.81 / 4 / 3.16e-10)
    rate = 9.1785e-7 * 4 * rpm * 2 * np.pi / 60 / 0.027  # 1/s
    assert speeds[1] == pytest.approx(1, abs=1e-6)
    assert speeds[0] == pytest.approx((1 - rate * 0.02) ** 99, rel=1e-4)  # it acts from the second step on


def test_there_are_two_kinds_of_actions():
    with pytest.raises(ValueError, match="choose thrusts or rates"):
        DroneHover(action="torques")


def test_actions_are_thrusts_or_rates():
    """A thrust is a quarter of the weight times 1 + 0.4 x the action; rates are reached while the lift is kept."""
    action = np.array([[0.5, -1.0, 3.0, 0.0]], np.float32)  # beyond 1 is 1
    envs = tumble.make_vec("tumble/DroneHover-v0", 1, output="numpy")
    envs.reset(seed=0)
    envs.step(action)
    thrusts = 0.027 * 9.81 / 4 * (1 + 0.4 * np.clip(action, -1, 1))
    np.testing.assert_allclose(envs.unwrapped.solver.ctrl.numpy(), thrusts, rtol=1e-5)
    envs.close()
    envs = tumble.make_vec("tumble/DroneHover-v0", 1, output="numpy", action="rates", rotor_drag=False)
    envs.reset(seed=0)
    envs.unwrapped.solver.set_state(qpos=[[0, 0, 1, 1, 0, 0, 0]], qvel=np.zeros((1, 6)))
    for _ in range(10):
        envs.step(np.array([[0.5, 0.1, -0.1, 0.2]], np.float32))
    np.testing.assert_allclose(envs.unwrapped.solver.qvel.numpy()[0, 3:], [0.6, -0.6, 1.2], atol=0.05)
    np.testing.assert_allclose(envs.unwrapped.solver.ctrl.numpy().sum(), 0.027 * 9.81 * 1.2, rtol=1e-4)
    envs.close()


# -- DroneWaypoints: ways, progress and passes as numpy counts them, and a pilot flies through all points


FLYERS, POINTS = 16, 4


@pytest.mark.parametrize("actions", ["thrusts", "rates"])
def test_a_pilot_flies_through_all_waypoints(actions):
    """Each step's terms are recomputed from the states, and from waypoints as they were when they were first seen."""
    envs = tumble.make_vec(
        "tumble/DroneWaypoints-v0", FLYERS, output="numpy", autoreset_mode="NextStep", action=actions
    )
    seen, _ = envs.reset(seed=2)
    solver, everyone = envs.unwrapped.solver, np.arange(FLYERS)

    def places(qpos: np.ndarray) -> np.ndarray:
        """The two waypoints that are seen, (n, 2, 3) m."""
        ways = seen[:, 9:].reshape(FLYERS, 2, 3)
        return qpos[:, None, :3] + np.einsum("nij,nkj->nki", matrices(qpos[:, 3:7]), ways)

    qpos = solver.qpos.numpy()
    waypoints = np.zeros((FLYERS, POINTS + 1, 3))
    waypoints[:, :2] = places(qpos)
    passed, done = np.zeros(FLYERS, int), np.zeros(FLYERS, bool)
    left = np.linalg.norm(waypoints[:, 0] - qpos[:, :3], axis=1)
    for _ in range(750):
        seen, reward, terminated, truncated, info = envs.step(fly(seen, actions).astype(np.float32))
        qpos, qvel, on = solver.qpos.numpy(), solver.qvel.numpy(), ~done
        now = np.linalg.norm(waypoints[everyone, passed] - qpos[:, :3], axis=1)
        reached = now < 0.15
        terms = {
            "reward_progress": 10 * (left - now),
            "reward_pass": 5.0 * reached,
            "reward_rates": -0.01 * 0.02 * np.sum(qvel[:, 3:] ** 2, axis=1),
            "reward_crash": 0 * now,
        }
        for name, value in terms.items():
            np.testing.assert_allclose(info[name][on], value[on], rtol=1e-4, atol=1e-4, err_msg=name)
        np.testing.assert_allclose(reward[on], sum(terms.values())[on], rtol=1e-4, atol=1e-4)
        passed = np.where(on, passed + reached, passed)
        assert np.array_equal(info["waypoints_passed"][on], passed[on])
        known = places(qpos)
        for k, number in enumerate((np.minimum(passed, POINTS - 1), np.minimum(passed + 1, POINTS - 1))):
            first_seen = on & reached & (k == 1)
            waypoints[everyone[first_seen], number[first_seen]] = known[first_seen, k]
            np.testing.assert_allclose(known[on, k], waypoints[everyone, number][on], atol=1e-5)
        passed_all = passed == POINTS
        assert np.array_equal(info["success"][on], passed_all[on])
        assert np.array_equal(terminated[on], passed_all[on]) and not truncated[on].any()
        left = np.linalg.norm(waypoints[everyone, np.minimum(passed, POINTS - 1)] - qpos[:, :3], axis=1)
        done |= terminated
        if done.all():
            break
    assert done.all()
    assert np.abs(waypoints[:, :POINTS, :2]).max() < 1.001 and np.abs(waypoints[:, :POINTS, 2] - 1).max() < 0.501
    assert len(np.unique(waypoints[:, :POINTS, 0].round(4))) == FLYERS * POINTS
    envs.close()


def test_ends_and_crashes():
    envs = tumble.make_vec("tumble/DroneWaypoints-v0", 3, output="numpy", autoreset_mode="NextStep")
    envs.reset(seed=0)
    places = np.array([[0, 0, 0.09], [1.51, 0, 1], [0, 0, 1]])
    envs.unwrapped.solver.set_state(qpos=np.concatenate((places, np.tile([1, 0, 0, 0], (3, 1))), axis=1))
    _, _, terminated, truncated, info = envs.step(np.zeros((3, 4), np.float32))
    assert terminated.tolist() == [True, False, False] and truncated.tolist() == [False, True, False]
    assert info["reward_crash"].tolist() == [-10, 0, 0]
    envs.close()


def test_at_least_one_waypoint():
    with pytest.raises(ValueError, match="at least one"):
        tumble.make_vec("tumble/DroneWaypoints-v0", 1, num_waypoints=0)

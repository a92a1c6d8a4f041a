"""DroneWaypoints: ways, progress and passes as numpy counts them, and a pilot flies through all points."""

import numpy as np
import pytest

import tumble

from .pilot import fly
from .test_drone_hover import matrices

N, POINTS = 16, 4


@pytest.mark.parametrize("actions", ["thrusts", "rates"])
def test_a_pilot_flies_through_all_waypoints(actions):
    """Each step's terms are recomputed from the states, and from waypoints as they were when they were first seen."""
    envs = tumble.make_vec("tumble/DroneWaypoints-v0", N, output="numpy", autoreset_mode="NextStep", action=actions)
    seen, _ = envs.reset(seed=2)
    solver, everyone = envs.unwrapped.solver, np.arange(N)

    def places(qpos: np.ndarray) -> np.ndarray:
        """The two waypoints that are seen, (n, 2, 3) m."""
        ways = seen[:, 9:].reshape(N, 2, 3)
        return qpos[:, None, :3] + np.einsum("nij,nkj->nki", matrices(qpos[:, 3:7]), ways)

    qpos = solver.qpos.numpy()
    waypoints = np.zeros((N, POINTS + 1, 3))
    waypoints[:, :2] = places(qpos)
    passed, done = np.zeros(N, int), np.zeros(N, bool)
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
    assert len(np.unique(waypoints[:, :POINTS, 0].round(4))) == N * POINTS
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

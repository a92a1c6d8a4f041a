"""HandReorientCube: observation, reward terms, goals and ends are the published formulas."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tumble

N = 6
HOME = np.array(3 * [0.8, 0, 0.8, 0.8] + [0.8, 0.8, 0.8, 0])  # rad
GRASP = np.array([0.11, 0, 0.03])  # m, in the world


def rotation(quats: np.ndarray) -> Rotation:
    return Rotation.from_quat(quats, scalar_first=True)


def tolerance(x: np.ndarray, good: float, margin: float) -> np.ndarray:
    """The control suite's, from 0 to `good`, with the linear sigmoid and 0.1 at the margin."""
    return np.where(x <= good, 1, np.maximum(0, 1 - (x - good) / margin * 0.9))


def make(num_envs: int = N, **options):
    return tumble.make_vec("tumble/HandReorientCube-v0", num_envs, output="numpy", autoreset_mode="NextStep", **options)


def test_terms_and_observation():
    """Recomputed from the solver's state, for targets that go on from step to step."""
    envs = make(progress_weight=7.0)
    solver, ranges = envs.unwrapped.solver, envs.unwrapped.solver.model.mj.jnt_range[:16]
    seen, _ = envs.reset(seed=0)
    qpos = solver.qpos.numpy()
    target = qpos[:, :16]
    two_rows = np.concatenate((seen[:, 35:41].reshape(N, 2, 3), np.zeros((N, 1, 3))), axis=1)
    two_rows[:, 2] = np.cross(two_rows[:, 0], two_rows[:, 1])
    goal = Rotation.from_matrix(two_rows).inv() * rotation(qpos[:, 19:])
    angle = (rotation(qpos[:, 19:]) * goal.inv()).magnitude()
    last, before = np.zeros((2, N, 16))
    rng = np.random.default_rng(1)
    for _ in range(12):
        action = rng.uniform(-1, 1, (N, 16)).astype(np.float32)
        target = np.clip(target + 0.5 * action, *ranges.T)
        seen, reward, terminated, _, info = envs.step(action)
        qpos, qvel, force = (x.numpy() for x in (solver.qpos, solver.qvel, solver.get("actuator_force")))
        cube = rotation(qpos[:, 19:])
        turn, now = cube * goal.inv(), (cube * goal.inv()).magnitude()
        place = qpos[:, 16:19] - GRASP
        terms = {
            "reward_orientation": 5 * 0.05 * tolerance(now, 0.2, np.pi),
            "reward_position": 0.5 * 0.05 * tolerance(np.linalg.norm(place, axis=1), 0.02, 0.05),
            "reward_pose": -0.5 * 0.05 * np.sum((qpos[:, :16] - HOME) ** 2, axis=1),
            "reward_rate": -1e-3
            * 0.05
            * (np.sum((action - last) ** 2, axis=1) + np.sum((action - 2 * last + before) ** 2, axis=1)),
            "reward_energy": -1e-3 * 0.05 * np.sum(np.abs(qvel[:, :16]) * np.abs(force), axis=1),
            "reward_drop": -100 * 0.05 * (qpos[:, 18] < -0.05),
            "reward_progress": 7 * (angle - now),
            "reward_success": 0 * now,
        }
        assert not info["success"].any() and not terminated.any()  # else this state says nothing of success
        for name, value in terms.items():
            np.testing.assert_allclose(info[name], value, rtol=2e-4, atol=2e-5, err_msg=name)
        np.testing.assert_allclose(reward, sum(terms.values()), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(info["angle"], now, atol=1e-4)
        wanted = (qpos[:, :16], qpos[:, :16] - target, place, turn.as_matrix()[:, :2].reshape(N, 6), action)
        np.testing.assert_allclose(seen[:, :57], np.concatenate(wanted, axis=1), atol=1e-5)
        known = (cube.as_matrix()[:, :2].reshape(N, 6), qvel[:, 16:19], cube.apply(qvel[:, 19:]))
        np.testing.assert_allclose(seen[:, 57:73], qvel[:, :16], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(seen[:, 85:], np.concatenate(known, axis=1), rtol=1e-4, atol=2e-5)
        angle, last, before = now, action, last
    solver.forward()  # tips are those of the step's last evaluation
    tips = solver.get("site_xpos").numpy()[:, 1:] - GRASP
    np.testing.assert_allclose(seen[:, 73:85].reshape(N, 4, 3), tips, atol=0.02)
    envs.close()


def test_success_brings_a_new_goal_and_a_drop_ends():
    """The first cube is at its goal, the second just outside the tolerance, the third is dropped."""
    envs = make(3, success_tolerance=0.2)
    solver = envs.unwrapped.solver
    seen, _ = envs.reset(seed=0)
    qpos, qvel = solver.qpos.numpy(), solver.qvel.numpy()
    rows = seen[:, 35:41].reshape(3, 2, 3)
    turn = Rotation.from_matrix(np.concatenate((rows, np.cross(rows[:, 0], rows[:, 1])[:, None]), axis=1))
    goal = turn.inv() * rotation(qpos[:, 19:])
    away = Rotation.from_rotvec([[0, 0.1, 0], [0, 0, 0.35], [0, 0, 1]])
    qpos[:, 19:] = (away * goal).as_quat(scalar_first=True)
    qpos[:, 16:19] = [[0.1, 0, 0.2], [0.1, 0, 0.2], [0.1, 0, -0.06]]  # in the air: nothing turns them
    solver.set_state(qpos=qpos, qvel=0 * qvel)
    seen, _, terminated, truncated, info = envs.step(np.zeros((3, 16), np.float32))
    assert info["success"].tolist() == [True, False, False]
    assert info["rotations"].tolist() == [1, 0, 0]
    assert info["reward_success"].tolist() == [100, 0, 0]
    np.testing.assert_allclose(info["angle"][:2], [0.1, 0.35], atol=1e-4)
    np.testing.assert_allclose(info["reward_drop"], [0, 0, -5])
    assert terminated.tolist() == [False, False, True] and not truncated.any()
    row = seen[:2, 35:38]
    np.testing.assert_allclose(row[1], away[1].as_matrix()[0], atol=1e-4)  # the same goal as before
    assert np.abs(row[0] - away[0].as_matrix()[0]).max() > 0.05  # another one
    envs.close()


def first_turns(envs) -> tuple[Rotation, Rotation]:
    """The rotations from the goals to the cubes at the start, and the cubes' orientations."""
    seen, _ = envs.reset(seed=0)
    rows = seen[:, 35:41].reshape(-1, 2, 3)
    turn = np.concatenate((rows, np.cross(rows[:, 0], rows[:, 1])[:, None]), axis=1)
    return Rotation.from_matrix(turn), rotation(envs.unwrapped.solver.qpos.numpy()[:, 19:])


def test_goals_near_the_cube():
    envs = make(64, goals="near", goal_angle=0.8)
    turn, _ = first_turns(envs)
    assert 0.7 < turn.magnitude().max() < 0.8 and turn.magnitude().min() < 0.1
    directions = turn.as_rotvec() / turn.magnitude()[:, None]
    assert np.abs(directions.mean(axis=0)).max() < 4 / np.sqrt(3 * 64)
    envs.close()


def test_goals_on_the_palm():
    """Cube and goal lie on the palm, and differ by a turn about its normal, of any angle."""
    envs = make(64, goals="palm")
    normal = np.array([np.sin(0.34648), 0, np.cos(0.34648)])
    turn, cube = first_turns(envs)
    np.testing.assert_allclose(cube.apply([0, 0, 1]), np.tile(normal, (64, 1)), atol=1e-5)
    np.testing.assert_allclose(np.abs(turn.as_rotvec() @ normal), turn.magnitude(), atol=1e-5)
    assert turn.magnitude().max() > 2.9 and turn.magnitude().min() < 0.2
    assert np.linalg.norm(cube.apply([1, 0, 0]).mean(axis=0)) < 4 / np.sqrt(64)
    envs.close()


def test_goals_are_of_three_kinds():
    with pytest.raises(ValueError, match="choose any, near, palm"):
        make(1, goals="all")


def test_targets_around_home_and_two_parts():
    """Without `increments` the target is a distance from home; the policy sees noise where the critic sees none."""
    envs = make(2, increments=False, asymmetric=True, action_scale=0.2, obs_noise=2.0)
    seen, _ = envs.reset(seed=0)
    assert {name: part.shape for name, part in seen.items()} == {"policy": (2, 57), "critic": (2, 97)}
    seen, *_ = envs.step(np.full((2, 16), 0.5, np.float32))
    qpos = envs.unwrapped.solver.qpos.numpy()
    np.testing.assert_allclose(seen["critic"][:, 16:32], qpos[:, :16] - (HOME + 0.1), atol=1e-5)
    off = seen["policy"] - seen["critic"][:, :57]
    assert 0.05 < np.abs(off[:, :16]).max() < 0.1 and np.abs(off[:, 32:35]).max() < 0.04
    np.testing.assert_allclose(off[:, :16], off[:, 16:32], atol=1e-5)  # the same measurement
    assert np.abs(off[:, 35:41]).max() > 0.01 and not off[:, 41:].any()
    envs.close()


def test_randomized_numbers_lie_in_the_published_ranges():
    """For each number of the model the least and the largest of 64 hands, as multiples of or apart from the file's."""
    envs = make(64, randomize=True)
    envs.reset(seed=0)
    solver = envs.unwrapped.solver
    model = solver.model.mj
    cube, links = model.body("cube").id, range(model.body("index_base").id, model.body("cube").id)
    tips = [model.geom(f"{name}_tip").id for name in ("index", "middle", "ring", "thumb")]

    def spans(name: str, rows, low: float, high: float, own=1.0) -> None:
        numbers = np.asarray(solver.get_parameters(name))[:, rows] / own
        few = (high - low) / 10
        assert low - 1e-6 <= numbers.min() < low + few and high - few < numbers.max() <= high + 1e-6, name
        assert len(np.unique(numbers.round(7).reshape(64, -1), axis=0)) == 64, name

    slide = np.asarray(solver.get_parameters("geom_friction"))[:, tips, 0]
    assert 0.5 <= slide.min() < 0.55 and 0.95 < slide.max() <= 1 and not np.ptp(slide, axis=1).any()
    spans("body_mass", [cube], 0.8, 1.2, model.body_mass[cube])
    spans("body_ipos", [cube], -0.005, 0.005)
    spans("body_mass", list(links), 0.9, 1.1, model.body_mass[list(links)])
    spans("qpos0", list(range(16)), -0.05, 0.05)
    for name, low, high in (("frictionloss", 0.5, 2), ("armature", 1, 1.05), ("damping", 0.8, 1.2)):
        spans(f"dof_{name}", list(range(16)), low, high, getattr(model, f"dof_{name}")[:16])
    gains, biases = (np.asarray(solver.get_parameters(f"actuator_{name}prm")) for name in ("gain", "bias"))
    assert 2.4 <= gains[:, :, 0].min() < 2.52 and 3.48 < gains[:, :, 0].max() <= 3.6
    np.testing.assert_allclose(biases[:, :, 1], -gains[:, :, 0], rtol=1e-6)
    assert np.isfinite(envs.step(np.zeros((64, 16), np.float32))[1]).all()
    envs.close()

"""Mazes equal Gymnasium-Robotics': walls, cells, observations, rewards, ends, and the physics of a step."""

import mujoco
import numpy as np
import pytest

import tumble
from tumble import assets

from . import originals
from .originals import side_by_side
from .parity import PHYSICS, TASK, Pair, relative

pytestmark = pytest.mark.skipif(not originals.available(), reason="Gymnasium-Robotics is not installed")

VERSIONS = {"Point": 3, "Ant": 5}
OBSERVED = {
    "Point": lambda seen, after: (after[0], seen["observation"][:, 2:]),  # before the limit of its speed
    "Ant": lambda seen, after: after,
}


def aim(theirs, memory):
    """Give the original the goal."""
    theirs.env.goal = memory["goal"].copy()


@pytest.mark.parametrize("reward", ["", "Dense"])
@pytest.mark.parametrize("robot", VERSIONS)
def test_like_the_original(robot, reward, double_precision):
    pair = Pair(f"gymnasium_robotics/{robot}Maze_UMaze{reward}-v{VERSIONS[robot]}", aim, observed=OBSERVED[robot])
    qpos, qvel = pair.state()
    half = pair.num_envs // 2
    pair.memory["goal"][:half] = qpos[:half, :2] + pair.rng.normal(0, 0.3, (half, 2))
    qvel[:, :2] = pair.rng.normal(0, 4, (pair.num_envs, 2))
    pair.set_state(qpos, qvel)
    toward = pair.rng.normal(size=(pair.num_envs, pair.envs.single_action_space.shape[0]))
    for step in range(100):
        pair.step(0.7 * toward + 0.6 * pair.rng.normal(size=toward.shape), step % 9 == 0)
    found = pair.found()
    assert len(set(found.rewards)) > 1
    assert found.task < TASK
    assert found.physics < PHYSICS


@pytest.mark.parametrize("name", ["UMaze", "Open_Diverse_G", "Medium_Diverse_GR", "Large_Diverse_G", "Large"])
@pytest.mark.parametrize("robot", VERSIONS)
def test_walls_and_cells(robot, name):
    identity = f"gymnasium_robotics/{robot}Maze_{name}-v{VERSIONS[robot]}"
    envs, theirs = tumble.make_vec(identity, 256, output="numpy"), originals.Original(identity)
    ours, maze = envs.unwrapped.solver.model.mj, theirs.env.maze
    walls, blocks = (
        [model.geom(k) for k in range(model.ngeom) if model.geom(k).type == 6] for model in (ours, theirs.model)
    )
    assert len(walls) == len(blocks)
    for wall, block in zip(walls, blocks, strict=True):
        for part in ("pos", "size", "friction", "margin", "condim", "contype", "conaffinity", "solref", "solimp"):
            np.testing.assert_array_equal(getattr(wall, part), getattr(block, part), part)
    seen, _ = envs.reset(seed=0)
    scale = maze.maze_size_scaling
    for drawn, cells in (
        (seen["desired_goal"], maze.unique_goal_locations),
        (seen["achieved_goal"], maze.unique_reset_locations),
    ):
        away = np.abs(drawn[:, None] - np.array(cells)[None]).max(2) / scale
        assert away.min(1).max() <= 0.25
        assert len(set(away.argmin(1))) > 0.9 * len(cells)
    assert np.linalg.norm(seen["desired_goal"] - seen["achieved_goal"], axis=1).min() > 0.45
    envs.close()


def test_the_ball_is_the_originals():
    """Our file has the physics of the package's: every number that moves something."""
    ours, theirs = (
        mujoco.MjModel.from_xml_path(str(assets.find(file)))
        for file in ("maze_ball.xml", "gymnasium_robotics:point/point.xml")
    )
    kinds = ("body_", "jnt_", "dof_", "geom_", "actuator_", "qpos")
    looks = ("geom_rgba", "geom_matid")
    names = [name for name in dir(ours) if name.startswith(kinds) and name not in looks]
    assert len(names) > 100
    for name in names:
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), name)
    for name in ("timestep", "gravity", "iterations", "tolerance", "integrator", "solver", "cone", "disableflags"):
        np.testing.assert_array_equal(getattr(ours.opt, name), getattr(theirs.opt, name), name)


def test_a_reached_goal_moves_on_or_ends_the_episode(double_precision):
    identity = "gymnasium_robotics/PointMaze_Medium-v3"
    options = {"output": "numpy", "autoreset_mode": "DISABLED"}
    moving = tumble.make_vec(identity, 8, reset_target=True, **options)
    seen, _ = moving.reset(seed=0)
    goals = moving.unwrapped.batch._memory.arrays["goal"]
    goals[:4] = seen["achieved_goal"][:4]
    seen, reward, terminated, *_ = moving.step(np.zeros((8, 2)))
    assert list(reward) == [1] * 4 + [0] * 4 and not terminated.any()
    np.testing.assert_array_equal(seen["desired_goal"][:4], seen["achieved_goal"][:4] * 0 + seen["desired_goal"][:4])
    following, reward, *_ = moving.step(np.zeros((8, 2)))
    assert not reward.any()
    apart = np.linalg.norm(following["desired_goal"] - following["achieved_goal"], axis=1)
    assert apart.min() > 0.45
    np.testing.assert_array_equal(following["desired_goal"][4:], seen["desired_goal"][4:])
    moving.close()
    ending = tumble.make_vec(identity, 8, continuing_task=False, **options)
    seen, _ = ending.reset(seed=0)
    ending.unwrapped.batch._memory.arrays["goal"][:4] = seen["achieved_goal"][:4]
    *_, terminated, _, info = ending.step(np.zeros((8, 2)))
    assert list(terminated) == list(info["success"]) == [True] * 4 + [False] * 4
    ending.close()


def test_maps_of_your_own():
    rows = ["#####", "#r.g#", "#####"]
    envs = tumble.make_vec("gymnasium_robotics/PointMaze_UMaze-v3", 16, output="numpy", maze_map=rows)
    seen, _ = envs.reset(seed=0)
    assert (np.abs(seen["achieved_goal"] - [-1, 0]) <= 0.25).all()
    assert (np.abs(seen["desired_goal"] - [1, 0]) <= 0.25).all()
    envs.close()
    with pytest.raises(ValueError, match="known names are UMaze"):
        tumble.make_vec("gymnasium_robotics/PointMaze_UMaze-v3", 1, maze_map="Umaze")
    with pytest.raises(ValueError, match="needs two cells"):
        tumble.make_vec("gymnasium_robotics/PointMaze_UMaze-v3", 1, maze_map=["###", "#c#", "###"])
    with pytest.raises(ValueError, match="there are no rows"):
        tumble.make_vec("gymnasium_robotics/PointMaze_UMaze-v3", 1, maze_map=[])
    with pytest.raises(ValueError, match=r"from 0 to 0\.5"):
        tumble.make_vec("gymnasium_robotics/PointMaze_UMaze-v3", 1, position_noise_range=5.0)
    with pytest.raises(ValueError, match="a cell is 'x'"):
        tumble.make_vec("gymnasium_robotics/PointMaze_UMaze-v3", 1, maze_map=["#x#"])


def test_first_observations(double_precision):
    for robot, version in VERSIONS.items():
        pair = Pair(f"gymnasium_robotics/{robot}Maze_UMaze-v{version}", aim)
        for i in range(pair.num_envs):
            pair.put(i, pair.state(), {}, pair.memory)
            inner = pair.theirs.inner
            inner.init_qpos[:], inner.init_qvel[:] = pair.theirs.data.qpos, pair.theirs.data.qvel
            first, _ = inner.reset()
            theirs = side_by_side(pair.theirs.env._get_obs(first))
            assert relative(side_by_side(pair.seen, i), theirs).max() < TASK
        pair.envs.close()

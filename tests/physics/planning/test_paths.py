"""Paths: MuJoCo finds no collision on them in ten times finer steps, they end where they should, and they are short."""

import re
import warnings
from itertools import pairwise

import mujoco
import numpy as np
import pytest
import torch

from tumble import assets
from tumble.physics import Model, RigidSolver, plan_path
from tumble.physics.solver.planning.polylines import arc_lengths, sampled

from ..starts import run_with

ARM = range(7)
RESOLUTION = 0.05
ROUNDING = 1e-6
"""The rounding of lengths of a few radians in single precision."""
HOME = np.array([0, 0.045898, 0, -2.37629, 0, 2.422188, 0.785398, 0.04, 0.04])
OBSTACLES = """<geom name="wall" type="box" pos="0.5 0 0.2" size="0.02 0.3 0.2" contype="{0}" conaffinity="{0}"/>
<geom name="beam" type="capsule" fromto="0.3 -0.25 0.65 0.6 -0.25 0.65" size="0.03" contype="{0}" conaffinity="{0}"/>
<body name="cube" pos="0.4 -0.5 0.02"><freejoint/>
  <geom name="cube" type="box" size="0.02 0.02 0.02" density="1000"/></body>
<body name="ball" mocap="true" pos="0.3 0.55 0.5"><geom name="ball" size="0.05"/></body>
<body name="upper" pos="0 9 0.5"><joint name="upper" axis="0 0 1" range="-3 3"/>
  <geom type="capsule" fromto=".1 0 0 .9 0 0" size=".05"/>
  <body name="middle" pos="1 0 0"><joint axis="0 0 1" range="-2.9 2.9"/>
    <geom type="capsule" fromto=".12 0 0 .5 0 0" size=".05"/>
    <body name="lower" pos=".6 0 0"><joint axis="0 0 1" range="-6 6"/>
      <geom type="capsule" fromto=".12 0 0 .5 0 0" size=".05"/></body></body></body>
<body pos="0 12 0.5"><joint name="rail" type="slide" axis="1 0 0"/><geom size=".1"/></body>"""


def scene() -> Model:
    """The arm, a wall and a beam, a cube on the table, a ball that users move; elsewhere a chain and a slide."""
    spec = mujoco.MjSpec.from_file(str(assets.find("arm_robot.xml")))
    xml = spec.to_xml()
    return Model.from_mjcf(xml.replace("</worldbody>", OBSTACLES.format(3) + "</worldbody>"))


@pytest.fixture(scope="module")
def solver() -> RigidSolver:
    """Six environments with the arm at rest, and the ball out of the way in all but the last."""
    run_with("32")
    made = RigidSolver(scene(), 6)
    made.reset(qpos=np.tile(np.concatenate((HOME, made.model.mj.qpos0[9:])), (6, 1)))
    ball = np.tile([0.3, 5.0, 0.5], (6, 1, 1))
    ball[5] = [0.45, 0.0, 0.45]
    made.mocap_pos = ball
    return made


def across(solver: RigidSolver, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Starts on one side of the wall and goals on the other, free of contacts of the arm."""
    rng = np.random.default_rng(seed)
    start, goal = (solver.qpos.double().numpy().copy() for _ in range(2))
    start[:, 0], goal[:, 0] = rng.uniform(-1.2, -0.8, 6), rng.uniform(0.8, 1.2, 6)
    start[:, 1], goal[:, 1] = rng.uniform(0.1, 0.4, (2, 6))
    return start, goal


def touching(mj: mujoco.MjModel, data: mujoco.MjData, qpos: np.ndarray) -> set:
    """Pairs of geoms of which MuJoCo has contacts."""
    data.qpos[:] = qpos
    mujoco.mj_kinematics(mj, data)
    mujoco.mj_comPos(mj, data)
    mujoco.mj_collision(mj, data)
    return {tuple(sorted(pair)) for pair in data.contact.geom.tolist()}


def collisions(
    solver: RigidSolver, env: int, way: np.ndarray, step: float = RESOLUTION / 10, first: bool = False
) -> int:
    """Configurations along waypoints (w, nq), in steps of at most this size, in which MuJoCo finds new contacts.

    With `first` it looks no farther than the first of them.
    """
    mj, data = solver.model.mj, mujoco.MjData(solver.model.mj)
    if mj.nmocap:
        data.mocap_pos[:] = solver.mocap_pos[env].numpy()
    known, found = touching(mj, data, way[0]), 0
    for begin, end in pairwise(way):
        count = max(1, int(np.ceil(np.abs(end - begin).max() / step)))
        for share in np.arange(count) / count:
            found += bool(touching(mj, data, begin + share * (end - begin)) - known)
            if found and first:
                return 1
    return found


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_paths_around_a_wall_are_free_and_end_where_they_should(solver, seed):
    """Find ways around what straight ones collide with; shortcuts make no path longer."""
    start, goal = across(solver, seed)
    before = solver.qpos
    straight = plan_path(solver, goal, start, dofs_idx=ARM, ignore_collision=True)
    assert all(collisions(solver, env, straight.qpos[env].double().numpy(), first=True) for env in range(6))
    found = plan_path(solver, goal, start, dofs_idx=ARM, resolution=RESOLUTION, seed=seed)
    assert found.valid.all() and found.reasons == ("",) * 6 and found.qpos.shape == (6, 300, 20)
    assert torch.equal(found.qpos[:, 0], torch.tensor(start, dtype=torch.float32))
    assert torch.equal(found.qpos[:, -1], torch.tensor(goal, dtype=torch.float32))
    limits = torch.tensor(solver.model.mj.jnt_range[:7])
    assert (found.qpos[..., :7] >= limits[:, 0] - ROUNDING).all() and (found.qpos[..., :7] <= limits[:, 1]).all()
    for env in range(6):
        assert collisions(solver, env, found.qpos[env].double().numpy()) == 0
    rough = plan_path(solver, goal, start, dofs_idx=ARM, seed=seed, smooth_path=False)
    assert rough.valid.all() and collisions(solver, 0, rough.qpos[0].double().numpy()) == 0
    assert (found.length <= rough.length * (1 + ROUNDING)).all() and found.length.sum() < 0.8 * rough.length.sum()
    shortest = torch.tensor(np.linalg.norm((goal - start)[:, :7], axis=1))
    assert (found.length >= shortest * (1 - ROUNDING)).all()
    assert torch.equal(solver.qpos, before)


def test_seeds_give_equal_paths_in_any_company(solver):
    start, goal = across(solver, 1)
    one = plan_path(solver, goal, start, dofs_idx=ARM, seed=3)
    again = plan_path(solver, goal, start, dofs_idx=ARM, seed=3)
    assert torch.equal(one.qpos, again.qpos)
    other = plan_path(solver, goal, start, dofs_idx=ARM, seed=4)
    assert not torch.equal(one.qpos, other.qpos)


def test_waypoints_are_evenly_spaced(solver):
    """By arc length, but for short edges: corners are waypoints too."""
    start, goal = across(solver, 2)
    found = plan_path(solver, goal[:2], start[:2], dofs_idx=ARM, seed=0, num_waypoints=100, envs_idx=[0, 1])
    steps = (found.qpos[:, 1:, :7] - found.qpos[:, :-1, :7]).norm(dim=-1)
    even = found.length[:, None] / 99
    assert (steps.sum(1) - found.length).abs().max() < 1e-4
    assert (steps < 1.6 * even).all() and (steps > 0.6 * even).double().mean() > 0.9


MIMIC = """<mujoco><compiler angle="radian"/><worldbody><geom name="wall" size=".05" pos="{}"/>
<body><joint name="shoulder" axis="0 1 0" range="-2 2" limited="true"/>
 <geom type="capsule" fromto="0 0 0 .4 0 0" size=".02"/>
 <body pos=".4 0 0"><joint name="elbow" axis="0 1 0" range="-.6 .6" limited="true"/>
  <geom name="forearm" type="capsule" fromto=".1 0 0 .4 0 0" size=".02"/></body></body></worldbody>
<equality><joint joint1="elbow" joint2="shoulder" polycoef="0 -.5 0 0 0"/></equality></mujoco>"""


def test_mimic_joints_follow_on_paths():
    """They obey MuJoCo's law, their links collide where the law puts them, and their limits bound what they follow."""
    end = np.array([1.0, -0.5])  # shoulder, elbow
    tip = 0.4 * np.array([np.cos(end[0]), -np.sin(end[0])]) + 0.3 * np.array([np.cos(end.sum()), -np.sin(end.sum())])
    for wall, hit in ((f"{tip[0]} 0 {tip[1]}", True), ("0 3 0", False)):
        solver = RigidSolver(Model.from_mjcf(MIMIC.format(wall)), 2)
        mj = solver.model.mj
        assert bool(touching(mj, mujoco.MjData(mj), end)) == hit
        assert not touching(mj, mujoco.MjData(mj), end * [1, -1]) - touching(mj, mujoco.MjData(mj), np.zeros(2))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = plan_path(solver, [[1.0, 0.5], [1.3, 0.0]], seed=0)  # the elbow's goals are not read
        assert "limits -1.2 to 1.2" in found.reasons[1] and len(caught) == 1
        assert bool(found.valid[0]) == (not hit) and ("the goal collides" in found.reasons[0]) == hit
        if not hit:
            assert abs(found.qpos[0, -1, 0] - 1.0) < ROUNDING
        assert (found.qpos[..., 1] + 0.5 * found.qpos[..., 0]).abs().max() < ROUNDING
    with pytest.raises(ValueError, match="plan the others apart"):
        solver.eq_active = [[True], [False]]
        plan_path(solver, [1.0, 0.0])


def test_a_rest_on_the_table_is_no_obstacle(solver):
    """The cube touches the table in all configurations, and the start may touch what it leaves."""
    start, goal = across(solver, 3)
    start[:, 1] = 0.62  # the hand is in the table
    found = plan_path(solver, goal[:5], start[:5], dofs_idx=ARM, seed=0, envs_idx=range(5))
    assert found.valid.all()
    assert all(collisions(solver, env, found.qpos[env].double().numpy()) == 0 for env in range(5))


def test_a_carried_body_collides_too(solver):
    """The cube in the grip goes around the wall with the hand, at the same place in it."""
    mj, data = solver.model.mj, mujoco.MjData(solver.model.mj)
    start, goal = across(solver, 4)
    for env in range(6):
        data.qpos[:] = start[env]
        mujoco.mj_kinematics(mj, data)
        start[env, 9:12] = data.site_xpos[mj.site("grip").id]
        start[env, 12:16] = data.xquat[mj.body("hand").id]
    ends, held = (goal[:3], start[:3]), [("cube", "hand")]
    found = plan_path(solver, *ends, dofs_idx=ARM, seed=0, carried=held, envs_idx=range(3))
    assert found.valid.all()
    for env in range(3):
        way = found.qpos[env].double().numpy()
        assert collisions(solver, env, way) == 0
        for row in way[::37]:
            data.qpos[:] = row
            mujoco.mj_kinematics(mj, data)
            assert np.abs(data.xpos[mj.body("cube").id] - data.site_xpos[mj.site("grip").id]).max() < 1e-5


def test_the_goal_collides(solver):
    """In words; the other environments get their paths, and the ones without stay where they are."""
    start, goal = across(solver, 5)
    goal[1, :2] = 0.0, 0.5
    goal[2, 1] = 1.9
    with pytest.warns(RuntimeWarning, match=r"environment 1: the goal collides: .*wall .*2 of 4"):
        found = plan_path(solver, goal[:4], start[:4], dofs_idx=ARM, seed=0, envs_idx=range(4))
    assert found.valid.tolist() == [True, False, False, True]
    assert re.search("the goal of joint2, 1.9, is beyond its limits -1.7628 to 1.7628", found.reasons[2])
    assert torch.equal(found.qpos[1], torch.tensor(start[1], dtype=torch.float32).expand(300, -1))
    assert found.length[1] == 0


def test_what_has_no_path_ends(solver):
    """The first joint alone cannot bring the arm past the wall."""
    start, goal = across(solver, 6)
    options = {"dofs_idx": [0], "envs_idx": [0, 1], "seed": 0}
    for limit, why in ({"timeout": 0.2}, "before the timeout"), ({"max_nodes": 40}, "with 40 nodes"):
        with pytest.warns(RuntimeWarning, match=f"no path was found {why}"):
            found = plan_path(solver, goal[:2], start[:2], **options, **limit)
        assert not found.valid.any() and all(why in reason for reason in found.reasons)


def test_parts_of_the_robot_collide_with_each_other(solver):
    """A folded chain whose end would go through its first link, and a slide, which has no limits."""
    q = int(solver.model.mj.joint("upper").qposadr[0])
    start = solver.qpos.double().numpy()[:2].copy()
    goal = start.copy()
    start[:, q : q + 4], goal[:, q : q + 4] = [0.0, 2.2, 1.2, 0.0], [0.5, 2.2, 4.3, 2.0]
    first = int(solver.model.mj.joint("upper").dofadr[0])
    options = {"dofs_idx": range(first, first + 4), "envs_idx": [0, 1], "seed": 0}
    straight = plan_path(solver, goal, start, ignore_collision=True, **options)
    assert collisions(solver, 0, straight.qpos[0].double().numpy()) > 0
    for planner in ("RRTConnect", "RRT"):
        found = plan_path(solver, goal, start, planner=planner, **options)
        assert found.valid.all()
        assert all(collisions(solver, env, found.qpos[env].double().numpy()) == 0 for env in range(2))
        assert torch.equal(found.qpos[:, -1], torch.tensor(goal, dtype=torch.float32))


def test_wrong_arguments_are_refused_by_name(solver):
    start, goal = across(solver)
    for error, match, options in (
        (ValueError, "planner='PRM': choose 'RRTConnect' or 'RRT'", {"planner": "PRM"}),
        (ValueError, "resolution=0", {"resolution": 0}),
        (ValueError, "num_waypoints=1", {"num_waypoints": 1}),
        (ValueError, "is free or a ball", {"dofs_idx": [10]}),
        (ValueError, "it is empty", {"dofs_idx": []}),
        (KeyError, "no body is named 'cubes'; did you mean cube", {"carried": [("cubes", "hand")]}),
        (ValueError, "hand has no free joint", {"carried": [("hand", "link4")]}),
        (IndexError, "there is no environment 6", {"envs_idx": [6]}),
        (ValueError, "qpos_start: environment 0 has coordinates that are not finite", {"qpos_start": start * np.nan}),
    ):
        with pytest.raises(error, match=match):
            plan_path(solver, goal, **({"qpos_start": start} | options))
    with pytest.raises(ValueError, match=r"qpos_goal: expected shape \(n, 20\)"):
        plan_path(solver, goal[:, :7])


def test_waypoints_of_lines_of_different_lengths():
    """Corners are waypoints; a line with more corners than waypoints is sampled evenly."""
    lines = torch.tensor([[[0.0], [1.0], [1.0], [1.0]], [[0.0], [2.0], [1.0], [5.0]]], dtype=torch.float64)
    way = sampled(lines, 8)
    assert torch.allclose(way[0, :, 0], torch.linspace(0, 1, 8, dtype=torch.float64))
    assert way[1, :, 0].tolist() == [0.0, 1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert torch.equal(arc_lengths(lines)[:, -1], torch.tensor([1.0, 7.0], dtype=torch.float64))
    few = sampled(lines, 3)
    assert few[1, :, 0].tolist() == [0.0, 1.5, 5.0] and few[0, :, 0].tolist() == [0.0, 0.5, 1.0]


@pytest.fixture(autouse=True)
def warnings_are_errors():
    """A path that is not found, or any other warning, fails a test that does not expect it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield

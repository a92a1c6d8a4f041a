"""Inverse kinematics: poses and Jacobians are MuJoCo's, solutions bring targets to their poses as MuJoCo judges it."""

import copy

import mujoco
import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation

from tumble import assets
from tumble.physics import InverseKinematics, Model, RigidSolver, Target, inverse_kinematics, plan_path
from tumble.physics.solver.planning.couplings import coupled_joints, joint_couplings, other_equalities
from tumble.physics.solver.planning.draws import env_streams

from ..starts import run_in_columns, run_with

ROUNDINGS = 1e-12
"""The rounding of poses of some metres, after a dozen rotations in double precision."""
POS_TOL, ROT_TOL = 5e-4, np.radians(0.3)
"""The acceptance: 0.5 mm and 0.3 degrees; the search itself ends at 0.5 mm and 5e-3 rad."""
ARM = range(7)
TREE = """<mujoco><compiler angle="radian"/><worldbody>
<body name="base" mocap="true" pos=".3 .1 0" quat="1 .2 .1 0"><body name="post" pos="0 .1 .4" quat="1 0 1 0">
  <body name="lift" pos="0 0 .1"><joint type="slide" axis="1 1 0" pos=".1 0 0" range="-.5 .5" limited="true" ref=".1"/>
    <joint name="swing" axis="0 1 1" pos=".02 .03 0" range="-2 2" limited="true" ref=".2"/><geom size=".05"/>
    <body name="wrist" pos=".3 0 0"><joint name="wrist" type="ball" pos="-.05 0 .02" range="0 1.5" limited="true"/>
      <geom size=".05"/><site name="tip" pos=".1 .2 0" quat="1 2 3 4"/></body></body></body></body>
<body name="trunk" pos="0 0 1"><freejoint name="trunk"/><geom size=".1"/>
  <body name="left" pos="0 .2 0" euler="1 0 0"><joint axis="0 1 0"/><geom size=".05"/>
    <body name="left_foot" pos="0 0 -.3"><joint axis="1 0 0" pos="0 0 .1"/><geom size=".05"/></body></body>
  <body name="right" pos="0 -.2 0"><joint axis="0 1 0"/><geom size=".05"/>
    <body name="right_foot" pos="0 0 -.3"><joint axis="1 0 0"/><geom size=".05"/></body></body></body>
</worldbody></mujoco>"""
REACH = (1.0, 0.7)
PLANAR = """<mujoco><worldbody><body><joint axis="0 0 1"/><geom size=".1"/>
<body name="forearm" pos="1 0 0"><joint axis="0 0 1"/><geom size=".1"/></body></body></worldbody></mujoco>"""
CONVERGED = 1e-3
"""Metres: least squares come to a rest slowly where all links lie in a line."""
POINT = (0.05, -0.1, 0.2)
TARGETS = (Target(site="tip"), Target("left_foot", point=POINT), Target("trunk"), Target(site="tip", point=POINT))


@pytest.fixture(scope="module", autouse=True)
def double_precision():
    run_with("64")


@pytest.fixture(scope="module")
def tree() -> Model:
    return Model.from_mjcf(TREE)


@pytest.fixture(scope="module")
def arm() -> Model:
    return Model.from_mjcf(str(assets.find("arm_pick.xml")))


@pytest.fixture(scope="module")
def solver(tree) -> RigidSolver:
    return RigidSolver(tree, 6)


@pytest.mark.parametrize("seed", [2**32 - 1, -1, 2**40 + 7])
def test_every_whole_number_is_a_seed(seed):
    """Streams of environments differ, and are those of its last 32 bits, also where products are above 64 bits."""
    streams = env_streams(seed, np.arange(5), torch.device("cpu"))
    wanted = [((env + 1) * 0x9E3779B1 + (seed % 2**32) * 0x85EBCA77) % 2**32 for env in range(5)]
    assert [int(stream) % 2**32 for stream in streams] == wanted


def random_qpos(mj: mujoco.MjModel, count: int, seed: int = 0) -> np.ndarray:
    """Configurations with quaternions that are not of unit length."""
    return np.random.default_rng(seed).uniform(-1.5, 1.5, (count, mj.nq))


def poses_by_mujoco(mj: mujoco.MjModel, data: mujoco.MjData, target: Target):
    """Position, rotation matrix and Jacobian (6, nv) of a target, after mj_kinematics and mj_comPos."""
    jac = np.zeros((6, mj.nv))
    if target.site is not None:
        site = mj.site(target.site).id
        place, turn, body = data.site_xpos[site], data.site_xmat[site].reshape(3, 3), mj.site_bodyid[site]
    else:
        body = mj.body(target.body).id
        place, turn = data.xpos[body], data.xmat[body].reshape(3, 3)
    place = place + turn @ target.point
    mujoco.mj_jac(mj, data, jac[:3], jac[3:], place, body)
    return place, turn, jac


def placed(mj: mujoco.MjModel, qpos: np.ndarray) -> mujoco.MjData:
    """The positions of a configuration."""
    data = mujoco.MjData(mj)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(mj, data)
    mujoco.mj_comPos(mj, data)
    return data


def matrix(quat: np.ndarray) -> np.ndarray:
    """The rotation matrix of a quaternion of any length."""
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, np.asarray(quat, float) / np.linalg.norm(quat))
    return flat.reshape(3, 3)


def angle_between(a: np.ndarray, b: np.ndarray) -> float:
    """The angle (rad) of the rotation between two rotation matrices."""
    half = np.linalg.norm(a - b) / np.sqrt(8)
    return 2 * np.arcsin(min(1.0, half))


def test_poses_and_jacobians_are_mujocos(tree):
    """All joint types, anchors, references, quaternions of any length, mocap bodies, sites, points off the bodies."""
    qpos = random_qpos(tree.mj, 20)
    of = InverseKinematics(tree, TARGETS)
    (pos, quat), jac = of.poses(qpos), of.jacobians(qpos)
    for env, row in enumerate(qpos):
        data = placed(tree.mj, row)
        for t, target in enumerate(TARGETS):
            place, turn, derivatives = poses_by_mujoco(tree.mj, data, target)
            assert np.abs(pos[env, t].numpy() - place).max() < ROUNDINGS
            assert np.abs(matrix(quat[env, t].numpy()) - turn).max() < ROUNDINGS
            assert np.abs(jac[env, t].numpy() - derivatives).max() < ROUNDINGS


@pytest.mark.parametrize("count", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_reachable_poses_of_the_arm_are_reached(arm, count):
    """At least 99 % of the poses of random configurations, from one start, within limits, as MuJoCo judges it."""
    mj, rng = arm.mj, np.random.default_rng(7)
    asked = np.tile(mj.key_qpos[0], (count, 1))
    asked[:, :7] = rng.uniform(*mj.jnt_range[:7].T, (count, 7))
    of = InverseKinematics(arm, Target(site="grip"), dofs_idx=ARM)
    pos, quat = of.poses(asked)
    found = of.solve(pos[:, 0], quat[:, 0], init_qpos=mj.key_qpos[0], seed=0)
    assert found.success.double().mean() >= 0.99
    qpos = found.qpos.numpy()
    assert (qpos[:, 7:] == mj.key_qpos[0][7:]).all()
    assert (qpos[:, :7] >= mj.jnt_range[:7, 0]).all() and (qpos[:, :7] <= mj.jnt_range[:7, 1]).all()
    for env in np.flatnonzero(found.success.numpy()):
        place, turn, _ = poses_by_mujoco(mj, placed(mj, qpos[env]), Target(site="grip"))
        away = np.linalg.norm(place - pos[env, 0].numpy())
        assert away <= POS_TOL and angle_between(turn, matrix(quat[env, 0].numpy())) <= ROT_TOL
        assert abs(np.linalg.norm(found.error[env, 0, :3].numpy()) - away) < ROUNDINGS


def test_several_targets_at_once(tree):
    """Both feet and the trunk of a floating robot; what does not move them stays."""
    targets = ["left_foot", Target("right_foot", point=POINT), "trunk"]
    asked, start = random_qpos(tree.mj, 40, 1), random_qpos(tree.mj, 40, 2)
    of = InverseKinematics(tree, targets)
    pos, quat = of.poses(asked)
    found = of.solve(
        [pos[:, 0], pos[:, 1], None], [None, None, quat[:, 2]], init_qpos=start, max_solver_iters=60, seed=3
    )
    assert found.success.all()
    for env in range(40):
        data = placed(tree.mj, found.qpos[env].numpy())
        for t in (0, 1):
            place, _, _ = poses_by_mujoco(tree.mj, data, of.targets[t])
            assert np.abs(place - pos[env, t].numpy()).max() <= POS_TOL
        _, turn, _ = poses_by_mujoco(tree.mj, data, of.targets[2])
        assert angle_between(turn, matrix(quat[env, 2].numpy())) <= ROT_TOL
    trunk = tree.mj.joint("trunk").qposadr[0]
    assert torch.equal(found.qpos[:, :trunk], torch.tensor(start[:, :trunk]))
    legs = range(*tree.mj.jnt_dofadr[[tree.mj.joint("trunk").id + 1, -1]])
    held = InverseKinematics(tree, targets[:2], dofs_idx=legs).solve(
        [pos[:, 0], pos[:, 1]], [None, None], init_qpos=start, seed=3
    )
    assert torch.equal(held.qpos[:, : trunk + 7], torch.tensor(start[:, : trunk + 7]))
    assert (held.qpos[:, trunk + 7 :] != torch.tensor(start[:, trunk + 7 :])).any()


def test_masks_leave_axes_free(arm):
    """Height alone, and the hand's z axis alone: the rest of the pose is found by the least change, not reached."""
    mj = arm.mj
    of = InverseKinematics(arm, Target(site="grip"), (False, False, True), (False, False, True), ARM)
    down = np.array([0.0, 1.0, 0.0, 0.0])
    start = mj.key_qpos[0].copy()
    start[:7] += 0.4
    found = of.solve([9.0, 9.0, 0.3], down, init_qpos=start, seed=0)
    assert found.success.all()
    place, turn, _ = poses_by_mujoco(mj, placed(mj, found.qpos[0].numpy()), Target(site="grip"))
    assert abs(place[2] - 0.3) <= POS_TOL and turn[2, 2] <= -np.cos(ROT_TOL)
    assert np.abs(place[:2]).max() < 1.0 and angle_between(turn, matrix(down)) > 20 * ROT_TOL
    assert not found.error[0, 0, [0, 1]].any()


def test_limits_hold_if_they_are_respected(tree):
    """A slide, a hinge and the angle of a ball, where the poses lie beyond them."""
    mj, site = tree.mj, Target(site="tip")
    asked = np.tile(mj.qpos0, (8, 1))
    asked[:, 0], asked[:, 1] = np.linspace(-0.9, 0.9, 8), np.linspace(2.5, -2.5, 8)
    asked[:, 2:6] = [np.cos(1.2), np.sin(1.2), 0, 0]  # 2.4 rad
    of = InverseKinematics(tree, site)
    pos, quat = of.poses(asked)
    inside = of.solve(pos[:, 0], quat[:, 0], max_samples=5, seed=0).qpos
    turned = 2 * torch.atan2(inside[:, 3:6].norm(dim=1), inside[:, 2].abs())
    assert inside[:, 0].abs().max() <= 0.5 and inside[:, 1].abs().max() <= 2.0 and turned.max() <= 1.5 + ROUNDINGS
    beyond = of.solve(pos[:, 0], quat[:, 0], respect_joint_limit=False, seed=0)
    assert beyond.success.all() and (beyond.qpos[:, 0].abs() > 0.5).any()


def test_what_cannot_be_reached_is_approached():
    """An arm of two links in a plane: outside of its ring, and in the hole of the ring, in closed form."""
    of = InverseKinematics(Model.from_mjcf(PLANAR), Target("forearm", point=(REACH[1], 0, 0)))
    angles = np.linspace(0, 6, 16)
    radii = np.where(np.arange(16) % 2, 3.0, 0.1)
    asked = np.stack((radii * np.cos(angles), radii * np.sin(angles), np.zeros(16)), 1)
    found = of.solve(asked, init_qpos=[0.1, 0.4], seed=0)
    assert not found.success.any()
    nearest = np.where(radii > 1, radii - sum(REACH), REACH[0] - REACH[1] - radii)
    assert np.abs(found.error[:, 0, :3].norm(dim=1).numpy() - nearest).max() < CONVERGED


def test_what_is_not_finite_is_flagged(arm):
    """NaN and a quaternion of length zero: no success, and the start is returned; others are solved."""
    home = torch.tensor(arm.mj.key_qpos[0])
    of = InverseKinematics(arm, Target(site="grip"), dofs_idx=ARM)
    pos, quat = (part[:, 0].repeat(4, 1) for part in of.poses(home))
    pos[:, 0] += 0.05
    pos[0, 1], quat[1], pos[2, 2] = torch.nan, 0.0, torch.inf
    found = of.solve(pos, quat, init_qpos=home, seed=0)
    assert found.success.tolist() == [False, False, False, True]
    assert torch.equal(found.qpos[:3], home.expand(3, -1)) and int(found.steps[:3].sum()) == 0


def test_a_solution_is_left_as_it_is(arm):
    home = torch.tensor(arm.mj.key_qpos[0])
    of = InverseKinematics(arm, Target(site="grip"))
    pos, quat = of.poses(home)
    found = of.solve(pos[:, 0], quat[:, 0], init_qpos=home)
    assert torch.equal(found.qpos[0], home) and int(found.steps[0]) == 0


def test_equal_seeds_give_equal_solutions_in_any_company(solver):
    """Restarts are drawn by the number of the environment: a subset gets what it gets among all."""
    of = InverseKinematics(solver, Target(site="tip"))
    pos, quat = of.poses(random_qpos(solver.model.mj, 6, 5) * 0.3)
    given = pos[:, 0], quat[:, 0]
    one = of.solve(*given, seed=4, max_solver_iters=5)
    assert int(one.steps.max()) > 5  # some begin again
    chosen = [4, 1]
    some = of.solve(pos[chosen, 0], quat[chosen, 0], seed=4, max_solver_iters=5, envs_idx=chosen)
    assert torch.equal(some.qpos, one.qpos[chosen])
    assert not torch.equal(of.solve(*given, seed=5, max_solver_iters=5).qpos, one.qpos)


def test_environments_have_their_own_bodies_and_mocap_poses(solver):
    """Nothing of the solver changes, and its own numbers and inputs are heeded."""
    mj = solver.model.mj
    rng = np.random.default_rng(0)
    own = np.tile(mj.body_pos, (6, 1, 1))
    own[:, mj.body("wrist").id] += rng.uniform(-0.1, 0.1, (6, 3))
    solver.set_parameters("body_pos", own)
    mocap_pos, mocap_quat = rng.uniform(-1, 1, (6, 1, 3)), rng.uniform(-1, 1, (6, 1, 4))
    solver.mocap_pos, solver.mocap_quat = mocap_pos, mocap_quat
    solver.set_state(qpos=random_qpos(mj, 6, 3) * 0.3)
    before = solver.qpos
    of = InverseKinematics(solver, Target(site="tip"), dofs_idx=[0, 1, 2, 3, 4])
    pos, _ = of.poses()
    for env in range(6):
        changed = mujoco.MjModel.from_xml_string(TREE)
        changed.body_pos[:] = own[env]
        data = mujoco.MjData(changed)
        data.qpos[:], data.mocap_pos[:], data.mocap_quat[:] = before[env].numpy(), mocap_pos[env], mocap_quat[env]
        mujoco.mj_kinematics(changed, data)
        assert np.abs(data.site_xpos[0] - pos[env, 0].numpy()).max() < ROUNDINGS
    found = of.solve(pos[:, 0] + 0.02, seed=0)
    assert found.success.all() and torch.equal(solver.qpos, before)
    assert torch.equal(found.qpos[:, 6:], before[:, 6:])


def refuse(error, match, *arguments, targets="wrist", of=None, **options):
    """Expect an error of inverse kinematics with these arguments."""
    with pytest.raises(error, match=match):
        inverse_kinematics(of, targets, *arguments, **options)


LAWS = """<mujoco><compiler angle="radian"/><default><geom size=".03"/></default><worldbody>
<body><joint name="a" axis="0 0 1" ref=".2" range="-3 3" limited="true"/><geom/>
 <body pos=".1 0 .3"><joint name="b" axis="0 1 0" ref="-.1"/><geom/>
  <body pos="0 0 .3"><joint name="c" axis="0 1 0" range="-1.2 .9" limited="true"/><geom/>
   <body pos="0 0 .2"><joint name="d" axis="1 0 0"/><geom/>
    <body pos="0 0 .2"><joint name="e" axis="0 1 0" range="-.6 .6" limited="true"/><geom/><body pos="0 0 .1">
     <joint name="free" axis="1 0 0" range="-1 1" limited="true"/><geom/><site name="hand" pos="0 .1 .2"/></body>
     <body pos=".05 0 0"><joint name="thumb" type="slide" axis="0 1 0"/><geom/></body>
    </body></body></body></body></body>
<body pos="2 0 0"><joint name="idle" axis="0 1 0"/><geom/><body><joint name="crank" axis="1 0 0"/><geom/></body></body>
</worldbody><equality>
 <joint joint1="c" joint2="b" polycoef=".05 -.8 0 0 0"/><joint joint1="b" joint2="a" polycoef=".1 .4 -.1 .05 .02"/>
 <joint joint1="d" polycoef=".3"/><joint name="cranked" joint1="e" joint2="crank" polycoef="0 -2 0 0 0"/>
 <joint joint1="thumb" joint2="free" polycoef="0 .1 .05 0 0"/>
</equality></mujoco>"""
"""A chain of laws, a constant, a leader off the path behind an idle joint, and a follower off the path."""


def obeying(mj: mujoco.MjModel, count: int, off: float = 0.0) -> np.ndarray:
    """Configurations (count, nq) that obey MuJoCo's laws, written out; `off` for "cranked"."""
    rng = np.random.default_rng(7)
    q = {name: np.zeros(count) for name in "abcde"} | {"idle": np.zeros(count)}
    q["a"], q["free"], q["crank"] = rng.uniform(-1, 1, count), rng.uniform(-1, 1, count), rng.uniform(-0.3, 0.3, count)
    x = q["a"] - 0.2
    q["b"] = -0.1 + 0.1 + 0.4 * x - 0.1 * x**2 + 0.05 * x**3 + 0.02 * x**4
    q["c"] = 0.05 - 0.8 * (q["b"] + 0.1)
    q["d"], q["e"], q["thumb"] = np.full(count, 0.3), off - 2 * q["crank"], 0.1 * q["free"] + 0.05 * q["free"] ** 2
    return np.stack([q[mj.joint(j).name] for j in range(mj.njnt)], 1)


def judged(mj: mujoco.MjModel, qpos: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the site is, and how far MuJoCo's equalities are from holding."""
    data = mujoco.MjData(mj)
    data.qpos[:], data.eq_active[:] = qpos, active
    mujoco.mj_forward(mj, data)
    return data.site_xpos[0].copy(), np.abs(data.efc_pos[: data.ne])


@pytest.mark.parametrize("dofs", [None, ["a", "crank", "free"]])
def test_joints_that_follow_others_do_so_in_solutions(dofs):
    """MuJoCo's equalities hold to rounding, its kinematics put the site at its target, and limits of all hold."""
    mj = mujoco.MjModel.from_xml_string(LAWS)
    solver = RigidSolver(Model.from_mjmodel(mj), 16)
    targets = np.array([judged(mj, q, mj.eq_active0)[0] for q in obeying(mj, 16)])
    index = None if dofs is None else [mj.joint(name).dofadr[0] for name in dofs]
    found = InverseKinematics(solver, Target(site="hand"), dofs_idx=index).solve(targets, seed=0)
    assert found.success.all()
    for qpos, target in zip(found.qpos.numpy(), targets, strict=True):
        place, left = judged(mj, qpos, mj.eq_active0)
        assert np.linalg.norm(place - target) < POS_TOL and len(left) == 5 and left.max() < ROUNDINGS
        assert qpos[mj.joint("idle").qposadr[0]] == 0.0
        limited = mj.jnt_limited == 1
        assert (qpos[limited] >= mj.jnt_range[limited, 0] - ROUNDINGS).all()
        assert (qpos[limited] <= mj.jnt_range[limited, 1] + ROUNDINGS).all()
    with pytest.raises(ValueError, match=r"none of the dofs .* moves the site 'hand'"):
        InverseKinematics(solver, Target(site="hand"), dofs_idx=[mj.joint("d").dofadr[0]])  # a constant
    two = [mj.joint(name).dofadr[0] for name in ("e", "free")]  # "e" is named, and "crank" is not: it follows "e"
    some = InverseKinematics(solver, Target(site="hand"), dofs_idx=two).solve(targets, seed=0)
    for qpos in some.qpos.numpy():
        assert abs(qpos[mj.joint("e").qposadr[0]] + 2 * qpos[mj.joint("crank").qposadr[0]]) < ROUNDINGS


def test_environments_have_their_own_equalities():
    """Coefficients, references and active equalities of each environment, also of laws that are turned round."""
    mj = mujoco.MjModel.from_xml_string(LAWS)
    solver = RigidSolver(Model.from_mjmodel(mj), 4)
    cranked, e, crank = mj.eq("cranked").id, mj.joint("e").qposadr[0], mj.joint("crank").qposadr[0]
    zero, goal = np.tile(mj.qpos0, (4, 1)), obeying(mj, 4)
    zero[2, e], goal[:, crank] = 0.1, -0.28  # there "e", which is at most 0.6, would be 0.66
    solver.set_parameters("qpos0", zero)
    with pytest.warns(RuntimeWarning, match=r"2: the goal of crank, -0\.28, is beyond its limits -0\.25 to 0\.35"):
        way = plan_path(solver, goal, ignore_collision=True)
    assert way.valid.tolist() == [True, True, False, True]
    assert np.abs(way.qpos[..., e].numpy() - zero[:, None, e] + 2 * way.qpos[..., crank].numpy()).max() < ROUNDINGS
    solver.set_parameters("qpos0", np.tile(mj.qpos0, (4, 1)))
    data = np.tile(mj.eq_data, (4, 1, 1))
    data[:, cranked, 0] = [0.0, 0.1, 0.2, -0.1]
    solver.set_parameters("eq_data", data)
    active = np.ones((4, mj.neq), bool)
    active[3, cranked] = False
    solver.eq_active = active
    for names in (("a", "crank", "free"), ("a", "e", "free")):
        index = [mj.joint(name).dofadr[0] for name in names]
        of = InverseKinematics(solver, Target(site="hand"), dofs_idx=index)
        targets = np.array([judged(mj, obeying(mj, 4, data[k, cranked, 0])[k], active[k])[0] for k in range(4)])
        if names[1] == "crank":  # in environment 3 it moves nothing
            targets[3] = judged(
                mj, np.where(np.arange(mj.nq) == mj.joint("e").qposadr[0], 0.0, obeying(mj, 4)[3]), active[3]
            )[0]
        found = of.solve(targets, seed=1)
        assert found.success.all()
        flat = np.where(np.arange(mj.neq)[:, None] == cranked, 0.0, data)  # "e" stays at 0, and no law turns it round
        solver.set_parameters("eq_data", flat)
        still = of.solve(targets, seed=1, max_samples=2)
        assert still.qpos.isfinite().all() and still.success.tolist() == [False, False, False, True]
        solver.set_parameters("eq_data", data)
        for k in range(4):
            own = mujoco.MjModel.from_xml_string(LAWS)
            own.eq_data[:] = data[k]
            place, left = judged(own, found.qpos[k].numpy(), active[k])
            assert np.linalg.norm(place - targets[k]) < POS_TOL and left.max() < ROUNDINGS and len(left) == 5 - (k == 3)


@pytest.mark.parametrize("flag", ["equality", "constraint"])
def test_equalities_that_the_model_disables_are_no_laws(flag):
    """MuJoCo has no row of them."""
    option = f'<option><flag {flag}="disable"/></option>'
    mj = mujoco.MjModel.from_xml_string(LAWS.replace("<default>", f"{option}<default>"))
    everything = np.ones(mj.neq, bool), np.ones(mj.nv, bool)
    assert len(judged(mj, mj.qpos0, mj.eq_active0)[1]) == 0
    assert len(joint_couplings(mj, everything[0]).follower) == len(coupled_joints(mj, *everything)) == 0
    assert len(other_equalities(mj, *everything)) == 0


def test_equalities_that_cannot_hold_are_no_success():
    """Of two laws for one joint the second is only judged."""
    mj = mujoco.MjModel.from_xml_string(LAWS.replace("</equality>", '<joint joint1="c" joint2="a"/></equality>'))
    targets = np.array([judged(mj, q, mj.eq_active0)[0] for q in obeying(mj, 4)])
    found = InverseKinematics(Model.from_mjmodel(mj), Target(site="hand")).solve(targets, seed=0)
    for k in range(4):
        left = judged(mj, found.qpos[k].numpy(), mj.eq_active0)[1].max()
        assert bool(found.success[k]) == (left <= 5e-3) and left > 5e-3


TIES = """<body name="ball" pos="0 0 3"><freejoint/><geom/></body></worldbody>
<tendon><fixed name="turns"><joint joint="a" coef="1"/><joint joint="free" coef="-.5"/></fixed>
 <spatial name="cord"><site site="ground"/><site site="hand"/></spatial></tendon>"""
EACH_TIE = """<connect name="pinned" site1="hand" site2="ground" active="false"/>
<weld name="fixed" site1="hand" site2="ground" torquescale=".5" active="false"/>
<tendon name="angle" tendon1="turns" active="false"/><tendon name="length" tendon1="cord" active="false"/>
<weld name="carried" body1="ball" body2="held" active="false"/></equality>"""


def test_connects_welds_and_tendons_that_do_not_hold_are_no_success():
    """Ties that are off by what is written here, and MuJoCo says the same; what is held follows."""
    xml = LAWS.replace("</worldbody>", TIES).replace("</equality>", EACH_TIE)
    xml = xml.replace("<worldbody>", '<worldbody><body name="post" pos=".3 .1 0"><geom/><site name="ground"/></body>')
    mj = mujoco.MjModel.from_xml_string(xml.replace('<body pos=".05 0 0">', '<body name="held" pos=".05 0 0">'))
    solver, ties = RigidSolver(Model.from_mjmodel(mj), 16), ("pinned", "fixed", "angle", "length", "carried")
    off, models = np.array([0.0, 2e-4, 2e-2])[np.arange(16) // 5 % 3], [copy.copy(mj) for _ in range(16)]
    q, active, hand = np.tile(mj.qpos0, (16, 1)), np.tile(mj.eq_active0, (16, 1)), np.zeros((16, 3))
    q[:, : mj.nq - 7] = obeying(mujoco.MjModel.from_xml_string(LAWS), 16)
    for env, (own, by) in enumerate(zip(models, off, strict=True)):
        active[env, tie := mj.eq(ties[env % 5]).id], data = True, mujoco.MjData(mj)
        data.qpos[:] = q[env]
        mujoco.mj_forward(own, data)
        hand[env], turn = data.site("hand").xpos, Rotation.from_matrix(data.site("hand").xmat.reshape(3, 3))
        if env % 5 == 1:  # the residual is half the sine, times "torquescale"
            turn = turn * Rotation.from_rotvec([0.0, 10 * by, 0.0])
        own.body("post").quat[:] = turn.as_quat(scalar_first=True)
        own.body("post").pos[:] = hand[env] + (0.0, by if env % 5 == 0 else 0.0 if env % 5 == 1 else 0.2, 0.0)
        mujoco.mj_setConst(own, mujoco.MjData(own))
        if env % 5 in (2, 3):
            mujoco.mj_forward(own, data)
            kind = env % 5 - 2
            own.eq_data[tie, 0] = data.ten_length[kind] - own.tendon_length0[kind] + by * (10 if kind == 0 else 1)
    for name in ("body_pos", "body_quat", "eq_data"):
        solver.set_parameters(name, np.stack([getattr(own, name) for own in models]))
    solver.eq_active = active == 1
    found = InverseKinematics(solver, Target(site="hand")).solve(hand, init_qpos=q, max_samples=1, seed=0)
    for env, own in enumerate(models):
        assert np.abs(found.qpos[env].numpy() - q[env]).max() < ROUNDINGS
        left = np.linalg.norm(judged(own, q[env], active[env])[1][5:])
        by = off[env]
        assert env % 5 == 4 or abs(left - (by, np.sin(5 * by) / 2, 10 * by, by)[env % 5]) < ROUNDINGS
        assert bool(found.success[env]) == (off[env] < 1e-3 or env % 5 == 4)


def test_wrong_arguments_are_refused_by_name(tree, solver):
    here, turn = np.zeros((6, 3)), np.tile([1.0, 0, 0, 0], (6, 1))
    refuse(KeyError, "no body is named 'wirst'; did you mean wrist", here, of=tree, targets="wirst")
    refuse(KeyError, "no site is named 'top'", here, of=tree, targets=Target(site="top"))
    refuse(IndexError, "body 99: the model has body numbers 0 to", here, of=tree, targets=99)
    refuse(ValueError, "name either a body or a site", here, of=tree, targets=Target())
    refuse(ValueError, "at least one", here, of=tree, targets=[])
    refuse(ValueError, r"positions: expected shape \(n, 3\)", np.zeros((6, 2)), of=solver)
    refuse(ValueError, r"positions: expected shape \(6, 3\)", np.zeros((5, 3)), of=solver)
    refuse(ValueError, r"quaternions: expected shape \(n, 4\)", here, here, of=solver)
    refuse(ValueError, "positions: expected a sequence of 2", here, of=solver, targets=["wrist", "trunk"])
    refuse(ValueError, "has neither a position nor a quaternion", [here, None], of=solver, targets=["wrist", "trunk"])
    refuse(ValueError, r"init_qpos: expected shape \(n, 17\)", here, turn, of=solver, init_qpos=np.zeros(4))
    refuse(ValueError, "none of the dofs .* moves the body 'wrist'", here, of=tree, dofs_idx=[9])
    refuse(ValueError, "no dof moves the body 'post'", here, of=tree, targets="post")
    refuse(IndexError, "the model has dofs 0 to", here, of=tree, dofs_idx=[99])
    refuse(ValueError, "pos_mask: expected three flags", here, of=tree, pos_mask=[1, 2, 3])
    refuse(ValueError, "pos_tol=0", here, of=tree, pos_tol=0)
    refuse(ValueError, "max_samples=0", here, of=tree, max_samples=0)
    refuse(ValueError, "a model has no environments", here, of=tree, envs_idx=[0])
    refuse(IndexError, "there is no environment 6", here[:1], of=solver, envs_idx=[6])
    refuse(TypeError, "not of a str", here, of="arm.xml")


@pytest.mark.slow
def test_the_gpu_driver_finds_the_same(arm):
    """In columns, on the processor: one thread of Taichi's for each environment, to rounding."""
    mj, rng = arm.mj, np.random.default_rng(7)
    asked = np.tile(mj.key_qpos[0], (50, 1))
    asked[:, :7] = rng.uniform(*mj.jnt_range[:7].T, (50, 7))
    found = []
    for start in (run_in_columns, run_with):
        start("64")
        of = InverseKinematics(arm, Target(site="grip"), dofs_idx=ARM)
        pos, quat = of.poses(asked)
        found.append(of.solve(pos[:, 0], quat[:, 0], init_qpos=mj.key_qpos[0], seed=0))
    columns, tiles = found
    assert torch.equal(columns.success, tiles.success) and columns.success.double().mean() > 0.95
    same = columns.steps == tiles.steps  # restarts may magnify a rounding
    assert same.double().mean() > 0.9 and (columns.qpos - tiles.qpos)[same].abs().max() < 1e-6

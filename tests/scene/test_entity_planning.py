"""Inverse kinematics and paths of entities: poses by MuJoCo at what is found; planning itself has its own tests."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics.machine.runtime import init

from .arms import arm_scene, scatter


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    init(precision="64")
    return arm_scene(tmp_path_factory.mktemp("arm"), 7)


def reached(scene, entity, qpos, link, env, whole):
    """Position and quaternion of a link by MuJoCo, with the entity's coordinates (n_qs,) in a state (nq,)."""
    data = mujoco.MjData(scene.rigid_solver.model.mj)
    data.qpos[:] = whole[env]
    data.qpos[entity.q_start : entity.q_end] = qpos
    mujoco.mj_kinematics(scene.rigid_solver.model.mj, data)
    return data.xpos[link.body].copy(), data.xquat[link.body].copy(), data.xmat[link.body].reshape(3, 3).copy()


def test_links_come_to_poses_that_others_had(scene):
    whole, _ = scatter(scene)
    arm, rng = scene.get_entity("arm"), np.random.default_rng(1)
    wrist, fore, envs = arm.get_link("wrist"), arm.get_link("fore"), [4, 1]
    goals = [np.concatenate((rng.uniform(-0.5, 0.5, 3), [1, 0, 0, 0])) for _ in envs]
    poses = [reached(scene, arm, goal, wrist, env, whole) for goal, env in zip(goals, envs, strict=True)]
    point = (0.05, 0.02, 0.0)
    pos = np.array([p + m @ point for p, _, m in poses])
    quat = np.array([q for _, q, _ in poses])
    found, error = arm.inverse_kinematics(
        wrist, pos, quat, local_point=point, return_error=True, envs_idx=envs, seed=3, pos_tol=1e-7, rot_tol=1e-7
    )
    assert found.shape == (2, 7) and error.shape == (2, 6) and error.abs().max() < 1e-6
    for row, env in enumerate(envs):
        place, turn, axes = reached(scene, arm, found[row].numpy(), wrist, env, whole)
        np.testing.assert_allclose(place + axes @ point, pos[row], atol=1e-6)
        assert abs(abs(turn @ quat[row]) - 1) < 1e-10
    place = reached(scene, arm, goals[0], fore, 4, whole)[0]
    both = arm.inverse_kinematics_multilink(
        [fore, wrist], [place, None], [None, quat[0]], envs_idx=4, seed=1, pos_tol=1e-7
    )
    np.testing.assert_allclose(reached(scene, arm, both[0].numpy(), fore, 4, whole)[0], place, atol=1e-6)
    still = arm.inverse_kinematics(wrist, pos[0], dofs_idx_local=[0, 1], envs_idx=[1], max_samples=2)
    assert torch.equal(still[0, 2:], torch.tensor(whole[1, arm.q_start + 2 : arm.q_end]))
    assert np.array_equal(scene.rigid_solver.qpos.numpy(), whole)  # nothing moved
    with pytest.raises(ValueError, match="poss: expected one for each of the 2 links, got 1"):
        arm.inverse_kinematics_multilink([fore, wrist], [place])
    with pytest.raises(TypeError, match="expected a link of the scene"):
        arm.inverse_kinematics("wrist", place)
    with pytest.raises(ValueError, match="the body 'arm/wrist' has neither a position nor a quaternion"):
        arm.inverse_kinematics(wrist)
    with pytest.raises(ValueError, match=r"none of the dofs \[.*\] moves the body 'arm/wrist'"):
        arm.inverse_kinematics(wrist, place, dofs_idx_local=[])


@pytest.mark.slow  # tests/physics/planning has quicker ones of paths themselves
def test_paths_begin_at_the_state_and_end_at_the_goal(scene):
    whole, _ = scatter(scene, 2)
    arm = scene.get_entity("arm")
    goal = np.array([0.4, 0.2, -0.3, 1, 0, 0, 0])
    path, valid = arm.plan_path(goal, num_waypoints=12, envs_idx=[2, 5], ignore_collision=True, return_valid_mask=True)
    assert path.shape == (12, 2, 7) and valid.tolist() == [True, True]
    np.testing.assert_allclose(path[0], whole[[2, 5], arm.q_start : arm.q_end], atol=1e-12)
    np.testing.assert_allclose(path[-1, :, :3], np.tile(goal[:3], (2, 1)), atol=1e-12)
    with pytest.raises(TypeError, match="plan_path has no argument 'speed'"):
        arm.plan_path(goal, speed=2)

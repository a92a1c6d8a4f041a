"""Getters and setters of entities against MuJoCo and numpy, over random index sets, in batches of 1, 7, 64 and none."""

import mujoco
import numpy as np
import pytest
import torch

import tumble.scene as gs
from tumble.physics.machine.runtime import init

from .arms import arm_scene, scatter, twins

EXACT = 1e-12
"""Relative to the largest number: double precision through a chain of bodies."""


@pytest.fixture(scope="module", params=[7, 0, pytest.param(1, marks=pytest.mark.slow), 64])
def scene(request, tmp_path_factory):
    init(precision="64")
    return arm_scene(tmp_path_factory.mktemp("arm"), request.param, spacing=(3.0, 2.0))


def forms(rng, chosen, count):
    """Numbers in all forms that users write."""
    mask = np.zeros(count, bool)
    mask[chosen] = True
    ways = [list(chosen), np.array(chosen), torch.tensor(chosen), tuple(int(x) for x in chosen)]
    if sorted(chosen) == list(chosen):
        ways += [mask, torch.tensor(mask), mask.tolist()]
    if len(chosen) == 1:
        ways += [int(chosen[0]), np.int64(chosen[0]), torch.tensor(int(chosen[0]))]
    if list(chosen) == list(range(count)):
        ways += [None, slice(None), range(count)]
    if len(chosen) > 1 and list(chosen) == list(range(chosen[0], chosen[-1] + 1)):
        ways += [slice(int(chosen[0]), int(chosen[-1]) + 1)]
    return ways[rng.integers(len(ways))]


def drawn(rng, count):
    """Some of so many numbers: a few in any order, one, a stretch or all."""
    few, kind = rng.permutation(count)[: rng.integers(1, count + 1)], rng.integers(5)
    if kind == 0:
        return few
    if kind == 1:
        return np.sort(few)
    if kind == 2:
        return few[:1]
    return np.arange(count) if kind == 3 else np.arange(few.min(), few.max() + 1)


def close(mine, theirs):
    mine = np.asarray(mine)
    assert mine.shape == np.shape(theirs), (mine.shape, np.shape(theirs))
    assert np.abs(mine - theirs).max(initial=0) <= EXACT * max(1.0, np.abs(theirs).max(initial=0))


def velocity_at(model, data, body, point):
    """Linear and angular velocity of a body's point, by MuJoCo."""
    found = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, found, 0)
    return found[3:] + np.cross(found[:3], point - data.xpos[body]), found[:3]


def points_of(model, data, bodies, ref):
    """Reference points of bodies, (k, 3)."""
    if ref == "root_com":
        return data.subtree_com[model.body_rootid[bodies]]
    return (data.xpos if ref == "link_origin" else data.xipos)[bodies]


def link_states(entity, bodies, model, data):
    """What getters of links return in one environment, by MuJoCo, by the call."""
    found = {"get_links_quat": data.xquat[bodies]}
    for ref in ("link_origin", "link_com", "root_com"):
        points = found["get_links_pos", ref] = points_of(model, data, bodies, ref)
        speeds = [velocity_at(model, data, b, p)[0] for b, p in zip(bodies, points, strict=True)]
        found["get_links_vel", ref] = np.array(speeds)
    found["get_links_ang"] = np.array([velocity_at(model, data, b, data.xpos[b])[1] for b in bodies])
    base = entity.link_start + 1
    found |= {"get_pos": data.xpos[base], "get_quat": data.xquat[base]}
    found["get_vel"], found["get_ang"] = velocity_at(model, data, base, data.xpos[base])
    return found


def test_getters_of_links_are_mujocos(scene):
    """Every getter over random links and environments."""
    scatter(scene)
    pairs, rng, batch = twins(scene), np.random.default_rng(1), scene.n_envs
    for turn in range(20):
        entity = scene.entities[turn % 4]
        envs = drawn(rng, batch) if batch else np.array([0])
        links = drawn(rng, entity.n_links)
        where = {"envs_idx": forms(rng, envs, batch)} if batch else {}
        chosen, bodies = forms(rng, links, entity.n_links), entity.link_start + 1 + links
        states = [link_states(entity, bodies, *pairs[env]) for env in envs]
        for call in states[0]:
            wanted = np.array([state[call] for state in states])[slice(None) if batch else 0]
            name, options = (call[0], {"ref": call[1]}) if isinstance(call, tuple) else (call, {})
            of = [chosen] if "links" in name else []
            close(getattr(entity, name)(*of, **where, **options), wanted)
        poses = np.array([pairs[env][1].xpos[bodies[0]] for env in envs])
        close(entity.links[links[0]].get_pos(**where), poses if batch else poses[0])
        geom = entity.geoms[-1]
        poses = np.array([pairs[env][1].geom_xpos[geom.idx] for env in envs])
        close(geom.get_pos(**where), poses if batch else poses[0])
        turned = np.asarray(geom.get_quat(**where)).reshape(-1, 4)
        axes = np.array([pairs[env][1].geom_xmat[geom.idx] for env in envs])
        close([gs_matrix(quat) for quat in turned], axes.reshape(-1, 9))


def gs_matrix(quat):
    found = np.zeros(9)
    mujoco.mju_quat2Mat(found, quat)
    return found


def test_getters_of_dofs_and_coordinates_are_mujocos(scene):
    scatter(scene, 2)
    pairs, rng, batch = twins(scene), np.random.default_rng(3), scene.n_envs
    for turn in range(12):
        entity = scene.entities[1 + turn % 3]
        envs = drawn(rng, batch) if batch else np.array([0])
        where = {"envs_idx": forms(rng, envs, batch)} if batch else {}
        dofs, qs = drawn(rng, entity.n_dofs), drawn(rng, entity.n_qs)
        chosen = forms(rng, dofs, entity.n_dofs)
        at, rows = entity.dof_start + dofs, slice(None) if batch else 0
        close(
            entity.get_qpos(forms(rng, qs, entity.n_qs), **where),
            np.array([pairs[env][1].qpos[entity.q_start + qs] for env in envs])[rows],
        )
        close(entity.get_dofs_velocity(chosen, **where), np.array([pairs[env][1].qvel[at] for env in envs])[rows])
        acc = np.array([pairs[env][1].qacc for env in envs])
        force = np.array([pairs[env][1].qfrc_smooth + pairs[env][1].qfrc_constraint for env in envs])
        np.testing.assert_allclose(entity.get_dofs_acc(chosen, **where), acc[:, at][rows], rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(entity.get_dofs_force(chosen, **where), force[:, at][rows], rtol=1e-8, atol=1e-8)


def given(rng, envs, batch, *shape):
    """Numbers for every environment or for each of some, as users give them and as numpy's."""
    values = rng.standard_normal(shape if rng.integers(2) or not batch else (len(envs), *shape))
    return (values if rng.integers(2) else torch.tensor(values)), values


def test_writes_change_what_is_named_and_nothing_else(scene):
    """Random setters in a row, each beside the same write in numpy."""
    qpos, qvel = scatter(scene, 4)
    rng, batch, solver = np.random.default_rng(5), scene.n_envs, scene.rigid_solver
    for turn in range(40):
        entity = scene.entities[1 + turn % 3]
        envs = drawn(rng, batch) if batch else np.array([0])
        where = {"envs_idx": forms(rng, envs, batch)} if batch else {}
        rows, still = envs[:, None], bool(rng.integers(2))
        dofs = np.arange(entity.dof_start, entity.dof_end)

        kind = turn % 5
        if kind == 0:
            qs = drawn(rng, entity.n_qs)
            value, numbers = given(rng, envs, batch, len(qs))
            entity.set_qpos(value, forms(rng, qs, entity.n_qs), **where, zero_velocity=still)
            qpos[rows, entity.q_start + qs] = numbers
        elif kind == 1:
            some = drawn(rng, entity.n_dofs)
            value, numbers = given(rng, envs, batch, len(some))
            entity.set_dofs_velocity(value, forms(rng, some, entity.n_dofs), **where)
            qvel[rows, entity.dof_start + some] = numbers
            still = False
        elif kind == 2:
            some = drawn(rng, 3)  # the arm's scalar joints, or the place of what is free
            value, numbers = given(rng, envs, batch, len(some))
            entity.set_dofs_position(value, forms(rng, some, entity.n_dofs), **where, zero_velocity=still)
            qpos[rows, entity.q_start + some] = numbers
        elif kind == 3 and entity.is_free:
            value, numbers = given(rng, envs, batch, 3)
            entity.set_pos(value, **where, zero_velocity=still)
            qpos[rows, entity.q_start + np.arange(3)] = numbers
            value, numbers = given(rng, envs, batch, 4)
            entity.set_quat(value, **where, zero_velocity=still, skip_forward=True)
            numbers = numbers / np.linalg.norm(numbers, axis=-1, keepdims=True)
            qpos[rows, entity.q_start + np.arange(3, 7)] = numbers
        else:
            entity.zero_all_dofs_velocity(**where)
            still = True
        if still:
            qvel[rows, dofs] = 0
        np.testing.assert_allclose(solver.qpos.numpy(), qpos, rtol=0, atol=1e-15)
        np.testing.assert_array_equal(solver.qvel.numpy(), qvel)


def test_positions_of_turning_dofs_are_angles_about_fixed_axes(scene):
    """Of a free joint about the world's axes, as morphs' euler; what is not named keeps its angle."""
    scatter(scene, 6)
    box, rng, batch = scene.get_entity("box"), np.random.default_rng(7), scene.n_envs
    angles = rng.uniform(-1.2, 1.2, (max(1, batch), 3))
    box.set_dofs_position(angles if batch else angles[0], [3, 4, 5])
    for env, (about_x, about_y, about_z) in enumerate(angles):
        quat = gs.morphs.Box(size=(1, 1, 1), euler=np.degrees([about_x, about_y, about_z])).quat
        found = scene.rigid_solver.qpos[env, box.q_start + 3 : box.q_start + 7].numpy()
        np.testing.assert_allclose(found * np.sign(found[0] * quat[0]), quat, atol=1e-14)
    close(
        box.get_dofs_position([5, 3, 0]),
        torch.cat((torch.tensor(angles[:, [2, 0]]), box.get_qpos([0]).reshape(-1, 1)), 1)
        .numpy()
        .reshape(*([batch] if batch else []), 3),
    )
    box.set_dofs_position(0.25, [4])
    angles[:, 1] = 0.25
    close(box.get_dofs_position([3, 4, 5]), angles if batch else angles[0])


def test_environments_are_drawn_side_by_side_and_simulated_at_the_origin(scene):
    qpos, _ = scatter(scene, 8)
    box, batch = scene.get_entity("box"), scene.n_envs
    offsets = scene.world.offsets.numpy()
    drawn_at = qpos[:, box.q_start : box.q_start + 3] + offsets
    close(box.get_pos(relative=False), drawn_at if batch else drawn_at[0])
    close(box.get_links_pos(relative=False)[..., 0, :], drawn_at if batch else drawn_at[0])
    box.set_pos((1.0, 2.0, 3.0), relative=False)
    np.testing.assert_allclose(
        scene.rigid_solver.qpos[:, box.q_start : box.q_start + 3], [1, 2, 3] - offsets, atol=1e-14
    )
    if batch == 7:
        assert np.abs(offsets).max() == 3.0

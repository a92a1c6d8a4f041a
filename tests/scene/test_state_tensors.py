"""State tensors by names: shapes as declared, and MuJoCo's numbers with items first."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver
from tumble.physics.machine.runtime import init
from tumble.physics.solver.user.info_members import INFO
from tumble.physics.solver.user.state_members import STATE
from tumble.physics.solver.user.state_table import table

from .arms import arm_scene, scatter, twins

EXACT = 1e-9
"""Relative to the largest number: double precision, and a solver of contacts that has converged."""


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    init(precision="64")
    scene = arm_scene(tmp_path_factory.mktemp("arm"), 7)
    scatter(scene)
    arm = scene.get_entity("arm")
    arm.set_dofs_kp(5.0)
    arm.control_dofs_position_velocity(0.3, 0.7, [0])
    arm.control_dofs_velocity(-0.2, [1])
    arm.control_dofs_force(0.1, [2])
    return scene


def test_every_member_has_the_shape_that_it_declares(scene):
    solver, mj = scene.rigid_solver, scene.rigid_solver.model.mj
    sizes = {
        "links": mj.nbody - 1,
        "joints": mj.njnt,
        "dofs": mj.nv,
        "geoms": mj.ngeom,
        "environments": 7,
        "equalities": 0,
    }
    sizes |= {"vgeoms": len(solver.model.geometry.vgeoms.geom), "slots": solver.contacts.mask.shape[1]}
    for group, members in (STATE | INFO).items():
        for name, member in members.items():
            words = [word.strip() for word in member.shape.strip("()").split(",")]
            wanted = tuple(sizes[word] if word in sizes else int(word) for word in words)
            assert getattr(getattr(solver, group), name).shape == wanted, (group, name)
            assert member.doc and member.unit
    assert solver.dyn_state.links.pos.shape == solver.links_state.pos.shape
    assert solver.constraints.qf_constraint.shape == (mj.nv, 7)


def test_states_are_mujocos(scene):
    solver, mj = scene.rigid_solver, scene.rigid_solver.model.mj
    targets = solver.dofs_state.ctrl_pos[:, 2], solver.dofs_state.ctrl_vel[:, 2], solver.dofs_state.ctrl_force[:, 2]
    assert [t[:3].tolist() for t in targets] == [[0.3, 0, 0], [0.7, -0.2, 0], [0, 0, 0.1]]
    control = solver.dofs_state.qf_actuator.to_numpy()

    def push(model, data, env):
        data.qfrc_applied[:] = control[:, env]

    pairs = twins(scene, push)
    for model, data in pairs:
        mujoco.mj_rnePostConstraint(model, data)

    def quats(mats):
        found = np.zeros((len(mats), 4))
        for quat, mat in zip(found, mats, strict=True):
            mujoco.mju_mat2Quat(quat, mat.ravel())
        return found

    def velocity(model, data):
        found = np.zeros((model.nbody, 6))
        for body in range(model.nbody):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, found[body], 0)
        return found[1:]

    for group, name, read in (
        ("links_state", "pos", lambda m, d: d.xpos[1:]),
        ("links_state", "quat", lambda m, d: d.xquat[1:]),
        ("links_state", "i_pos", lambda m, d: d.xipos[1:]),
        ("links_state", "vel", lambda m, d: velocity(m, d)[:, 3:]),
        ("links_state", "ang", lambda m, d: velocity(m, d)[:, :3]),
        ("links_state", "cd_vel", lambda m, d: d.cvel[1:, 3:]),
        ("links_state", "cacc_lin", lambda m, d: d.cacc[1:, 3:]),
        ("links_state", "cfrc_ang", lambda m, d: d.cfrc_int[1:, :3]),
        ("links_state", "cinr", lambda m, d: d.cinert[1:]),
        ("links_state", "crb", lambda m, d: d.crb[1:]),
        ("links_state", "root_COM", lambda m, d: d.subtree_com[m.body_rootid[1:]]),
        ("links_state", "mass_sum", lambda m, d: m.body_subtreemass[1:]),
        ("joints_state", "xanchor", lambda m, d: d.xanchor),
        ("dofs_state", "vel", lambda m, d: d.qvel),
        ("dofs_state", "acc", lambda m, d: d.qacc),
        ("dofs_state", "qf_bias", lambda m, d: d.qfrc_bias),
        ("dofs_state", "qf_passive", lambda m, d: d.qfrc_passive),
        ("dofs_state", "qf_constraint", lambda m, d: d.qfrc_constraint),
        ("dofs_state", "cdof_ang", lambda m, d: d.cdof[:, :3]),
        ("geoms_state", "pos", lambda m, d: d.geom_xpos),
        ("links_info", "inertial_mass", lambda m, d: m.body_mass[1:]),
        ("dofs_info", "armature", lambda m, d: m.dof_armature),
        ("dofs_info", "invweight", lambda m, d: m.dof_invweight0),
        ("geoms_info", "friction", lambda m, d: m.geom_friction),
    ):
        wanted = np.stack([read(*pair) for pair in pairs], 1)
        found = getattr(getattr(solver, group), name).to_numpy()
        assert found.shape == wanted.shape, name
        assert np.abs(found - wanted).max() <= EXACT * max(1.0, np.abs(wanted).max()), (group, name)
    for group, name in (("links_state", "i_quat"), ("geoms_state", "quat")):
        mats = [d.ximat[1:] if group == "links_state" else d.geom_xmat for _, d in pairs]
        wanted = np.stack([quats(each.reshape(-1, 3, 3)) for each in mats], 1)
        found = getattr(getattr(solver, group), name).to_numpy()
        found = found * np.sign((found * wanted).sum(-1, keepdims=True))
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    infos = solver.links_info
    assert infos.parent_idx.to_numpy().tolist() == (mj.body_parentid[1:] - 1).tolist()
    for kind, owner in (("dof", mj.dof_bodyid), ("joint", mj.jnt_bodyid), ("geom", mj.geom_bodyid)):
        start, end = (getattr(infos, f"{kind}_{side}").to_numpy() for side in ("start", "end"))
        for link in range(mj.nbody - 1):
            assert np.flatnonzero(owner == link + 1).tolist() == list(range(start[link], end[link]))
    assert infos.q_end[-1] == mj.nq and solver.joints_info.q_end[-1] == mj.nq


def test_entities_and_state_tensors_agree(scene):
    solver = scene.rigid_solver
    for entity in scene.entities:
        links = slice(entity.link_start, entity.link_end)
        assert torch.equal(solver.links_state.acc[links].transpose(0, 1), entity.get_links_acc())
        assert torch.equal(
            solver.links_state.contact_force[links].transpose(0, 1), entity.get_links_net_contact_force()
        )
        dofs = slice(entity.dof_start, entity.dof_end)
        assert torch.equal(solver.dofs_state.pos[dofs].transpose(0, 1), entity.get_dofs_position())
        assert torch.equal(solver.dofs_info.limit[dofs, :, 0].T, entity.get_dofs_limit()[0])
        if entity.name != "arm":
            bounds = entity.get_AABB()
            assert torch.equal(solver.geoms_state.aabb_min[entity.geom_start], bounds[:, 0])


def test_a_plain_solver_has_them_and_wrong_names_say_what_there_is():
    init(precision="64")
    solver = RigidSolver(
        Model.from_mjcf("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"), 2
    )
    before = solver.links_state.pos.to_torch()
    solver.step(5)
    assert (solver.links_state.pos.to_torch() < before)[0, :, 2].all()
    assert torch.equal(
        solver.links_state.pos[0], solver.qpos[:, :3]
    )  # of the present state, not of the last evaluation
    with pytest.raises(AttributeError, match="links_state has no member 'position'; there are pos, quat"):
        solver.links_state.position  # noqa: B018
    assert "pos" in dir(solver.links_state) and "links_state.pos" in repr(solver.links_state.pos)


def test_the_page_is_made_from_the_declarations():
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "state_tensors.md"
    assert page.read_text("utf-8") == table()

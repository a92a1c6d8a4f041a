"""Controllers, Jacobians, mass matrices, energies, contacts, wrenches and physical numbers of entities."""

import inspect

import mujoco
import numpy as np
import pytest
import torch

import tumble.scene as gs
from tumble.physics.machine.runtime import init
from tumble.scene.entity.entity import RigidEntity
from tumble.scene.entity.geoms import RigidGeom
from tumble.scene.entity.handles import RigidJoint, RigidLink

from ..cases import cases
from .arms import arm_scene, scatter, twins

EXACT = 1e-10
"""Relative to the largest number: double precision through a chain of bodies, and a solver of contacts to 1e-8."""
SOLVED = 1e-6
"""Of what the solver of contacts has iterated: its tolerance is 1e-8 of a scaled cost, as MuJoCo's is."""


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    init(precision="64")
    return arm_scene(tmp_path_factory.mktemp("arm"), 7)


@pytest.fixture(autouse=True)
def again(scene):
    yield
    scene.reset()


@pytest.fixture
def arm(scene):
    return scene.get_entity("arm")


def close(mine, theirs, exact=EXACT):
    mine, theirs = np.asarray(mine), np.asarray(theirs)
    assert mine.shape == theirs.shape, (mine.shape, theirs.shape)
    assert np.abs(mine - theirs).max(initial=0) <= exact * max(1.0, np.abs(theirs).max(initial=0))


def test_controllers_follow_their_laws(scene, arm):
    """Laws in numpy, whose forces MuJoCo is given: random modes, gains and ranges in every dof and environment."""
    qpos, qvel = scatter(scene)
    rng, nv = np.random.default_rng(1), arm.n_dofs
    kp, kv, target, speed = rng.uniform(0.5, 9, (4, 7, nv))
    high = rng.uniform(2, 9, (7, nv))
    arm.set_dofs_kp(kp)
    arm.set_dofs_kv(kv)
    arm.set_dofs_force_range(-high, high)
    mode = rng.integers(0, 5, (7, nv))
    mode[:, 3:] = rng.integers(0, 3, (7, nv - 3))
    for env in range(7):
        for dof in range(nv):
            ask = [
                lambda *a: None,
                lambda t, v, *a: arm.control_dofs_force(t, *a),
                lambda t, v, *a: arm.control_dofs_velocity(v, *a),
                lambda t, v, *a: arm.control_dofs_position(t, *a),
                arm.control_dofs_position_velocity,
            ][mode[env, dof]]
            ask(target[env, dof], speed[env, dof], [dof], [env])
    at = slice(arm.dof_start, arm.dof_end)
    q, v = qpos[:, arm.q_start :][:, [0, 1, 2, 0, 0, 0]], qvel[:, at]
    laws = [0 * kp, target, kv * (speed - v), kp * (target - q) - kv * v, kp * (target - q) + kv * (speed - v)]
    law = np.clip(np.choose(mode, laws), -high, high)
    law[:, 2] = np.clip(law[:, 2], -3, 4)  # the joint's own range
    assert (np.abs(law) == high).any() and set(mode.ravel()) == set(range(5))
    close(arm.get_dofs_control_force(), law)
    close(arm.get_dofs_control_force([4, 0], [5, 2]), law[[5, 2]][:, [4, 0]])

    def push(model, data, env):
        data.qfrc_applied[at] = law[env]

    pairs = twins(scene, push)
    close(arm.get_dofs_force(), [d.qfrc_smooth[at] + d.qfrc_constraint[at] for _, d in pairs], SOLVED)
    close(arm.get_dofs_acc(), [d.qacc[at] for _, d in pairs], SOLVED)
    close(arm.get_dofs_kp([1, 2], [3]), kp[3:4, [1, 2]])
    close(arm.get_dofs_act_bias()[2], -kv)
    close(arm.get_dofs_force_range()[0], np.maximum(-high, [-np.inf, -np.inf, -3, *[-np.inf] * (nv - 3)]))


def test_jacobians_masses_and_their_factors_are_mujocos(scene, arm):
    scatter(scene, 2)
    pairs, rng = twins(scene), np.random.default_rng(3)
    for entity in scene.entities[1:]:
        at = slice(entity.dof_start, entity.dof_end)
        for link in entity.links:
            for local in (None, rng.standard_normal(3), rng.standard_normal((7, 3))):
                rows = []
                for env, (model, data) in enumerate(pairs):
                    jac, turn = np.zeros((3, model.nv)), np.zeros((3, model.nv))
                    offset = np.zeros(3) if local is None else np.broadcast_to(local, (7, 3))[env]
                    point = data.xpos[link.body] + data.xmat[link.body].reshape(3, 3) @ offset
                    mujoco.mj_jac(model, data, jac, turn, point, link.body)
                    rows.append(np.concatenate((jac, turn))[:, at])
                close(entity.get_jacobian(link, local), rows)
        masses = []
        for model, data in pairs:
            full = np.zeros((model.nv, model.nv))
            mujoco.mj_fullM(model, data, full)
            masses.append(full[at, at])
        close(entity.get_mass_mat(), masses)
        lower, inverse = entity.get_mass_mat([6, 1], decompose=True)
        assert torch.equal(torch.triu(lower, 1), torch.zeros_like(lower))
        close(lower.diagonal(dim1=1, dim2=2), np.ones((2, entity.n_dofs)))
        close(lower.transpose(1, 2) @ torch.diag_embed(1 / inverse) @ lower, np.array(masses)[[6, 1]])


def test_energies_add_up_to_mujocos(scene):
    scatter(scene, 4)
    pairs = twins(scene)
    for model, data in pairs:
        mujoco.mj_energyPos(model, data)
        mujoco.mj_energyVel(model, data)
    close(sum(e.get_potential_energy() for e in scene.entities), [d.energy[0] for _, d in pairs])
    close(sum(e.get_kinetic_energy() for e in scene.entities), [d.energy[1] for _, d in pairs])
    box, (model, data) = scene.get_entity("box"), pairs[3]
    weight = model.body_mass[box.base_link.body] * 9.81 * data.xipos[box.base_link.body, 2]
    close(box.get_potential_energy([3]), [weight])
    close(box.get_total_energy(), box.get_potential_energy() + box.get_kinetic_energy())


def test_accelerations_are_those_of_mujocos_accelerometers_without_gravity(scene, arm):
    scatter(scene, 5)
    for entity in (arm, scene.get_entity("box")):
        linear, angular = [], []
        for model, data in twins(scene):
            mujoco.mj_rnePostConstraint(model, data)
            found = np.zeros((entity.n_links, 6))
            for k, link in enumerate(entity.links):
                mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_XBODY, link.body, found[k], 0)
            linear.append(found[:, 3:] + model.opt.gravity)
            angular.append(found[:, :3])
        close(entity.get_links_acc(), linear, SOLVED)
        close(entity.get_links_acc_ang(), angular, SOLVED)


def test_a_wrench_lasts_one_step_and_calls_add_up(scene, arm):
    """MuJoCo's mj_applyFT at every point of reference, in the world's axes and the link's."""
    scatter(scene, 6)
    rng, solver = np.random.default_rng(7), scene.rigid_solver
    pairs, total = twins(scene), np.zeros((7, solver.model.mj.nv))
    for ref, local, at in (
        ("link_origin", False, None),
        ("link_com", True, None),
        ("root_com", False, None),
        ("link_origin", True, "pos"),
        ("link_com", False, "pos"),
    ):
        force, torque, pos = rng.standard_normal((3, 2, 2, 3))
        arm.apply_links_external_wrench(force, torque, [1, 3], [4, 2], ref=ref, local=local, pos=pos if at else None)
        for row, env in enumerate([4, 2]):
            model, data = pairs[env]
            for k, body in enumerate(arm.link_start + 1 + np.array([1, 3])):
                turn = data.xmat[body].reshape(3, 3) if local else np.eye(3)
                point = {
                    "link_origin": data.xpos[body],
                    "link_com": data.xipos[body],
                    "root_com": data.subtree_com[model.body_rootid[body]],
                }[ref]
                if at:
                    point = data.xpos[body] + turn @ pos[row, k] if local else pos[row, k]
                qfrc = np.zeros(model.nv)
                mujoco.mj_applyFT(model, data, turn @ force[row, k], turn @ torque[row, k], point, body, qfrc)
                total[env] += qfrc
    solver.forward_changed()
    close(solver.get("qfrc_external"), total)
    scene.get_entity("ball").base_link.apply_external_force((0, 0, 2.0), [1])
    assert solver.xfrc_applied[1].any() and not solver.xfrc_applied[0].any()
    scene.step()
    assert not solver.xfrc_applied.any()


def test_contacts_and_their_sums_are_mujocos(scene, arm):
    """The ball lies on the floor; in two environments the box does, and in one it lies on the ball."""
    scatter(scene, 8)
    ball, box, floor = (scene.get_entity(name) for name in ("ball", "box", "floor"))
    box.set_pos((0.0, 2.0, 0.199), [0, 3])
    box.set_quat((1.0, 0.0, 0.0, 0.0), [0, 3, 5])
    box.set_pos((0.0, -2.0, 0.385), [5])
    ball.set_pos((0.0, -2.0, 0.09), [5])
    pairs, solver = twins(scene), scene.rigid_solver
    totals, counts = np.zeros((7, solver.model.mj.nbody, 3)), np.zeros(7, int)
    for env, (model, data) in enumerate(pairs):
        for k in range(data.ncon):
            wrench = np.zeros(6)
            mujoco.mj_contactForce(model, data, k, wrench)
            push = data.contact[k].frame.reshape(3, 3).T @ wrench[:3]
            for side, sign in ((0, -1), (1, 1)):
                totals[env, model.geom_bodyid[data.contact[k].geom[side]]] += sign * push
        counts[env] = sum(box.geom_start in c.geom for c in data.contact[: data.ncon])
    for entity in scene.entities:
        close(entity.get_links_net_contact_force(), totals[:, entity.link_start + 1 : entity.link_end + 1], SOLVED)
    close(box.get_links_net_contact_force([5, 0]), totals[[5, 0], box.link_start + 1 :][:, :1], SOLVED)
    found = box.get_contacts()
    assert (
        found["valid_mask"].sum(1).tolist() == counts.tolist() and counts[0] >= 4 and counts[5] >= 1 and not counts[1]
    )
    padded = box.get_contacts(is_padded=True)
    assert padded["position"].shape == (7, solver.model.max_contacts, 3)
    for name, numbers in found.items():
        assert (
            torch.equal(padded[name][:, : counts.max()], numbers) and not padded["valid_mask"][:, counts.max() :].any()
        )
    sign = torch.where(found["geom_b"] == box.geom_start, 1.0, 0.0)[..., None]
    mine = found["force_b"] * sign + found["force_a"] * (1 - sign)
    close((mine * found["valid_mask"][..., None]).sum(1), totals[:, box.link_start + 1], SOLVED)
    with_ball = box.get_contacts(with_entity=ball)["valid_mask"].sum(1)
    assert with_ball.nonzero().ravel().tolist() == [5]
    assert not arm.get_contacts(with_entity=arm)["valid_mask"].any()
    assert torch.equal(floor.get_contacts(with_entity=ball)["valid_mask"].sum(1) > 0, torch.ones(7, dtype=bool))
    assert box.detect_collision(5).tolist() == [[box.geom_start, ball.geom_start]] or box.detect_collision(
        5
    ).tolist() == [[ball.geom_start, box.geom_start]]
    assert box.detect_collision(1).shape == (0, 2)
    assert (found["link_a"][~found["valid_mask"]] == -1).all()


def test_bounds_hold_all_vertices_and_touch_them(scene, arm):
    scatter(scene, 9)
    box = scene.get_entity("box")
    verts = box.get_verts()
    wanted = torch.stack((verts.amin(1), verts.amax(1)), 1)
    for found in (box.get_AABB(), box.get_aabb(), box.get_vAABB(), box.base_link.get_AABB(), box.geoms[0].get_AABB()):
        close(found, wanted)
    close(box.get_AABB([3, 1]), wanted[[3, 1]])
    rod, (_, data) = next(geom for geom in arm.geoms if geom.name == "rod"), twins(scene)[2]
    axis = data.geom_xmat[rod.idx].reshape(3, 3)[:, 2]
    half = np.abs(axis) * 0.2 + 0.04
    close(rod.get_AABB()[2], [data.geom_xpos[rod.idx] - half, data.geom_xpos[rod.idx] + half])
    mesh = box.geoms[0].get_trimesh()
    assert mesh.volume == pytest.approx(0.2 * 0.3 * 0.4) and rod.get_trimesh().volume == pytest.approx(
        np.pi * 0.04**2 * 0.4 + 4 / 3 * np.pi * 0.04**3, rel=0.02
    )


def test_joints_know_where_they_are(scene, arm):
    scatter(scene, 10)
    pairs = twins(scene)
    for entity in scene.entities:
        for joint in entity.joints:
            close(joint.get_anchor_pos(), [d.xanchor[joint.idx] for _, d in pairs])
            if joint.type in ("hinge", "slide"):
                close(joint.get_anchor_axis([4]), [pairs[4][1].xaxis[joint.idx]])
            close(joint.init_qpos, pairs[0][0].qpos0[joint.qs_idx])
    joint = arm.get_joint("turn")
    joint.set_sol_params([0.03, 0.9, 0.8, 0.9, 0.002, 0.4, 3.0])
    close(joint.get_sol_params()[6], [0.03, 0.9, 0.8, 0.9, 0.002, 0.4, 3.0])
    close(arm.geoms[0].get_sol_params()[0], [0.02, 1, 0.9, 0.95, 0.001, 0.5, 2])


def test_physical_numbers_of_environments_make_mujocos_motion(scene, arm):
    """Every setter over random parts and environments; MuJoCo gets the same numbers, and the accelerations agree."""
    rng, box = np.random.default_rng(11), scene.get_entity("box")
    scatter(scene, 12)
    envs, model = np.array([5, 1]), scene.rigid_solver.model.mj
    dofs, bodies = arm.dof_start + np.array([2, 0, 1]), arm.link_start + 1 + np.array([3, 1])
    drawn = {name: rng.uniform(0.1, 2, (2, 3)) for name in ("damping", "armature", "stiffness")}
    for name, values in drawn.items():
        getattr(arm, f"set_dofs_{name}")(values, [2, 0, 1], envs)
    arm.set_dofs_frictionloss([[0.7], [0.2]], [2], envs)
    arm.set_dofs_limit(-0.3, 0.4, [0], [5])
    mass, com = rng.uniform(0.2, 2, (2, 2)), rng.uniform(-0.05, 0.05, (2, 2, 3))
    rods = rng.standard_normal((2, 2, 6, 3)) * 0.1
    inertia = (rods**2).sum((-1, -2))[..., None, None] * np.eye(3) - np.swapaxes(rods, -1, -2) @ rods  # of six points
    arm.set_links_mass(mass, [3, 1], envs)
    arm.set_links_COM(com, [3, 1], envs)
    arm.set_links_inertia(inertia, [3, 1], envs)
    box.set_mass([3.0, 4.0], envs)
    box.set_friction_ratio(0.5, None, [5])
    scene.get_entity("ball").set_friction(0.3)

    def change(own, data, env):
        ball = scene.get_entity("ball").geom_start
        own.geom_friction[ball, 0] = 0.3
        if env not in envs:
            return
        row = list(envs).index(env)
        own.dof_damping[dofs], own.dof_armature[dofs] = drawn["damping"][row], drawn["armature"][row]
        own.jnt_stiffness[own.dof_jntid[dofs]] = drawn["stiffness"][row]
        own.dof_frictionloss[dofs[0]] = [0.7, 0.2][row]
        own.body_mass[bodies], own.body_ipos[bodies] = mass[row], com[row]
        for k, body in enumerate(bodies):
            moments, axes = np.linalg.eigh(inertia[row, k])
            axes = axes * np.sign(np.linalg.det(axes))
            own.body_inertia[body] = moments
            mujoco.mju_mat2Quat(own.body_iquat[body], axes.ravel())
        base = box.link_start + 1
        own.body_inertia[base] *= [3.0, 4.0][row] / own.body_mass[base]
        own.body_mass[base] = [3.0, 4.0][row]
        if env == 5:
            own.jnt_range[own.dof_jntid[dofs[1]]] = [-0.3, 0.4]
            own.geom_friction[box.geom_start, 0] *= 0.5
        mujoco.mj_setConst(own, mujoco.MjData(own))

    pairs = twins(scene, change)
    close(arm.get_dofs_acc(), [d.qacc[arm.dof_start : arm.dof_end] for _, d in pairs], SOLVED)
    close(box.get_dofs_acc(), [d.qacc[box.dof_start : box.dof_end] for _, d in pairs], SOLVED)
    close(arm.get_links_inertia([3, 1], envs), inertia)
    close(arm.get_links_COM([3], [1]), com[1:, :1])
    close(arm.get_links_mass([1, 3], [5]), mass[:1, ::-1])
    close(box.get_mass(), [3.0 if e == 5 else 4.0 if e == 1 else model.body_mass[box.link_start + 1] for e in range(7)])
    close(arm.get_dofs_damping([0], [1, 0]), [[drawn["damping"][1, 1]], [model.dof_damping[arm.dof_start]]])
    low, high = arm.get_dofs_limit([0, 1], [5, 0])
    assert low.tolist() == [[-0.3, -np.inf], [-2, -np.inf]] and high.tolist() == [[0.4, np.inf], [2, np.inf]]
    close(arm.get_links_invweight(None, [5]), [pairs[5][0].body_invweight0[arm.link_start + 1 : arm.link_end + 1]])
    close(arm.get_dofs_invweight(None, [5]), [pairs[5][0].dof_invweight0[arm.dof_start : arm.dof_end]])
    assert scene.get_entity("ball").geoms[0].get_friction() == 0.3
    friction = scene.rigid_solver.get_parameters("geom_friction")[:, box.geom_start, 0]
    assert friction.tolist() == [1.0 if env != 5 else 0.5 for env in range(7)]
    arm.links[0].set_mass(2.0)
    close(arm.links[0].get_mass(), np.full(7, 2.0))


SOFT = [0.03, 0.9, 0.8, 0.9, 0.002, 0.4, 2.0]
SETTERS = {
    RigidEntity: {
        "set_dofs_stiffness": ([3.0], [1]),
        "set_dofs_damping": ([0.3, 0.2], [0, 2]),
        "set_dofs_armature": ([0.05], [2]),
        "set_dofs_frictionloss": ([0.7], [2]),
        "set_dofs_limit": ([-0.3], [0.4], [0]),
        "set_dofs_kp": ([20.0], [0]),
        "set_dofs_kv": ([2.0], [0]),
        "set_dofs_force_range": ([-5.0], [5.0], [0]),
        "set_dofs_position": ([0.1], [0]),
        "set_dofs_velocity": ([0.1], [0]),
        "set_qpos": ([0.2], [0]),
        "set_mass": (5.0,),
        "set_links_mass": ([0.7], [2]),
        "set_links_inertial_mass": ([0.8], [1]),
        "set_mass_shift": ([0.2], [3]),
        "set_links_COM": ([[0.1, 0.0, 0.02]], [2]),
        "set_COM_shift": ([[0.0, 0.01, 0.0]], [3]),
        "set_links_inertia": ([np.diag([0.02, 0.03, 0.025])], [1]),
        "set_friction_ratio": ([0.5], [3]),
        "set_friction": (0.8,),
        "set_friction_torsional": (0.01,),
        "set_friction_rolling": (0.001,),
        "set_pos": ((0.4, -0.3, 0.1),),
        "set_quat": ((0.9, 0.1, 0.2, 0.3),),
    },
    RigidLink: {
        "set_mass": (0.6,),
        "set_COM": ((0.0, 0.02, 0.0),),
        "set_inertia": (np.diag([0.01, 0.02, 0.015]),),
        "set_friction": (0.7,),
        "set_friction_torsional": (0.02,),
        "set_friction_rolling": (0.002,),
    },
    RigidJoint: {"set_sol_params": (SOFT,)},
    RigidGeom: {
        "set_friction": (0.6,),
        "set_friction_torsional": (0.03,),
        "set_friction_rolling": (0.003,),
        "set_sol_params": (SOFT,),
    },
}
"""Every setter of the four classes, with arguments for the arm and its parts."""


@pytest.mark.parametrize("n_envs", [0, 4])
def test_a_setter_for_all_environments_needs_no_other_kernel(n_envs, scene, tmp_path):
    """Whatever its kind. The motion is, to the bit, that of a scene whose environments are each given these numbers."""
    assert {of: set(calls) for of, calls in SETTERS.items()} == {
        of: {name for name in dir(of) if name.startswith("set_")} for of in SETTERS
    }
    shared, own = arm_scene(tmp_path, n_envs), arm_scene(tmp_path, 4)
    kernel = shared.rigid_solver._driver._launches.kernel
    shared.rigid_solver.set_state(*(part[: max(1, n_envs)] for part in scatter(own)))
    for one, envs in ((shared, None), (own, range(4))):
        one.step()  # what is compiled first is the code without numbers by environment
        arm = one.get_entity("arm")
        targets = {RigidEntity: arm, RigidLink: arm.links[2], RigidJoint: arm.joints[1], RigidGeom: arm.geoms[3]}
        for of, calls in SETTERS.items():
            for name, arguments in calls.items():
                setter = getattr(targets[of], name)
                each = envs is not None and "envs_idx" in inspect.signature(setter).parameters
                setter(*arguments, **({"envs_idx": envs} if each else {}))
                one.step()
                if one is shared:
                    assert one.rigid_solver._driver._launches.kernel is kernel, f"{of.__name__}.{name}"
        assert (one is shared) == (one.rigid_solver._driver._launches.kernel is kernel)
    one, four = (each.rigid_solver.qpos for each in (shared, own))
    assert torch.equal(one, four[: len(one)])


def test_a_fixed_entity_is_mounted_elsewhere_where_it_is_named(scene, arm):
    before = arm.get_links_pos()
    arm.set_pos((1.0, 2.0, 0.5), [2, 4])
    arm.set_quat((0.0, 0.0, 0.0, 2.0), [4])
    assert arm.get_pos([2, 4]).tolist() == [[1, 2, 0.5]] * 2 and torch.equal(arm.get_pos([0]), before[[0], 0])
    assert arm.get_quat([4]).tolist() == [[0, 0, 0, 1]]
    moved = arm.get_links_pos(None, [2]) - before[[2]]
    close(moved, np.broadcast_to(moved[:, :1], moved.shape))
    arm.set_pos(before[:, 0])
    arm.set_quat(scene.rigid_solver.model.mj.body_quat[arm.link_start + 1])


WRONG = {
    "a shape": (
        lambda a: a.set_dofs_position([1, 2], [0]),
        ValueError,
        r"position: expected shape \(7, 1\) or \(1,\), got \(2,\)",
    ),
    "a number that is none": (lambda a: a.control_dofs_force([np.nan, 0], [0, 1]), ValueError, r"force\[0\] is nan"),
    "a gain that is none": (lambda a: a.set_dofs_kp(np.inf), ValueError, "kp is inf: it must be finite"),
    "a dof": (
        lambda a: a.get_dofs_velocity([6]),
        IndexError,
        "'arm': dofs_idx_local: there is no 6; they are numbered 0 to 5",
    ),
    "a negative link": (lambda a: a.get_links_pos([-1]), IndexError, "links_idx_local: there is no -1"),
    "a name for a number": (lambda a: a.get_dofs_kp(["turn"]), IndexError, "expected whole numbers, a slice or a mask"),
    "a mask": (lambda a: a.get_dofs_kp([True]), IndexError, r"a mask must have shape \(6,\)"),
    "an environment": (lambda a: a.get_qpos(None, [7]), IndexError, "there is no environment 7"),
    "a ball's position": (
        lambda a: a.control_dofs_position(0.0),
        ValueError,
        "dof 3 of entity 'arm' belongs to the ball joint 'arm/wrist'",
    ),
    "a limit that is none": (
        lambda a: a.set_dofs_limit(0, 1, [1]),
        ValueError,
        "dof 1 of entity 'arm' has no limits in its file",
    ),
    "friction where none is": (
        lambda a: a.set_dofs_frictionloss(1.0, [0]),
        ValueError,
        "dof_frictionloss.* the model has none there",
    ),
    "a negative mass": (lambda a: a.set_links_mass(-1.0), ValueError, "body_mass.* must not be negative"),
    "two springs of a joint": (lambda a: a.set_dofs_stiffness([1, 2], [3, 4]), ValueError, "have one spring"),
    "an inertia": (
        lambda a: a.set_links_inertia(np.diag([3.0, 1, 1])[None], [1]),
        ValueError,
        "a principal moment is above",
    ),
    "a reference": (lambda a: a.get_links_pos(ref="com"), ValueError, "ref='com': it is one of 'link_origin'"),
    "a link of another": (
        lambda a: a.get_jacobian(a.scene.get_entity("box").links[0]),
        TypeError,
        "a link of entity 'arm'",
    ),
    "an entity": (lambda a: a.get_contacts(with_entity="box"), TypeError, "with_entity='box'"),
    "no length": (lambda a: a.scene.get_entity("box").set_quat((0, 0, 0, 0)), ValueError, "'box' has no length"),
    "a late attachment": (
        lambda a: a.attach(a.scene.get_entity("box")),
        gs.SceneOrderError,
        r"before scene\.build\(\)",
    ),
    "verts of round shapes": (lambda a: a.scene.get_entity("ball").get_verts(), ValueError, "'ball' has no vertices"),
}


@cases("what", WRONG)
def test_wrong_calls_say_what_is_wrong_and_change_nothing(scene, arm, what):
    call, error, message = WRONG[what]
    before = scene.get_state()
    with pytest.raises(error, match=message):
        call(arm)
    after = scene.get_state()
    assert all(torch.equal(after[name], numbers) for name, numbers in before.items())

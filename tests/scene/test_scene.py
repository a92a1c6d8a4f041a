"""A scene of four entities: names and numbers of their parts, environments, and what comes too early or too late."""

import numpy as np
import pytest
import torch

import tumble.scene as gs
from tumble.physics.machine.runtime import init

from ..cases import cases

KINDS = ("link", "joint", "q", "dof", "geom", "vgeom")


@pytest.fixture(scope="module")
def scene():
    """A plane, a turned box, an ant from its file and a sphere, in three environments."""
    init(precision="64")
    scene = gs.Scene(sim_options=gs.options.SimOptions(dt=0.01, substeps=2))
    scene.add_entity(gs.morphs.Plane())
    scene.add_entity(gs.morphs.Box(size=(0.2, 0.3, 0.4), pos=(0, 0, 1), euler=(10, 20, 30)), name="box")
    scene.add_entity(gs.morphs.MJCF(file="ant.xml", pos=(2, 0, 0)), name="ant")
    scene.add_entity(gs.morphs.Sphere(radius=0.1, pos=(0, 1, 1)), gs.materials.Rigid(rho=500), name="ball")
    scene.build(n_envs=3)
    return scene


@pytest.fixture(autouse=True)
def again(scene):
    yield
    scene.reset()


def test_ranges_follow_one_another_and_leave_nothing_out(scene):
    mj = scene.rigid_solver.model.mj
    totals = {"link": mj.nbody - 1, "joint": mj.njnt, "q": mj.nq, "dof": mj.nv, "geom": mj.ngeom, "vgeom": mj.ngeom}
    for kind in KINDS:
        ends = [getattr(entity, f"{kind}_end") for entity in scene.entities]
        starts = [getattr(entity, f"{kind}_start") for entity in scene.entities]
        assert starts == [0, *ends[:-1]] and ends[-1] == totals[kind]


def test_local_numbers_plus_starts_are_mujocos_numbers_by_name(scene):
    mj = scene.rigid_solver.model.mj
    for entity in scene.entities:
        for link in entity.links:
            assert mj.body(f"{entity.name}/{link.name}").id == link.body == entity.link_start + link.idx_local + 1
            assert mj.body_parentid[link.body] - 1 == link.parent_idx
        for joint in entity.joints:
            found = mj.joint(f"{entity.name}/{joint.name}")
            assert found.id == joint.idx == entity.joint_start + joint.idx_local
            assert found.qposadr[0] == joint.q_start == entity.q_start + joint.qs_idx_local[0]
            assert found.dofadr[0] == joint.dof_start == entity.dof_start + joint.dofs_idx_local[0]
        for geom in entity.geoms:
            assert mj.geom_bodyid[geom.idx] == geom.link.body


def test_the_files_world_is_a_link_of_its_entity(scene):
    ant = scene.get_entity("ant")
    assert [link.name for link in ant.links][-1] == "world_link"
    assert [geom.name for geom in ant.get_link("world_link").geoms] == ["floor"]


def test_entities_stand_where_they_are_put(scene):
    box, ant = scene.get_entity("box"), scene.get_entity("ant")
    assert box.get_pos().tolist() == [[0, 0, 1]] * 3
    np.testing.assert_allclose(box.get_quat()[0], box.morph.quat, atol=1e-15)
    assert ant.get_pos()[0].tolist() == [2, 0, 0.75]  # 0.75 is the file's


def test_a_step_takes_dt_and_a_reset_takes_it_back(scene):
    before = scene.get_entity("ball").get_qpos()
    for _ in range(3):
        scene.step()
    assert scene.get_time().tolist() == pytest.approx([0.03] * 3)
    fall = 9.81 * scene.dt**2 / 4 * (1 + 2 + 3 + 4 + 5 + 6)  # semi-implicit, six substeps
    assert float(before[0, 2] - scene.get_entity("ball").get_pos()[0, 2]) == pytest.approx(fall, rel=1e-9)
    scene.reset(envs_idx=[1])
    assert scene.get_time().tolist() == pytest.approx([0.03, 0, 0.03])
    assert torch.equal(scene.get_entity("ball").get_qpos()[1], before[1])


def test_writing_moves_the_environments_named_and_stops_the_entity(scene):
    box, ball = scene.get_entity("box"), scene.get_entity("ball")
    scene.step()
    before, velocity = ball.get_pos(), scene.rigid_solver.qvel
    box.set_pos((1, 2, 3), envs_idx=[2])
    assert box.get_pos()[2].tolist() == [1, 2, 3] and box.get_pos()[0, 2] < 1
    assert torch.equal(ball.get_pos(), before)
    moving = scene.rigid_solver.qvel
    assert not moving[2, box.dof_start : box.dof_end].any()
    assert torch.equal(moving[:, ball.dof_start :], velocity[:, ball.dof_start :])


def test_environments_are_named_in_any_form(scene):
    box = scene.get_entity("box")
    box.set_pos([[0, 0, 1], [0, 0, 2], [0, 0, 3]])
    for chosen in (
        [0, 2],
        slice(0, 3, 2),
        torch.tensor([0, 2]),
        np.array([True, False, True]),
        torch.tensor([1, 0, 1]) > 0,
    ):
        assert box.get_pos(chosen)[:, 2].tolist() == [1, 3]
    assert box.get_pos(1).tolist() == [[0, 0, 2]]


def test_a_state_goes_on_to_the_bit(scene):
    scene.get_entity("box").set_pos((1, 0, 0.2))
    scene.step()
    kept = scene.get_state()
    scene.step()
    after = scene.rigid_solver.qpos
    scene.reset(kept)
    scene.step()
    assert torch.equal(scene.rigid_solver.qpos, after)


def test_some_environments_take_their_own_from_a_state_of_all(scene):
    box = scene.get_entity("box")
    box.set_pos([[0, 0, 1], [0, 0, 2], [0, 0, 3]])
    kept, two = scene.get_state(), scene.get_state([0, 1])
    box.set_pos((0, 0, 9))
    scene.reset(kept, envs_idx=[2, 0])
    assert box.get_pos()[:, 2].tolist() == [1, 9, 3]
    scene.reset(two, envs_idx=[2, 0])  # of as many as are named, in their order
    assert box.get_pos()[:, 2].tolist() == [2, 9, 1]
    with pytest.raises(ValueError, match="state: it is of 2 environments, and 3 are named"):
        scene.reset(two)
    with pytest.raises(ValueError, match="state: it is of 2 environments, and 1 are named"):
        scene.reset(two, envs_idx=[1])
    with pytest.raises(TypeError, match="expected what get_state"):
        scene.reset([0, 1])
    assert box.get_pos()[:, 2].tolist() == [2, 9, 1]


def test_callbacks_run_before_each_step(scene):
    times = []
    scene.register_pre_step_callback(lambda: times.append(float(scene.get_time()[0])))
    scene.step()
    scene.step()
    assert times == pytest.approx([0, 0.01])


WRONG = {
    "no turn": (lambda s: s.get_entity("box").set_qpos([0, 0, 1, 0, 0, 0, 0]), ValueError, "qpos: a quaternion of en"),
    "no turn of one": (
        lambda s: s.get_entity("ant").set_qpos([[0] * 4, [1] * 4], [6, 4, 3, 5], envs_idx=[0, 1]),
        ValueError,
        "a quaternion of entity 'ant' has no length",
    ),
    "an entity": (lambda s: s.get_entity("bux"), KeyError, "no entity 'bux'; nearest: box"),
    "a link": (lambda s: s.get_entity("ant").get_link("thigh"), KeyError, "no link 'thigh'; nearest: thigh_"),
    "a joint": (lambda s: s.get_entity("ant").get_joint("hp_1"), KeyError, "entity 'ant' has no joint 'hp_1'; nearest"),
    "a shape": (lambda s: s.get_entity("box").set_pos((1, 2)), ValueError, r"pos: expected shape \(3, 3\) or \(3,\)"),
    "an environment": (lambda s: s.get_entity("box").get_pos([3]), IndexError, "3"),
    "a coordinate": (lambda s: s.get_entity("ant").get_qpos([15]), IndexError, "'ant': qs_idx_local: there is no 15"),
    "an entity too late": (lambda s: s.add_entity(gs.morphs.Plane()), gs.SceneOrderError, "built already"),
    "a word for a shape": (lambda s: gs.Scene().add_entity("box"), TypeError, "expected a morphs.Morph, got 'box'"),
    "one distance": (lambda s: gs.Scene().build(2, env_spacing=1.0), ValueError, "build: env_spacing=1.0: expected 2"),
    "a second build": (lambda s: s.build(), gs.SceneOrderError, "built already"),
}


@cases("what", WRONG)
def test_wrong_calls_say_what_is_wrong(scene, what):
    call, error, message = WRONG[what]
    with pytest.raises(error, match=message):
        call(scene)


def test_before_the_build_states_are_not_there():
    scene = gs.Scene()
    ball = scene.add_entity(gs.morphs.Sphere(), name="ball")
    assert ball.get_link("sphere_baselink").idx_local == 0 and ball.n_dofs == 6  # known at once
    for call in (scene.step, scene.reset, scene.get_state, ball.get_pos, lambda: ball.dof_start):
        with pytest.raises(gs.SceneOrderError, match=r"scene\.build\(\)"):
            call()


def test_entities_that_are_none_are_refused():
    scene = gs.Scene()
    scene.add_entity(gs.morphs.Sphere(), name="ball")
    with pytest.raises(ValueError, match="has an entity of this name"):
        scene.add_entity(gs.morphs.Sphere(), name="ball")
    with pytest.raises(ValueError, match=r"a name without '/'"):
        scene.add_entity(gs.morphs.Sphere(), name="a/b")
    with pytest.raises(TypeError, match=r"make one, with parentheses"):
        scene.add_entity(gs.morphs.Plane)
    with pytest.raises(TypeError, match=r"material: expected a materials\.Rigid"):
        scene.add_entity(gs.morphs.Plane(), gs.surfaces.Default())
    assert scene.entity_names == ["ball"]


LIKE = {
    "xml/franka_emika_panda/panda.xml": "arm_robot.xml",
    "urdf/go2/urdf/go2.urdf": "quadruped.xml",
    "urdf/drones/cf2x.urdf": "drone.xml",
    "urdf/shadow_hand/shadow_hand.urdf": "hand.xml",
    "nowhere.xml": "Tumble's robots are: arm_robot.xml, quadruped.xml",
}


@pytest.mark.parametrize("file", LIKE)
def test_a_robot_that_is_not_there_names_one_of_ours(file):
    """It says where else it was looked for, and how to say where it is."""
    scene = gs.Scene()
    kind = gs.morphs.MJCF if file.endswith("xml") else gs.morphs.URDF
    with pytest.raises(ValueError, match=rf"{file}: there is no such file; .* TUMBLE_ASSETS; .*{LIKE[file]}"):
        scene.add_entity(kind(file=file))
    with pytest.raises(ValueError, match=r"none\.obj: there is no such file; .* TUMBLE_ASSETS$"):
        scene.add_entity(gs.morphs.Mesh(file="none.obj"))


def test_files_are_found_in_the_folders_of_a_variable(tmp_path, monkeypatch):
    (tmp_path / "robots").mkdir()
    (tmp_path / "robots" / "stone.xml").write_text(
        "<mujoco><worldbody><body name='s'><geom size='1'/></body></worldbody></mujoco>"
    )
    monkeypatch.setenv("TUMBLE_ASSETS", f"/nowhere:{tmp_path}")
    assert [link.name for link in gs.Scene().add_entity(gs.morphs.MJCF(file="robots/stone.xml")).links] == ["s"]
    with pytest.raises(ValueError, match=f"also not in /nowhere or {tmp_path};"):
        gs.Scene().add_entity(gs.morphs.MJCF(file="robots/wood.xml"))


def test_what_scripts_ask_of_a_window_and_a_machine(caplog):
    """They run to their end without one."""
    scene = gs.Scene(show_viewer=True)  # opened by build: tests/viewer/test_scenes.py
    assert scene.viewer is not None and not scene.viewer.is_alive()
    scene.viewer.follow_entity(None)
    scene.visualizer.update()
    assert scene.visualizer.viewer is scene.viewer and gs.Scene().viewer is None
    assert (gs.backend, gs.device.type, gs.tc_int, gs.np_bool) == (gs.cpu, "cpu", torch.int32, np.bool_)
    assert (gs.tc_float, gs.np_float, gs.EPS) == (torch.float64, np.float64, np.finfo(np.float64).eps)
    assert gs.euler_to_quat((0, 0, 180)) == pytest.approx([0, 0, 0, 1]) and gs.utils.misc.tensor_to_cpu
    gs.logger.warning("said")
    assert "said" in caplog.text
    with pytest.raises(AttributeError, match="no attribute 'torch'"):
        _ = gs.torch  # a module that `utils.geom` uses
    with pytest.raises(ValueError, match="logging_level='loud'"):
        gs.init(logging_level="loud")

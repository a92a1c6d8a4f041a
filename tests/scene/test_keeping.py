"""A scene's own files: it is made again from them, goes on to the bit, and shows what it did."""

import functools
import io
import json
import operator
import zipfile

import numpy as np
import pytest
import torch

import tumble.scene as gs
from tumble.physics.machine import disk
from tumble.physics.machine.runtime import init
from tumble.physics.solver.user.state_file import model_digest

from .test_drone import FILE as DRONE

GRIP = (
    "<mujoco><worldbody><body name='grip'><geom size='.02 .02 .05' type='box' mass='.1'/></body></worldbody></mujoco>"
)
ARM = """<mujoco><worldbody><body name="post"><geom type="capsule" size=".05 .2" pos="0 0 .2"/>
<body name="upper" pos="0 0 .4"><joint name="turn" axis="0 1 0"/><geom type="capsule" size=".04 .1" pos="0 0 .1"/>
</body></body></worldbody></mujoco>"""


def composed(folder):
    """A scene that has one of everything: files, shapes, a mounted part, lights, a camera, sensors, options."""
    for name, text in (("arm.xml", ARM), ("grip.xml", GRIP), ("drone.urdf", DRONE)):
        (folder / name).write_text(text)
    scene = gs.Scene(
        sim_options=gs.options.SimOptions(dt=0.01, substeps=2, gravity=-9.0),
        rigid_options=gs.options.RigidOptions(friction_cone="elliptic", impratio=2.0),
        vis_options=gs.options.VisOptions(segmentation_level="entity"),
    )
    scene.add_entity(gs.morphs.Plane(euler=(0, 0, 45)), name="floor")
    scene.add_entity(gs.morphs.Terrain(height_field=np.array([[0, 1], [2, 0]]), pos=(9, 9, 0)), name="hill")
    boxes = [gs.morphs.Box(size=(0.1, 0.1, edge), pos=(1, 0, 1), euler=(10, 20, 30)) for edge in (0.1, 0.2)]
    scene.add_entity(boxes, gs.materials.Rigid(rho=300, friction=0.7), gs.surfaces.Gold(), name="boxes")
    scene.add_entity(gs.morphs.Box(lower=(2, 0, 0), upper=(2.2, 0.1, 0.3)), vis_mode="collision", name="corner")
    arm = scene.add_entity(gs.morphs.MJCF(file=folder / "arm.xml", pos=(0, 2, 0), default_armature=0.1), name="arm")
    grip = scene.add_entity(gs.morphs.MJCF(file=str(folder / "grip.xml")), visualize_contact=True, name="grip")
    grip.attach(arm, "upper", pos=(0, 0, 0.25))
    scene.add_entity(gs.morphs.Drone(file=folder / "drone.urdf", pos=(3, 0, 1)), name="drone")
    scene.add_mesh_light(gs.morphs.Sphere(radius=0.1, pos=(0, 0, 3)), color=(1, 0.5, 0.2, 1), intensity=2.0)
    scene.add_light((0, 0, 4), (0, 1, -1), color=(0.5, 0.4, 0.3), intensity=2.0, cutoff=30)
    scene.add_camera(res=(40, 30), pos=(3, 3, 2), lookat=(0, 0, 0.5), fov=50)
    scene.add_sensor(gs.sensors.IMU(entity_idx=arm.idx, link_idx_local=1, acc_noise=(0.1, 0.2, 0.3), delay=0.02))
    rays = gs.sensors.SphericalPattern(fov=(90.0, 20.0), n_points=(4, 2))
    scene.add_sensor(gs.sensors.Lidar(entity_idx=2, pattern=rays, pos_offset=(0, 0, 0.2)))
    scene.build(n_envs=3, env_spacing=(1.0, 2.0), n_envs_per_row=2)
    return scene


def going(scene):
    """All that is seen of a scene after ten steps."""
    for _ in range(10):
        scene.get_entity("drone").set_propellers_rpm([12000.0] * 4)
        scene.step()
    return scene.get_state() | scene.read_sensors()


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    init(precision="64")
    return composed(tmp_path_factory.mktemp("composed"))


def test_a_scene_is_made_again_from_its_file(tmp_path):
    """Model, environments, and what happens, readings with noise and delay too, to the bit."""
    init(precision="64")
    scene = composed(tmp_path)
    scene.export(tmp_path / "scene.json")
    again = gs.Scene.load(tmp_path / "scene.json")
    assert again.entity_names == scene.entity_names and again.n_envs == 3
    assert model_digest(again.rigid_solver.model) == model_digest(scene.rigid_solver.model)
    assert json.loads(again.describe()) == json.loads(scene.describe())
    assert torch.equal(again.world.offsets, scene.world.offsets)
    assert again.get_entity("grip").attached_to is again.get_entity("arm")
    assert again.get_entity("boxes").surface == gs.surfaces.Gold()
    assert again.get_entity("corner").vis_mode == "collision"
    assert again.vis_options == scene.vis_options
    assert np.array_equal(again.cameras[0].transform, scene.cameras[0].transform)
    mine, others = going(scene), going(again)
    assert mine.keys() == others.keys() and all(torch.equal(mine[name], others[name]) for name in mine)
    again.close()


def test_a_checkpoint_has_its_scene(scene, tmp_path):
    """Asked of the class it makes the scene, and goes on to the bit."""
    going(scene)
    scene.save_checkpoint(tmp_path / "scene.pt")
    wanted = going(scene)
    again = gs.Scene.load_checkpoint(tmp_path / "scene.pt")
    found = going(again)
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)
    again.close()
    scene.load_checkpoint(tmp_path / "scene.pt")
    found = going(scene)
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)


def test_a_scene_that_is_not_built_stays_so(tmp_path):
    """Files of Tumble's own are known by their names."""
    scene = gs.Scene()
    scene.add_entity(gs.morphs.MJCF(file="ant.xml"))
    scene.export(tmp_path / "folder" / "scene.json")
    text = (tmp_path / "folder" / "scene.json").read_text()
    assert '"file": "ant.xml"' in text
    again = gs.Scene.load(tmp_path / "folder" / "scene.json", vis_options=gs.options.VisOptions(shadow=False))
    assert not again.is_built and again.entities[0].n_links == scene.entities[0].n_links
    assert not again.vis_options.shadow


def test_a_movement_is_kept_and_shown(tmp_path):
    file = tmp_path / "marked.xml"
    file.write_text("<mujoco><worldbody><body name='mark' mocap='true'><geom size='.1'/></body></worldbody></mujoco>")
    scene = gs.Scene()
    ball = scene.add_entity(gs.morphs.Sphere(radius=0.1, pos=(0, 0, 2)), name="ball")
    scene.add_entity(gs.morphs.MJCF(file=file), name="mark")
    scene.build(n_envs=2)
    scene.start_recording(gs.recorders.TrajectoryFile(filename=tmp_path / "fall.npz", hz=50))
    heights = []
    for step in range(6):
        scene.rigid_solver.mocap_pos = torch.full((2, 1, 3), float(step))
        scene.step()
        heights.append(ball.get_pos()[:, 2].tolist())
    scene.stop_recording()
    with pytest.raises(TypeError, match=r"expected a gs\.recorders\.TrajectoryFile, or a function and options"):
        scene.start_recording("fall.npz")
    shown = gs.Scene.load_trajectory(tmp_path / "fall.npz")
    assert len(shown.trajectory) == 3 and shown.trajectory.times.tolist() == pytest.approx([0.02, 0.04, 0.06])
    for frame in (2, 0, -1):
        shown.trajectory.show(frame)
        assert shown.get_entity("ball").get_pos()[:, 2].tolist() == heights[1::2][frame]
        assert shown.get_entity("mark").get_pos()[0, 0] == (1, 3, 5)[frame]
    with pytest.raises(IndexError, match="frame=3: there are 3"):
        shown.trajectory.show(3)
    assert scene.trajectory is None


def test_files_that_are_none_are_refused(tmp_path):
    path = tmp_path / "bad"
    with pytest.raises(FileNotFoundError):
        gs.Scene.load(path)
    for text in ("", "{}", '{"tumble_scene": 9}', '{"tumble_scene": 1}', "\x00\x01", "abc"):
        path.write_text(text)
        for load in (gs.Scene.load, gs.Scene.load_checkpoint, gs.Scene.load_trajectory):
            with pytest.raises(ValueError, match="bad: not a file"):
                load(path)
    scene = gs.Scene()
    scene.export(path)
    path.write_text(path.read_text().replace("options.SimOptions", "os.system"))
    with pytest.raises(ValueError, match="an unknown part"):
        gs.Scene.load(path)


missing = object()
DAMAGE = (None, True, -1, 1e300, float("nan"), "x", [], {}, [[]], {"mapping": 5}, {"class": [], "given": {}})


def test_whatever_a_damaged_description_holds_is_a_value_error_that_names_the_field(tmp_path):
    """Every place of a description, without it and with other values."""
    scene = gs.Scene()
    scene.add_entity(gs.morphs.Box(size=(0.1, 0.1, 0.1), pos=(0, 0, 1)), gs.materials.Rigid(rho=300.0), name="box")
    scene.add_entity(gs.morphs.MJCF(file="inverted_pendulum.xml"), surface=gs.surfaces.Gold())
    scene.add_camera(res=(8, 8))
    scene.add_light(pos=(0, 0, 3), dir=(0, 0, -1))
    scene.add_sensor(gs.sensors.IMU(entity_idx=0))
    text = scene.describe()
    refused = 0
    for number, place in enumerate(places(json.loads(text))):
        for other in (missing, DAMAGE[number % len(DAMAGE)], DAMAGE[(7 * number + 3) % len(DAMAGE)]):
            told = json.loads(text)
            inner = functools.reduce(operator.getitem, place[:-1], told)
            if other is missing:
                del inner[place[-1]]
            else:
                inner[place[-1]] = other
            (tmp_path / "scene.json").write_text(json.dumps(told))
            try:
                gs.Scene.load(tmp_path / "scene.json").close()
            except ValueError as error:
                refused += 1
                assert str(error).startswith(str(tmp_path)), (place, other)
                assert place[0] in str(error) or "not a file that Scene.export wrote" in str(error), (place, other)
    assert refused > 250


def places(told, above=()):
    """All places in a description, as keys one in the other."""
    for key in told if isinstance(told, dict) else range(len(told)) if isinstance(told, list) else ():
        yield (*above, key)
        yield from places(told[key], (*above, key))


def test_a_movement_that_declares_too_much_is_not_unpacked(tmp_path, monkeypatch):
    """By the size in the head of the archive, and by the shape in the head of an array."""
    path, held = tmp_path / "bomb.npz", {"scene": gs.Scene().describe(), "timestamp": np.zeros(1)}
    np.savez_compressed(path, qpos=np.zeros((1 << 18, 4)), **held)
    monkeypatch.setattr(disk, "UNPACKED", 1 << 20)
    with pytest.raises(ValueError, match=r"bomb\.npz: not a file of a gs\.recorders\.TrajectoryFile") as refusal:
        gs.Scene.load_trajectory(path)
    assert "declares 8," in str(refusal.value.__cause__)
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40, 4)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("qpos.npy", head.getvalue() + bytes(64))
    with pytest.raises(ValueError, match=r"bomb\.npz") as refusal:
        gs.Scene.load_trajectory(path)
    assert "(1099511627776, 4)" in str(refusal.value.__cause__)


def test_a_file_that_has_changed_is_refused(tmp_path):
    """One that has gone is looked for beside the description."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "grip.xml").write_text(GRIP)
    scene = gs.Scene()
    scene.add_entity(gs.morphs.MJCF(file=tmp_path / "a" / "grip.xml"))
    scene.build()
    scene.export(tmp_path / "b" / "scene.json")
    (tmp_path / "a" / "grip.xml").rename(tmp_path / "b" / "grip.xml")
    assert gs.Scene.load(tmp_path / "b" / "scene.json").entities[0].n_links == 1
    (tmp_path / "b" / "grip.xml").write_text(GRIP.replace("mass='.1'", "mass='.2'"))
    with pytest.raises(ValueError, match="files of its morphs have changed"):
        gs.Scene.load(tmp_path / "b" / "scene.json")


def test_a_mesh_light_shines_and_touches_nothing(scene):
    light = scene.get_entity("mesh_light_0")
    mj = scene.rigid_solver.model.mj
    geom = light.geom_start
    assert light.links[0].is_fixed and not mj.geom_contype[geom] and not mj.geom_conaffinity[geom]
    assert light.surface.emissive == (2.0, 1.0, 0.4) and mj.mat_emission[mj.geom_matid[geom]] > 0
    fresh = gs.Scene()
    with pytest.raises(TypeError, match="expected a shape"):
        fresh.add_mesh_light()
    with pytest.raises(ValueError, match="shines to all sides"):
        fresh.add_mesh_light(gs.morphs.Sphere(), cutoff=30)


def test_shifts_are_from_an_environments_own_shape(scene):
    """Two environments have the first box, one the second: masses are those of their volumes."""
    boxes = scene.get_entity("boxes")
    boxes.set_mass_shift([[0.1], [0.2]], envs_idx=[0, 2])
    assert boxes.get_mass().tolist() == pytest.approx([300 * 0.001 + 0.1, 300 * 0.001, 300 * 0.002 + 0.2])
    boxes.set_COM_shift([[0, 0, 0.01]])
    assert boxes.get_links_COM()[:, 0, 2].tolist() == pytest.approx([0.01] * 3)

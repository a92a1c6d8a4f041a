"""Entities from files, and what a scene writes: meshes, images, terrains, worlds with geoms, scaled models."""

import warnings

import mujoco
import numpy as np
import pytest
import trimesh
from PIL import Image

import tumble.scene as gs
from tumble.physics import Model
from tumble.physics.machine.runtime import init
from tumble.physics.model.loading.export_mjcf import ModelWriteError, differences
from tumble.physics.model.loading.sanity import ModelLoadError
from tumble.scene.model.fingers import opposed_fingers, warn_of_long_steps
from tumble.terrain import Terrain
from tumble.terrain import files as terrain_files

from ..cases import cases
from ..physics.geometry.test_decomposition import QUICK, bracket

ROBOT = """
<mujoco>
  <compiler meshdir="shapes" texturedir="images"/>
  <option timestep="0.013" gravity="0 0 -1"/>
  <visual><map znear="0.123"/></visual>
  <asset>
    <mesh name="ball" file="ball.obj"/>
    <texture name="skin" type="2d" file="skin.png"/>
    <material name="skin" texture="skin"/>
  </asset>
  <worldbody>
    <frame pos="0 0 0.1" euler="0 0 30">
      <frame axisangle="1 0 0 20"><geom name="ramp" type="box" size="1 1 0.05"/></frame>
      <geom name="rail" type="capsule" fromto="0 0 0 1 0 0" size="0.02"/>
    </frame>
    <geom name="ground" type="plane" size="5 5 1"/>
    <body name="base" pos="0 0 1">
      <freejoint/>
      <geom type="mesh" mesh="ball" material="skin"/>
      <body pos="0.2 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/></body>
    </body>
  </worldbody>
  <sensor><framepos objtype="geom" objname="ramp"/></sensor>
</mujoco>
"""


URDF = """
<robot name="robot">
  <link name="base">
    <inertial><mass value="2"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size=".2 .2 .2"/></geometry></collision>
  </link>
  <link name="arm">
    <inertial><mass value="1"/><inertia ixx=".02" iyy=".02" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 .3"/><geometry><mesh filename="shapes/ball.obj"/></geometry></collision>
  </link>
  <joint name="elbow" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 1 0"/><origin xyz="0 0 .1"/>
    <limit lower="-1" upper="1" effort="3" velocity="2"/>
  </joint>
</robot>
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A robot's file in a folder of its own, with a mesh and an image below it, and further meshes."""
    folder = tmp_path_factory.mktemp("robot")
    for name in ("shapes", "images"):
        (folder / name).mkdir()
    trimesh.creation.icosphere(subdivisions=1, radius=0.1).export(folder / "shapes" / "ball.obj")
    pixels = np.random.default_rng(0).integers(0, 255, (4, 6, 3)).astype(np.uint8)
    Image.fromarray(pixels).save(folder / "images" / "skin.png")
    (folder / "robot.xml").write_text(ROBOT)
    trimesh.creation.box((0.1, 0.2, 0.3)).export(folder / "box.glb")
    trimesh.creation.annulus(0.1, 0.2, 0.1).export(folder / "ring.stl")
    bracket().export(folder / "l.ply")
    open_box = trimesh.creation.box((0.2, 0.2, 0.2))
    open_box.update_faces(np.arange(len(open_box.faces)) > 1)
    open_box.export(folder / "open.stl")
    return folder


def compiled(*entities, **options):
    """The compiled model of a scene, and the scene, which is not built: no solver is made."""
    scene = gs.Scene(**options)
    for each in entities:
        scene.add_entity(*each) if isinstance(each, tuple) else scene.add_entity(each)
    return scene.compile(), scene


def test_a_file_in_another_folder_brings_its_mesh_and_image_and_its_world(folder, tmp_path, capfd):
    """Oracle: MuJoCo on the file itself, where geoms of the world are the world's own."""
    model, _ = compiled(gs.morphs.MJCF(file=folder / "robot.xml"))
    assert not capfd.readouterr().err  # of options in which the file differs from the scene, MuJoCo would warn
    mine, alone = model.mj, mujoco.MjModel.from_xml_path(str(folder / "robot.xml"))
    assert [mine.body(k).name for k in range(1, mine.nbody)] == ["mjcf_0/base", "mjcf_0/link_1", "mjcf_0/world_link"]
    data, other = mujoco.MjData(mine), mujoco.MjData(alone)
    mujoco.mj_forward(mine, data)
    mujoco.mj_forward(alone, other)
    for name in ("ramp", "rail", "ground"):
        np.testing.assert_allclose(data.geom(f"mjcf_0/{name}").xpos, other.geom(name).xpos, atol=1e-15)
        np.testing.assert_allclose(data.geom(f"mjcf_0/{name}").xmat, other.geom(name).xmat, atol=1e-15)
    np.testing.assert_allclose(data.sensordata, other.sensordata, atol=1e-15)
    np.testing.assert_array_equal(mine.tex_data, alone.tex_data)
    assert mine.opt.timestep == 0.01 and mine.opt.gravity.tolist() == [0, 0, -9.81]  # the scene's, not the file's


def test_what_is_written_is_the_same_model_wherever_it_is_read(folder, tmp_path, monkeypatch):
    """Files of two entities have the same names; a terrain's heights, a plane's tiles and a distance field go along."""
    heights = np.random.default_rng(1).integers(0, 100, (5, 7))
    model, _ = compiled(
        gs.morphs.MJCF(file=folder / "robot.xml", pos=(1 / 3, 0, 0)),
        gs.morphs.MJCF(file=folder / "robot.xml", pos=(3, 0, 0), euler=(0, 0, 77)),
        gs.morphs.Terrain(height_field=heights, horizontal_scale=0.5, vertical_scale=0.01),
        gs.morphs.Mesh(file=folder / "ring.stl", convexify=False, pos=(0, 0, 2)),
        gs.morphs.Plane(pos=(0, 0, -1)),
    )
    model.write_mjcf(tmp_path / "deep" / "scene.xml")
    (tmp_path / "deep").rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    assert not differences(model.mj, mujoco.MjModel.from_xml_path("moved/scene.xml"))
    written = {file.name for file in (tmp_path / "moved" / "scene_assets").iterdir()}
    assert written == {"ball.obj", "skin.png", "ring.stl"}


def test_differences_are_seen():
    one, other = (mujoco.MjSpec.from_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>") for _ in "12")
    other.geoms[0].size[0] += 1e-9
    other.option.timestep *= 1 + 1e-9
    assert set(differences(one.compile(), other.compile())) >= {"geom_size", "opt.timestep"}


def test_a_compiled_model_has_no_mjcf(tmp_path):
    from tumble.physics import Model

    mjm = mujoco.MjModel.from_xml_string("<mujoco/>")
    with pytest.raises(ModelWriteError, match="came compiled"):
        Model.from_mjmodel(mjm).write_mjcf(tmp_path / "x.xml")


def test_meshes_weigh_what_they_enclose_and_stand_as_their_format_has_it(folder):
    """Oracles: volumes of a box and of a ring, in closed form. glTF's y axis points up."""
    entities = (
        (gs.morphs.Mesh(file=folder / "box.glb"), gs.materials.Rigid(rho=1000)),
        gs.morphs.Mesh(file=folder / "ring.stl", scale=2),
    )
    model, _ = compiled(*entities)
    assert model.mj.body_mass[1] == pytest.approx(1000 * 0.1 * 0.2 * 0.3, rel=1e-6)
    ring = trimesh.creation.annulus(0.1, 0.2, 0.1)
    assert model.mj.body_mass[2] == pytest.approx(600 * 8 * ring.volume, rel=1e-6)
    data = mujoco.MjData(model.mj)
    mujoco.mj_forward(model.mj, data)
    corners = model.mj.mesh_vert[: model.mj.mesh_vertnum[0]] @ data.geom_xmat[0].reshape(3, 3).T
    np.testing.assert_allclose(np.ptp(corners, axis=0), (0.1, 0.3, 0.2), atol=1e-6)
    assert [model.mj.body(k).name for k in (1, 2)] == ["mesh_0/box_glb_baselink", "mesh_1/ring_stl_baselink"]


LITRE = """
<robot name="litre">
  <link name="crate">
    <visual><geometry><{seen}/></geometry></visual>
    <collision><geometry><box size=".1 .1 .1"/></geometry></collision>
  </link>{more}
</robot>
"""
LID = """
<link name="lid"><collision><origin xyz="0 0 .1"/><geometry><box size=".1 .1 .1"/></geometry></collision></link>
<joint name="hinge" type="continuous"><parent link="crate"/><child link="lid"/><axis xyz="1 0 0"/></joint>
"""
WEIGHTS = """
<mujoco>
  <asset>
    <mesh name="solid" file="box.stl" scale=".1 .1 .1"/>
    <mesh name="walls" file="box.stl" scale=".1 .1 .1" inertia="shell"/>
  </asset>
  <default><default class="seen"><geom group="2" contype="0" conaffinity="0" density="0"/></default></default>
  <worldbody>
    <body name="seen and solid"><freejoint/>
      <geom class="seen" type="box" size=".05 .05 .05"/><geom type="box" size=".05 .05 .05"/></body>
    <body name="seen mesh"><freejoint/>
      <geom class="seen" type="mesh" mesh="walls"/><geom type="mesh" mesh="solid" density="3"/></body>
    <body name="two boxes"><freejoint/>
      <geom type="box" size=".05 .05 .05"/><geom type="box" size=".05 .05 .05" pos="1 0 0" mass="0.25"/></body>
    <body name="a mass"><freejoint/><geom type="box" size=".05 .05 .05" mass="3"/></body>
    <body name="an inertial"><freejoint/><inertial pos="0 0 0" mass="4" diaginertia="1 1 1"/>
      <geom type="box" size=".05 .05 .05"/></body>
    <body name="a shell"><freejoint/><geom type="box" size=".05 .05 .05" density="5" shellinertia="true"/></body>
    <body name="walls"><freejoint/><geom type="mesh" mesh="walls" density="5"/></body>
    <body name="no contact"><freejoint/><geom type="box" size=".05 .05 .05" contype="0" conaffinity="0"/></body>
  </worldbody>
</mujoco>
"""
AREA = 6 * 0.1**2


@pytest.fixture(scope="module")
def litres(tmp_path_factory):
    """Files of boxes of one litre: seen and solid ones, of shapes and of meshes, with masses by all means."""
    folder = tmp_path_factory.mktemp("litres")
    trimesh.creation.box((1.0, 1.0, 1.0)).export(folder / "box.stl")
    seen = {"shape": 'box size=".1 .1 .1"', "mesh": 'mesh filename="box.stl" scale=".1 .1 .1"'}
    for name, geometry in seen.items():
        (folder / f"{name}.urdf").write_text(LITRE.format(seen=geometry, more=""))
    (folder / "robot.urdf").write_text(LITRE.format(seen=seen["mesh"], more=LID))
    (folder / "weights.xml").write_text(WEIGHTS)
    return folder


@pytest.mark.parametrize("rho", [None, 1500.0])
def test_a_material_weighs_what_weighs_by_volume_in_a_file(litres, rho):
    """Oracles: volume times density, and MuJoCo on the file itself where it states masses and where rho is None."""
    material = gs.materials.Rigid(rho=rho)
    model, _ = compiled((gs.morphs.MJCF(file=litres / "weights.xml"), material))
    alone = mujoco.MjModel.from_xml_path(str(litres / "weights.xml"))
    litre = 1e-3 * (rho or 1000.0)
    expected = {
        **{"seen and solid": litre, "seen mesh": litre if rho else 3e-3, "two boxes": litre + 0.25},
        **{"a mass": 3.0, "an inertial": 4.0, "a shell": 5 * AREA, "walls": 5 * AREA, "no contact": litre},
    }
    found = {name: float(model.mj.body(f"mjcf_0/{name}").mass[0]) for name in expected}
    assert found == pytest.approx(expected, rel=1e-6)
    if rho is None:
        assert found == pytest.approx({name: float(alone.body(name).mass[0]) for name in expected}, rel=1e-12)


@pytest.mark.parametrize("rho", [None, 1000.0])
def test_seen_shapes_of_a_urdf_weigh_nothing(litres, rho):
    """Oracle: a litre at the density given, or at the 600 of objects and the 1500 of robots of the API followed."""
    material = gs.materials.Rigid(rho=rho)
    files = ["shape.urdf", "mesh.urdf", "robot.urdf"]
    model, _ = compiled(*((gs.morphs.URDF(file=litres / file), material) for file in files))
    litre = 1e-3 * (rho or 600.0)
    jointed = 1e-3 * (rho or 1500.0)
    assert model.mj.body_mass[1:].tolist() == pytest.approx([litre, litre, jointed, jointed], rel=1e-6)
    scaled, _ = compiled(*((gs.morphs.URDF(file=litres / file, scale=0.5), material) for file in files))
    np.testing.assert_allclose(scaled.mj.body_mass[1:], model.mj.body_mass[1:] / 8, rtol=1e-6)
    ghosts, _ = compiled(*((gs.morphs.URDF(file=litres / file, collision=False), material) for file in files))
    np.testing.assert_array_equal(ghosts.mj.body_mass, model.mj.body_mass)
    assert not ghosts.mj.geom_contype.any() and ghosts.mj.nv == model.mj.nv


def test_hollow_meshes_are_taken_apart_and_others_touch_as_they_are(folder):
    """The hulls of a ring and an L are much larger than they are. A box without a lid weighs as its hull."""
    hull = gs.morphs.Mesh(file=folder / "ring.stl", decompose_object_error_threshold=float("inf"))
    apart = gs.morphs.Mesh(file=folder / "l.ply", coacd_options=QUICK)
    field = gs.morphs.Mesh(file=folder / "ring.stl", convexify=False)
    lidless = gs.morphs.Mesh(file=folder / "open.stl", decompose_object_error_threshold=float("inf"))
    model, scene = compiled(hull, apart, field, lidless, gs.morphs.Sphere())
    mj, kinds = model.mj, mujoco.mjtGeom
    of = [mj.geom_type[mj.geom_bodyid == body] for body in range(1, mj.nbody)]
    assert of[0].tolist() == [kinds.mjGEOM_MESH] and len(of[1]) > 2 and of[2].tolist() == [kinds.mjGEOM_SDF]
    assert mj.body_mass[4] == pytest.approx(600 * 0.2**3, rel=1e-5)
    assert (np.diff(mj.geom_bodyid) >= 0).all()  # pieces lie among their entity's geoms
    ranges = scene.ranges(model)
    assert ranges[1].end["vert"] <= ranges[2].start["vert"]  # and their vertices among its vertices


def test_a_surface_with_four_faces_at_an_edge_weighs_as_its_hull(tmp_path):
    """Two boxes that share an edge: MuJoCo has no exact inertia for it."""
    boxes = [trimesh.creation.box((0.1, 0.1, 0.1), np.eye(4)) for _ in range(2)]
    boxes[1].apply_translation((0.1, 0.1, 0.0))
    trimesh.util.concatenate(boxes).export(tmp_path / "edge.stl")
    model, _ = compiled(
        gs.morphs.Mesh(file=tmp_path / "edge.stl", decompose_object_error_threshold=float("inf")), gs.morphs.Sphere()
    )
    assert model.mj.body_mass[1] == pytest.approx(600 * 0.03 * 0.1, rel=1e-5)  # a hexagon of 3 squares


def test_a_terrain_begins_at_its_place_with_its_first_index_along_x():
    heights = np.arange(12).reshape(3, 4)
    model, _ = compiled(
        gs.morphs.Terrain(height_field=heights, horizontal_scale=0.5, vertical_scale=0.1, pos=(1, 2, 0))
    )
    data = mujoco.MjData(model.mj)
    mujoco.mj_forward(model.mj, data)
    for i, j in ((0, 0), (2, 1), (1, 3)):
        start = np.array([1 + 0.5 * min(max(i, 0.01), 1.99), 2 + 0.5 * min(max(j, 0.01), 2.99), 5])
        depth = mujoco.mj_ray(model.mj, data, start, np.array([0.0, 0, -1]), None, 1, -1, np.zeros(1, np.int32))
        assert 5 - depth == pytest.approx(0.1 * heights[i, j], abs=6e-3)


def test_sub_terrains_are_those_of_the_terrain_room():
    morph = gs.morphs.Terrain(
        n_subterrains=(1, 2),
        subterrain_size=(2, 3),
        subterrain_types=[["wave_terrain", "flat_terrain"]],
        subterrain_parameters={"wave_terrain": {"amplitude": 0.3}},
    )
    ground = morph.ground()
    assert ground.heights.shape == (25, 9) and not ground.heights[13:].any() and np.ptp(ground.heights) > 0.2
    assert isinstance(ground, Terrain) and np.array_equal(ground.heights, morph.ground().heights)
    with pytest.raises(ValueError, match="no kind of ground 'wavy_terrain'"):
        gs.morphs.Terrain(subterrain_types="wavy_terrain")
    with pytest.raises(ValueError, match="one kind, or 3 rows of 3 kinds"):
        gs.morphs.Terrain(subterrain_types=[["flat_terrain"]])
    with pytest.raises(ValueError, match="no sub-terrain is of kind 'wave_terrain'"):
        gs.morphs.Terrain(subterrain_types="flat_terrain", subterrain_parameters={"wave_terrain": {}})


KEYED = """<mujoco><worldbody><body><joint name="knee"/><geom size=".1"/></body></worldbody>
<keyframe><key qpos=".1"/><key name="keyframe_0" qpos=".2"/><key qpos=".3"/></keyframe></mujoco>"""


def test_keyframes_without_names_come_along(tmp_path):
    """Two of them crash MuJoCo 4.0 when it copies the scene: all get names."""
    (tmp_path / "legs.xml").write_text(KEYED)
    scene = gs.Scene(show_viewer=False)
    for _ in range(2):
        scene.add_entity(gs.morphs.MJCF(file=str(tmp_path / "legs.xml")))
    scene.build()
    mj = scene.rigid_solver.model.mj
    assert sorted(mj.key(key).name.partition("/")[2] for key in range(mj.nkey)) == sorted(
        2 * ["keyframe_0", "keyframe_0_", "keyframe_2"]
    )


def test_keyframes_of_one_name_are_refused_before_mujoco_crashes():
    spec = mujoco.MjSpec()
    spec.attach(
        mujoco.MjSpec.from_string(KEYED.replace(' name="keyframe_0"', "")),
        prefix="a/",
        frame=spec.worldbody.add_frame(),
    )
    with pytest.raises(ModelLoadError, match="several keyframes are named 'a/'; give each a name of its own"):
        Model.from_mjspec(spec)


def test_a_scaled_file_is_smaller_all_over():
    """Oracle: lengths by the factor, masses by its third power."""
    (large, _), (small, _) = (compiled(gs.morphs.MJCF(file="ant.xml", scale=scale)) for scale in (1.0, 0.5))
    np.testing.assert_allclose(small.mj.body_mass[1:-1], large.mj.body_mass[1:-1] / 8, rtol=1e-12)
    np.testing.assert_allclose(small.mj.body_pos, large.mj.body_pos / 2, atol=1e-15)
    np.testing.assert_allclose(small.mj.qpos0[:3], large.mj.qpos0[:3] / 2, atol=1e-15)


def test_materials_and_surfaces_reach_the_model():
    sphere, stiff = gs.morphs.Sphere(radius=0.1), (0.05, 1, 0.8, 0.9, 0.002, 0.4, 3)
    material = gs.materials.Rigid(rho=700, friction=0.3, friction_torsional=0.01, sol_params=stiff)
    model, _ = compiled(
        (sphere, material, gs.surfaces.Gold()),
        (sphere, gs.materials.Rigid(gravity_compensation=0.5), gs.surfaces.Default(color=(0.1, 0.2, 0.3, 0.4))),
        (gs.morphs.MJCF(file="ant.xml", collision=False), gs.materials.Rigid(friction=0.7)),
        rigid_options=gs.options.RigidOptions(enable_torsional_friction=True),
    )
    mj = model.mj
    assert mj.body_mass[1] == pytest.approx(700 * 4 / 3 * np.pi * 1e-3)
    assert mj.body_mass[2] == pytest.approx(600 * 4 / 3 * np.pi * 1e-3)
    assert mj.geom_friction[0].tolist() == [0.3, 0.01, 0.0001] and mj.geom_condim[0] == 4
    assert mj.geom_solref[0].tolist() == [0.05, 1] and mj.geom_solimp[0].tolist() == list(stiff[2:])
    assert mj.body_gravcomp[2] == 0.5
    np.testing.assert_allclose(mj.mat_rgba[mj.geom_matid[0]], (*gs.surfaces.Gold().color, 1), rtol=1e-6)
    np.testing.assert_allclose(mj.mat_rgba[mj.geom_matid[1]], (0.1, 0.2, 0.3, 0.4), rtol=1e-6)
    assert (mj.mat_metallic[mj.geom_matid[0]], mj.mat_roughness[mj.geom_matid[0]]) == pytest.approx((1, 0.1))
    assert not mj.geom_contype[2:].any() and (mj.geom_friction[2:, 0] == 0.7).all()


def test_options_reach_the_model():
    rigid = gs.options.RigidOptions(
        integrator="Euler",
        constraint_solver="CG",
        friction_cone="elliptic",
        enable_joint_limit=False,
        enable_self_collision=False,
        impratio=3,
        noslip_iterations=2,
    )
    entities = gs.morphs.MJCF(file="ant.xml", default_armature=0.5), gs.morphs.Box(size=(1, 1, 1))
    model, _ = compiled(
        *entities, rigid_options=rigid, sim_options=gs.options.SimOptions(dt=0.02, substeps=4, gravity=-1)
    )
    option, kinds = model.mj.opt, mujoco
    assert (option.timestep, option.gravity.tolist(), option.impratio) == (0.005, [0, 0, -1], 3)
    assert (option.integrator, option.solver, option.cone) == (
        *(kinds.mjtIntegrator.mjINT_EULER, kinds.mjtSolver.mjSOL_CG, kinds.mjtCone.mjCONE_ELLIPTIC),
    )
    assert option.disableflags & kinds.mjtDisableBit.mjDSBL_LIMIT and option.noslip_iterations == 2
    assert model.mj.nexclude == 14 * 13 // 2  # of the ant's links
    given = mujoco.MjModel.from_xml_path(str(gs.morphs.MJCF(file="ant.xml").path)).dof_armature
    assert model.mj.dof_armature[:6].tolist() == [0] * 6
    np.testing.assert_array_equal(model.mj.dof_armature[6:14], np.where(given[6:] == 0, 0.5, given[6:]))


def test_a_urdf_floats_or_is_fixed_and_is_scaled(folder, tmp_path):
    """Oracle: numbers of the file. Meshes that a URDF brings along are written beside the MJCF."""
    (folder / "robot.urdf").write_text(URDF)
    model, scene = compiled(
        gs.morphs.URDF(file=folder / "robot.urdf", pos=(0, 0, 0.5)),
        gs.morphs.URDF(file=folder / "robot.urdf", fixed=True, scale=0.5, default_armature=0.2),
    )
    free, fixed = scene.entities
    assert ([link.name for link in free.links], free.n_dofs, fixed.n_dofs) == (["base", "arm"], 7, 1)
    mj = model.mj
    assert mj.body_mass[1:].tolist() == pytest.approx([2, 1, 2 / 8, 1 / 8]) and mj.qpos0[:3].tolist() == [0, 0, 0.5]
    assert mj.dof_armature.tolist() == [0] * 7 + [0.2]
    np.testing.assert_allclose(mj.body_pos[[2, 4]], [(0, 0, 0.1), (0, 0, 0.05)])
    model.write_mjcf(tmp_path / "robots.xml")
    assert not differences(mj, mujoco.MjModel.from_xml_path(str(tmp_path / "robots.xml")))


SERVOS = """
<mujoco><worldbody><body><joint name="a"/><geom size="0.1"/>
  <body pos="1 0 0"><joint name="b" type="slide"/><geom size="0.1"/>
  <body pos="1 0 0"><joint name="c"/><geom size="0.1"/></body></body></body></worldbody>
<actuator>
  <position joint="a" kp="30" kv="4" gear="2" forcerange="-1 5"/>
  <velocity joint="b" kv="7"/>
  <motor joint="c"/>
</actuator></mujoco>
"""


def test_servos_of_a_file_give_gains_and_do_not_act(tmp_path):
    """Oracle: MuJoCo's moment is the gear, so that a servo's gain on its joint is kp gear^2. Nothing is stepped."""
    (tmp_path / "servos.xml").write_text(SERVOS)
    init(precision="64")
    scene = gs.Scene()
    scene.add_entity(gs.morphs.Box(size=(1, 1, 1), pos=(0, 0, 9)))
    arm = scene.add_entity(gs.morphs.MJCF(file=tmp_path / "servos.xml"))
    scene.build()
    assert arm.get_dofs_kp().tolist() == [120, 0, 0] and arm.get_dofs_kv().tolist() == [16, 7, 0]
    assert [float(bound[0]) for bound in arm.get_dofs_force_range()] == [-2, 10]
    assert scene.rigid_solver.model.mj.opt.disableactuator == 1 << 30
    scene.close()


EFFORTS = """
<robot name="arm"><link name="base"/>
  <link name="one"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"/></inertial></link>
  <link name="two"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"/></inertial></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="one"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="4" velocity="9"/></joint>
  <joint name="push" type="prismatic"><parent link="one"/><child link="two"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="0" velocity="9"/></joint>
</robot>
"""


def test_servos_of_a_urdf_have_gains_and_its_efforts(tmp_path):
    """Oracles: numbers of the file, 100 and 10 of the API followed, and a turn by torque over inertia, 4 / 0.2."""
    (tmp_path / "arm.urdf").write_text(EFFORTS)
    init(precision="64")
    scene = gs.Scene(sim_options=gs.options.SimOptions(dt=0.001))
    scene.add_entity(gs.morphs.Sphere(pos=(9, 9, 9), collision=False))
    arm = scene.add_entity(gs.morphs.URDF(file=tmp_path / "arm.urdf", fixed=True))
    scene.build(n_envs=2)
    assert (arm.get_dofs_kp()[0].tolist(), arm.get_dofs_kv()[0].tolist()) == ([100.0] * 2, [10.0] * 2)
    assert [bound[0].tolist() for bound in arm.get_dofs_force_range()] == [[-4, -1e30], [4, 1e30]]
    arm.set_dofs_force_range([-1.0, -2.0], [3.0, 2.0], envs_idx=[1])
    assert [bound.tolist() for bound in arm.get_dofs_force_range()] == [[[-4, -1e30], [-1, -2]], [[4, 1e30], [3, 2]]]
    arm.control_dofs_force([50.0, 0.0])
    scene.step()
    np.testing.assert_allclose(arm.get_dofs_velocity()[:, 0].cpu(), [0.02, 0.015], rtol=1e-9)
    arm.set_dofs_force_range(-50.0, 50.0)  # the efforts stay
    assert [bound.tolist() for bound in arm.get_dofs_force_range()] == [[[-4, -50]] * 2, [[4, 50]] * 2]
    scene.step()
    np.testing.assert_allclose(arm.get_dofs_velocity()[:, 0].cpu(), [0.04, 0.035], rtol=1e-9)
    scene.close()


HAND = """
<mujoco><worldbody><body name="hand">
  <body pos="0.05 0 0"><joint name="left" type="slide" axis="-1 0 0"/>
    <geom type="box" size="0.008 0.02 0.03" mass="0.1"/></body>
  <body pos="-0.05 0 0"><joint name="right" type="slide" axis="1 0 0"/>
    <geom type="box" size="0.008 0.02 0.03" mass="0.1"/></body>
</body></worldbody></mujoco>
"""


def test_what_is_held_does_not_creep_with_elliptic_cones(tmp_path):
    """Oracle: MuJoCo on the model of the scene, for ten seconds of a grasp by 4 N."""
    (tmp_path / "hand.xml").write_text(HAND)
    found = {}
    for ratio in (None, 1.0):
        rigid = gs.options.RigidOptions(friction_cone="elliptic", impratio=ratio)
        box = gs.morphs.Box(size=(0.04, 0.04, 0.04))
        hand = gs.morphs.MJCF(file=tmp_path / "hand.xml")
        model, _ = compiled(hand, box, rigid_options=rigid, sim_options=gs.options.SimOptions(substeps=2))
        data = mujoco.MjData(model.mj)
        heights = []
        for second in range(11):
            while data.time < 1 + second:
                data.qfrc_applied[:2] = 4.0 - 5.0 * data.qvel[:2]
                mujoco.mj_step(model.mj, data)
            heights.append(float(data.qpos[4]))
        found[ratio] = heights[0] - heights[-1]
    print(f"creep of a held box in ten seconds: {1e3 * found[None]:.2f} mm, at impratio 1 {1e3 * found[1.0]:.2f} mm")
    assert found[None] < 1e-3 < 5e-3 < found[1.0]


@pytest.mark.parametrize(
    ("changed", "warned"),
    [({}, True), ({"substeps": 2}, False), ({"axis": ("1 0 0", "0 1 0")}, False), ({"fixed": True}, False)],
)
def test_fingers_and_long_steps_are_warned_of(tmp_path, changed, warned):
    """Two slides that meet can hold a free box; contacts cannot be as stiff as asked in steps of 10 ms."""
    (tmp_path / "hand.xml").write_text(HAND.replace(*changed.get("axis", ("", ""))))
    options = gs.options.SimOptions(substeps=changed.get("substeps", 1))
    hand, box = gs.morphs.MJCF(file=tmp_path / "hand.xml"), gs.morphs.Box(size=(0.04,) * 3, fixed="fixed" in changed)
    model, scene = compiled(hand, box, sim_options=options)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn_of_long_steps(model.mj, scene.rigid_options, scene.substeps)
    assert [("can grasp" in str(each.message), "substeps=2" in str(each.message)) for each in found] == [
        (True, True)
    ] * warned


LEGS = """<mujoco><worldbody><body pos="0 0 .3"><freejoint/><geom type="box" size=".3 .1 .05"/>
  <body pos=".3 0 0"><joint axis="0 1 0" range="-45 45"/><geom type="capsule" fromto="0 0 0 0 0 -1" size=".02"/></body>
  <body pos="-.3 0 0"><joint axis="0 1 0" range="-45 45"/><geom type="capsule" fromto="0 0 0 0 0 -1" size=".02"/></body>
</body></worldbody></mujoco>"""
POLES = LEGS.replace("<freejoint/>", '<joint type="slide" axis="1 0 0"/>').replace(' range="-45 45"', "")
JAWS = LEGS.replace("<freejoint/>", '<joint type="slide" axis="1 0 0"/>')
STILL = "<mujoco><worldbody><body><geom size='.1'/><body><geom size='.1'/></body></body></worldbody></mujoco>"


@pytest.mark.parametrize(("xml", "held"), [(HAND, True), (JAWS, True), (LEGS, False), (POLES, False), (STILL, False)])
def test_legs_and_poles_are_no_fingers(xml, held):
    """Legs before and behind a body, and poles on a cart, swing to each other, and hold nothing."""
    assert (opposed_fingers(mujoco.MjModel.from_xml_string(xml)) is not None) == held


BROKEN = {
    "no such mesh": (lambda f: gs.morphs.Mesh(file=f / "none.obj"), "none.obj: there is no such file"),
    "an unknown format": (lambda f: gs.morphs.Mesh(file=f / "robot.xml"), "robot.xml: xml is no format"),
    "no MJCF": (lambda f: gs.morphs.MJCF(file=f / "ring.stl"), "ring.stl"),
    "no such URDF": (lambda f: gs.morphs.URDF(file=f / "none.urdf"), "none.urdf"),
    "a missing mesh of a file": (lambda f: gs.morphs.MJCF(file=f / "bad.xml"), "away.obj"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_files_are_named(folder, what):
    (folder / "bad.xml").write_text("<mujoco><asset><mesh name='m' file='away.obj'/></asset></mujoco>")
    make, message = BROKEN[what]
    with pytest.raises(Exception, match=message):
        compiled(make(folder))


CUSTOM = """<mujoco><custom><numeric name="kf" data="3 4"/><text name="say" data="hello"/>
<tuple name="group"><element objtype="body" objname="b" prm="2"/></tuple></custom>
<worldbody><body name="b"><geom size=".1"/></body></worldbody></mujoco>"""


def test_custom_elements_keep_their_names_behind_those_of_entities(tmp_path):
    """Also where one entity carries another, and in the file that the scene writes; and a scene is compiled twice."""
    (tmp_path / "custom.xml").write_text(CUSTOM)
    scene = gs.Scene()
    first = scene.add_entity(gs.morphs.MJCF(file=tmp_path / "custom.xml"), name="first")
    second = scene.add_entity(gs.morphs.MJCF(file=tmp_path / "custom.xml", scale=2.0), name="second")
    second.attach(first, "b")
    kinds = mujoco.mjtObj.mjOBJ_NUMERIC, mujoco.mjtObj.mjOBJ_TEXT, mujoco.mjtObj.mjOBJ_TUPLE
    for _ in range(2):
        model = scene.compile()
        model.write_mjcf(tmp_path / "written.xml")
        for mj in (model.mj, mujoco.MjModel.from_xml_path(str(tmp_path / "written.xml"))):
            names = [[mujoco.mj_id2name(mj, kind, number) for number in range(2)] for kind in kinds]
            assert names == [[f"{entity}/{name}" for entity in ("first", "second")] for name in ("kf", "say", "group")]
            assert mj.numeric_data.tolist() == [3, 4, 3, 4]


LONG = {"a name": "x" * 5000, "a path": "/y" * 3000}  # beyond NAME_MAX and PATH_MAX of Linux
READERS = {
    "MJCF": Model.from_mjcf,
    "URDF": Model.from_urdf,
    "mesh": '<mujoco><asset><mesh name="a" file="{}.stl"/></asset></mujoco>',
    "field": '<mujoco><asset><hfield name="a" file="{}.png" size="1 1 1 1"/></asset></mujoco>',
    "texture": '<mujoco><asset><texture name="a" type="2d" file="{}.png"/></asset></mujoco>',
    "include": '<mujoco><include file="{}.xml"/></mujoco>',
    "model": '<mujoco><asset><model name="a" file="{}.xml"/></asset></mujoco>',
    "package": '<robot name="a"><link name="b"><collision><geometry><mesh filename="package://{}/a.stl"/></geometry>'
    "</collision></link></robot>",
    "MJCF morph": lambda name: compiled(gs.morphs.MJCF(file=name)),
    "URDF morph": lambda name: compiled(gs.morphs.URDF(file=name)),
    "mesh morph": lambda name: compiled(gs.morphs.Mesh(file=f"{name}.stl")),
    "picture of heights": terrain_files.read_image,
    "mesh of the ground": terrain_files.read_triangles,
}


@cases("length", LONG)
@cases("kind", READERS)
def test_no_name_of_a_file_is_too_long_to_be_refused(kind, length):
    """An XML string whose first character is damaged is taken for a path, and pathlib raises OSError for such ones."""
    read, error = READERS[kind], FileNotFoundError if "heights" in kind or "ground" in kind else ModelLoadError
    with pytest.raises(error, match=LONG[length][:100]):
        if isinstance(read, str):
            (Model.from_urdf if "<robot" in read else Model.from_mjcf)(read.format(LONG[length]))
        else:
            read(LONG[length])

"""Files that a URDF names: where packages are found, which meshes are read, and what the spec carries along."""

import re
import shutil
import warnings

import mujoco
import numpy as np
import pytest
from PIL import Image

from tumble.physics.files.urdf import UrdfError, UrdfWarning, urdf_spec
from tumble.physics.model.loading.sanity import ModelLoadError
from tumble.physics.model.model import Model

from ..geometry.mesh_bytes import WRITERS
from .test_broken_files import INERTIAL

TETRAHEDRON = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
SINGLE = 1e-6
"""MuJoCo keeps vertices in single precision."""


def mesh_file(form: str = "stl") -> bytes:
    return WRITERS[form](TETRAHEDRON, FACES)


def robot(*files: str, scale: str = "", tag: str = "collision") -> str:
    """A link with a mesh for each file, the first of them in line 3."""
    meshes = [f'<{tag}><geometry><mesh filename="{file}" {scale}/></geometry></{tag}>' for file in files]
    return "\n".join(['<robot name="r">', f'<link name="a">{INERTIAL}', *meshes, "</link></robot>"])


def vertices(mjm: mujoco.MjModel, geom: int = 0) -> np.ndarray:
    """Vertices of a geom's mesh in the frame of its body, sorted."""
    mesh = mjm.geom_dataid[geom]
    start = mjm.mesh_vertadr[mesh]
    own = mjm.mesh_vert[start : start + mjm.mesh_vertnum[mesh]]
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, mjm.geom_quat[geom])
    found = np.unique((own @ turn.reshape(3, 3).T + mjm.geom_pos[geom]).round(4) + 0.0, axis=0)
    return found


@pytest.fixture
def package(tmp_path):
    """The folder of a package `pkg` with a mesh, and a URDF file deep inside another folder of it."""
    folder = tmp_path / "src" / "robots" / "pkg"
    (folder / "meshes").mkdir(parents=True)
    (folder / "urdf" / "deep").mkdir(parents=True)
    (folder / "meshes" / "a.stl").write_bytes(mesh_file())
    (folder / "package.xml").write_text("<package><name>pkg</name></package>")
    return folder


def test_packages_are_found_upwards_by_map_and_where_ros_looks(package, tmp_path, monkeypatch):
    text = robot("package://pkg/meshes/a.stl")
    inside, outside = package / "urdf" / "deep" / "r.urdf", tmp_path / "elsewhere" / "r.urdf"
    outside.parent.mkdir()
    for path in (inside, outside):
        path.write_text(text)
    assert urdf_spec(inside).compile().nmesh == 1
    renamed = package.rename(package.with_name("cloned"))  # package.xml says what it is
    assert urdf_spec(renamed / "urdf" / "deep" / "r.urdf").compile().nmesh == 1
    with pytest.raises(UrdfError, match=r"1 file missing: 'package://pkg/meshes/a.stl' \(line 3\); say where packages"):
        urdf_spec(outside)
    assert urdf_spec(outside, packages={"pkg": renamed}).compile().nmesh == 1
    assert urdf_spec(outside, packages=renamed.parent).compile().nmesh == 1
    assert urdf_spec(text, packages=[renamed.parent.parent]).compile().nmesh == 1
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{renamed.parent}")
    assert urdf_spec(outside).compile().nmesh == 1
    monkeypatch.delenv("ROS_PACKAGE_PATH")
    (tmp_path / "share").mkdir()
    shutil.copytree(renamed, tmp_path / "share" / "pkg")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    assert urdf_spec(outside).compile().nmesh == 1


def test_other_ways_to_name_a_file(package, tmp_path, monkeypatch):
    mesh = package / "meshes" / "a.stl"
    (package / "meshes" / "with space.stl").write_bytes(mesh_file())
    path = package / "r.urdf"
    for name in ("meshes/a.stl", "./meshes\\a.stl", f"file://{mesh}", str(mesh), "meshes/with%20space.stl"):
        path.write_text(robot(name))
        assert urdf_spec(path).compile().nmesh == 1, name
        assert urdf_spec(robot(name), folder=package).compile().nmesh == 1, name
    (tmp_path / "models" / "thing").mkdir(parents=True)
    (tmp_path / "models" / "thing" / "a.stl").write_bytes(mesh_file())
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tmp_path / "models"))
    assert urdf_spec(robot("model://thing/a.stl")).compile().nmesh == 1
    path.write_text(robot("package://lost/meshes/a.stl"))  # the package is nowhere, but its files are beside
    with pytest.warns(UrdfWarning, match="package 'lost' is found nowhere; its files are taken from"):
        assert urdf_spec(path).compile().nmesh == 1
    deep = package / "urdf" / "deep" / "r.urdf"  # paths count from the package's root, or from the folder of packages
    for name in ("meshes/a.stl", "pkg/meshes/a.stl", "file://meshes/a.stl"):
        deep.write_text(robot(name))
        with pytest.warns(UrdfWarning, match=rf"'{name.removeprefix('file://')}' does not lie where the URDF file is"):
            assert urdf_spec(deep).compile().nmesh == 1
    path.write_text(
        robot("package://x/y/a.stl").replace(">", '><mujoco><compiler meshdir="meshes" strippath="true"/></mujoco>', 1)
    )
    assert urdf_spec(path).compile().nmesh == 1


def test_all_missing_files_are_named_at_once(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(robot("b.stl", "package://p/c.dae", "b.stl", "http://d.stl"))
    expected = "3 files missing: 'b.stl' (line 3), 'package://p/c.dae' (line 4), 'http://d.stl' (line 6)"
    with pytest.raises(UrdfError, match=re.escape(expected)):
        urdf_spec(path)
    with pytest.warns(UrdfWarning, match="3 files missing, whose shapes or textures are left out"):
        assert urdf_spec(path, missing="skip").compile().ngeom == 0


@pytest.mark.parametrize("form", ["stl", "text.stl", "obj", "ply", "glb", "dae"])
def test_formats_scales_and_mirrors(form, tmp_path):
    (tmp_path / f"m.{form}").write_bytes(mesh_file(form))
    path = tmp_path / "r.urdf"
    for scale, factors in (("", [1, 1, 1]), ('scale="2 3 0.5"', [2, 3, 0.5]), ('scale="1 -1 1"', [1, -1, 1])):
        for tag in ("collision", "visual"):
            path.write_text(robot(f"m.{form}", scale=scale, tag=tag))
            mjm = urdf_spec(path).compile()
            expected = np.unique((TETRAHEDRON * factors).round(4) + 0.0, axis=0)
            assert np.abs(vertices(mjm) - expected).max() < 1e-3
            volumes = signed_volume(mjm)
            assert volumes == pytest.approx(abs(np.prod(factors)), rel=SINGLE)  # faces look outwards, of mirrors too


def signed_volume(mjm: mujoco.MjModel) -> float:
    corners = mjm.mesh_vert[mjm.mesh_face]
    return float(np.einsum("ni,ni->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6)


def test_a_mesh_that_cannot_be_read_names_its_line(tmp_path):
    path = tmp_path / "r.urdf"
    (tmp_path / "m.stl").write_bytes(mesh_file()[:-7])
    (tmp_path / "m.fbx").write_bytes(b"fbx")
    path.write_text(robot("m.stl"))
    with pytest.raises(UrdfError, match=r"r\.urdf, line 3: mesh 'm\.stl', .*m\.stl: its header declares 4 faces"):
        urdf_spec(path)
    path.write_text(robot("m.fbx"))
    with pytest.raises(UrdfError, match=r"line 3: .*fbx is no format that can be read; there are dae, glb"):
        urdf_spec(path)
    (tmp_path / "m.obj").write_bytes(b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 0 1\nf 1 2 9\n")  # MuJoCo's compiler refuses it
    path.write_text(robot("m.obj"))
    with pytest.raises(ModelLoadError, match=r"r\.urdf: .*m\.obj, line 3\)"):
        Model.from_urdf(path)


SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]) @ np.array([[0.8, 0.6, 0], [-0.6, 0.8, 0], [0, 0, 1]])


@pytest.mark.parametrize("form", ["stl", "text.stl", "obj", "msh", "glb"])
def test_flat_meshes_are_seen_and_touch_nothing(form, tmp_path):
    """A square is drawn; nothing is left of one triangle, which MuJoCo does not compile."""
    path, box = tmp_path / "r.urdf", "<collision><geometry><box size='1 1 1'/></geometry></collision>"
    for vertices, faces, left in (
        (SQUARE, [[0, 1, 2], [0, 2, 3]], 1),
        (SQUARE[:3], [[0, 1, 2]], 0),
        (TETRAHEDRON * [1, 1, 0], FACES, 0),
    ):
        (tmp_path / f"m.{form}").write_bytes(WRITERS[form](vertices, np.array(faces)))
        for tag in ("visual", "collision"):
            for scale in ("", 'scale="2 2 0.5"'):
                path.write_text(robot(f"m.{form}", scale=scale, tag=tag).replace("</link>", box + "</link>"))
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    mjm = Model.from_urdf(path).mj
                assert mjm.ngeom == left + 1 and mjm.body_mass[1] == 1.0
                assert (mjm.geom_contype != 0).tolist() == [False] * left + [True]
                told = " ".join(str(each.message) for each in caught)
                assert ("line 3: mesh 'm" in told) == (tag == "collision" or not left), told
    (tmp_path / f"m.{form}").write_bytes(mesh_file(form))
    path.write_text(robot(f"m.{form}", scale='scale="1 0 1"').replace("</link>", box + "</link>"))
    with pytest.warns(UrdfWarning, match="line 3: a <mesh> of link 'a' has a scale 0, and is left out"):
        assert urdf_spec(path).compile().ngeom == 1


BROKEN_VERTICES = {
    "empty.obj": (b"# nothing\n", "it has no vertices"),
    "words.obj": (b"  v one two three\n" * 4 + b"f 1 2 3\n", "a line of its vertices is no three numbers"),
    "nan.stl": (mesh_file()[:96] + np.float32(np.nan).tobytes() + mesh_file()[100:], "a vertex is not finite"),
}


@pytest.mark.parametrize("name", BROKEN_VERTICES)
def test_vertices_that_are_none_are_named_with_their_file(name, tmp_path):
    data, sentence = BROKEN_VERTICES[name]
    path = tmp_path / "r.urdf"
    (tmp_path / name).write_bytes(data)
    path.write_text(robot(name))
    with pytest.raises(UrdfError, match=rf"r\.urdf, line 3: mesh '{name}', .*{name}: {sentence}"):
        urdf_spec(path)
    path.write_text(robot(name, tag="visual"))
    with pytest.warns(UrdfWarning, match=rf"line 3: .*{sentence}; it is only seen, and left out"):
        assert urdf_spec(path).compile().ngeom == 0


def test_vertices_of_indented_lines_are_read(tmp_path):
    """MuJoCo reads them too, whose own volume of the mesh is the oracle."""
    (tmp_path / "m.obj").write_bytes(b"".join(b" " + line for line in mesh_file("obj").splitlines(keepends=True)))
    (tmp_path / "r.urdf").write_text(robot("m.obj"))
    mjm = urdf_spec(tmp_path / "r.urdf").compile()
    assert mjm.ngeom == 1 and mjm.geom_contype[0] == 1
    assert signed_volume(mjm) == pytest.approx(1.0, rel=SINGLE)


def test_a_broken_mesh_that_is_only_seen_is_left_out(tmp_path):
    path = tmp_path / "r.urdf"
    (tmp_path / "m.stl").write_bytes(mesh_file()[:-7])
    both = robot("m.stl", tag="visual").replace("</link>", f"{robot('m.stl').splitlines()[2]}</link>")
    path.write_text(robot("m.stl", tag="visual"))
    with pytest.warns(
        UrdfWarning, match=r"line 3: mesh 'm\.stl', .* declares 4 faces.*; it is only seen, and left out"
    ):
        assert urdf_spec(path).compile().ngeom == 0
    path.write_text(both)
    with pytest.raises(UrdfError, match=r"line 4: mesh 'm\.stl', .*m\.stl: its header declares 4 faces"):
        urdf_spec(path)


def test_a_collada_file_without_its_image_keeps_its_shape(tmp_path):
    effect = (
        '<library_effects><effect id="e"><profile_COMMON><newparam sid="s"><sampler2D><source>nothing</source>'
        '</sampler2D></newparam><technique sid="c"><phong><diffuse>'
        '<texture texture="s" texcoord="U"/></diffuse></phong>'
        '</technique></profile_COMMON></effect></library_effects><library_materials><material id="m">'
        '<instance_effect url="#e"/></material></library_materials>'
    )
    data = mesh_file("dae").replace(b"<library_geometries>", effect.encode() + b"<library_geometries>")
    (tmp_path / "m.dae").write_bytes(data)
    (tmp_path / "r.urdf").write_text(robot("m.dae"))
    assert urdf_spec(tmp_path / "r.urdf").compile().mesh_facenum[0] == 4


def test_the_spec_needs_no_file_any_more(tmp_path):
    """It compiles, is attached twice and loads as a model when the folder is gone."""
    for form in ("stl", "obj", "dae", "glb"):
        (tmp_path / f"m.{form}").write_bytes(mesh_file(form))
    (tmp_path / "t.png").write_bytes(b"")
    Image.new("RGB", (2, 2), (255, 0, 0)).save(tmp_path / "t.png")
    text = robot(*(f"m.{form}" for form in ("stl", "obj", "dae", "glb")))
    look = '<material name="p"><texture filename="t.png"/></material>'
    box = f'<visual><geometry><box size="1 1 1"/></geometry>{look}</visual>'
    (tmp_path / "r.urdf").write_text(text.replace("</link>", box + "</link>"))
    specs = [urdf_spec(tmp_path / "r.urdf") for _ in range(2)]
    shutil.rmtree(tmp_path)
    alone = specs[0].copy().compile()
    assert (alone.nmesh, alone.ntex, alone.nmat) == (4, 1, 1) and alone.tex_data[:3].tolist() == [255, 0, 0]
    scene = mujoco.MjSpec()
    for number, spec in enumerate(specs):
        spec.modelname = f"robot {number}"
        scene.attach(spec, prefix=f"{number}/", frame=scene.worldbody.add_frame(pos=[0, 5 * number, 0]))
    mjm = Model.from_mjspec(scene).mj
    assert mjm.nmesh == 8 and mjm.body("1/a").id == 2
    assert np.allclose(vertices(mjm, 0), vertices(alone, 0))


def test_colours_and_groups():
    """Own colours and those by name; what touches is hidden where something else is seen."""
    shapes = (
        '<visual><geometry><box size="1 1 1"/></geometry><material name="red"/></visual>'
        '<visual name="seen"><geometry><sphere radius="1"/></geometry><material name=""><color rgba="0 0.5 1"/>'
        '</material></visual><collision><geometry><cylinder radius="1" length="3"/></geometry></collision>'
    )
    text = (
        f'<robot name="r"><link name="a">{INERTIAL}{shapes}</link>'
        '<material name="red"><color rgba="1 0 0 2"/></material></robot>'
    )
    with pytest.warns(UrdfWarning, match="rgba '1 0 0 2' is not from 0 to 1"):
        mjm = urdf_spec(text).compile()
    assert [mjm.geom(i).name for i in range(3)] == ["a_visual", "seen", "a_collision"]
    assert np.allclose(mjm.geom_rgba[:2], [[1, 0, 0, 1], [0, 0.5, 1, 1]])
    assert mjm.geom_group.tolist() == [2, 2, 3] and mjm.geom_contype.tolist() == [0, 0, 1]
    assert np.allclose(mjm.geom_size[2], [1, 1.5, 0]) and mjm.body_mass[1] == 1.0
    twice = text.replace("</link>", shapes + "</link>", 1)  # names that stand twice get a number
    with pytest.warns(UrdfWarning):
        named = urdf_spec(twice).geoms
    assert [geom.name for geom in named][2:] == ["a_visual_2", "seen_2", "a_collision", "a_collision_2"]
    with pytest.warns(UrdfWarning):
        assert urdf_spec(text, visuals=False).compile().geom_group.tolist() == [0]
    with pytest.warns(UrdfWarning):
        assert urdf_spec(text, collisions=False).compile().ngeom == 2

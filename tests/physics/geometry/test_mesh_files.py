"""Meshes from files that MuJoCo does not read, held against MuJoCo's own of the same shape."""

import io
import json
import re
import sys

import mujoco
import numpy as np
import pytest
from PIL import Image

from tumble.physics import Model
from tumble.physics.files.geometry.mesh import different_rows
from tumble.physics.files.geometry.trimesh_files import parse_mesh

from . import mesh_bytes

trimesh = pytest.importorskip("trimesh")
pytest.importorskip("collada")
SINGLE = 2e-6
"""Files keep single precision or seven digits, relative to the size of the mesh; inertia has its fifth power."""
FORMS = ("ply", "off", "glb", "dae", "gltf", "stl")
"""The last is written as text, which MuJoCo does not read."""


def egg():
    """A shape without symmetry: no two of its moments are equal."""
    mesh = trimesh.creation.icosphere(2)
    mesh.vertices = mesh.vertices * [0.1, 0.2, 0.3] + [0.05, 0.0, 0.02] + 0.03 * mesh.vertices[:, ::-1] ** 2
    return mesh


def write(mesh, folder, form):
    """A file 'egg' in some format."""
    if form == "gltf":
        for name, data in mesh.export(file_type="gltf").items():
            (folder / ("egg.gltf" if name == "model.gltf" else name)).write_bytes(data)
    else:
        data = mesh.export(file_type="stl_ascii" if form == "stl" else form)
        (folder / f"egg.{form}").write_bytes(data if isinstance(data, bytes) else data.encode())


ATTRIBUTES = ("", 'scale="1 2 -0.5"', 'refpos="0.1 0.2 0.3" refquat="1 2 3 4"', 'maxhullvert="20"')


@pytest.mark.parametrize("attributes", ATTRIBUTES)
@pytest.mark.parametrize("form", FORMS)
def test_a_mesh_is_what_mujoco_makes_of_it_as_obj(form, attributes, tmp_path):
    (tmp_path / "sub").mkdir()
    write(egg(), tmp_path / "sub", form)
    write(egg(), tmp_path / "sub", "obj")
    text = (
        '<mujoco><compiler assetdir="sub"/><asset><mesh file="egg.{}" {}/></asset><worldbody>'
        '<body><freejoint/><geom type="mesh" mesh="egg" pos="1 2 3" quat="1 1 0 0"/></body></worldbody></mujoco>'
    )
    (tmp_path / "mine.xml").write_text(text.format(form, attributes))
    (tmp_path / "obj.xml").write_text(text.format("obj", attributes))
    mine = Model.from_mjcf(tmp_path / "mine.xml").mj
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "obj.xml"))
    assert (mine.nmeshvert, mine.nmeshface) == (theirs.nmeshvert, theirs.nmeshface)
    for name in ("body_mass", "body_inertia", "body_ipos", "geom_pos", "geom_aabb", "geom_rbound"):
        one, other = getattr(mine, name), getattr(theirs, name)
        assert np.abs(one - other).max() <= SINGLE * np.abs(other).max(), name
    assert hull_points(mine) == pytest.approx(hull_points(theirs), abs=SINGLE)


def hull_points(mjm):
    """Vertices of the hull in the frame of the body, sorted."""
    data = mujoco.MjData(mjm)
    mujoco.mj_kinematics(mjm, data)
    start = mjm.mesh_graphadr[0]
    count = mjm.mesh_graph[start]
    ids = mjm.mesh_graph[start + 2 + count : start + 2 + 2 * count]
    points = mjm.mesh_vert[ids] @ data.geom_xmat[0].reshape(3, 3).T + data.geom_xpos[0]
    return points[np.lexsort(np.round(points, 4).T)]


@pytest.mark.parametrize("form", FORMS)
def test_a_file_has_trimeshs_volume_and_is_closed(form, tmp_path):
    write(egg(), tmp_path, form)
    found = parse_mesh((tmp_path / f"egg.{form}").read_bytes(), form, tmp_path)
    mesh = trimesh.Trimesh(found.vertices, found.faces, process=False)
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(egg().volume, rel=1e-5)  # with the sign: no face is turned over
    assert mesh.bounds == pytest.approx(egg().bounds, abs=SINGLE)


def test_the_nodes_of_a_scene_have_their_places(tmp_path, load):
    """Three copies, one of them mirrored, one scaled: MuJoCo has the sum, its faces all outwards."""
    scene, box = trimesh.Scene(), trimesh.creation.box((0.2, 0.2, 0.2))
    turns = [np.eye(4), np.diag([1.0, -1.0, 1.0, 1.0]), np.diag([2.0, 1.0, 1.0, 1.0])]
    for k, turn in enumerate(turns):
        turn[0, 3] = k
        scene.add_geometry(box, transform=turn)
    scene.export(str(tmp_path / "it.glb"))
    mjm = load(tmp_path / "it.glb", 'inertia="exact"')
    assert mjm.body_mass[1] == pytest.approx(1000 * 0.2**3 * 4, rel=1e-5)
    assert mjm.geom_pos[0, 0] == pytest.approx((0 + 1 + 2 * 2) / 4, rel=1e-5)


def test_colladas_unit_is_made_metres(tmp_path, load):
    path = tmp_path / "it.dae"
    path.write_bytes(mesh_bytes.dae(mesh_bytes.CORNERS * 1000, mesh_bytes.TRIANGLES, unit=0.001))
    assert load(path).body_mass[1] == pytest.approx(1000 * mesh_bytes.VOLUME, rel=1e-5)


def test_four_cornered_faces(tmp_path, load):
    corners = "\n".join(" ".join(map(str, v)) for v in mesh_bytes.CORNERS.tolist())
    faces = "4 0 1 3 2\n4 4 6 7 5\n4 0 4 5 1\n4 2 3 7 6\n4 0 2 6 4\n4 1 5 7 3\n"
    (tmp_path / "it.off").write_text(f"OFF\n8 6 0\n{corners}\n{faces}")
    assert load(tmp_path / "it.off").body_mass[1] == pytest.approx(1000 * mesh_bytes.VOLUME, rel=1e-6)


def painted(**material):
    visual = trimesh.visual
    mesh = trimesh.creation.box((0.2, 0.3, 0.4))
    mesh.visual = visual.TextureVisuals(material=visual.material.PBRMaterial(**material))
    return mesh


def test_a_colour_becomes_a_material(tmp_path, load):
    painted(baseColorFactor=[255, 51, 0, 204], roughnessFactor=0.25).export(str(tmp_path / "it.glb"))
    mjm = load(tmp_path / "it.glb")
    assert mjm.geom_matid[0] >= 0
    assert mjm.mat_rgba[mjm.geom_matid[0]] == pytest.approx([1, 0.2, 0, 0.8], abs=0.003)  # a byte
    assert mjm.mat_shininess[0] == pytest.approx(0.75)


def test_the_models_own_material_counts_more(tmp_path):
    painted(baseColorFactor=[255, 0, 0, 255]).export(str(tmp_path / "it.glb"))
    mjm = Model.from_mjcf(
        f'<mujoco><asset><material name="blue" rgba="0 0 1 1"/><mesh name="m" file="{tmp_path}/it.glb"/></asset>'
        '<worldbody><geom type="mesh" mesh="m" material="blue"/></worldbody></mujoco>'
    ).mj
    assert mjm.mat_rgba[mjm.geom_matid[0]].tolist() == [0, 0, 1, 1]


def colour_of_faces(mjm):
    """What MuJoCo draws in the middle of every face of mesh 0 (m, 3), by its texture's nearest texel."""
    corners = mjm.mesh_texcoord[mjm.mesh_texcoordadr[0] + mjm.mesh_facetexcoord].mean(axis=1)
    texture = mjm.mat_texid[mjm.geom_matid[0], mujoco.mjtTextureRole.mjTEXROLE_RGB]
    height, width, channels = (getattr(mjm, f"tex_{n}")[texture] for n in ("height", "width", "nchannel"))
    start = mjm.tex_adr[texture]
    image = mjm.tex_data[start : start + height * width * channels].reshape(height, width, channels)
    column, row = (np.floor(corners % 1.0 * [width, height])).astype(int).T
    return image[row, column, :3]


def test_the_colours_of_parts_and_of_faces_become_a_palette(tmp_path, load):
    red, blue = painted(baseColorFactor=[255, 0, 0, 255]), painted(baseColorFactor=[0, 0, 255, 255])
    blue.apply_translation([1, 0, 0])
    trimesh.Scene([red, blue]).export(str(tmp_path / "it.glb"))
    mjm = load(tmp_path / "it.glb")
    x = mjm.mesh_vert[mjm.mesh_face][:, :, :].mean(axis=1)
    far = x @ (mjm.mesh_vert[8:].mean(axis=0) - mjm.mesh_vert[:8].mean(axis=0)) > 0
    colours = colour_of_faces(mjm)
    assert {tuple(c) for c in colours[far].tolist()} | {tuple(c) for c in colours[~far].tolist()} == {
        (255, 0, 0),
        (0, 0, 255),
    }
    assert len({tuple(c) for c in colours[far].tolist()}) == 1
    mesh = trimesh.creation.box((0.2, 0.3, 0.4))
    mesh.visual.face_colors = np.random.default_rng(0).integers(0, 255, (12, 4)) | [0, 0, 0, 255]
    mesh.export(str(tmp_path / "it.ply"))
    assert np.array_equal(colour_of_faces(load(tmp_path / "it.ply")), mesh.visual.face_colors[:, :3])


def test_a_texture_lies_as_mujoco_lays_it_for_obj(tmp_path, load):
    """The same mesh with uvs as OBJ and as GLB: the same texture coordinates, the same image, its first row on top."""
    mesh, image = trimesh.creation.box((0.2, 0.3, 0.4)), np.random.default_rng(0).integers(0, 255, (4, 6, 3))
    uv = np.random.default_rng(1).random((8, 2)).astype(np.float32)
    mesh.visual = trimesh.visual.TextureVisuals(uv=uv, image=Image.fromarray(image.astype(np.uint8)))
    mesh.export(str(tmp_path / "it.glb"))
    mesh.export(str(tmp_path / "obj.obj"))
    mine, theirs = load(tmp_path / "it.glb"), load(tmp_path / "obj.obj")
    of_mine, of_theirs = (m.mesh_texcoord[m.mesh_facetexcoord] for m in (mine, theirs))
    faces = [np.round(m.mesh_vert[m.mesh_face].mean(axis=1), 4) for m in (mine, theirs)]
    orders = [np.lexsort(f.T) for f in faces]
    assert of_mine[orders[0]].mean(axis=1) == pytest.approx(of_theirs[orders[1]].mean(axis=1), abs=1e-6)
    assert np.array_equal(mine.tex_data.reshape(4, 6, 3), image)


def test_the_files_of_an_attached_model_lie_beside_it(tmp_path):
    (tmp_path / "arm" / "parts").mkdir(parents=True)
    write(egg(), tmp_path / "arm" / "parts", "ply")
    (tmp_path / "arm" / "arm.xml").write_text(
        '<mujoco><compiler meshdir="parts"/><asset><mesh name="egg" file="egg.ply"/></asset><worldbody>'
        '<body name="b"><freejoint/><geom type="mesh" mesh="egg"/></body></worldbody></mujoco>'
    )
    (tmp_path / "scene.xml").write_text(
        '<mujoco><asset><model name="arm" file="arm/arm.xml"/></asset><worldbody>'
        '<attach model="arm" body="b" prefix="a_"/></worldbody></mujoco>'
    )
    assert Model.from_mjcf(tmp_path / "scene.xml").mj.nmeshface == len(egg().faces)


@pytest.mark.parametrize("form", ("obj", "ply"))
def test_the_files_of_a_spec_that_a_program_attaches(form, tmp_path):
    """MuJoCo finds its own formats; where others lie it does not tell, and the error names the path."""
    write(egg(), tmp_path, form)
    (tmp_path / "child.xml").write_text(
        f'<mujoco><asset><mesh name="egg" file="egg.{form}"/></asset><worldbody><body name="b">'
        '<geom type="mesh" mesh="egg"/></body></worldbody></mujoco>'
    )
    spec = mujoco.MjSpec()
    child = mujoco.MjSpec.from_file(str(tmp_path / "child.xml"))
    spec.worldbody.add_frame().attach_body(child.body("b"), "x_", "")
    if form == "obj":
        assert Model.from_mjspec(spec).mj.nmeshface == len(egg().faces)
    else:
        with pytest.raises(ValueError, match=r"mesh 'x_egg', egg\.ply: there is no such file"):
            Model.from_mjspec(spec)


def test_a_mesh_without_a_name_has_its_files(tmp_path):
    write(egg(), tmp_path, "ply")
    spec = mujoco.MjSpec()
    spec.add_mesh(file=str(tmp_path / "egg.ply"))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="egg")
    assert Model.from_mjspec(spec).mj.nmeshface == len(egg().faces)


def test_bytes_that_a_spec_brings_along():
    spec = mujoco.MjSpec()
    spec.assets = {"egg.ply": egg().export(file_type="ply")}
    spec.add_mesh(name="egg", file="egg.ply")
    body = spec.worldbody.add_body()
    body.add_freejoint()
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="egg")
    assert Model.from_mjspec(spec).mj.nmeshface == len(egg().faces)
    assert spec.mesh("egg").file == "egg.ply"  # the user's spec is not changed


def test_normals_of_a_file_are_kept(tmp_path, load):
    """Flat ones on a cube, which MuJoCo would not make by itself: it smooths them at the corners."""
    mesh = trimesh.creation.box((0.2, 0.2, 0.2))
    mesh.unmerge_vertices()
    data = mesh.export(file_type="glb", include_normals=True)
    found = parse_mesh(data, "glb")
    assert found.normals == pytest.approx(np.repeat(mesh.face_normals[:, None], 3, axis=1), abs=1e-6)
    (tmp_path / "it.glb").write_bytes(data)
    assert load(tmp_path / "it.glb").nmeshvert == 8  # what touches needs no vertex twice
    mjm = load(tmp_path / "it.glb", geom='contype="0" conaffinity="0"')
    normals = mjm.mesh_normal[mjm.mesh_facenormal]
    corners = mjm.mesh_vert[mjm.mesh_face].astype(float)
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    assert normals == pytest.approx(np.repeat(flat[:, None], 3, axis=1), abs=1e-5)


def test_a_missing_reader_says_what_to_install(tmp_path, load, monkeypatch):
    monkeypatch.setitem(sys.modules, "collada", None)
    path = tmp_path / "it.dae"
    path.write_bytes(mesh_bytes.dae(mesh_bytes.CORNERS, mesh_bytes.TRIANGLES))
    with pytest.raises(ValueError, match=r"pycollada.*pip install"):
        load(path)


def test_parts_with_different_images_take_their_mean_colours(tmp_path, load):
    scene = trimesh.Scene()
    for k, colour in enumerate(((200, 0, 0), (0, 100, 0))):
        mesh = trimesh.creation.box((0.2, 0.3, 0.4))
        mesh.visual = trimesh.visual.TextureVisuals(uv=np.zeros((8, 2)), image=Image.new("RGB", (4, 4), colour))
        mesh.visual.material = mesh.visual.material.to_pbr()
        mesh.visual.material.baseColorFactor = [255, 255, 255, 255]
        scene.add_geometry(mesh, transform=trimesh.transformations.translation_matrix([k, 0, 0]))
    scene.export(str(tmp_path / "it.glb"))
    assert set(map(tuple, colour_of_faces(load(tmp_path / "it.glb")).tolist())) == {(200, 0, 0), (0, 100, 0)}


def test_the_files_that_one_refers_to_are_bounded_together(tmp_path, load, bounded):
    """Each buffer is small by its head; each is the same large file."""
    (tmp_path / "large.bin").write_bytes(b"")
    with (tmp_path / "large.bin").open("wb") as file:
        file.truncate(100 << 20)
    buffers = [{"byteLength": 8, "uri": "large.bin"}] * 100
    (tmp_path / "it.gltf").write_text(json.dumps({"asset": {"version": "2.0"}, "buffers": buffers}))
    with pytest.raises(ValueError, match="in all"):
        load(tmp_path / "it.gltf")


@pytest.mark.parametrize("broken", ("cut", "a bomb"))
def test_a_broken_image_is_an_error(broken, tmp_path, load, bounded):
    """A picture that ends too early, and one of a billion pixels in a few kilobytes."""
    png = io.BytesIO()
    if broken == "cut":
        noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3)).astype(np.uint8)
        Image.fromarray(noise).save(png, "PNG")
        data = png.getvalue()[:5000]
    else:
        Image.new("1", (10_000, 8_000)).save(png, "PNG")
        data = png.getvalue()
    mesh = trimesh.creation.box((0.2, 0.3, 0.4))
    mesh.visual = trimesh.visual.TextureVisuals(uv=np.zeros((8, 2)), image=Image.new("RGB", (2, 2)))
    files = mesh.export(file_type="gltf")
    head = json.loads(files["model.gltf"])
    head["images"][0] = {"uri": "it.png"}
    (tmp_path / "it.png").write_bytes(data)
    for name, part in files.items():
        (tmp_path / name).write_bytes(part)
    (tmp_path / "it.gltf").write_text(json.dumps(head))
    with pytest.raises(ValueError, match="texture"):
        load(tmp_path / "it.gltf")


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32, np.uint8])
def test_different_rows_are_numpys(kind):
    """Rows, their first places and numbers are those of `np.unique`, to the bit."""
    rng = np.random.default_rng(0)
    for columns in (1, 2, 3, 4):
        rows = rng.integers(0, 4, (300, columns)).astype(kind)
        expected = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        for mine, other in zip(different_rows(rows), expected, strict=True):
            assert mine.tolist() == other.reshape(mine.shape).tolist()


WEIGHING = """<mujoco><asset>
<mesh name="box" file="box.stl"/><mesh name="ring" file="ring.stl"/><mesh name="hollow" file="hollow.stl"/>
<mesh name="exact" file="ring.stl" inertia="exact"/>
<mesh file="torus.stl"/><mesh name="marker" file="ring.stl"/></asset>
<worldbody>
<body><freejoint/><geom type="mesh" mesh="box"/></body><body><freejoint/><geom type="mesh" mesh="ring"/></body>
<body><freejoint/><geom type="mesh" mesh="hollow"/></body><body><freejoint/><geom type="mesh" mesh="exact"/></body>
<body><freejoint/><geom type="mesh" mesh="torus" mass="1"/></body>
<body><freejoint/><geom size="1"/><geom type="mesh" mesh="marker" density="0"/></body>
<body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom type="mesh" mesh="marker"/></body>
</worldbody></mujoco>"""


def test_meshes_that_weigh_more_than_they_enclose_are_noted(tmp_path):
    """The factors are of MuJoCo's masses over trimesh's volumes; meshes that give no body its mass are left out."""
    inner = trimesh.creation.box((0.9, 0.9, 0.9))
    inner.invert()
    shapes = {
        "box": trimesh.creation.box((0.1, 0.2, 0.3)),
        "ring": trimesh.creation.annulus(0.5, 1.0, 0.4),
        "hollow": trimesh.util.concatenate([trimesh.creation.box((1, 1, 1)), inner]),
        "torus": trimesh.creation.torus(1.0, 0.2),
    }
    for name, shape in shapes.items():
        shape.export(tmp_path / f"{name}.stl")
    (tmp_path / "all.xml").write_text(WEIGHING)
    model = Model.from_mjcf(tmp_path / "all.xml")
    (note,) = (note for note in model.notes if "enclose" in note)
    factors = dict(re.findall(r"'(\w+)' (\d+\.\d\d)", note))
    assert set(factors) == {"ring", "hollow", "torus"} and 'inertia="exact"' in note
    density, digits = 1000.0, 0.006  # of MuJoCo; the note has two decimals
    for body, name in ((2, "ring"), (3, "hollow")):
        expected = model.mj.body_mass[body] / density / shapes[name].volume
        assert float(factors[name]) == pytest.approx(expected, abs=digits) and expected > 1.4
    assert model.mj.body_mass[4] == pytest.approx(density * shapes["ring"].volume, rel=1e-6)

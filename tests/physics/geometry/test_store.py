"""The store of geometry against MuJoCo's compiled model, SciPy's hulls and trimesh."""

import mujoco
import numpy as np
import pytest
from scipy.spatial import ConvexHull

from tumble.physics import Model
from tumble.physics.files.geometry.store import DATA, WIDTH, GeometryStore

trimesh = pytest.importorskip("trimesh")
SINGLE = 1e-6
"""MuJoCo keeps vertices in single precision, of meshes of some 0.3 m."""


def numbers(array):
    return " ".join(map(repr, np.asarray(array).reshape(-1).tolist()))


@pytest.fixture(scope="module")
def model():
    """Every type of geom; a mesh that is a box (six faces of four corners), a cloud, and one that is only seen."""
    cloud = np.random.default_rng(3).normal(size=(60, 3)) * [0.1, 0.2, 0.3]
    box, ball = trimesh.creation.box((0.2, 0.3, 0.4)), trimesh.creation.icosphere(2, radius=0.2)
    return Model.from_mjcf(
        f"""<mujoco><asset>
          <mesh name="box" vertex="{numbers(box.vertices)}"/>
          <mesh name="cloud" vertex="{numbers(cloud)}"/>
          <mesh name="ball" vertex="{numbers(ball.vertices)}" face="{numbers(ball.faces)}"/>
          <material name="blue" rgba="0 0 1 1"/>
        </asset><worldbody>
          <geom name="floor" type="plane" size="1 2 0.1"/>
          <geom name="post" type="cylinder" size="0.1 0.5" pos="5 0 0" euler="10 20 30"/>
          <body pos="0 0 3"><freejoint/>
            <geom name="sphere" size="0.1"/><geom name="capsule" type="capsule" size="0.1 0.2"/>
            <geom name="ellipsoid" type="ellipsoid" size="0.1 0.2 0.3"/><geom name="box" type="box" size="0.1 0.2 0.3"/>
            <geom name="a" type="mesh" mesh="box"/><geom name="b" type="mesh" mesh="cloud" group="3"/>
            <geom name="c" type="mesh" mesh="cloud"/>
            <geom name="seen" type="mesh" mesh="ball" contype="0" conaffinity="0" material="blue"/>
            <geom name="unseen" contype="0" conaffinity="0" size="0.1" rgba="1 1 1 0"/>
          </body></worldbody></mujoco>"""
    )


def of(store, name, geom):
    of_what = name.split("_")[0]
    return getattr(store, name)[getattr(store, f"{of_what}_start")[geom] : getattr(store, f"{of_what}_end")[geom]]


def test_numbers_of_geoms_have_names(model):
    store = model.geometry
    ids = {model.mj.geom(g).name: g for g in range(model.mj.ngeom)}
    assert store.data.shape == (model.mj.ngeom, WIDTH)
    assert store.named(ids["capsule"]) == {"radius": 0.1, "half_length": 0.2}
    assert store.named(ids["floor"]) == {"half_x": 1.0, "half_y": 2.0}
    assert store.named(ids["box"]) == {"half_x": 0.1, "half_y": 0.2, "half_z": 0.3}
    assert store.data_names("capsule") == ("radius", "half_length") == store.data_names(mujoco.mjtGeom.mjGEOM_CAPSULE)
    assert all(len(names) <= WIDTH for names in DATA.values())
    with pytest.raises(KeyError, match="capsule"):
        store.data_names("capsul")


@pytest.mark.parametrize("name", ("a", "b", "seen"))
def test_numbers_of_meshes_are_mujocos_bounds(model, name):
    geom = model.mj.geom(name).id
    found, aabb = model.geometry.named(geom), model.mj.geom_aabb[geom]
    assert [found[f"center_{x}"] for x in "xyz"] == pytest.approx(aabb[:3], abs=SINGLE)
    assert [found[f"half_{x}"] for x in "xyz"] == pytest.approx(aabb[3:], abs=SINGLE)


@pytest.mark.parametrize("name", ("a", "b"))
def test_a_hull_is_scipys_and_mujocos(model, name):
    store, mjm = model.geometry, model.mj
    g, mesh = mjm.geom(name).id, int(mjm.geom(name).dataid[0])
    vert = of(store, "vert", g)
    start = mjm.mesh_graphadr[mesh]
    count = int(mjm.mesh_graph[start])
    ids = mjm.mesh_graph[start + 2 + count : start + 2 + 2 * count]
    assert np.array_equal(np.unique(vert, axis=0), np.unique(mjm.mesh_vert[mjm.mesh_vertadr[mesh] + ids], axis=0))
    hull = ConvexHull(vert)
    assert len(hull.vertices) == len(vert)
    assert store.named(g)["volume"] == pytest.approx(hull.volume, rel=SINGLE)
    surface = trimesh.Trimesh(vert, of(store, "face", g) - store.vert_start[g], process=False)
    assert surface.is_watertight and surface.is_winding_consistent and surface.volume > 0
    assert of(store, "face_normal", g) == pytest.approx(surface.face_normals, abs=1e-4)  # of slivers, single precision
    normals = of(store, "vert_normal", g)
    assert np.linalg.norm(normals, axis=1) == pytest.approx(np.ones(len(vert)))
    assert ((vert - vert.mean(axis=0)) * normals).sum(axis=1).min() > 0


def test_edges_are_those_between_faces_that_differ(model):
    """A box has twelve, whatever its triangles; Euler's formula for the cloud, all of whose faces are triangles."""
    store, mjm = model.geometry, model.mj
    for name, edges in (("a", 12), ("b", None)):
        g = mjm.geom(name).id
        edge, sides = of(store, "edge", g), of(store, "edge_face", g)
        vertices, faces = len(of(store, "vert", g)), len(of(store, "face", g))
        assert len(edge) == (edges or vertices + faces - 2)
        assert sides.min() >= store.face_start[g] and sides.max() < store.face_end[g]
        for (a, b), pair in zip(edge, sides, strict=True):
            for face in pair:
                assert a in store.face[face] and b in store.face[face]
        around = {(int(v), int(w)) for v in range(len(store.vert)) for w in neighbours(store, v)}
        assert {(int(a), int(b)) for a, b in edge} | {(int(b), int(a)) for a, b in edge} == {
            pair for pair in around if store.vert_start[g] <= pair[0] < store.vert_end[g]
        }


def neighbours(store, v):
    return store.neighbour[store.neighbour_start[v] : store.neighbour_start[v + 1]]


def test_hill_climbing_over_edges_finds_the_support_vertex(model):
    """What the edges are for: from any vertex, uphill, to the farthest in a direction."""
    store, g = model.geometry, model.mj.geom("b").id
    first, end = store.vert_start[g], store.vert_end[g]
    for direction in np.random.default_rng(0).normal(size=(200, 3)):
        height = store.vert @ direction
        at = first
        while (best := max(neighbours(store, at), key=lambda v: height[v])) is not None and height[best] > height[at]:
            at = best
        assert at == first + np.argmax(height[first:end])


def test_geoms_of_one_mesh_share_its_vertices(model):
    store, (b, c) = model.geometry, (model.mj.geom(n).id for n in "bc")
    for name in ("vert", "face", "edge"):
        assert getattr(store, f"{name}_start")[b] == getattr(store, f"{name}_start")[c]
        assert len(getattr(store, name)) == sum(
            getattr(store, f"{name}_end")[g] - getattr(store, f"{name}_start")[g] for g in (model.mj.geom("a").id, b)
        )


def test_what_is_drawn_is_apart_from_what_touches(model):
    store, mjm = model.geometry, model.mj
    seen = mjm.geom("seen").id
    assert not store.collides[seen] and store.vert_start[seen] == store.vert_end[seen]
    names = [mjm.geom(g).name for g in store.vgeoms.geom]
    assert {"b", "unseen"}.isdisjoint(names) and {"a", "c", "seen", "floor"} <= set(names)
    row = names.index("seen")
    vgeoms = store.vgeoms
    assert vgeoms.rgba[row].tolist() == [0, 0, 1, 1] and vgeoms.material[row] == 0 and vgeoms.texture[row] == -1
    face = vgeoms.face[vgeoms.face_start[row] : vgeoms.face_end[row]]
    surface = trimesh.Trimesh(vgeoms.vert, face, process=False)
    assert len(face) == 320 and surface.volume == pytest.approx(
        trimesh.creation.icosphere(2, radius=0.2).volume, rel=SINGLE
    )
    own = slice(vgeoms.vert_start[row], vgeoms.vert_end[row])
    assert np.isnan(vgeoms.uv[own]).all()
    outwards = vgeoms.vert[own] / np.linalg.norm(vgeoms.vert[own], axis=1, keepdims=True)
    assert vgeoms.normal[own] == pytest.approx(outwards, abs=0.03)  # of a ball of 320 faces


def test_texture_coordinates_and_sharp_edges_make_vertices_of_their_own(tmp_path):
    """As OBJ has them: six faces with normals and uvs of their own have 24 vertices, which MuJoCo's eight become."""
    mesh = trimesh.creation.box((0.2, 0.3, 0.4))
    lines = [f"v {numbers(v)}" for v in mesh.vertices] + [f"vt {k / 40} {1 - k / 50}" for k in range(36)]
    lines += [f"f {' '.join(f'{v + 1}/{3 * k + i + 1}' for i, v in enumerate(f))}" for k, f in enumerate(mesh.faces)]
    (tmp_path / "it.obj").write_text("\n".join(lines))
    mjm = Model.from_mjcf(
        f'<mujoco><asset><mesh name="m" file="{tmp_path}/it.obj"/></asset><worldbody><geom type="mesh" mesh="m"/>'
        "</worldbody></mujoco>"
    ).mj
    vgeoms = GeometryStore.of(mjm).vgeoms
    assert vgeoms.uv[vgeoms.face].reshape(-1, 2) == pytest.approx(
        mjm.mesh_texcoord[mjm.mesh_facetexcoord].reshape(-1, 2), abs=1e-7
    )
    assert np.array_equal(vgeoms.vert[vgeoms.face], mjm.mesh_vert[mjm.mesh_face])
    assert np.array_equal(vgeoms.normal[vgeoms.face], mjm.mesh_normal[mjm.mesh_facenormal])


def test_nothing_in_it_changes(model):
    for name in ("vert", "data", "face", "edge", "vert_start", "rest_pos"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(model.geometry, name)[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        model.geometry.vgeoms.vert[0] = 0
    with pytest.raises(AttributeError):
        model.geometry.vert = None
    assert model.geometry is model.geometry


def test_what_stands_still(model):
    static = {model.mj.geom(g).name for g in np.flatnonzero(model.geometry.static)}
    assert static == {"floor", "post"}


def test_a_model_without_meshes_or_geoms():
    for body in ("", '<geom size="1"/>'):
        store = Model.from_mjcf(f"<mujoco><worldbody>{body}</worldbody></mujoco>").geometry
        assert len(store.vert) == len(store.face) == len(store.edge) == len(store.neighbour) == 0
        assert store.neighbour_start.tolist() == [0]

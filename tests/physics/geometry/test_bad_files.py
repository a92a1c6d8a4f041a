"""Files that are broken, lie, or are no files: an error that names mesh and file, or the right mesh; never a hang."""

import os

import numpy as np
import pytest

from tumble.physics import Model
from tumble.physics.model.loading.sanity import ModelLoadError

from ...cases import cases
from . import mesh_bytes
from .mesh_bytes import CORNERS, TRIANGLES, VOLUME, WRITERS

pytest.importorskip("trimesh")
pytest.importorskip("collada")
ROUNDING = 1e-6
"""Of a volume from single-precision vertices."""
BILLION = 10**9
DENSITY = 1000.0


def moved(value):
    vertices = CORNERS.copy()
    vertices[3, 1] = value
    return vertices


CASES = {
    "good": lambda write: write(CORNERS, TRIANGLES),
    "every corner its own": lambda write: write(CORNERS[TRIANGLES.ravel()], np.arange(36).reshape(-1, 3)),
    "faces without area": lambda write: write(CORNERS, np.concatenate([TRIANGLES, [[0, 0, 1], [2, 2, 2]]])),
    "nan": lambda write: write(moved(np.nan), TRIANGLES),
    "infinite": lambda write: write(moved(np.inf), TRIANGLES),
    "too far": lambda write: write(moved(1e38), TRIANGLES),
    "no faces": lambda write: write(CORNERS, TRIANGLES[:0]),
    "one face": lambda write: write(CORNERS, TRIANGLES[:1]),
    "coplanar": lambda write: write(CORNERS * [1, 1, 0], TRIANGLES),
    "a line": lambda write: write(CORNERS * [1, 0, 0], TRIANGLES),
    "a point": lambda write: write(CORNERS * 0, TRIANGLES),
    "a billion faces": lambda write: write(CORNERS, TRIANGLES, declared=BILLION),
    "cut": lambda write: write(CORNERS, TRIANGLES)[:-5],
    "a head": lambda write: write(CORNERS, TRIANGLES)[:30],
    "empty": lambda write: b"",
    "noise": lambda write: np.random.default_rng(0).bytes(3000),
    "zeros": lambda write: bytes(100_000),
    "a vertex too many": lambda write: write(CORNERS, np.concatenate([TRIANGLES, [[0, 1, 99]]])),
    "a vertex too few": lambda write: write(CORNERS, np.concatenate([TRIANGLES, [[0, 1, -7]]])),
}
ALL = set(WRITERS)
RIGHT = {
    "good": ALL,
    "every corner its own": ALL,
    "faces without area": ALL,
    "no faces": {"obj", "msh"},  # MuJoCo takes the hull of their vertices
    "a billion faces": {"text.stl", "dae"},  # no reader looks at the number: all that is there is read
}
"""Formats in which a case is the box; everywhere else it is an error."""
NEEDLESS = {
    ("a vertex too many", "stl"): "has no indices",
    ("a vertex too many", "text.stl"): "has no indices",
    ("a vertex too few", "stl"): "has no indices",
    ("a vertex too few", "text.stl"): "has no indices",
    ("a vertex too few", "obj"): "counts from the end",
    ("a vertex too few", "glb"): "has no sign",
}


@pytest.mark.parametrize("ending", WRITERS)
@cases("case", CASES)
def test_a_broken_file_is_an_error_or_the_right_mesh(case, ending, tmp_path, load, bounded):
    if (case, ending) in NEEDLESS:
        pytest.skip(NEEDLESS[case, ending])
    path = tmp_path / f"{case}.{ending}"  # MuJoCo keeps what it has read of a path
    path.write_bytes(CASES[case](WRITERS[ending]))
    if ending in RIGHT.get(case, ()):
        assert load(path).body_mass[1] == pytest.approx(VOLUME * DENSITY, rel=ROUNDING)
    else:
        with pytest.raises(ModelLoadError, match="mug") as error:
            load(path)
        assert str(path) in str(error.value)


@cases("form", ("stl", "obj", "msh", "ply", "off", "glb", "gltf", "dae"))
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("missing", "no such file"),
        ("folder", "folder"),
        ("loop", "symbolic links"),
        ("device", "device or a pipe"),
        ("pipe", "device or a pipe"),
        ("giant", "are the most"),
        ("password", "it"),
    ],
)
def test_what_is_no_mesh_file_is_named(kind, reason, form, tmp_path, load, bounded):
    path = tmp_path / f"it.{form}"
    if kind == "folder":
        path.mkdir()
    elif kind in ("loop", "device", "password"):
        path.symlink_to({"loop": path, "device": "/dev/zero", "password": "/etc/passwd"}[kind])
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "giant":
        with path.open("wb") as file:
            file.truncate(3 << 30)  # sparse: it takes no room
    with pytest.raises(ModelLoadError, match=reason) as error:
        load(path)
    assert str(path) in str(error.value)


@cases("path", ("../../etc/passwd", "/etc/passwd", "/dev/zero", "a" * 5000 + ".ply", "a\tb.stl"))
def test_a_path_that_leads_elsewhere_is_an_error(path, load, bounded):
    with pytest.raises(ModelLoadError):
        load(path)


def changed(**parts):
    return lambda head: head.update(parts)


def buffer_at(uri):
    def change(head):
        head["buffers"][0]["uri"] = uri

    return change


def without_view(head):
    head["accessors"][0].pop("bufferView")
    head["accessors"][0]["count"] = 10**10


GLB = {
    "a node in a circle": (changed(nodes=[{"children": [1]}, {"children": [0], "mesh": 0}]), "no trees"),
    "a node that is its own": (changed(nodes=[{"children": [0], "mesh": 0}]), "no trees"),
    "copies of copies": (
        changed(nodes=[*({"children": [i + 1, i + 1]} for i in range(40)), {"mesh": 0}]),
        "no trees",
    ),
    "too many nodes": (changed(nodes=[{"mesh": 0}] * 30_000, scenes=[{"nodes": list(range(30_000))}]), "nodes"),
    "numbers that are nowhere": (without_view, "bufferView"),
    "compressed": (changed(extensionsRequired=["KHR_draco_mesh_compression"]), "compressed"),
    "nodes of another kind": (changed(nodes=7), "glTF"),
    "a file above": (buffer_at("../../etc/passwd"), "its own folder"),
    "an absolute path": (buffer_at("/etc/passwd"), "its own folder"),
    "a path in disguise": (buffer_at("%2e%2e/x.bin"), "its own folder"),
    "an address": (buffer_at("https://localhost/x"), "its own folder"),
    "too few bytes": (buffer_at("data:;base64,AAAA"), "cannot be read"),
}
_TWICE = '<instance_node url="#n{0}"/><instance_node url="#n{0}"/>'
DAE = {
    "entities": ({"before": '<!DOCTYPE x [<!ENTITY a "aaaa">]>'}, "DOCTYPE"),
    "a circle": ({"nodes": '<node id="a"><instance_node url="#a"/></node>'}, "circles"),
    "copies of copies": (
        {"nodes": "".join(f'<node id="n{k}">{_TWICE.format(k + 1)}</node>' for k in range(40))},
        "circles",
    ),
    "a reference to nothing": ({"nodes": '<node><instance_geometry url="#no"/></node>'}, "not found"),
    "no unit": ({"unit": 0}, "unit"),
    "no encoding": ({"encoding": "utfnull"}, "encoding"),
}


@cases(
    "name, form, data, reason",
    [(name, "glb", {"change": change}, reason) for name, (change, reason) in GLB.items()]
    + [(name, "dae", options, reason) for name, (options, reason) in DAE.items()],
)
def test_a_document_that_would_grow_or_reach_out_is_refused(name, form, data, reason, tmp_path, load, bounded):
    path = tmp_path / f"{name}.{form}"
    path.write_bytes(getattr(mesh_bytes, form)(CORNERS, TRIANGLES, **data))
    with pytest.raises(ModelLoadError, match=reason) as error:
        load(path)
    assert str(path) in str(error.value)


def test_lists_of_any_length_in_a_ply_file(tmp_path, load, bounded):
    """A list that says it has four billion numbers."""
    data = mesh_bytes.ply(CORNERS, TRIANGLES).replace(b"list uchar", b"list uint")
    path = tmp_path / "it.ply"
    path.write_bytes(data[: -len(TRIANGLES) * 13] + b"\xff" * 80)
    with pytest.raises(ModelLoadError, match=r"it\.ply"):
        load(path)


def test_other_files_of_a_model_are_looked_over_too(tmp_path, load, bounded):
    (tmp_path / "t.png").symlink_to("/dev/zero")
    (tmp_path / "m.xml").write_text(
        '<mujoco><compiler texturedir="."/><asset><texture type="2d" name="t" file="t.png"/></asset></mujoco>'
    )
    with pytest.raises(ModelLoadError, match="device or a pipe"):
        Model.from_mjcf(tmp_path / "m.xml")

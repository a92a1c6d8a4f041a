"""Meshes in formats that MuJoCo does not read, through `trimesh`: glb, gltf, ply, off, dae, and STL as text.

All parts of a file become one mesh, at the poses of the file's nodes. Coordinates stay as they are: a file with y up
has y up, as with OBJ in MuJoCo (`refquat` turns it); COLLADA's unit is made metres. Before trimesh sees a file,
`declared` has held its head against its length, so that no number in it makes room for more than there is.

A COLLADA file gets a first look while its XML streams by, and nothing is built of it: refused are documents whose nodes
refer to each other in circles, or so often that their copies would fill the memory, and documents with entities, which
can do the same in three lines.
"""

import io
import logging
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from ...machine.libraries import pip_install
from .appearance import MeshPart, appearance_of, part_of
from .declared import check_glb, check_gltf, check_off, check_ply, is_binary_stl
from .files import LARGEST_FILE, MeshFileError, read_beside
from .mesh import FARTHEST, MOST_FACES, TriangleMesh, cleaned, require_faces, require_near

LARGEST = 64 << 20
"""Bytes of a COLLADA file: as a tree of XML it takes some ten times as much memory."""
MOST_ELEMENTS = 200_000
MOST_NODES = 100_000


@dataclass
class _Scan:
    """The findings of `expat` so far."""

    elements: int = 0
    unit: float = 1.0
    inside: str = ""
    stack: list[str] = field(default_factory=list)
    uses: dict[str, list[str]] = field(default_factory=lambda: {"": []})

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.elements += 1
        if self.elements > MOST_ELEMENTS:
            raise MeshFileError(f"it has more than {MOST_ELEMENTS:,} XML elements")
        self.inside = tag = tag.rsplit(":", 1)[-1]
        if tag == "node":
            name = attributes.get("id") or f"#{self.elements}"
            self.uses[self.stack[-1] if self.stack else ""].append(name)
            self.uses.setdefault(name, [])
            self.stack.append(name)
        elif tag == "instance_node":
            self.uses[self.stack[-1] if self.stack else ""].append(attributes.get("url", "").removeprefix("#"))
        elif tag == "unit":
            self.unit = _positive(attributes.get("meter", "1"))

    def end(self, tag: str) -> None:
        self.inside = ""
        if tag.rsplit(":", 1)[-1] == "node":
            self.stack.pop()

    def text(self, text: str) -> None:
        """Numbers that `pycollada` makes others of: it reads nan as 0, and -1 as the last."""
        if self.inside == "float_array" and ("n" in text.lower()):
            raise MeshFileError("a float_array has a number that is not finite")
        if self.inside == "p" and "-" in text:
            raise MeshFileError("a face has a vertex below 0")


def check_dae(data: bytes) -> float:
    """Metres in a unit of a COLLADA file.

    Raises:
        MeshFileError: it is no XML, it has entities, too many elements, or nodes in circles.
    """
    if len(data) > LARGEST:
        raise MeshFileError(f"it has {len(data):,} bytes, and {LARGEST:,} are the most for COLLADA; a .glb is smaller")
    scan, parser = _Scan(), expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise MeshFileError("it has a document type (DOCTYPE), which a COLLADA file does not need")

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = scan.start, scan.end
    parser.CharacterDataHandler = scan.text
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError) as error:  # LookupError: an unknown encoding
        if isinstance(error, MeshFileError):
            raise
        raise MeshFileError(f"its XML is broken or truncated: {error}") from error
    _count_copies(scan.uses)
    return scan.unit


def _count_copies(uses: dict[str, list[str]]) -> None:
    """Walk all nodes as a reader would, copies of copies too, and stop where that is too far."""
    pending, seen = [("", 0)], 0
    while pending:
        name, depth = pending.pop()
        seen += 1
        if seen > MOST_NODES or depth > 200:
            raise MeshFileError(f"its nodes refer to each other in circles, or make more than {MOST_NODES:,} copies")
        pending += [(used, depth + 1) for used in uses.get(name, ())]


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < 1.0e6:
        raise MeshFileError(f"its unit is {text[:40]!r} metres")
    return value


CHECKS: dict[str, Callable[[bytes], Any]] = {
    "glb": check_glb,
    "gltf": check_gltf,
    "ply": check_ply,
    "off": check_off,
    "dae": check_dae,
    "stl": is_binary_stl,
}
"""The formats read here, and the check of a file of each format before it is read."""
EXTRAS = {"dae": ("collada", "pycollada")}
"""Modules that trimesh needs for a format, and the packages that install them."""
_LOOKS = re.compile(
    rb"<(library_(?:images|effects|materials|cameras|lights)|bind_material)\b[^>]*>.*?</\1>"
    rb"|<instance_(?:camera|light)\b[^>]*/>",
    re.DOTALL,
)
"""The parts of a COLLADA file that have nothing to do with its shape."""


def parse_mesh(data: bytes, form: str, folder: Path | None = None) -> TriangleMesh:
    """A mesh from the bytes of a file.

    Args:
        data: the file.
        form: a key of `CHECKS`.
        folder: where files lie that this one names; None: nowhere.

    Raises:
        MeshFileError: with the reason.
    """
    if not data:
        raise MeshFileError("it is empty")
    looked = CHECKS[form](data)
    options: dict[str, Any] = {}
    if form == "dae":
        options["ignore_broken"] = False
    elif form in ("glb", "gltf"):
        options["skip_materials"] = not looked
    parts = [part for part in _parts(data, form, folder, options) if len(part.faces)]
    if not parts:
        raise MeshFileError("it has no faces")
    uvs, appearance = appearance_of(parts)
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    vertices = np.concatenate([part.vertices for part in parts])
    normals = None
    if all(part.normals is not None for part in parts):
        normals = np.concatenate([part.normals for part in parts])
    faces = np.concatenate([part.faces + start for part, start in zip(parts, starts[:-1], strict=True)])
    return cleaned(TriangleMesh(vertices * looked if form == "dae" else vertices, faces, normals, uvs, appearance))


def _parts(data: bytes, form: str, folder: Path | None, options: dict[str, Any]) -> list[MeshPart]:
    """Every triangle mesh of a file, at its node's pose."""
    try:
        scene = _scene(data, form, folder, options)
        nodes = [(scene.graph[node], node) for node in scene.graph.nodes_geometry]
        found = [(matrix, scene.geometry[name]) for (matrix, name), _ in nodes]
        found = [(matrix, mesh) for matrix, mesh in found if hasattr(mesh, "faces")]
        if sum(len(mesh.faces) for _, mesh in found) > MOST_FACES:
            raise MeshFileError(f"its parts have more than {MOST_FACES:,} faces in all")
        return [_placed(np.asarray(matrix, float), mesh) for matrix, mesh in found]
    except MeshFileError:
        raise
    except MemoryError as error:
        raise MeshFileError("it needs more memory than there is") from error
    except Exception as error:  # whatever trimesh and its readers stumble over
        reason = " ".join(f"{type(error).__name__} {error}".split())
        raise MeshFileError(f"it cannot be read as {form.upper()}: {reason[:200]}") from error


def _scene(data: bytes, form: str, folder: Path | None, options: dict[str, Any]) -> Any:
    try:
        import trimesh

        if form in EXTRAS:
            __import__(EXTRAS[form][0])
    except ImportError as error:
        package = EXTRAS[form][1] if form in EXTRAS and error.name == EXTRAS[form][0] else "trimesh"
        raise MeshFileError(
            f"{form} files are read by {package}, which is not installed: {pip_install('meshes')}"
        ) from error
    log = logging.getLogger("trimesh")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = log.level
        log.setLevel(logging.CRITICAL)  # it logs at length the causes of errors that are raised here
        try:
            try:
                return trimesh.load_scene(
                    io.BytesIO(data), file_type=form, resolver=_beside(folder), process=False, **options
                )
            except Exception as error:
                if type(error).__name__ != "DaeBrokenRefError":
                    raise
                return trimesh.load_scene(
                    io.BytesIO(_LOOKS.sub(b"", data)), file_type=form, resolver=None, process=False, **options
                )
        finally:
            log.setLevel(before)


def _placed(matrix: np.ndarray, mesh: Any) -> MeshPart:
    """A part in the frame of its file; faces of a mirrored one are turned over."""
    vertices, faces = np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64).reshape(-1, 3)
    require_faces(faces, len(vertices))
    require_near(vertices)
    if not np.isfinite(matrix).all() or np.abs(matrix).max() > FARTHEST:
        raise MeshFileError("the pose of a node is not finite")
    part = part_of(mesh, faces)
    turn = matrix[:3, :3]
    normals = part.normals
    if np.linalg.det(turn) < 0:
        faces = faces[:, ::-1]
        normals, uvs = (None if x is None else x[:, ::-1] for x in (normals, part.uvs))
        part.uvs = uvs
    if normals is not None:
        normals = normals @ np.linalg.pinv(turn)  # the inverse transpose, of a row
        normals /= np.maximum(np.linalg.norm(normals, axis=2, keepdims=True), 1e-30)
    part.vertices, part.faces, part.normals = vertices @ turn.T + matrix[:3, 3], faces, normals
    return part


def _beside(folder: Path | None) -> Any:
    """Return trimesh's resolver of other files: those beside this one."""
    from trimesh.resolvers import Resolver

    class Beside(Resolver):
        """Files in one folder and below."""

        def __init__(self) -> None:
            self.left = LARGEST_FILE

        def get(self, key: str) -> bytes:
            data = read_beside(folder, str(key))
            self.left -= len(data)
            if self.left < 0:
                raise MeshFileError(f"the files that it refers to have more than {LARGEST_FILE:,} bytes in all")
            return data

        def keys(self) -> list[str]:
            return []

        def write(self, name: str, data: Any) -> None:
            raise NotImplementedError

        def namespaced(self, namespace: str) -> Any:
            return self

    return Beside()

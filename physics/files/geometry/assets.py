"""The meshes of an MjSpec before it is compiled: files that MuJoCo does not read are read here, the others looked over.

A mesh from a file becomes one from numbers (`uservert`, `userface`, ...); its name, scale, `refpos`, `refquat`, hull
and inertia stay what its element says. If the file has colours and the element no material, it gets one.
"""

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path, PurePath
from typing import Any

import mujoco
import numpy as np

from .declared import MOST_STL_FACES, check_msh, check_obj, is_binary_stl
from .files import LARGEST_FILE, MeshFileError, read_file, size_of_file
from .mesh import TriangleMesh, different_rows
from .trimesh_files import CHECKS, parse_mesh

_BY_CONTENT = {
    "model/stl": "stl",
    "model/obj": "obj",
    "model/gltf-binary": "glb",
    "model/gltf+json": "gltf",
    "model/ply": "ply",
    "model/vnd.collada+xml": "dae",
    "application/vnd.mujoco.msh": "msh",
}
_LOOKED_OVER = {"obj": check_obj, "msh": check_msh}
"""Checks of the formats that MuJoCo reads itself."""
_MUJOCOS = (".stl", ".obj", ".msh")
_NEED = {"texture": "texturedir", "hfield": "meshdir", "skin": "meshdir"}
"""Elements with other files, which MuJoCo reads, and the setting that says where they lie."""


@dataclass(frozen=True)
class MeshFiles:
    """Files of the meshes of a model, by the name of the mesh."""

    paths: dict[str, str] = field(default_factory=dict)

    def explain(self, message: str) -> str:
        """MuJoCo's message, with the file of the mesh that it names."""
        named = re.search(r"Element name '([^']*)'", message) or re.search(r"mesh '([^']*)'", message)
        path = self.paths.get(named.group(1)) if named else None
        return message if path is None or path in message else f"{message} (mesh '{named.group(1)}', {path})"  # type: ignore[union-attr]


def read_meshes(
    spec: mujoco.MjSpec, folders: Iterable[Path], place: Callable[[str, Any], str], all_folders: bool = True
) -> MeshFiles:
    """Put meshes of foreign formats into a spec, and look the files of all others over.

    Args:
        spec: changed.
        folders: where paths of files start, the first that has the file counts: that of the model, of attached ones.
        place: where an element stands, by its kind ("mesh", "texture", ...) and itself, for messages.
        all_folders: whether these are all folders. MuJoCo does not say the folder of a spec that a program has attached
            to this one: a file of its own formats that is not found is left to it then.

    Raises:
        MeshFileError: with the mesh and its file.
    """
    found = MeshFiles()
    folders = list(folders)
    _check_other_files(spec, folders, place)
    for mesh in spec.meshes:
        if not mesh.file:
            continue
        path = _locate(spec, mesh.file, mesh.compiler.meshdir, folders)
        found.paths[mesh.name] = os.fspath(path)
        if not all_folders and not os.path.lexists(path) and path.suffix.lower() in _MUJOCOS:
            continue
        mesh.name = mesh.name or path.stem  # as MuJoCo's parser does
        try:
            _read(spec, mesh, path)
        except MeshFileError as error:
            raise MeshFileError(f"{place('mesh', mesh)}: mesh '{mesh.name}', {path}: {error}") from error
    return found


def _read(spec: mujoco.MjSpec, mesh: mujoco.MjsMesh, path: Path) -> None:
    """One mesh: its format decides who reads it."""
    form = _BY_CONTENT.get(mesh.content_type, path.suffix.lower().removeprefix("."))
    asset = _asset(spec, mesh.file, mesh.compiler.meshdir)
    if form not in CHECKS and form not in _LOOKED_OVER:
        if asset is None:
            size_of_file(path)
        known = ", ".join(sorted({*CHECKS, *_LOOKED_OVER}))
        raise MeshFileError(f"{form or 'a file without an ending'} is no format that can be read; there are {known}")
    data = read_file(path) if asset is None else asset
    if form in _LOOKED_OVER:
        _LOOKED_OVER[form](data)
        return
    if form == "stl" and is_binary_stl(data) and len(data) <= 84 + 50 * MOST_STL_FACES:
        return
    if form == "stl" and is_binary_stl(data):
        data = bytes(80) + data[80:]  # a head with "solid" in it does not make it text
    put_mesh(spec, mesh, parse_mesh(data, form, None if asset is not None else path.parent))


def embed_mesh(spec: mujoco.MjSpec, mesh: mujoco.MjsMesh, path: Path) -> None:
    """Put the file of a mesh into a spec, which then needs the file no more.

    A file that MuJoCo reads becomes one of the spec's assets, under a name made of its bytes and its ending; others
    become numbers, as in `read_meshes`.

    Raises:
        MeshFileError: it cannot be read.
    """
    mesh.file = os.fspath(path.absolute())
    _read(spec, mesh, path)
    if mesh.file:
        data = read_file(path)
        mesh.file = f"{sha1(data, usedforsecurity=False).hexdigest()}{path.suffix.lower()}"
        spec.assets[mesh.file] = data


def mesh_vertices(spec: mujoco.MjSpec, mesh: mujoco.MjsMesh) -> np.ndarray:
    """Return the vertices (n, 3) of a mesh that `embed_mesh` has put into a spec, before its scale.

    The vertices of an stl file are the corners of its faces.

    Raises:
        MeshFileError: there are no vertices, or numbers of one are missing or not finite.
    """
    data = spec.assets[mesh.file] if mesh.file else b""
    rows: Any
    if not mesh.file:
        rows = mesh.uservert
    elif mesh.file.endswith(".stl"):
        rows = np.frombuffer(data, [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("end", "V2")], -1, 84)["corners"]
    elif mesh.file.endswith(".msh"):
        rows = np.frombuffer(data, "<f4", 3 * int.from_bytes(data[:4], "little"), 16)
    else:
        rows = [words[1:4] for words in map(bytes.split, data.splitlines()) if words[:1] == [b"v"]]
    try:
        vertices = np.array(rows, float).reshape(-1, 3)
    except ValueError:
        raise MeshFileError("a line of its vertices is no three numbers") from None
    if not len(vertices):
        raise MeshFileError("it has no vertices")
    if not np.isfinite(vertices).all():
        raise MeshFileError("a vertex is not finite")
    return vertices


def put_mesh(spec: mujoco.MjSpec, element: mujoco.MjsMesh, mesh: TriangleMesh) -> None:
    """Give a mesh element of a spec these numbers instead of a file, and a material if it has none."""
    element.file, element.content_type = "", ""
    seen_only = not any(geom.contype or geom.conaffinity for geom in spec.geoms if geom.meshname == element.name)
    vertices, faces, normals = with_normals(mesh, seen_only)
    element.uservert = vertices.reshape(-1).astype(np.float32)
    element.userface = faces.reshape(-1)
    if normals is not None:
        element.usernormal = normals.reshape(-1)
    if mesh.uvs is not None:
        element.usertexcoord, element.userfacetexcoord = _indexed(mesh.uvs * [1.0, -1.0] + [0.0, 1.0])
    if mesh.appearance is not None and not element.material:
        element.material = _add_material(spec, element.name, mesh)


def with_normals(mesh: TriangleMesh, split: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Vertices, faces, and a normal for each vertex: MuJoCo 4.0.0 keeps no other (it passes over `userfacenormal`).

    Args:
        mesh: with normals of corners, or none.
        split: make a vertex of every normal that a vertex has, for sharp edges. Hulls need none of them: where a mesh
            touches, it keeps its vertices, and has normals only if each vertex has one.
    """
    if mesh.normals is None:
        return mesh.vertices, mesh.faces, None
    normals, number = _indexed(mesh.normals)
    pairs = np.stack([mesh.faces.reshape(-1), number], axis=1)
    kinds, _, corner = different_rows(pairs)
    if not split and len(kinds) > len(mesh.vertices):
        return mesh.vertices, mesh.faces, None
    faces = corner.reshape(-1, 3).astype(np.int32)
    return mesh.vertices[kinds[:, 0]], faces, normals.reshape(-1, 3)[kinds[:, 1]]


def _indexed(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Different rows of (m, 3, k) numbers, flat, and for each corner which it has."""
    rows, _, number = different_rows(corners.reshape(-1, corners.shape[2]).astype(np.float32))
    return rows.reshape(-1), number.reshape(-1).astype(np.int32)


def _add_material(spec: mujoco.MjSpec, base: str, mesh: TriangleMesh) -> str:
    """A material, and a texture if there is an image, for a mesh of this name; the name of the material."""
    look = mesh.appearance
    assert look is not None
    name = free_name(base, {material.name for material in spec.materials})
    material = spec.add_material(name=name, rgba=look.rgba, shininess=look.shininess)
    if look.image is not None:
        height, width, channels = look.image.shape
        texture = free_name(base, {texture.name for texture in spec.textures})
        element = spec.add_texture(
            name=texture, type=mujoco.mjtTexture.mjTEXTURE_2D, width=width, height=height, nchannel=channels
        )
        element.data = look.image.tobytes()
        material.textures[int(mujoco.mjtTextureRole.mjTEXROLE_RGB)] = texture
    return name


def free_name(base: str, taken: set[str]) -> str:
    """Return a name that is not taken: the base, or the base with a number."""
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name


def _check_other_files(spec: mujoco.MjSpec, folders: list[Path], place: Callable[[str, Any], str]) -> None:
    """Refuse devices, pipes and sparse giants where MuJoCo would read an image or a height field."""
    for kind, setting in _NEED.items():
        for element in getattr(spec, f"{kind}s"):
            if element.file and _asset(spec, element.file, getattr(element.compiler, setting)) is None:
                path = _locate(spec, element.file, getattr(element.compiler, setting), folders)
                if os.path.exists(path):  # MuJoCo says best which is missing
                    try:
                        size_of_file(path, LARGEST_FILE)
                    except MeshFileError as error:
                        where = place(kind, element)
                        raise MeshFileError(f"{where}: {kind} '{element.name}', {path}: {error}") from error


def _asset(spec: mujoco.MjSpec, file: str, below: str) -> bytes | None:
    """The contents of a file that the spec brings along."""
    for name in (file, os.path.join(below, file), PurePath(file).name):
        if name in spec.assets:
            data = spec.assets[name]
            return data.encode() if isinstance(data, str) else bytes(data)
    return None


def _locate(spec: mujoco.MjSpec, file: str, below: str, folders: list[Path]) -> Path:
    """Return the path at which MuJoCo looks for a file: below `meshdir` in the folder of the model that names it."""
    if spec.strippath:
        file = PurePath(file.replace("\\", "/")).name
    candidates = [folder / below / file for folder in folders] or [Path(below, file)]
    return next((path for path in candidates if os.path.lexists(path)), candidates[0])


def place_files(spec: mujoco.MjSpec, folders: Iterable[Path]) -> None:
    """Replace the names of a spec's mesh, image, field and skin files by their whole paths, if the files exist.

    Afterwards the spec may be attached to another, whose folder is a different one.
    """
    folders = list(folders)
    for kind, setting in (("meshes", "meshdir"), *((f"{kind}s", setting) for kind, setting in _NEED.items())):
        for element in getattr(spec, kind):
            element.file = _placed(spec, element.file, getattr(element.compiler, setting), folders)
            if kind == "textures" and any(element.cubefiles):
                below = element.compiler.texturedir
                element.cubefiles = [_placed(spec, file, below, folders) for file in element.cubefiles]


def _placed(spec: mujoco.MjSpec, file: str, below: str, folders: list[Path]) -> str:
    """Return the whole path of a file, or its name as it is if there is no such file."""
    if not file or _asset(spec, file, below) is not None:
        return file
    path = _locate(spec, file, below, folders)
    return os.path.abspath(path) if os.path.exists(path) else file

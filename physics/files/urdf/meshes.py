"""Meshes and looks of geoms. The spec carries them along, and needs the files of the URDF no more."""

from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np

from ..geometry.appearance import MOST_TEXELS
from ..geometry.assets import embed_mesh, free_name, mesh_vertices
from ..geometry.files import MeshFileError, read_file
from .faults import UrdfReport
from .robot import Shape

LEAST_VERTICES = 4
"""MuJoCo compiles no mesh that has fewer."""
FLAT = 1e-6
"""A mesh is flat if it is thinner than this part of its size: MuJoCo's vertices are of single precision."""


@dataclass(eq=False)
class _Used:
    """A mesh element, the shape that used it first, its geoms, and whether its volume is asked for."""

    element: mujoco.MjsMesh
    shape: Shape
    whole: bool = False
    geoms: list[tuple[mujoco.MjsGeom, Shape]] = field(default_factory=list)


class Meshes:
    """The meshes of a spec, one for every file and scale.

    Args:
        spec: that gets them.
        report: for faults and notes.
        prefer_urdf: the colours of the URDF file take precedence over a mesh file's.
    """

    def __init__(self, spec: mujoco.MjSpec, report: UrdfReport, prefer_urdf: bool = False) -> None:
        self.spec, self.report, self.prefer_urdf = spec, report, prefer_urdf
        self._used: dict[tuple[Path, tuple[float, ...]], _Used] = {}
        self._textures: dict[str, str] = {}
        self.textures: dict[str, Path] = {}

    def use(self, shape: Shape, whole: bool) -> str:
        """Return the name of the mesh of a shape; `whole`: its volume makes the mass of a body."""
        assert shape.path is not None
        key = (shape.path.resolve(), tuple(float(x) for x in shape.size))
        if key not in self._used:
            name = free_name(shape.path.stem, {mesh.name for mesh in self.spec.meshes})
            element = self.spec.add_mesh(name=name, scale=shape.size)
            self._used[key] = _Used(element, shape)
        self._used[key].whole |= whole
        return self._used[key].element.name

    def paint(self, geom: mujoco.MjsGeom, shape: Shape) -> None:
        """Give a geom its colour and texture; meshes wait for the colours of their files."""
        if shape.kind == "mesh" and shape.path is not None:
            key = (shape.path.resolve(), tuple(float(x) for x in shape.size))
            self._used[key].geoms.append((geom, shape))
        else:
            self._paint(geom, shape)

    def read(self) -> None:
        """Read all files into the spec; broken visual meshes are left out, and flat ones do not collide.

        Raises:
            UrdfError: a file that touches is broken, or of a format that is not read; with the line that names it.
        """
        for key, used in [*self._used.items()]:
            shape = used.shape
            assert shape.path is not None
            touching = [each for geom, each in used.geoms if geom.contype or geom.conaffinity]
            try:
                embed_mesh(self.spec, used.element, shape.path)
                vertices = mesh_vertices(self.spec, used.element) * shape.size
            except MeshFileError as error:
                sentence = f"mesh '{shape.file}', {shape.path}: {error}"
                if touching:
                    raise self.report.fault(touching[0].line, sentence) from error
                self._leave_out(key, f"{sentence}; it is only seen, and left out")
                continue
            rank = _rank(vertices)
            if rank < 2 or (rank == 2 and len(np.unique(vertices, axis=0)) < LEAST_VERTICES):
                self._leave_out(key, f"mesh '{shape.file}' is a point, a line or one triangle, and is left out")
                continue
            solid = used.whole and rank == 3
            inertia = mujoco.mjtMeshInertia
            used.element.inertia = inertia.mjMESH_INERTIA_CONVEX if solid else inertia.mjMESH_INERTIA_SHELL
            if touching and rank == 2:
                self._touch_nothing(used, touching[0])
            for geom, shape in used.geoms:
                if self.prefer_urdf or not used.element.material:
                    self._paint(geom, shape)

    def _touch_nothing(self, used: _Used, shape: Shape) -> None:
        self.report.note(
            shape.line,
            f"mesh '{shape.file}' is flat, and touches nothing; make its <collision> a thin <box> if it should",
        )
        for geom, _ in used.geoms:
            geom.contype = geom.conaffinity = 0
            geom.density = 0.0

    def _leave_out(self, key: tuple[Path, tuple[float, ...]], sentence: str) -> None:
        """Take a mesh and its geoms out of the spec."""
        used = self._used.pop(key)
        self.report.note(used.shape.line, sentence)
        for geom, _ in used.geoms:
            self.spec.delete(geom)
        self.spec.delete(used.element)

    def places(self) -> dict[str, str]:
        """Return the file and the line of every mesh, by its name in the spec, for messages."""
        return {used.element.name: f"{used.shape.path}, line {used.shape.line}" for used in self._used.values()}

    def named(self, message: str) -> str:
        """Return MuJoCo's message with the file and the line of every mesh that it names by its asset."""
        for used in self._used.values():
            file = used.element.file
            if file and file in message:
                message = message.replace(file, f"{used.shape.path}, line {used.shape.line}")
        return message

    def _paint(self, geom: mujoco.MjsGeom, shape: Shape) -> None:
        look = shape.look
        if look is None:
            return
        if look.rgba is not None:
            geom.rgba = look.rgba
        if look.texture in self.textures:
            name = self._texture(look.texture, look.line)
            if name:
                geom.material = name

    def _texture(self, file: str, line: int) -> str:
        """Return the name of the material with an image; "" if that cannot be read, which is noted."""
        if file not in self._textures:
            path = self.textures[file]
            try:
                image = _image(path)
            except (OSError, ValueError) as error:
                self.report.note(line, f"texture '{file}', {path}: {error}; the shape stays without")
                self._textures[file] = ""
                return ""
            height, width, channels = image.shape
            name = free_name(path.stem, {each.name for each in [*self.spec.textures, *self.spec.materials]})
            texture = self.spec.add_texture(
                name=name, type=mujoco.mjtTexture.mjTEXTURE_2D, width=width, height=height, nchannel=channels
            )
            texture.data = image.tobytes()
            material = self.spec.add_material(name=name)
            material.textures[int(mujoco.mjtTextureRole.mjTEXROLE_RGB)] = name
            self._textures[file] = name
        return self._textures[file]


def _rank(vertices: np.ndarray) -> int:
    """Return in how many directions vertices (n, 3) extend: 3; 2 in a plane, 1 on a line, 0 in one point."""
    offsets = vertices - vertices.mean(0)
    axes = np.linalg.svd(offsets, full_matrices=False)[2]
    lengths = np.ptp(offsets @ axes.T, axis=0)
    return int((lengths > FLAT * lengths.max()).sum())


def _image(path: Path) -> np.ndarray:
    """Return an image (height, width, 3) as bytes."""
    import io

    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(read_file(path))) as image:
            if image.width * image.height > MOST_TEXELS:
                raise ValueError(f"it has {image.width * image.height:,} texels, and {MOST_TEXELS:,} are the most")
            return np.asarray(image.convert("RGB"), np.uint8)
    except UnidentifiedImageError as error:
        raise ValueError("it is no image that can be read") from error

"""The drawn geometry of a model, separate from collision shapes: its vertices, with normals, uvs and colours."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from ...base.shapes import MESH, SDF
from .compiled_mesh import surface_of

HIGHEST_VISIBLE_GROUP = 2
"""MuJoCo's viewer shows groups 0 to 2 by default."""
MESH_TYPES = (MESH, SDF)
IOR_SUFFIX = ":ior"
"""The end of the name of a custom number of a file, after the name of a material, which is glass then: its index of
refraction, for which MJCF has no word."""
_COLOUR = int(mujoco.mjtTextureRole.mjTEXROLE_RGB)
_UNSET_RGBA = np.array([0.5, 0.5, 0.5, 1.0], np.float32)  # MuJoCo's default: "use the material's colour"


@dataclass(frozen=True, eq=False)
class VisualGeometry:
    """The geoms of a model that are drawn; a geom that is no mesh has an empty range of vertices and faces.

    Attributes:
        geom: (n,) ids of geoms.
        vert_start, vert_end, face_start, face_end: (n,) ranges in the arrays below; geoms of one mesh share them.
        rgba: (n, 4) colour, of the material if the geom has no colour.
        material, texture: (n,) ids in the compiled model, -1 for none.
        vert: (v, 3) m, in the frame of the geom.
        normal: (v, 3).
        uv: (v, 2) as MuJoCo keeps them, v downwards from the image's first row; nan where a mesh has none.
        face: (f, 3) indices into `vert`.
    """

    geom: np.ndarray
    vert_start: np.ndarray
    vert_end: np.ndarray
    face_start: np.ndarray
    face_end: np.ndarray
    rgba: np.ndarray
    material: np.ndarray
    texture: np.ndarray
    vert: np.ndarray
    normal: np.ndarray
    uv: np.ndarray
    face: np.ndarray


def seen_types(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the types of geoms (ngeom,) for pictures and rays: geoms with distance fields are meshes."""
    return np.where((mjm.geom_type == SDF) & (mjm.geom_dataid >= 0), MESH, mjm.geom_type)


def colour_of(mjm: mujoco.MjModel, geom: int) -> np.ndarray:
    """Colour and opacity (4,) as MuJoCo's visualiser picks them: the geom's unless unset, then its material's."""
    material, own = mjm.geom_matid[geom], mjm.geom_rgba[geom]
    return mjm.mat_rgba[material] if material >= 0 and np.array_equal(own, _UNSET_RGBA) else own


def refraction_of(mjm: mujoco.MjModel, material: int) -> float:
    """Index of refraction of a material of glass, by IOR_SUFFIX; 0 for others."""
    number = mujoco.mj_name2id(mjm, mujoco.mjtObj.mjOBJ_NUMERIC, f"{mjm.material(material).name}{IOR_SUFFIX}")
    return float(mjm.numeric_data[mjm.numeric_adr[number]]) if number >= 0 else 0.0


def drawn_geoms(mjm: mujoco.MjModel, shown: Sequence[int] = range(HIGHEST_VISIBLE_GROUP + 1)) -> list[int]:
    """Geoms with some opacity in the groups that are shown: by default 0 to 2, as in MuJoCo's viewer."""
    groups = np.clip(mjm.geom_group, 0, mujoco.mjNGROUP - 1)
    return [g for g in range(mjm.ngeom) if groups[g] in shown and colour_of(mjm, g)[3] > 0]


def texture_of(mjm: mujoco.MjModel, geom: int) -> int:
    """Id of the texture that colours a geom, by its material; -1 for none."""
    material = mjm.geom_matid[geom]
    return int(mjm.mat_texid[material, _COLOUR]) if material >= 0 else -1


def flat_texture_of(mjm: mujoco.MjModel, geom: int) -> int:
    """Id of a geom's texture if it is an image, -1 if it has none, or one of a cube or sky."""
    texture = texture_of(mjm, geom)
    return texture if texture >= 0 and mjm.tex_type[texture] == mujoco.mjtTexture.mjTEXTURE_2D else -1


def pixels_of(mjm: mujoco.MjModel, texture: int) -> np.ndarray:
    """Colours of a texture (height, width, 3), bytes, from its first row on; a single channel is grey."""
    shape = int(mjm.tex_height[texture]), int(mjm.tex_width[texture]), int(mjm.tex_nchannel[texture])
    pixels = mjm.tex_data[mjm.tex_adr[texture] :][: np.prod(shape)].reshape(shape)
    return pixels[..., :3] if shape[2] >= 3 else pixels[..., [0, 0, 0]]


def visual_geometry(mjm: mujoco.MjModel) -> VisualGeometry:
    """Collect the drawn geometry of a compiled model."""
    geoms = drawn_geoms(mjm)
    surfaces: dict[int, tuple[int, int, int, int]] = {}
    verts, normals, uvs, faces = [np.zeros((0, 3))], [np.zeros((0, 3))], [np.zeros((0, 2))], [np.zeros((0, 3), int)]
    ranges = np.zeros((len(geoms), 4), np.int64)
    sizes = [0, 0]
    for row, g in enumerate(geoms):
        mesh = int(mjm.geom_dataid[g])
        if int(mjm.geom_type[g]) not in MESH_TYPES or mesh < 0:
            continue
        if mesh not in surfaces:
            vert, normal, uv, face = surface_of(mjm, mesh)
            surfaces[mesh] = (sizes[0], sizes[0] + len(vert), sizes[1], sizes[1] + len(face))
            for all_of_them, own in ((verts, vert), (normals, normal), (uvs, uv), (faces, face + sizes[0])):
                all_of_them.append(own)
            sizes = [sizes[0] + len(vert), sizes[1] + len(face)]
        ranges[row] = surfaces[mesh]
    return VisualGeometry(
        geom=np.array(geoms, np.int64),
        vert_start=ranges[:, 0],
        vert_end=ranges[:, 1],
        face_start=ranges[:, 2],
        face_end=ranges[:, 3],
        rgba=np.array([colour_of(mjm, g) for g in geoms], float).reshape(-1, 4),
        material=mjm.geom_matid[geoms].astype(np.int64),
        texture=np.array([texture_of(mjm, g) for g in geoms], np.int64),
        vert=np.concatenate(verts),
        normal=np.concatenate(normals),
        uv=np.concatenate(uvs),
        face=np.concatenate(faces),
    )

"""What is drawn of a model, apart from what touches: vertices of their own, with normals, uvs and colours."""

from dataclasses import dataclass

import mujoco
import numpy as np

HIGHEST_VISIBLE_GROUP = 2
"""MuJoCo's viewer shows groups 0 to 2 by default."""
_MESH_TYPES = (int(mujoco.mjtGeom.mjGEOM_MESH), int(mujoco.mjtGeom.mjGEOM_SDF))
_UNSET_RGBA = np.array([0.5, 0.5, 0.5, 1.0], np.float32)  # MuJoCo's default: "use the material's colour"


@dataclass(frozen=True, eq=False)
class VisualGeometry:
    """The geoms of a model that are drawn; a geom that is no mesh has an empty range of vertices and faces.

    Attributes:
        geom: (n,) ids of geoms.
        vert_start, vert_end, face_start, face_end: (n,) ranges in what follows; geoms of one mesh share theirs.
        rgba: (n, 4) colour, of the material where the geom has none of its own.
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


def colour_of(mjm: mujoco.MjModel, geom: int) -> np.ndarray:
    """Colour and opacity (4,) as MuJoCo's visualiser picks them: the geom's unless unset, then its material's."""
    material, own = mjm.geom_matid[geom], mjm.geom_rgba[geom]
    return mjm.mat_rgba[material] if material >= 0 and np.array_equal(own, _UNSET_RGBA) else own


def visual_geometry(mjm: mujoco.MjModel) -> VisualGeometry:
    """Collect what is drawn of a compiled model."""
    groups = np.clip(mjm.geom_group, 0, mujoco.mjNGROUP - 1)
    geoms = [g for g in range(mjm.ngeom) if groups[g] <= HIGHEST_VISIBLE_GROUP and colour_of(mjm, g)[3] > 0]
    surfaces: dict[int, tuple[int, int, int, int]] = {}
    verts, normals, uvs, faces = [np.zeros((0, 3))], [np.zeros((0, 3))], [np.zeros((0, 2))], [np.zeros((0, 3), int)]
    ranges = np.zeros((len(geoms), 4), np.int64)
    sizes = [0, 0]
    for row, g in enumerate(geoms):
        mesh = int(mjm.geom_dataid[g])
        if int(mjm.geom_type[g]) not in _MESH_TYPES or mesh < 0:
            continue
        if mesh not in surfaces:
            vert, normal, uv, face = surface_of(mjm, mesh)
            surfaces[mesh] = (sizes[0], sizes[0] + len(vert), sizes[1], sizes[1] + len(face))
            for all_of_them, own in ((verts, vert), (normals, normal), (uvs, uv), (faces, face + sizes[0])):
                all_of_them.append(own)
            sizes = [sizes[0] + len(vert), sizes[1] + len(face)]
        ranges[row] = surfaces[mesh]
    material = np.array([int(mjm.geom_matid[g]) for g in geoms], np.int64)
    role = int(mujoco.mjtTextureRole.mjTEXROLE_RGB)
    return VisualGeometry(
        geom=np.array(geoms, np.int64),
        vert_start=ranges[:, 0],
        vert_end=ranges[:, 1],
        face_start=ranges[:, 2],
        face_end=ranges[:, 3],
        rgba=np.array([colour_of(mjm, g) for g in geoms], float).reshape(-1, 4),
        material=material,
        texture=np.array([int(mjm.mat_texid[m, role]) if m >= 0 else -1 for m in material], np.int64),
        vert=np.concatenate(verts),
        normal=np.concatenate(normals),
        uv=np.concatenate(uvs),
        face=np.concatenate(faces),
    )


def surface_of(mjm: mujoco.MjModel, mesh: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Vertices, normals, uvs and faces of a compiled mesh, a vertex for each combination that a corner has."""
    first, count = int(mjm.mesh_faceadr[mesh]), int(mjm.mesh_facenum[mesh])
    rows = slice(first, first + count)
    corners = [mjm.mesh_face[rows], mjm.mesh_facenormal[rows]]
    with_uv = mjm.mesh_texcoordadr[mesh] >= 0
    corners.append(mjm.mesh_facetexcoord[rows] if with_uv else np.zeros((count, 3), int))
    kinds, number = np.unique(np.stack(corners, axis=2).reshape(-1, 3), axis=0, return_inverse=True)
    vert = mjm.mesh_vert[mjm.mesh_vertadr[mesh] + kinds[:, 0]].astype(float)
    normal = mjm.mesh_normal[mjm.mesh_normaladr[mesh] + kinds[:, 1]].astype(float)
    uv = np.full((len(kinds), 2), np.nan)
    if with_uv:
        uv = mjm.mesh_texcoord[mjm.mesh_texcoordadr[mesh] + kinds[:, 2]].astype(float)
    return vert, normal, uv, number.reshape(-1, 3)

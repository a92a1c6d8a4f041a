"""A mesh as MuJoCo has compiled it: vertices, triangles, normals and uvs, in metres and its geom's frame."""

import mujoco
import numpy as np


def faces_of(mjm: mujoco.MjModel, mesh: int) -> slice:
    """Rows of a mesh's faces among those of all meshes."""
    first = int(mjm.mesh_faceadr[mesh])
    return slice(first, first + int(mjm.mesh_facenum[mesh]))


def points_of(mjm: mujoco.MjModel, mesh: int) -> np.ndarray:
    """Vertices of a compiled mesh (n, 3), in single precision."""
    first = int(mjm.mesh_vertadr[mesh])
    return mjm.mesh_vert[first : first + int(mjm.mesh_vertnum[mesh])]


def triangles_of(mjm: mujoco.MjModel, mesh: int) -> np.ndarray:
    """Corners of a mesh's faces (t, 3, 3), in single precision, counter-clockwise from outside."""
    return points_of(mjm, mesh)[mjm.mesh_face[faces_of(mjm, mesh)]]


def volume_of(triangles: np.ndarray) -> float:
    """Volume that triangles (t, 3, 3) enclose, m3, negative if they look inwards."""
    a, b, c = np.moveaxis(np.asarray(triangles, float), 1, 0)
    return float((a * np.cross(b, c)).sum() / 6.0)


def legacy_volume_of(triangles: np.ndarray) -> float:
    """Volume that MuJoCo gives a mesh of `inertia="legacy"`, m3: of the pyramids of all faces, none negative.

    Their tip is the middle of the surface (mjCMesh). It is the volume that triangles (t, 3, 3) enclose if each looks
    away from the tip, and more for hollow and knotted meshes.
    """
    a, b, c = np.moveaxis(np.asarray(triangles, float), 1, 0)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    tip = (a + b + c).T @ area / (3.0 * area.sum())
    return float(np.abs(((a - tip) * np.cross(b - tip, c - tip)).sum(axis=1)).sum() / 6.0)


def surface_of(mjm: mujoco.MjModel, mesh: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Vertices, normals, uvs and faces of a compiled mesh, a vertex for each combination that a corner has."""
    rows, count = faces_of(mjm, mesh), int(mjm.mesh_facenum[mesh])
    corners = [mjm.mesh_face[rows], mjm.mesh_facenormal[rows]]
    with_uv = mjm.mesh_texcoordadr[mesh] >= 0
    corners.append(mjm.mesh_facetexcoord[rows] if with_uv else np.zeros((count, 3), int))
    kinds, number = np.unique(np.stack(corners, axis=2).reshape(-1, 3), axis=0, return_inverse=True)
    vert = points_of(mjm, mesh)[kinds[:, 0]].astype(float)
    normal = mjm.mesh_normal[mjm.mesh_normaladr[mesh] + kinds[:, 1]].astype(float)
    uv = np.full((len(kinds), 2), np.nan)
    if with_uv:
        uv = mjm.mesh_texcoord[mjm.mesh_texcoordadr[mesh] + kinds[:, 2]].astype(float)
    return vert, normal, uv, number.reshape(-1, 3)

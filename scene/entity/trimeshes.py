"""Surfaces of geoms as meshes of triangles."""

import mujoco
import numpy as np
import trimesh

from ...physics.model.model import Model

_TYPES = mujoco.mjtGeom


def mesh_of(model: Model, geom: int, label: str) -> trimesh.Trimesh:
    """Return the surface of a geom in its own frame, m: that which touches, or else is drawn.

    Args:
        model: the compiled model.
        geom: number of the geom.
        label: the geom in words, for errors.

    Raises:
        ValueError: it has no end, or is a height field.
    """
    kind, size = model.mj.geom_type[geom], np.array(model.mj.geom_size[geom])
    create = trimesh.creation
    if kind == _TYPES.mjGEOM_BOX:
        return create.box(extents=2 * size)
    if kind == _TYPES.mjGEOM_SPHERE:
        return create.icosphere(subdivisions=3, radius=size[0])
    if kind == _TYPES.mjGEOM_ELLIPSOID:
        sphere = create.icosphere(subdivisions=3)
        return trimesh.Trimesh(sphere.vertices * size, sphere.faces, process=False)
    if kind == _TYPES.mjGEOM_CYLINDER:
        return create.cylinder(radius=size[0], height=2 * size[1])
    if kind == _TYPES.mjGEOM_CAPSULE:
        return create.capsule(radius=size[0], height=2 * size[1])
    if kind != _TYPES.mjGEOM_MESH and kind != _TYPES.mjGEOM_SDF:
        raise ValueError(f"{label} is a plane or a height field: it has no mesh")
    store = model.geometry
    if store.vert_end[geom] > store.vert_start[geom]:
        verts = slice(int(store.vert_start[geom]), int(store.vert_end[geom]))
        faces = slice(int(store.face_start[geom]), int(store.face_end[geom]))
        return trimesh.Trimesh(store.vert[verts], store.face[faces] - verts.start, process=False)
    mesh = int(model.mj.geom_dataid[geom])
    verts = slice(model.mj.mesh_vertadr[mesh], model.mj.mesh_vertadr[mesh] + model.mj.mesh_vertnum[mesh])
    faces = slice(model.mj.mesh_faceadr[mesh], model.mj.mesh_faceadr[mesh] + model.mj.mesh_facenum[mesh])
    return trimesh.Trimesh(model.mj.mesh_vert[verts], model.mj.mesh_face[faces], process=False)

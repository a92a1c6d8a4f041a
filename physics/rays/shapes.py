"""MuJoCo's solid shapes by type: where a ray enters one, and the direction of its surface, in the geom's own frame."""

import mujoco
import numpy as np
import taichi as ti

from .intersect import (
    MISS,
    box_entry,
    box_normal,
    capsule_entry,
    cylinder_entry,
    cylinder_normal,
    ellipsoid_entry,
    sphere_entry,
    tube_normal,
)

_TYPES = mujoco.mjtGeom
KIND_PLANE = int(_TYPES.mjGEOM_PLANE)
KIND_SPHERE = int(_TYPES.mjGEOM_SPHERE)
KIND_CAPSULE = int(_TYPES.mjGEOM_CAPSULE)
KIND_ELLIPSOID = int(_TYPES.mjGEOM_ELLIPSOID)
KIND_CYLINDER = int(_TYPES.mjGEOM_CYLINDER)
KIND_BOX = int(_TYPES.mjGEOM_BOX)
KIND_MESH = int(_TYPES.mjGEOM_MESH)
KINDS = (KIND_PLANE, KIND_SPHERE, KIND_CAPSULE, KIND_ELLIPSOID, KIND_CYLINDER, KIND_BOX, KIND_MESH)
"""What rays meet: all but height fields and signed distance functions."""


def reach(kind: int, size: np.ndarray) -> np.ndarray:
    """Radius (m) of the sphere around geoms of one type, but for meshes, from their sizes (..., 3); 0 for planes."""
    if kind == KIND_PLANE:
        return np.zeros(size.shape[:-1])
    if kind == KIND_CAPSULE:
        return size[..., 0] + size[..., 1]
    if kind == KIND_CYLINDER:
        return np.hypot(size[..., 0], size[..., 1])
    if kind == KIND_BOX:
        return np.linalg.norm(size, axis=-1)
    return size[..., 0] if kind == KIND_SPHERE else size.max(axis=-1)


@ti.func
def solid_entry(kind, size, origin, direction):
    """Entry of a ray into a solid that is no mesh, by its type and sizes."""
    t = size.x * 0.0 + MISS
    if kind == KIND_SPHERE:
        t = sphere_entry(origin, size.x)
    else:
        t = turned_entry(kind, size, origin, direction)
    return t


@ti.func
def turned_entry(kind, size, origin, direction):
    """The same for solids that look different when they are turned."""
    t = size.x * 0.0 + MISS
    if kind == KIND_CAPSULE:
        t = capsule_entry(origin, direction, size.x, size.y)
    elif kind == KIND_BOX:
        t = box_entry(origin, direction, size)
    elif kind == KIND_CYLINDER:
        t = cylinder_entry(origin, direction, size.x, size.y)
    elif kind == KIND_ELLIPSOID:
        t = ellipsoid_entry(origin, direction, size)
    return t


@ti.func
def solid_normal(kind, size, point):
    """Outward direction, of any length, of the surface of a solid that is no mesh at a point of it; planes: z."""
    outward = ti.Vector([0.0, 0.0, 1.0])
    if kind == KIND_SPHERE:
        outward = point
    elif kind == KIND_CAPSULE:
        outward = tube_normal(point, size.y)
    elif kind == KIND_BOX:
        outward = box_normal(point, size)
    elif kind == KIND_CYLINDER:
        outward = cylinder_normal(point, size.x, size.y)
    elif kind == KIND_ELLIPSOID:
        outward = point / (size * size)
    return outward

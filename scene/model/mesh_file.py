"""Entities of a mesh from a file, and the shape in which the meshes of any entity touch.

A mesh touches as its convex hull. Where the hull is much larger than the mesh it is taken apart into convex pieces;
where `convexify` is False it touches as it is, by a distance field.
"""

import importlib.util
import os
import warnings
from typing import Any

import mujoco
import numpy as np

from ...physics.files.geometry.assets import read_meshes
from ...physics.files.geometry.compiled_mesh import faces_of, points_of, triangles_of, volume_of
from ...physics.files.geometry.decomposition import MeshOptions
from ...physics.files.geometry.files import MeshFileError
from ...physics.files.geometry.hull import hull_of
from ...physics.machine.libraries import pip_install
from ...physics.model.loading.loading import compile_spec
from ...physics.model.loading.sanity import ModelLoadError
from ..materials import Rigid
from ..morphs import FileMorph, Mesh
from ..options import RigidOptions
from ..surfaces import Surface, says_nothing
from .dress import put_look
from .primitives import put_own_touch

NAME = "mesh"
_Y_UP = (".glb", ".gltf")
_TURN_UP = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)
"""Turns y up to z up."""


def mesh_spec(morph: Mesh, material: Rigid, surface: Surface, options: RigidOptions) -> mujoco.MjSpec:
    """Return the spec of an entity that is a mesh from a file.

    Raises:
        ModelLoadError: the file is missing or broken.
    """
    path = morph.path
    spec, mesh = _read(morph)
    stem = path.name.replace(".", "_")
    body = spec.worldbody.add_body(name=f"{stem}_baselink", gravcomp=material.gravity_compensation)
    if not morph.fixed:
        body.add_freejoint(name=f"{stem}_baselink_joint")
    geom = body.add_geom(name=NAME, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=NAME)
    if not _is_zup(morph):
        geom.quat = _TURN_UP
    put_own_touch(geom, material, options)
    geom.contype, geom.conaffinity = (morph.contype, morph.conaffinity) if morph.collision else (0, 0)
    if mesh.material and says_nothing(surface) and morph.visualization:
        geom.material = mesh.material
    else:
        put_look(spec, [geom], surface, visible=morph.visualization)
    _choose_inertia(spec, mesh, morph.file)
    return spec


def mesh_surface(morph: Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices (n, 3) m and faces (m, 3) of the mesh of a morph, where the morph stands at the origin.

    Raises:
        ModelLoadError: the file is missing or broken.
    """
    spec, mesh = _read(morph)
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
    geom = spec.worldbody.add_geom(name=NAME, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=NAME)
    if not _is_zup(morph):
        geom.quat = _TURN_UP
    mjm = compile_spec(spec, morph.file)
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, mjm.geom_quat[0])
    return points_of(mjm, 0).astype(float) @ turn.reshape(3, 3).T + mjm.geom_pos[0], mjm.mesh_face[faces_of(mjm, 0)]


def _read(morph: Mesh) -> tuple[mujoco.MjSpec, Any]:
    """Return a spec with the mesh of a morph, and the mesh."""
    path, spec = morph.path, mujoco.MjSpec()
    mesh = spec.add_mesh(name=NAME, file=os.path.abspath(path), scale=morph.scale)
    try:
        read_meshes(spec, [path.parent], lambda kind, found: "a scene")
    except MeshFileError as error:
        raise ModelLoadError(str(error).partition(f"mesh '{NAME}', ")[2] or str(error)) from error
    return spec, mesh


def _is_zup(morph: Mesh) -> bool:
    """Return whether z points up in the file of a morph."""
    told = morph.file_meshes_are_zup
    return morph.path.suffix.lower() not in _Y_UP if told is None else told


def _choose_inertia(spec: mujoco.MjSpec, mesh: mujoco.MjsMesh, label: str) -> None:
    """Set the inertia of a closed mesh to its volume's, and of any other to its hull's."""
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
    triangles = triangles_of(compile_spec(spec.copy(), label), 0)
    if _is_closed(triangles) and volume_of(triangles) > 0.0:
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_EXACT


def _is_closed(triangles: np.ndarray) -> bool:
    """Return True if triangles (t, 3, 3) have one neighbour at every edge, which goes along it the other way."""
    _, corner = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    faces = corner.reshape(-1, 3).astype(np.int64)
    edges = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)
    there, back = (np.sort(edges[:, k] * (faces.max() + 1) + edges[:, 1 - k]) for k in (0, 1))
    return np.array_equal(there, back) and bool((np.diff(there) > 0).all())


def choose_shapes(spec: mujoco.MjSpec, morph: FileMorph, material: Rigid) -> dict[str, dict[str, Any]]:
    """Decompose meshes as a morph asks; return the ones that collide by distance fields, with their options.

    Raises:
        ModelLoadError: a mesh cannot be compiled, or taken apart.
    """
    kind = mujoco.mjtGeom.mjGEOM_MESH
    names = list(dict.fromkeys(g.meshname for g in spec.geoms if g.type == kind and (g.contype or g.conaffinity)))
    jointed = any(joint.type != mujoco.mjtJoint.mjJNT_FREE for joint in spec.joints)
    threshold = morph.decompose_robot_error_threshold if jointed else morph.decompose_object_error_threshold
    if not names or (morph.convexify is not False and threshold == float("inf")):
        return {}
    mjm = compile_spec(spec.copy(), morph.file)
    if morph.convexify is False:
        return {name: {"resolution": _cells(mjm, mjm.mesh(name).id, material)} for name in names}
    hollow = [name for name in names if _excess(mjm, mjm.mesh(name).id) > threshold]
    if hollow and importlib.util.find_spec("coacd") is None:
        warnings.warn(
            f"{morph.file}: {', '.join(hollow)} touch as their convex hulls, which are much larger; to take them apart "
            f"install coacd ({pip_install('meshes')}), or give the morph convexify=False",
            stacklevel=4,
        )
        return {}
    if hollow:
        options = MeshOptions.of({name: dict(morph.coacd_options or {}) for name in hollow}, None)
        try:
            options.apply(spec, lambda changed: compile_spec(changed, morph.file))
        except MeshFileError as error:
            raise ModelLoadError(f"{morph.file}: {error}") from error
    return {}


def _excess(mjm: mujoco.MjModel, mesh: int) -> float:
    """Return how much larger the hull of a compiled mesh is than its enclosed volume, as a share of that."""
    hull = hull_of(mjm, mesh)
    own = abs(volume_of(triangles_of(mjm, mesh)))
    if hull is None or own <= 0.0:
        return 0.0
    return abs(volume_of(hull.vert[hull.face])) / own - 1.0


def _cells(mjm: mujoco.MjModel, mesh: int, material: Rigid) -> int:
    """Return how many cells the distance field of a mesh has along its longest side."""
    points = points_of(mjm, mesh)
    longest = float((points.max(0) - points.min(0)).max())
    return int(np.clip(np.ceil(longest / material.sdf_cell_size), material.sdf_min_res, material.sdf_max_res))

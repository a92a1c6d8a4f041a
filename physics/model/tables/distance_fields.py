"""Distance fields for the kernels: grids of signed distances of meshes, and points and edges that look for contacts.

A geom of MuJoCo's type `sdf` collides by the field of its mesh. A mesh geom that it can touch has one too: that of its
convex hull, as nothing else of it touches. Fields lie once in memory, for all environments and for all geoms of a mesh.
"""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from ...base.shapes import SDF, WITH_FIELDS
from ...files.geometry.compiled_mesh import faces_of, points_of
from ...files.geometry.distance_field import DistanceField, distance_field
from ...files.geometry.files import MeshFileError
from ...files.geometry.hull import hull_of
from ...machine.waiting import Waiting

MOST_TOGETHER = 1 << 27
"""Nodes of all fields of a model: kernels find a number by 28 bits, and these are a gigabyte in double precision."""
FieldOptions = Mapping[str, Mapping[str, Any]]
"""Options of `distance_field` by the name of a mesh."""


def distance_field_values(mjm: mujoco.MjModel, pairs: np.ndarray, options: FieldOptions) -> dict[str, np.ndarray]:
    """Return the fields of `model.fields` that belong to distance fields.

    Args:
        mjm: the model.
        pairs: pairs of geoms (n, 2) that can have contacts.
        options: error or resolution by the name of a mesh.

    Raises:
        ValueError: a mesh has no field, or all together are too large.
    """
    types = mjm.geom_type[pairs].reshape(-1, 2)
    with_fields = np.unique(pairs.reshape(-1, 2)[(types == SDF).any(axis=1)])
    number = np.zeros(mjm.ngeom, int)
    fields: list[DistanceField] = []
    made: dict[tuple[int, bool], int] = {}
    for g in with_fields.tolist():
        if int(mjm.geom_type[g]) in WITH_FIELDS:
            key = int(mjm.geom_dataid[g]), int(mjm.geom_type[g]) != SDF
            if key not in made:
                made[key] = len(fields)
                fields.append(_field_of(mjm, *key, options))
            number[g] = made[key]
    together = sum(field.values.size for field in fields)
    if together > MOST_TOGETHER:
        raise ValueError(
            f"the distance fields of {len(fields)} meshes have {together} nodes together, and {MOST_TOGETHER} are the "
            "most: give some of them a larger error or a lower resolution"
        )
    return {"geom_sdfid": number, **_arrays(fields)}


def distance_field_sizes(values: dict[str, np.ndarray]) -> dict[str, int]:
    """Return the named sizes of the distance fields."""
    return {
        "nsdf": len(values["sdf_cell"]),
        "nsdfvalue": len(values["sdf_value"]),
        "nsdfpoint": len(values["sdf_point"]),
        "nsdfedge": len(values["sdf_edge"]) // 2,
        "nsdfend": len(values["sdf_edge"]),
        "nsdfball": len(values["sdf_ball"]),
    }


def _field_of(mjm: mujoco.MjModel, mesh: int, hull: bool, options: FieldOptions) -> DistanceField:
    """Return the field of a mesh or of its hull, from the disk or computed; errors name the mesh."""
    name = mujoco.mj_id2name(mjm, mujoco.mjtObj.mjOBJ_MESH, mesh) or f"#{mesh}"
    vertices, faces = points_of(mjm, mesh), mjm.mesh_face[faces_of(mjm, mesh)]
    found = hull_of(mjm, mesh) if hull else None
    if found is not None:
        vertices, faces = found.vert, found.face
    try:
        with Waiting(f"computing the distance field of mesh '{name}'", once=True):
            return distance_field(vertices, faces, **options.get(name, {}))
    except (MeshFileError, ValueError) as error:
        raise ValueError(f"mesh '{name}': {error}") from error


def _arrays(fields: list[DistanceField]) -> dict[str, np.ndarray]:
    """Return all fields one after the other; the balls of each: bins of points, their blocks, edges."""
    parts = [[f.points.balls, f.points.block_balls, f.edges.balls, f.edges.block_balls] for f in fields]
    starts = np.cumsum([0, *(len(balls) for part in parts for balls in part)])[:-1].reshape(-1, 4)

    def firsts(lengths: list[int]) -> np.ndarray:
        return np.cumsum([0, *lengths])[:-1].astype(int)

    return {
        "sdf_count": np.array([f.values.shape for f in fields], int).reshape(-1, 3),
        "sdf_adr": firsts([f.values.size for f in fields]),
        "sdf_pointadr": firsts([len(f.points.items) for f in fields]),
        "sdf_pointnum": np.array([len(f.points.items) for f in fields], int),
        "sdf_pointdepth": np.array([[f.points.depth, f.points.block_depth] for f in fields], int).reshape(-1, 2),
        "sdf_edgeadr": firsts([len(f.edges.items) for f in fields]),
        "sdf_edgenum": np.array([len(f.edges.items) for f in fields], int),
        "sdf_edgedepth": np.array([[f.edges.depth, f.edges.block_depth] for f in fields], int).reshape(-1, 2),
        "sdf_balladr": starts.astype(int),
        "sdf_low": np.array([f.low for f in fields]).reshape(-1, 3),
        "sdf_cell": np.array([f.cell for f in fields]),
        "sdf_point": np.concatenate([np.zeros((0, 3)), *(f.points.items for f in fields)]),
        "sdf_edge": np.concatenate([np.zeros((0, 3)), *(f.edges.items.reshape(-1, 3) for f in fields)]),
        "sdf_ball": np.concatenate([np.zeros((0, 4)), *(balls for part in parts for balls in part)]),
        "sdf_value": np.concatenate([np.zeros(0, np.float32), *(f.values.reshape(-1) for f in fields)]),
    }

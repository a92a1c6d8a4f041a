"""All geometry of a model: made once from the compiled model, shared by all environments, never changed.

Collision shapes (convex hulls, in flat arrays over all meshes) are separate from drawn shapes (`GeometryStore.vgeoms`).
Geoms of one mesh share its vertices: their ranges are equal.
"""

from dataclasses import dataclass, fields
from functools import cached_property

import mujoco
import numpy as np

from ...base.shapes import HFIELD, MESH, SDF, hfield, of_kinds
from .compiled_mesh import points_of, surface_of, volume_of
from .hull import Hull, hull_of
from .names import type_name
from .visual import MESH_TYPES, VisualGeometry, visual_geometry

WIDTH = 7
"""Numbers of a geom in `GeometryStore.data`."""
_TYPES = mujoco.mjtGeom
_NUMBERS = of_kinds("NUMBERS")
DATA: dict[int, tuple[str, ...]] = {
    **_NUMBERS,
    HFIELD: hfield.NUMBERS,
    SDF: _NUMBERS[MESH],
}
"""By MuJoCo's type: the first numbers of `GeometryStore.data`; m, and m3 for a volume. The others are 0."""


@dataclass(frozen=True, eq=False)
class GeometryStore:
    """Geometry of a model's geoms, each in the frame of its geom.

    Attributes:
        type: (ngeom,) MuJoCo's mjtGeom.
        data: (ngeom, 7) numbers; `data_names` has their meaning for the type.
        collides: (ngeom,) whether contacts may see a geom: by contype and conaffinity, or by a `<pair>`.
        static: (ngeom,) whether a geom stands still in the world, in every environment.
        rest_pos, rest_mat: (ngeom, 3) and (ngeom, 3, 3) poses in the reference state; static geoms keep them.
        vert, vert_normal: (nvert, 3) vertices of all hulls, and the mean normal there.
        face, face_normal: (nface, 3) triangles, and their normals.
        edge, edge_face: (nedge, 2) edges, and the faces at both sides.
        neighbour, neighbour_start: vertices at the other end of each vertex's edges: for vertex v they are
            `neighbour[neighbour_start[v] : neighbour_start[v + 1]]`, in ascending order.
        vert_start, vert_end, face_start, face_end, edge_start, edge_end: (ngeom,) ranges; empty for geoms that are no
            meshes and for meshes that nothing can touch.
        vgeoms: the drawn geoms.
    """

    type: np.ndarray
    data: np.ndarray
    collides: np.ndarray
    static: np.ndarray
    rest_pos: np.ndarray
    rest_mat: np.ndarray
    vert: np.ndarray
    vert_normal: np.ndarray
    face: np.ndarray
    face_normal: np.ndarray
    edge: np.ndarray
    edge_face: np.ndarray
    neighbour: np.ndarray
    neighbour_start: np.ndarray
    vert_start: np.ndarray
    vert_end: np.ndarray
    face_start: np.ndarray
    face_end: np.ndarray
    edge_start: np.ndarray
    edge_end: np.ndarray
    vgeoms: VisualGeometry
    _mjm: mujoco.MjModel

    @staticmethod
    def data_names(kind: str | int) -> tuple[str, ...]:
        """Return the names of the numbers of `data` for a type of geom: its name as in MJCF, or MuJoCo's mjtGeom.

        Raises:
            KeyError: for a type that no geom has.
        """
        by_name = {type_name(t): t for t in DATA}
        found = by_name.get(kind) if isinstance(kind, str) else int(kind)
        if found not in DATA:
            raise KeyError(f"no geom is of type {kind!r}; there are {', '.join(by_name)}")
        return DATA[found]

    def named(self, geom: int) -> dict[str, float]:
        """The numbers of a geom by name."""
        return dict(zip(self.data_names(int(self.type[geom])), self.data[geom].tolist(), strict=False))

    @cached_property
    def outline(self) -> dict[int, np.ndarray]:
        """Vertices (n, 3) that bound a mesh geom, by its id: of its hull, or of all that is drawn where it has none."""
        found: dict[int, np.ndarray] = {}
        meshes: dict[int, np.ndarray] = {}
        for g in np.flatnonzero(np.isin(self.type, MESH_TYPES)):
            mesh = int(self._mjm.geom_dataid[g])
            if mesh not in meshes:
                hull = slice(self.vert_start[g], self.vert_end[g])
                meshes[mesh] = self.vert[hull] if hull.stop > hull.start else points_of(self._mjm, mesh).astype(float)
                meshes[mesh].flags.writeable = False
            found[int(g)] = meshes[mesh]
        return found

    @classmethod
    def of(cls, mjm: mujoco.MjModel) -> "GeometryStore":
        """Make the store of a compiled model."""
        hulls: dict[int, Hull | None] = {}
        for mesh in np.unique(mjm.geom_dataid[np.isin(mjm.geom_type, MESH_TYPES)]).tolist():
            hulls[mesh] = hull_of(mjm, mesh)
        arrays, starts = _flat([hull for hull in hulls.values() if hull is not None])
        ranges = np.zeros((mjm.ngeom, 6), np.int64)
        by_mesh = dict(zip([m for m, hull in hulls.items() if hull is not None], starts, strict=True))
        for g in range(mjm.ngeom):
            if int(mjm.geom_type[g]) in MESH_TYPES:
                ranges[g] = by_mesh.get(int(mjm.geom_dataid[g]), np.zeros(6, np.int64))
        pos, mat = rest_poses(mjm)
        names = ("vert_start", "vert_end", "face_start", "face_end", "edge_start", "edge_end")
        store = cls(
            type=mjm.geom_type.astype(np.int64),
            data=_data(mjm, hulls),
            collides=_collides(mjm),
            static=static_geoms(mjm),
            rest_pos=pos,
            rest_mat=mat,
            **arrays,
            **dict(zip(names, ranges.T.copy(), strict=True)),
            vgeoms=visual_geometry(mjm),
            _mjm=mjm,
        )
        for part in (store, store.vgeoms):
            for entry in fields(part):
                value = getattr(part, entry.name)
                if isinstance(value, np.ndarray):
                    value.flags.writeable = False
        return store


def _flat(hulls: list[Hull]) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
    """All hulls one after the other, and the six ends of each."""
    arrays: dict[str, list[np.ndarray]] = {
        "vert": [np.zeros((0, 3))],
        "vert_normal": [np.zeros((0, 3))],
        "face": [np.zeros((0, 3), np.int64)],
        "face_normal": [np.zeros((0, 3))],
        "edge": [np.zeros((0, 2), np.int64)],
        "edge_face": [np.zeros((0, 2), np.int64)],
    }
    ends, at = [], np.zeros(3, np.int64)
    for hull in hulls:
        size = np.array([len(hull.vert), len(hull.face), len(hull.edge)])
        ends.append(np.stack([at, at + size], axis=1).reshape(-1))
        shift = {"face": at[0], "edge": at[0], "edge_face": np.where(hull.edge_face >= 0, at[1], 0)}
        for name, parts in arrays.items():
            parts.append(getattr(hull, name) + shift.get(name, 0))
        at = at + size
    flat = {name: np.concatenate(parts) for name, parts in arrays.items()}
    both = np.concatenate([flat["edge"], flat["edge"][:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    start = np.searchsorted(both[:, 0], np.arange(len(flat["vert"]) + 1))
    return flat | {"neighbour": both[:, 1].copy(), "neighbour_start": start}, ends


def _data(mjm: mujoco.MjModel, hulls: dict[int, Hull | None]) -> np.ndarray:
    data = np.zeros((mjm.ngeom, WIDTH))
    for g in range(mjm.ngeom):
        kind, mesh = int(mjm.geom_type[g]), int(mjm.geom_dataid[g])
        if kind in MESH_TYPES:
            hull = hulls.get(mesh)
            points, face = (hull.vert, hull.face) if hull is not None else surface_of(mjm, mesh)[::3]
            lower, upper = points.min(axis=0), points.max(axis=0)
            data[g] = [*(lower + upper) / 2, *(upper - lower) / 2, volume_of(points[face])]
        elif kind == HFIELD:
            data[g, :4] = mjm.hfield_size[mesh]
        else:
            count = len(DATA[kind])
            data[g, :count] = mjm.geom_size[g, :count]
    return data


def _collides(mjm: mujoco.MjModel) -> np.ndarray:
    collides = (mjm.geom_contype | mjm.geom_conaffinity) != 0
    collides[mjm.pair_geom1] = collides[mjm.pair_geom2] = True
    return collides


def static_geoms(mjm: mujoco.MjModel) -> np.ndarray:
    """Return True for geoms of bodies without a joint up to the world, nor a mocap body, which users move, (ngeom,)."""
    still = np.ones(mjm.nbody, bool)
    for body in range(1, mjm.nbody):
        fixed = mjm.body_jntnum[body] == 0 and mjm.body_mocapid[body] < 0
        still[body] = fixed and still[mjm.body_parentid[body]]
    return still[mjm.geom_bodyid]


def rest_poses(mjm: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Return positions (ngeom, 3) and orientations (ngeom, 3, 3) of geoms in the reference state."""
    data = mujoco.MjData(mjm)
    mujoco.mj_kinematics(mjm, data)
    return data.geom_xpos.copy(), data.geom_xmat.reshape(-1, 3, 3).copy()

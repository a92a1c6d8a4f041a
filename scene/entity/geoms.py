"""Geoms of an entity: shapes that touch, that are drawn, or both."""

from typing import Any, ClassVar

import mujoco
import numpy as np
import torch
import trimesh
from trimesh import Trimesh

from ...physics.base.rotations import quat_mul
from ...physics.model.model import Model
from ...physics.solver.solver import RigidSolver
from ..checks import Indices, Numbers
from ..friction import ROLLING, SLIDING, TORSIONAL, Friction, WithFriction
from ..model.ranges import KINDS
from ..surfaces import Surface
from .base import EntityBase
from .contacts import bounds_of, vertices_of
from .index import LinkIndex


def bound(kind: str, end: str, what: str) -> Any:
    """Return a property: where the parts of a kind of a geom start or end in the model's store of geometry."""

    def found(geom: "RigidGeom") -> int:
        return int(getattr(geom.index.world.model.geometry, f"{kind}_{end}")[geom.idx])

    return property(found, doc=what)


def count(kind: str) -> Any:
    """Return a property: the number of parts of a kind of a geom's collision mesh; 0 for a geom that is no mesh."""

    def found(geom: "RigidGeom") -> int:
        return getattr(geom, f"{kind}_end") - getattr(geom, f"{kind}_start")

    return property(found, doc=f"Number of its collision mesh's {KINDS[kind].split()[0]}; 0 if it is no mesh.")


class EntityPart:
    """A joint or a geom of an entity.

    Attributes:
        entity: the entity.
        idx_local: number within the entity.
    """

    KIND: ClassVar[str]
    """Its kind by `ranges.KINDS`."""
    PREFIX: ClassVar[str]
    """The beginning of MuJoCo's names for its kind."""

    def __init__(self, entity: EntityBase, idx_local: int) -> None:
        self.entity, self.index, self.idx_local = entity, entity.index, idx_local

    @property
    def idx(self) -> int:
        """Number in the scene: MuJoCo's."""
        return self.index.start(self.KIND) + self.idx_local

    @property
    def solver(self) -> RigidSolver:
        """The solver of the built scene."""
        return self.index.solver

    @property
    def is_built(self) -> bool:
        """True if the scene is built."""
        return self.index.is_built

    def set_sol_params(self, sol_params: Numbers, envs_idx: Indices = None) -> None:
        """Set how contacts or limits give way, (n, 7) or (7,): time constant (s), damping ratio, then dmin to power."""
        world, envs = self.index.envs(envs_idx)
        given, items = world.doubles("sol_params", sol_params, envs, 7)[:, None], np.array([self.idx])
        parts = {f"{self.PREFIX}_solref": (items, given[..., :2]), f"{self.PREFIX}_solimp": (items, given[..., 2:])}
        world.solver.parameters.set_items(envs, **parts)

    def get_sol_params(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return how contacts or limits give way, (n, 7): MuJoCo's solref and solimp."""
        world, envs = self.index.envs(envs_idx)
        parts = [world.parameter(f"{self.PREFIX}_{name}", envs)[:, self.idx] for name in ("solref", "solimp")]
        return world.out(torch.cat(parts, -1))


class RigidGeom(EntityPart, WithFriction):
    """A geom of an entity: a collision shape, a drawn shape, or both.

    `envs_idx` and tensors are as of the entity: (n, ...), without their first dimension in a scene without a batch.

    Attributes:
        entity: the entity.
        name: without the entity's, "" for none.
        idx_local: number within the entity.
        link: the link that it belongs to.
    """

    KIND = PREFIX = "geom"

    def __init__(self, entity: EntityBase, link: LinkIndex, idx_local: int, name: str) -> None:
        super().__init__(entity, idx_local)
        self.link, self.name = link, name

    def __repr__(self) -> str:
        return f"RigidGeom('{self.entity.name}/{self.name}', {self.idx})"

    @property
    def uid(self) -> int:
        """Its number in the scene, of which that has no other geom."""
        return self.idx

    @property
    def surface(self) -> Surface:
        """The surface of its entity."""
        return self.entity.surface

    @property
    def is_free(self) -> bool:
        """True if its entity is free to move."""
        return self.index.is_free

    @property
    def is_fixed(self) -> bool:
        """True if nothing can move its link."""
        return bool(self._model.mj.body_weldid[self.link.body] == 0)

    @property
    def _model(self) -> Model:
        return self.index.world.model

    def _of_model(self, name: str) -> np.ndarray:
        """A field of the compiled model."""
        return getattr(self._model.mj, f"geom_{name}")[self.idx]

    # its kind and shape

    @property
    def type(self) -> int:
        """MuJoCo's mjtGeom."""
        return int(self._of_model("type"))

    @property
    def data(self) -> np.ndarray:
        """Seven numbers, whose meaning depends on the type: `model.geometry.data_names`, m."""
        return self._model.geometry.data[self.idx].copy()

    @property
    def metadata(self) -> dict[str, Any]:
        """The heights (nx, ny) of a field of them, in units, and its scales; of other geoms nothing."""
        heights = getattr(self.entity, "terrain_hf", None)
        if heights is None:
            return {}
        horizontal, vertical = getattr(self.entity, "terrain_scale")  # noqa: B009
        return {"height_field": heights, "horizontal_scale": horizontal, "vertical_scale": vertical}

    @property
    def needs_coup(self) -> bool:
        """True if matter touches it: `materials.Rigid`."""
        return self.entity.material.needs_coup

    @property
    def coup_friction(self) -> float:
        """Coefficient of friction of matter on it."""
        return self.entity.material.coup_friction

    @property
    def coup_softness(self) -> float:
        """Distance at which the contact of matter fades, m."""
        return self.entity.material.coup_softness

    @property
    def coup_restitution(self) -> float:
        """Share of its speed with which matter leaves it."""
        return self.entity.material.coup_restitution

    @property
    def contype(self) -> int:
        """Bit mask that others' conaffinity is compared with."""
        return int(self._of_model("contype")) & 0xFFFFFFFF

    @property
    def conaffinity(self) -> int:
        """Bit mask of others' contype that it touches."""
        return int(self._of_model("conaffinity")) & 0xFFFFFFFF

    @property
    def init_pos(self) -> np.ndarray:
        """Its place in the frame of its link, (3,) m."""
        return self._of_model("pos").copy()

    @property
    def init_quat(self) -> np.ndarray:
        """Its orientation in the frame of its link, (4,), w first."""
        return self._of_model("quat").copy()

    # its shape

    @property
    def trimesh(self) -> Trimesh:
        """Its surface in its frame: `get_trimesh`."""
        return self.get_trimesh()

    @property
    def mesh(self) -> Trimesh:
        """Its surface in its frame: `get_trimesh`."""
        return self.get_trimesh()

    def get_trimesh(self) -> Trimesh:
        """Return its surface in its frame, m: the collision surface; round shapes as fine triangles.

        Raises:
            ValueError: it has no end, or is a height field.
        """
        return mesh_of(self._model, self.idx, repr(self))

    @property
    def init_verts(self) -> np.ndarray:
        """Vertices of its surface in its frame, (n, 3) m."""
        return np.array(self.get_trimesh().vertices)

    @property
    def init_faces(self) -> np.ndarray:
        """Triangles of its surface, (n, 3) int64."""
        return np.array(self.get_trimesh().faces, np.int64)

    vert_start = bound("vert", "start", "First of its mesh's vertices in `model.geometry.vert`.")
    vert_end = bound("vert", "end", "One more than the last of them.")
    face_start = bound("face", "start", "First of its mesh's triangles in `model.geometry.face`.")
    face_end = bound("face", "end", "One more than the last of them.")
    edge_start = bound("edge", "start", "First of its mesh's edges in `model.geometry.edge`.")
    edge_end = bound("edge", "end", "One more than the last of them.")
    n_verts, n_faces, n_edges = count("vert"), count("face"), count("edge")

    # state

    def get_pos(self, envs_idx: Indices = None, *, relative: bool = True) -> torch.Tensor:
        """Return its position, (n, 3) m; not `relative`: where the environment is drawn."""
        world, envs = self.index.envs(envs_idx)
        return world.out(world.drawn(world.get("geom_xpos", envs)[:, self.idx], envs, relative))

    def get_quat(self, envs_idx: Indices = None, *, relative: bool = True) -> torch.Tensor:
        """Return its orientation, (n, 4), w first; environments are not turned, `relative` or not."""
        world, envs = self.index.envs(envs_idx)
        turn = world.get("xquat", envs)[:, self.link.body]
        return world.out(quat_mul(turn, world.parameter("geom_quat", envs)[:, self.idx]))

    def get_verts(self) -> torch.Tensor:
        """Return its vertices in the world, (n, vertices, 3) m, of a mesh or a box.

        Raises:
            ValueError: it has none.
        """
        return vertices_of(self.index, np.array([self.idx]), visual=False)

    def get_AABB(self) -> torch.Tensor:
        """Return its bounds, (n, 2, 3) m: lower and upper corner; infinite for a plane."""
        return bounds_of(self.index, np.array([self.idx]), None, "geom")

    # friction

    def _frictional(self) -> tuple[Friction, np.ndarray]:
        return self.index.world.friction, np.array([self.idx])

    def get_friction(self) -> float:
        """Return its sliding friction coefficient, before the ratios of `set_friction_ratio`."""
        return float(self.index.world.friction.base[self.idx, SLIDING])

    def get_friction_torsional(self) -> float:
        """Return its torsional friction coefficient, m."""
        return float(self.index.world.friction.base[self.idx, TORSIONAL])

    def get_friction_rolling(self) -> float:
        """Return its rolling friction coefficient, m."""
        return float(self.index.world.friction.base[self.idx, ROLLING])


_TYPES = mujoco.mjtGeom


def mesh_of(model: Model, geom: int, label: str) -> trimesh.Trimesh:
    """Return the surface of a geom in its frame, m: the collision surface, or else the drawn one.

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

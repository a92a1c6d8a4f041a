"""Geoms of an entity: shapes that touch, that are drawn, or both."""

from typing import Any

import numpy as np
import torch
from trimesh import Trimesh

from ..physics.base.rotations import quat_mul
from ..physics.base.shapes import MESH
from ..physics.model.model import Model
from ..physics.solver.solver import RigidSolver
from .checks import Indices, Numbers
from .entity_base import EntityBase
from .entity_contacts import bounds_of, vertices_of
from .entity_index import EntityIndex, LinkIndex
from .friction import ROLLING, SLIDING, TORSIONAL
from .ranges import KINDS
from .surfaces import Surface
from .trimeshes import mesh_of


def bound(kind: str, end: str, what: str) -> Any:
    """Return a property: where the parts of a kind of a geom start or end in the model's store of geometry."""

    def found(geom: "RigidGeom") -> int:
        return int(getattr(geom.index.world.model.geometry, f"{kind}_{end}")[geom.idx])

    return property(found, doc=what)


def count(kind: str) -> Any:
    """Return a property: the number of parts of a kind of a geom's mesh that touch; 0 for what is no mesh."""

    def found(geom: "RigidGeom") -> int:
        return getattr(geom, f"{kind}_end") - getattr(geom, f"{kind}_start")

    return property(found, doc=f"Number of its mesh's {KINDS[kind].split()[0]} that touch; 0 for what is no mesh.")


class RigidGeom:
    """A geom of an entity: of what touches, of what is drawn, or both.

    `envs_idx` and tensors are as of the entity: (n, ...), without their first dimension in a scene without a batch.

    Attributes:
        entity: the entity.
        name: without the entity's, "" for none.
        idx_local: number within the entity.
        link: the link that it belongs to.
    """

    def __init__(self, entity: EntityBase, link: LinkIndex, idx_local: int, name: str) -> None:
        self.entity, self.index = entity, entity.index
        self.link, self.idx_local, self.name = link, idx_local, name

    def __repr__(self) -> str:
        return f"RigidGeom('{self.entity.name}/{self.name}', {self.idx})"

    @property
    def idx(self) -> int:
        """Number in the scene: MuJoCo's."""
        return self.index.start("geom") + self.idx_local

    @property
    def uid(self) -> int:
        """Its number in the scene, of which that has no other geom."""
        return self.idx

    @property
    def solver(self) -> RigidSolver:
        """The solver of the built scene."""
        return self.index.solver

    @property
    def surface(self) -> Surface:
        """The surface of its entity."""
        return self.entity.surface

    @property
    def is_built(self) -> bool:
        """True if the scene is built."""
        return self.index.is_built

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

    # what it is

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
    def is_convex(self) -> bool:
        """True if it touches as a convex shape."""
        return bool(np.isin(self.type, (0, *range(2, 7), int(MESH))))

    @property
    def contype(self) -> int:
        """Bit mask of what it is for others' conaffinity."""
        return int(self._of_model("contype")) & 0xFFFFFFFF

    @property
    def conaffinity(self) -> int:
        """Bit mask of others' contype that it touches."""
        return int(self._of_model("conaffinity")) & 0xFFFFFFFF

    @property
    def needs_coup(self) -> bool:
        """The number that its material has for the coupler."""
        return self.entity.material.needs_coup

    @property
    def coup_softness(self) -> float:
        """The number that its material has for the coupler."""
        return self.entity.material.coup_softness

    @property
    def coup_friction(self) -> float:
        """The number that its material has for the coupler."""
        return self.entity.material.coup_friction

    @property
    def coup_restitution(self) -> float:
        """The number that its material has for the coupler."""
        return self.entity.material.coup_restitution

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
        """Its surface in its own frame: `get_trimesh`."""
        return self.get_trimesh()

    @property
    def mesh(self) -> Trimesh:
        """Its surface in its own frame: `get_trimesh`."""
        return self.get_trimesh()

    def get_trimesh(self) -> Trimesh:
        """Return its surface in its own frame, m: that which touches; round shapes as fine triangles.

        Raises:
            ValueError: it has no end, or is a height field.
        """
        return mesh_of(self._model, self.idx, repr(self))

    @property
    def init_verts(self) -> np.ndarray:
        """Vertices of its surface in its own frame, (n, 3) m."""
        return np.array(self.get_trimesh().vertices)

    @property
    def init_faces(self) -> np.ndarray:
        """Triangles of its surface, (n, 3) int64."""
        return np.array(self.get_trimesh().faces, np.int64)

    @property
    def init_edges(self) -> np.ndarray:
        """Edges of its surface, each once, (n, 2) int64."""
        return np.array(self.get_trimesh().edges_unique, np.int64)

    @property
    def init_normals(self) -> np.ndarray:
        """Normals at its vertices, (n, 3)."""
        return np.array(self.get_trimesh().vertex_normals)

    @property
    def init_center_pos(self) -> np.ndarray:
        """Mean of its vertices in its own frame, (3,) m."""
        return self.init_verts.mean(0)

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

    # friction and contact

    def set_friction(self, friction: float) -> None:
        """Set its sliding friction coefficient in all environments."""
        self.index.world.friction.set_base(np.array([self.idx]), SLIDING, "friction", friction)

    def set_friction_torsional(self, friction_torsional: float) -> None:
        """Set its torsional friction coefficient, m, in all environments."""
        self.index.world.friction.set_base(np.array([self.idx]), TORSIONAL, "friction_torsional", friction_torsional)

    def set_friction_rolling(self, friction_rolling: float) -> None:
        """Set its rolling friction coefficient, m, in all environments."""
        self.index.world.friction.set_base(np.array([self.idx]), ROLLING, "friction_rolling", friction_rolling)

    def get_friction(self) -> float:
        """Return its sliding friction coefficient, before the ratios of `set_friction_ratio`."""
        return float(self.index.world.friction.base[self.idx, SLIDING])

    def get_friction_torsional(self) -> float:
        """Return its torsional friction coefficient, m."""
        return float(self.index.world.friction.base[self.idx, TORSIONAL])

    def get_friction_rolling(self) -> float:
        """Return its rolling friction coefficient, m."""
        return float(self.index.world.friction.base[self.idx, ROLLING])

    def set_sol_params(self, sol_params: Numbers, envs_idx: Indices = None) -> None:
        """Set how it gives way, (n, 7) or (7,): time constant (s), damping ratio, then dmin to power."""
        put_sol_params(self.index, "geom", self.idx, sol_params, envs_idx)

    def get_sol_params(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return how it gives way, (n, 7): MuJoCo's geom_solref and geom_solimp."""
        return sol_params_of(self.index, "geom", self.idx, envs_idx)


def put_sol_params(index: EntityIndex, kind: str, item: int, sol_params: Numbers, envs_idx: Indices) -> None:
    """Set how a joint's limits ("jnt") or a geom's contacts ("geom") give way, (n, 7) or (7,)."""
    world, envs = index.envs(envs_idx)
    given, items = world.doubles("sol_params", sol_params, envs, 7)[:, None], np.array([item])
    parts = {f"{kind}_solref": (items, given[..., :2]), f"{kind}_solimp": (items, given[..., 2:])}
    world.solver.parameters.set_items(envs, **parts)


def sol_params_of(index: EntityIndex, kind: str, item: int, envs_idx: Indices) -> torch.Tensor:
    """Return what `put_sol_params` sets, (n, 7)."""
    world, envs = index.envs(envs_idx)
    parts = [world.parameter(f"{kind}_{name}", envs)[:, item] for name in ("solref", "solimp")]
    return world.out(torch.cat(parts, -1))

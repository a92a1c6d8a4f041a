"""Bounds and vertices of geoms in the world, as a solver's users ask for them."""

from typing import Any

import mujoco
import numpy as np
import torch

from ..batch_numbers import on_host
from ..geometry.names import geom_ids, label
from ..geometry.store import MESH_TYPES
from ..readout.bounds import corners_of_boxes, world_bounds, world_vertices
from ..scalars import as_flag, as_whole
from ..solver_part import SolverPart

_MOVE = ("body_pos", "body_quat", "geom_pos", "geom_quat")
"""Numbers of the model that, where environments have their own, move what otherwise stands still."""
_BOX = int(mujoco.mjtGeom.mjGEOM_BOX)


class SolverShapes(SolverPart):
    """The part of `RigidSolver` that says where geoms are."""

    def geom_aabb(self, geoms: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Bounds of geoms in the world, as tight as their types allow (n, k, 2, 3), m; see `get` for when.

        `[..., 0, :]` is the lower corner and `[..., 1, :]` the upper. A plane is a half-space, so that most of its
        bounds are infinite. An environment whose pose is not finite has bounds that are not, and no other has. It is
        quickest where `xpos` and `xquat` are outputs of the solver.

        Args:
            geoms: ids or names of k geoms, one of them, or None for all; a single one is k = 1.
            envs_idx: indices of environments; None for all.

        Raises:
            KeyError: for an unknown name, with the nearest ones.
            IndexError: for a geom or environment that does not exist.
        """
        ids = range(self.model.mj.ngeom) if geoms is None else geom_ids(self.model.mj, geoms)
        pos, mat = self._poses(envs_idx)
        rows = torch.as_tensor(list(ids), dtype=torch.int64, device=pos.device)
        size = self._sizes(envs_idx)[:, rows]
        return world_bounds(self.model.geometry, list(ids), pos[:, rows], mat[:, rows], size)

    def geom_verts(self, geom: int | str, envs_idx: Any = None, visual: bool = False) -> torch.Tensor:
        """Vertices of a mesh or a box in the world (n, vertices, 3), m; see `get` for when.

        Those of a mesh that touches are its hull's, in the order of `model.geometry`. A geom that stands still in all
        environments has one copy: what is returned then are views of it, not to be written to.

        Args:
            geom: id or name.
            envs_idx: indices of environments; None for all.
            visual: of a mesh, what is drawn of it (`model.geometry.vgeoms`).

        Raises:
            KeyError: for an unknown name, with the nearest ones.
            IndexError: for a geom or environment that does not exist.
            ValueError: for a geom without vertices: a round one, a plane; with `visual` one that is not drawn.
        """
        if not isinstance(geom, str):
            geom = as_whole("geom", geom)
        (g,) = geom_ids(self.model.mj, geom)
        store, visual = self.model.geometry, as_flag("visual", visual)
        count = self.num_envs if envs_idx is None else len(self._numbers.environments(envs_idx, self.num_envs))
        still = bool(store.static[g]) and not any(name in self._overrides for name in _MOVE)
        if int(store.type[g]) == _BOX and not visual:
            still = still and "geom_size" not in self._overrides
            points = corners_of_boxes(self._sizes(envs_idx)[:, g])
        else:
            points = self._tensor(self._points(g, visual))
        if still:
            pos, mat = self._tensor(store.rest_pos[g])[None], self._tensor(store.rest_mat[g])[None]
            return world_vertices(points[:1] if points.ndim == 3 else points, pos, mat).expand(count, -1, -1)
        pos, mat = self._poses(envs_idx)
        return world_vertices(points, pos[:, g], mat[:, g])

    def _points(self, g: int, visual: bool) -> np.ndarray:
        store, named = self.model.geometry, label(self.model.mj, g)
        if visual:
            vgeoms = store.vgeoms
            row = np.flatnonzero(vgeoms.geom == g)
            first, end = (int(ends[row].sum()) for ends in (vgeoms.vert_start, vgeoms.vert_end))
            if first == end:
                raise ValueError(f"{named} is not drawn as a mesh: it has no visual vertices")
            return vgeoms.vert[first:end]
        if int(store.type[g]) not in MESH_TYPES:
            raise ValueError(f"{named} has no vertices: meshes and boxes have")
        return store.outline[g]

    def _poses(self, envs_idx: Any) -> tuple[torch.Tensor, torch.Tensor]:
        found = self.get_many(("geom_xpos", "geom_xmat"), envs_idx)
        return found["geom_xpos"], found["geom_xmat"].unflatten(-1, (3, 3))

    def _sizes(self, envs_idx: Any) -> torch.Tensor:
        """geom_size (n, ngeom, 3) where environments have their own, else (1, ngeom, 3)."""
        if "geom_size" in self._overrides:
            index = self._numbers.environments(envs_idx, self.num_envs)
            return self._tensor(self._overrides.get("geom_size", on_host(index)))
        return self._tensor(self.model.mj.geom_size)[None]

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.tensor(np.asarray(values), dtype=self.dtype, device=self.device)

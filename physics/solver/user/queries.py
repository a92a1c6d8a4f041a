"""Questions about geoms: what rays hit, how far apart they are, where they are."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ...base.arguments import CheckedEnvs, as_real, on_host
from ...base.shapes import of_kinds
from ...files.geometry.names import geom_ids, label
from ...files.geometry.store import MESH_TYPES
from ...machine.scalars import as_flag, as_whole
from ...rendering.rays.query import RayHits, as_rays
from ..queries.distances import OWN, SOURCES, Distances, geom_pairs
from ..readout.bounds import world_bounds, world_vertices
from .environments import Environments
from .quantities import Quantities

_LEAST = 1e-300  # m: above the numbers that processors may take for zero
_MOVE = ("body_pos", "body_quat", "geom_pos", "geom_quat")
"""Numbers of the model that, if set per environment, move geoms that otherwise stand still."""


class Queries:
    """Questions about the geoms of all environments, at the poses of the last evaluation.

    After a change of the state call `forward` first. The kernels of rays and distances are compiled, or loaded, when
    they are first needed.
    """

    def __init__(self, envs: Environments, quantities: Quantities) -> None:
        self._envs, self._quantities = envs, quantities

    @torch.no_grad()
    def ray(
        self,
        pnt: Any,
        vec: Any,
        *,
        geomgroup: Sequence[int] | None = None,
        flg_static: bool = True,
        bodyexclude: int = -1,
        geoms: Any = None,
        envs_idx: Any = None,
        normals: bool = False,
    ) -> RayHits:
        """Find where rays first meet a geom, as MuJoCo's `mj_ray` does.

        Surfaces of solids, meshes and height fields are met from inside too; planes from above only, finite ones within
        their rectangle. Geoms whose colour has alpha 0 are ignored. A ray that is not finite, or whose vector is
        shorter than 1e-15, hits nothing. After `step()` geoms are where the last evaluation had them; `forward()`
        brings them to the state.

        Args:
            pnt: where rays begin, (num_envs, n, 3), world frame, metres; (n, 3) or (3,) for all environments.
            vec: their directions, of any length, in the same shapes.
            geomgroup: six flags, which geom groups are there; None: all.
            flg_static: whether geoms of bodies that cannot move are there.
            bodyexclude: id of a body whose geoms are ignored; -1: no body.
            geoms: ids or names of the only geoms that can be hit, unless another argument leaves them out; None: all.
            envs_idx: indices of environments, whose number replaces num_envs above; None for all.
            normals: whether to find the surfaces' normals too.

        Returns:
            `RayHits`: distances in units of `vec`, geom ids, and normals; -1 where nothing was hit.

        Raises:
            ValueError: for a wrong shape, group, body or flag, and for values that are not real numbers.
            IndexError: for an environment or a geom that does not exist.
            KeyError: for an unknown name of a geom, with the nearest ones.
            NotImplementedError: a signed distance function of a plugin is there.
        """
        envs, caster = self._envs, self._envs.caster
        normals = as_flag("normals", normals)
        only = None if geoms is None else geom_ids(envs.model.mj, geoms)
        chosen = caster.choose(geomgroup, flg_static, bodyexclude, only)
        index, count = envs.chosen(envs_idx)
        rays = as_rays(pnt, vec, count, envs.dtype, envs.device)
        poses, sizes = caster.rest, None
        if not chosen.still or self._moved():
            found = self._quantities.get_many(("geom_xpos", "geom_xmat"), None if index is None else CheckedEnvs(index))
            poses = found["geom_xpos"], found["geom_xmat"]
        if "geom_size" in envs.overrides:
            sizes = caster.sized(envs.overrides.get("geom_size", on_host(index)))
        return caster.cast(chosen, poses, rays, sizes, normals)

    def distance(self, geom1: Any, geom2: Any, distmax: float = math.inf, envs_idx: Any = None) -> Distances:
        """Signed distances of pairs of geoms, and their nearest points, as MuJoCo's `mj_geomDistance` has them.

        At the last evaluation, as all that `get` returns: after `set_state` call `forward` first. Any two geoms have a
        distance, also of one body or filtered from contacts: planes (the half-space below them), spheres, capsules,
        ellipsoids, cylinders, boxes and the hulls of meshes. Where they overlap it is minus the length of the shortest
        way that parts them. Of two planes it is `distmax`. It is computed in double precision, from poses in the
        solver's, to the model's `ccd_tolerance` within its `ccd_iterations`.

        Args:
            geom1: a geom's name or number, or a sequence of them.
            geom2: the second geoms; as many as `geom1`, or one of them is one for all.
            distmax: m; geoms farther apart count as this far, which costs less.
            envs_idx: indices of environments; None for all.

        Returns:
            Distances (n, npairs) in the solver's precision and their points (n, npairs, 6).

        Raises:
            KeyError: for an unknown name.
            IndexError: for a geom or environment that does not exist.
            ValueError: for lists of different lengths, height fields and signed distance fields, a `distmax` that is no
                number, and geoms that are neither names nor whole numbers.
        """
        found = self._measure(geom1, geom2, distmax, envs_idx, False)
        return Distances(found.dist.to(self._envs.dtype), found.fromto.to(self._envs.dtype))

    def overlap(self, geom1: Any, geom2: Any, margin: float = 0.0, envs_idx: Any = None) -> torch.Tensor:
        """Return True for pairs of geoms no farther apart than `margin`, (n, npairs) bool: quicker than `distance`.

        Arguments and errors as in `distance`.
        """
        margin = as_real("margin", margin)
        beyond = max(math.nextafter(margin, math.inf), margin + _LEAST)
        return self._measure(geom1, geom2, beyond, envs_idx, margin >= 0.0).dist <= margin

    @torch.no_grad()
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
        ids = range(self._envs.model.mj.ngeom) if geoms is None else geom_ids(self._envs.model.mj, geoms)
        pos, mat = self._poses(envs_idx)
        rows = torch.as_tensor(list(ids), dtype=torch.int64, device=pos.device)
        size = self._sizes(envs_idx)[:, rows]
        return world_bounds(self._envs.model.geometry, list(ids), pos[:, rows], mat[:, rows], size)

    @torch.no_grad()
    def geom_verts(self, geom: int | str, envs_idx: Any = None, visual: bool = False) -> torch.Tensor:
        """Vertices of a mesh or a box in the world (n, vertices, 3), m; see `get` for when.

        Vertices of a mesh that collides are its hull's, in the order of `model.geometry`. A geom that stands still in
        all environments has one copy: the result then is a view of it, not to be written to.

        Args:
            geom: id or name.
            envs_idx: indices of environments; None for all.
            visual: for a mesh, its drawn vertices (`model.geometry.vgeoms`).

        Raises:
            KeyError: for an unknown name, with the nearest ones.
            IndexError: for a geom or environment that does not exist.
            ValueError: for a geom without vertices: a round one, a plane; with `visual` one that is not drawn.
        """
        if not isinstance(geom, str):
            geom = as_whole("geom", geom)
        (g,) = geom_ids(self._envs.model.mj, geom)
        store, visual = self._envs.model.geometry, as_flag("visual", visual)
        count = self._envs.num_envs if envs_idx is None else self._envs.chosen(envs_idx)[1]
        still = bool(store.static[g]) and not self._moved()
        own_vertices = of_kinds("vertices").get(int(store.type[g]))
        if own_vertices and not visual:
            still = still and "geom_size" not in self._envs.overrides
            points = own_vertices(self._sizes(envs_idx)[:, g])
        else:
            points = self._tensor(self._points(g, visual))
        if still:
            pos, mat = self._tensor(store.rest_pos[g])[None], self._tensor(store.rest_mat[g])[None]
            return world_vertices(points[:1] if points.ndim == 3 else points, pos, mat).expand(count, -1, -1)
        pos, mat = self._poses(envs_idx)
        return world_vertices(points, pos[:, g], mat[:, g])

    @torch.no_grad()
    def _measure(self, geom1: Any, geom2: Any, distmax: float, envs_idx: Any, sign: bool) -> Distances:
        envs, distmax = self._envs, as_real("distmax", distmax)
        envs.runtime.require()
        pairs = geom_pairs(envs.model, geom1, geom2)
        index, _ = envs.chosen(envs_idx)
        fields = envs.driver.evaluate(SOURCES, index)
        own = {name: rows.to(envs.device) for name, rows in envs.own_in_double(OWN, index).items()}
        return envs.distances.measure(pairs, fields, own, distmax, sign)

    def _moved(self) -> bool:
        """Return True if geoms that stand still in the model may stand elsewhere in some environments."""
        return any(name in self._envs.overrides for name in _MOVE)

    def _points(self, g: int, visual: bool) -> np.ndarray:
        store, named = self._envs.model.geometry, label(self._envs.model.mj, g)
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
        found = self._quantities.get_many(("geom_xpos", "geom_xmat"), envs_idx)
        return found["geom_xpos"], found["geom_xmat"].unflatten(-1, (3, 3))

    def _sizes(self, envs_idx: Any) -> torch.Tensor:
        """geom_size (n, ngeom, 3) if it is set per environment, else (1, ngeom, 3)."""
        if "geom_size" in self._envs.overrides:
            return self._envs.own(("geom_size",), self._envs.chosen(envs_idx)[0])["geom_size"]
        return self._tensor(self._envs.model.mj.geom_size)[None]

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.tensor(np.asarray(values), dtype=self._envs.dtype, device=self._envs.device)

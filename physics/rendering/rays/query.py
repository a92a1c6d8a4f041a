"""Rays in a solver's environments: the tables of a model, which geoms can be hit, and the hits."""

import reprlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np
import torch

from ...base.arguments import real_array
from ...base.shapes import HFIELD, MESH, SEEN, of_kinds
from ...files.geometry.names import label
from ...files.geometry.store import rest_poses, static_geoms
from ...files.geometry.visual import seen_types
from ...machine.runtime import Runtime
from ...machine.scalars import as_flag, as_whole
from ...run.tensor_kernels import Launch, Recipe, shared_kernels
from .field_tables import field_tables
from .mesh_tree import mesh_trees
from .ray_kernel import make_ray_kernel


class RayHits(NamedTuple):
    """The hits of rays, for n environments with k rays each.

    Attributes:
        distance: (n, k) in units of the ray's vector: the point is `pnt + distance * vec`; -1 where nothing was hit.
        geom: (n, k) int32, geom ids; -1 where nothing was hit.
        normal: (n, k, 3) unit vectors out of the surface, in the world frame, 0 where nothing was hit; None unless
            asked for.
    """

    distance: torch.Tensor
    geom: torch.Tensor
    normal: torch.Tensor | None


class Chosen(NamedTuple):
    """Geoms that rays may hit: ids (k,) int32 on the device, and whether all stand still in the world."""

    ids: torch.Tensor
    still: bool


class RayCaster:
    """Rays at the geoms of a model.

    Args:
        runtime: Taichi's settings.
        mj: the model.

    Attributes:
        rest: poses of the model's reference state, for `cast`: the poses of static geoms.
    """

    def __init__(self, runtime: Runtime, mj: mujoco.MjModel) -> None:
        self._runtime, self._mj = runtime, mj
        self._kinds = seen_types(mj)
        is_mesh, is_field = self._kinds == MESH, self._kinds == HFIELD
        trees, fields = mesh_trees(mj, mj.geom_dataid[is_mesh]), field_tables(mj, mj.geom_dataid[is_field])
        row = np.zeros(mj.ngeom, np.int32)
        row[is_mesh] = [trees.meshes.index(mesh) for mesh in mj.geom_dataid[is_mesh]]
        row[is_field] = [fields.fields.index(field) for field in mj.geom_dataid[is_field]]
        self._reach = np.where(is_field, fields.reach[row * is_field], trees.reach[row * is_mesh])
        of_meshes = trees.trees, trees.nodes, trees.corners
        of_fields = fields.shapes, fields.measures, fields.heights, fields.blocks
        self._tables, self._field_tables = (
            [torch.as_tensor(array, device=runtime.torch_device) for array in arrays]
            for arrays in ((self._kinds.astype(np.int32), row, *of_meshes), of_fields)
        )
        self._sizes = self.sized(mj.geom_size[None])
        self._still, (position, rotation) = static_geoms(mj), rest_poses(mj)
        self.rest = self._tensor(position[None]), self._tensor(rotation.reshape(1, -1, 9))
        self._chosen: dict[tuple, Chosen] = {}
        self._kernel = _shared_kernel(runtime, bool(is_mesh.any()), bool(is_field.any()))

    def sized(self, sizes: np.ndarray) -> torch.Tensor:
        """Sizes of geoms (n, ngeom, 3) and the radii of the spheres around them, (n, ngeom, 4) on the device."""
        around = np.broadcast_to(self._reach, sizes.shape[:-1]).copy()
        for kind, reach in of_kinds("reach").items():
            own = self._kinds == kind
            around[:, own] = reach(sizes[:, own])
        return self._tensor(np.concatenate([sizes, 1.00001 * around[..., None]], axis=-1))

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(values, dtype=self._runtime.torch_dtype, device=self._runtime.torch_device).contiguous()

    def choose(
        self, geomgroup: Sequence[int] | None, flg_static: bool, bodyexclude: int, geoms: Sequence[int] | None = None
    ) -> Chosen:
        """Return the geoms that rays may hit; see `RigidSolver.ray`.

        Raises:
            ValueError: a geomgroup that is not six flags, a body that does not exist.
            NotImplementedError: a signed distance function of a plugin is among them.
        """
        allowed = _group(geomgroup), as_flag("flg_static", flg_static), as_whole("bodyexclude", bodyexclude)
        key = *allowed, None if geoms is None else tuple(geoms)
        if key not in self._chosen:
            ids = self._choose(*allowed)
            ids = ids if geoms is None else ids[np.isin(ids, geoms)]
            on_device = torch.as_tensor(ids, dtype=torch.int32, device=self._runtime.torch_device)
            self._chosen[key] = Chosen(on_device, bool(self._still[ids].all()))
        return self._chosen[key]

    def _choose(self, group: tuple[bool, ...] | None, flg_static: bool, bodyexclude: int) -> np.ndarray:
        mj = self._mj
        if not -1 <= bodyexclude < mj.nbody:
            raise ValueError(
                f"bodyexclude: the model has {mj.nbody} bodies: {bodyexclude} must be -1 to {mj.nbody - 1}"
            )
        if not mj.ngeom:
            return np.zeros(0, np.int32)
        own, of_material = mj.geom_rgba[:, 3], np.append(mj.mat_rgba[:, 3], 0.0)[mj.geom_matid]
        chosen = (np.where(mj.geom_matid >= 0, of_material, own) != 0) & (mj.geom_bodyid != bodyexclude)
        if not flg_static:
            chosen &= mj.body_weldid[mj.geom_bodyid] != 0
        if group is not None:
            chosen &= np.array(group)[np.clip(mj.geom_group, 0, mujoco.mjNGROUP - 1)]
        unknown = np.flatnonzero(chosen & ~np.isin(self._kinds, SEEN))
        if len(unknown):
            raise NotImplementedError(f"rays do not meet {label(mj, unknown[0])}; leave its group out by geomgroup")
        return np.flatnonzero(chosen)

    def cast(
        self,
        chosen: Chosen,
        poses: tuple[torch.Tensor, torch.Tensor],
        rays: tuple[torch.Tensor, torch.Tensor],
        sizes: torch.Tensor | None,
        normals: bool,
    ) -> RayHits:
        """Return the hits of rays.

        Args:
            chosen: geoms, as `choose` returns them.
            poses: geom_xpos (n, ngeom, 3) and geom_xmat (n, ngeom, 9), or one row of both for all environments.
            rays: points and vectors (n, k, 3).
            sizes: of geoms, as `sized` returns them, (n, ngeom, 4); None: the model's.
            normals: whether normals are wanted.
        """
        pnt, vec = (ray.contiguous() for ray in rays)
        n, k = pnt.shape[:2]
        distance = torch.full((n, k), -1.0, dtype=pnt.dtype, device=pnt.device)
        geom = torch.full((n, k), -1, dtype=torch.int32, device=pnt.device)
        normal = torch.zeros((n, k, 3) if normals else (1, 1, 3), dtype=pnt.dtype, device=pnt.device)
        if n * k * len(chosen.ids):
            sizes = self._sizes if sizes is None else sizes
            placed = [pose.contiguous() for pose in poses]
            found = distance, geom, normal
            self._kernel(
                (chosen.ids, sizes, *placed, pnt, vec, *self._tables, int(normals), *found, *self._field_tables)
            )
        return RayHits(distance, geom, normal if normals else None)


def as_rays(
    pnt: Any, vec: Any, count: int, dtype: torch.dtype, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Points and vectors of rays as (count, k, 3), each from that shape, or (k, 3) or (3,) for all environments.

    Raises:
        ValueError: for another shape, and for values that are not real numbers.
    """
    points, vectors = _rows("pnt", pnt, count, dtype, device), _rows("vec", vec, count, dtype, device)
    if points.shape != vectors.shape and 1 not in (points.shape[1], vectors.shape[1]):
        raise ValueError(f"pnt has {points.shape[1]} points and vec {vectors.shape[1]} vectors: give as many of both")
    both = torch.broadcast_tensors(points, vectors)
    return both[0], both[1]


def _rows(name: str, value: Any, count: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    plain = isinstance(value, torch.Tensor) and not (value.is_meta or value.is_complex())
    rays = torch.as_tensor(value if plain else real_array(name, value), dtype=dtype, device=device)
    if not 1 <= rays.ndim <= 3 or rays.shape[-1] != 3 or (rays.ndim == 3 and len(rays) != count):
        raise ValueError(f"{name}: expected shape ({count}, n, 3), or (n, 3) for all, got {tuple(rays.shape)}")
    rays = rays[None] if rays.ndim == 1 else rays
    return rays.expand(count, *rays.shape[-2:])


def _group(geomgroup: Any) -> tuple[bool, ...] | None:
    """Return six flags, one for each group of geoms; None for all groups."""
    if geomgroup is None:
        return None
    if isinstance(geomgroup, str) or np.ndim(geomgroup) != 1 or len(geomgroup) != mujoco.mjNGROUP:
        raise ValueError(f"geomgroup must have {mujoco.mjNGROUP} flags, one a group, not {reprlib.repr(geomgroup)}")
    return tuple(as_flag("geomgroup", flag) for flag in geomgroup)


def _shared_kernel(runtime: Runtime, meshes: bool, fields: bool) -> Launch:
    """The kernel for models with meshes and height fields or without; made once, then shared."""
    real = f"f{runtime.precision}"
    (kernel,) = shared_kernels(runtime, real, (Recipe(make_ray_kernel, (real, meshes, fields)),), "rays")
    return kernel

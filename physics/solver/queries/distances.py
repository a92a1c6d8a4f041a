"""Signed distances of geoms, for people: names and numbers in, tensors out."""

from typing import Any, NamedTuple

import mujoco
import numpy as np
import torch

from ...base.rotations import quat_mul, quat_to_matrix, rotate
from ...base.shapes import KINDS
from ...files.geometry.names import geom_ids, label
from ...machine.runtime import Runtime
from ...model.model import Model
from ...model.state.sizes import flat_integers, flat_reals
from ...run.tensor_kernels import Argument, Launch, Recipe, shared_kernels
from .kernel import query_kernel
from .workspace import places, query_sizes

SOURCES = ("xpos", "xquat", "root_offset")
"""Fields from which poses are made: from the roots of trees, so that distances keep their digits far away."""
_WORKERS, _ROOM = 1 << 14, 1 << 28  # most threads of a GPU at once, and bytes that they may work in
_SHAPE, _FRAME = ("geom_size", "geom_rbound"), ("geom_pos", "geom_quat")
OWN = (*_SHAPE, *_FRAME)
"""Numbers of the model that a query reads, which may be per-environment parameters."""


class Distances(NamedTuple):
    """Distances between pairs of geoms.

    Attributes:
        dist: (num_envs, npairs) m, negative where they overlap; at most `distmax`.
        fromto: (num_envs, npairs, 6) m, the nearest points of geom 1 and of geom 2 in the world, or the deepest ones
            if they overlap; zero if they are `distmax` apart or farther.
    """

    dist: torch.Tensor
    fromto: torch.Tensor


def geom_pairs(model: Model, geom1: Any, geom2: Any) -> np.ndarray:
    """Numbers (npairs, 2) of geoms that are given by number or name, one or many on each side.

    Raises:
        KeyError: for an unknown name.
        IndexError: for a number that is no geom's.
        ValueError: for lists of different lengths, and for a geom type whose distance is unknown.
    """
    sides = [_served(model.mj, side) for side in (geom1, geom2)]
    counts = {len(side) for side in sides}
    if len(counts - {1}) > 1:
        raise ValueError(f"{len(sides[0])} geoms 1 and {len(sides[1])} geoms 2: pairs need as many, or one of them")
    return np.stack(np.broadcast_arrays(*sides), axis=1)


def _served(mj: mujoco.MjModel, given: Any) -> np.ndarray:
    """Numbers of geoms whose distance can be measured."""
    geoms = np.array(geom_ids(mj, given), np.int64)
    unserved = geoms[~np.isin(mj.geom_type[geoms], KINDS)]
    if len(unserved):
        raise ValueError(f"{label(mj, unserved[0])} has no distance: distances are of planes and convex shapes")
    return geoms


class DistanceQuery:
    """Measures the geoms of one model on one device.

    Args:
        runtime: whose kernel is used.
        model: of all environments.
        device: where their numbers are.
    """

    def __init__(self, runtime: Runtime, model: Model, device: torch.device) -> None:
        self._runtime, self._device = runtime, device
        sizes = query_sizes(model)
        begins, self._rows, self._index_rows = places(sizes)
        self._begins = self._tensor(begins)
        self._ints, self._reals = self._tensor(flat_integers(model, sizes)), self._tensor(flat_reals(model, np.float64))
        doubles = {name: self._tensor(getattr(model.mj, name).astype(np.float64)) for name in (*_SHAPE, *_FRAME)}
        self._shapes = [doubles[name].reshape(-1) for name in _SHAPE]
        self._frame = {name: doubles[name] for name in _FRAME}
        self._bodies, self._roots = (
            self._tensor(getattr(model.mj, name).astype(np.int64)) for name in ("geom_bodyid", "body_rootid")
        )
        self._scratch: tuple[int, torch.Tensor, torch.Tensor] | None = None

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(np.ascontiguousarray(values), device=self._device)

    def measure(
        self,
        pairs: np.ndarray,
        fields: dict[str, torch.Tensor],
        own: dict[str, torch.Tensor],
        distmax: float,
        sign: bool = False,
    ) -> Distances:
        """Distances of `pairs` (npairs, 2).

        Args:
            pairs: numbers of geoms.
            fields: `SOURCES`, (n, numbers) each.
            own: per-environment parameters, (n, ...) each.
            distmax: m, see `Distances`.
            sign: whether it is enough to know which distances are at most 0.
        """
        n, k = len(fields["xpos"]), len(pairs)
        dist = torch.empty((n, k), dtype=torch.float64, device=self._device)
        fromto = torch.empty((n, k, 6), dtype=torch.float64, device=self._device)
        if n * k:
            sized = "geom_size" in own
            shapes = [own[name].reshape(-1).contiguous() for name in _SHAPE] if sized else self._shapes
            frames = self._frames(torch.as_tensor(pairs, device=self._device).long(), fields, own)
            arguments: list[Argument] = [self._ints, self._reals, *shapes, int(sized)]
            arguments += [self._tensor(pairs.astype(np.int32)), frames, distmax, int(sign)]
            shared_query_kernel(self._runtime)([*arguments, *self._room(n * k), dist, fromto])
        return Distances(dist, fromto)

    def _frames(
        self, pairs: torch.Tensor, fields: dict[str, torch.Tensor], own: dict[str, torch.Tensor]
    ) -> torch.Tensor:
        """Return the frames of the pairs (npairs, 2), (n, npairs, FRAME), as `kernel.measure` takes them."""
        n = len(fields["xpos"])
        xpos, quat, offset = (
            fields[name].double().reshape(n, -1, w) for name, w in zip(SOURCES, (3, 4, 3), strict=True)
        )
        body = self._bodies[pairs]
        placed = [own[name] if name in own else self._frame[name][None] for name in _FRAME]
        pos, turn = (part[:, pairs].expand(n, -1, -1, -1) for part in placed)
        quat = quat[:, body]
        quat = quat / quat.norm(dim=-1, keepdim=True)
        offset = offset[:, body] + rotate(quat, pos)
        root = xpos[:, self._roots[body]]
        apart = (root[:, :, 1] - root[:, :, 0]) + (offset[:, :, 1] - offset[:, :, 0])
        axes = quat_to_matrix(quat_mul(quat, turn)).transpose(-1, -2)
        return torch.cat((root[:, :, 0] + offset[:, :, 0], apart, axes.flatten(2)), -1).contiguous()

    def _room(self, items: int) -> list[Argument]:
        """Scratch for some workers, as the kernel takes it; kept, as its size depends on little."""
        columns = self._runtime.columns
        most = self._runtime.threads
        if columns:
            most = max(1, min(_WORKERS, _ROOM // (8 * self._rows + 4 * self._index_rows)))
        workers = min(items, most)
        if self._scratch is None or self._scratch[0] < workers:
            numbers = torch.empty(workers * self._rows, dtype=torch.float64, device=self._device)
            self._scratch = (
                workers,
                numbers,
                torch.empty(workers * self._index_rows, dtype=torch.int32, device=self._device),
            )
        steps = (self._scratch[0], 1, 1) if columns else (1, self._rows, self._index_rows)
        return [self._begins, *self._scratch[1:], workers, *steps]


def shared_query_kernel(runtime: Runtime) -> Launch:
    """The kernel of `measure`, in double precision; made once, then shared, and compiled when it is first launched."""
    (kernel,) = shared_kernels(runtime, "f64", (Recipe(query_kernel),), "distances")
    return kernel

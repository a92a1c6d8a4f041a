"""Collisions of configurations, found in batches by a solver that does nothing else."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import mujoco
import numpy as np
import torch

from ...base.rotations import quat_mul, rotate
from ...files.geometry.names import label
from ..solver import RigidSolver
from .chain import Target
from .couplings import Couplings
from .inverse import InverseKinematics

_BATCHES = (32, 128, 512)
"""Numbers of environments of the solvers that look for contacts."""
_AT_ONCE = 1 << 17
"""Configurations that are made at once, if they are of more than one edge."""
_GEOMETRY = ("qpos0", "body_pos", "body_quat", "geom_pos", "geom_quat", "geom_size")
"""Numbers of the model on which contacts depend, which may be per-environment parameters."""


class Carried(NamedTuple):
    """A free body that a link carries.

    Attributes:
        coordinates: (7,) indices of the body's coordinates in the model's.
        link: the number of the link's body.
    """

    coordinates: np.ndarray
    link: int


class Followers(NamedTuple):
    """Joints that follow planned ones, by equalities.

    Attributes:
        couplings: their laws.
        laws: coefficients (n or 1, k, TERMS).
        qpos0: (n or 1, nq) coordinates of the reference.
    """

    couplings: Couplings
    laws: torch.Tensor
    qpos0: torch.Tensor

    def obey(self, mj: mujoco.MjModel, rows: torch.Tensor, qpos: torch.Tensor) -> None:
        """Set the followers in configurations (r, nq) of environments, given by their rows (r,)."""
        laws, qpos0 = (each[rows] if len(each) > 1 else each for each in (self.laws, self.qpos0))
        self.couplings.obey(mj, laws, qpos0, qpos)


class CollisionChecker:
    """Finds which configurations of environments collide.

    Contacts count if one of the geoms is moved, and if the two did not touch at the start.

    Args:
        solver: its environments supply inputs and model numbers; its state is not changed.
        coordinates: (k,) the indices of planned coordinates, of hinges and slides.
        carried: bodies that move with links.
        followers: joints that follow planned ones.
        envs: (n,) environments of the solver.
        start: (n, nq) configurations in which the environments begin.
    """

    def __init__(
        self,
        solver: RigidSolver,
        coordinates: np.ndarray,
        carried: Sequence[Carried],
        followers: Followers,
        envs: torch.Tensor,
        start: torch.Tensor,
    ) -> None:
        self._solver, self._model, self._envs, self._start = solver, solver.model, envs, start
        self._device = start.device
        self._coordinates = torch.as_tensor(coordinates, device=self._device)
        self._carried, self._followers = carried, followers
        driven = np.append(coordinates, self._model.mj.jnt_qposadr[followers.couplings.follower])
        self._scratch: dict[int, RigidSolver] = {}
        self._moved = torch.as_tensor(_moved_geoms(self._model.mj, driven, carried), device=self._device)
        self._own = [name for name in _GEOMETRY if name in solver.parameters.own]
        self._links = InverseKinematics(self._model, [Target(each.link) for each in carried]) if carried else None
        self._grips = self._relative_poses()
        self._ignored = torch.full((len(start), 1), -1, device=self._device)
        rows = torch.arange(len(start), device=self._device)
        self._ignored = self._touching(rows, lambda few: start[few])

    def close(self) -> None:
        """Give the memory of the solvers back."""
        for scratch in self._scratch.values():
            scratch.close()
        self._scratch.clear()

    def configurations(self, rows: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
        """Return all coordinates (r, nq) at planned ones (r, k) of environments, given by their rows (r,)."""
        full = self._start[rows]
        full[:, self._coordinates] = q
        self._followers.obey(self._model.mj, rows, full)
        if self._links is not None:
            pos, quat = self._links.poses(full)
            for c, each in enumerate(self._carried):
                own_pos, own_quat = self._grips[c]
                placed = pos[:, c].double() + rotate(quat[:, c].double(), own_pos[rows])
                turned = quat_mul(quat[:, c].double(), own_quat[rows])
                at = torch.as_tensor(each.coordinates, device=self._device)
                full[:, at] = torch.cat((placed, turned), -1)
        return full

    def touching(self, rows: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
        """Return collisions in configurations (r, k) of environments (r,), given by their rows: keys (r, c).

        A key stands for a pair of geoms (`words`), -1 for nothing.
        """
        return self._touching(rows, lambda few: self.configurations(rows[few], q[few]))

    def hits(self, rows: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
        """Return which configurations (r, k) of environments (r,), given by their rows, collide: (r,) bool."""
        return (self.touching(rows, q) >= 0).any(dim=1)

    def words(self, keys: torch.Tensor) -> str:
        """Return pairs of geoms (c,), as `touching` has them, in words."""
        mj = self._model.mj
        pairs = {divmod(key, int(mj.ngeom)) for key in keys[keys >= 0].tolist()}
        return ", ".join(f"{label(mj, a)} with {label(mj, b)}" for a, b in sorted(pairs))

    def first_hits(
        self, rows: torch.Tensor, begin: torch.Tensor, end: torch.Tensor, step: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Look for collisions along straight edges.

        Args:
            rows: (r,) the environments' rows.
            begin: (r, k) where the edges begin; these configurations are not looked at.
            end: (r, k) where they end.
            step: the longest change of a coordinate between two configurations that are looked at.

        Returns:
            The number of steps of each edge, at least 1, and how many of them can be taken, both (r,).
        """
        steps = ((end - begin).abs().amax(dim=1) / step).ceil().long().clamp(min=1)
        if len(rows) > 1 and int(steps.sum()) > _AT_ONCE:
            half = len(rows) // 2
            parts = [self.first_hits(rows[at], begin[at], end[at], step) for at in (slice(half), slice(half, None))]
            return torch.cat((parts[0][0], parts[1][0])), torch.cat((parts[0][1], parts[1][1]))
        edge = torch.repeat_interleave(torch.arange(len(rows), device=self._device), steps)
        place = torch.arange(len(edge), device=self._device) - (steps.cumsum(0) - steps)[edge] + 1
        share = (place.double() / steps[edge].double())[:, None]
        hit = self.hits(rows[edge], begin[edge] + share * (end - begin)[edge])
        stop = torch.where(hit, place, steps[edge] + 1)
        first = torch.full_like(steps, torch.iinfo(torch.int64).max).scatter_reduce(0, edge, stop, "amin")
        return steps, first - 1

    def _touching(self, rows: torch.Tensor, configurations: Callable[[slice], torch.Tensor]) -> torch.Tensor:
        """Return the contacts in environments (r,), (r, c), with the configurations of a slice of them (s, nq)."""
        parts, most = [], _BATCHES[-1]
        for begin in range(0, len(rows), most):
            few = slice(begin, begin + most)
            parts.append(self._touching_few(rows[few], configurations(few)))
        widest = max((part.shape[1] for part in parts), default=0)
        padded = [torch.nn.functional.pad(part, (0, max(1, widest) - part.shape[1]), value=-1) for part in parts]
        return torch.cat(padded) if padded else rows.new_full((0, 1), -1)

    def _touching_few(self, rows: torch.Tensor, full: torch.Tensor) -> torch.Tensor:
        """Return the same for at most `_BATCHES[-1]` configurations."""
        count = len(full)
        scratch = self._scratch_for(count)
        pad = torch.zeros(scratch.num_envs, dtype=torch.int64, device=self._device)
        pad[:count] = torch.arange(count, device=self._device)
        envs = self._envs[rows[pad]]
        if self._own:
            host = envs.cpu()
            scratch.parameters.update({name: self._solver.parameters.get(name, host) for name in self._own})
        inputs = {}
        if self._model.mj.nmocap:
            inputs = {"mocap_pos": self._solver.mocap_pos[envs], "mocap_quat": self._solver.mocap_quat[envs]}
        scratch.reset(qpos=full[pad], inputs=inputs)
        geom, mask = scratch.quantities.touching
        geom, mask = geom[:count], mask[:count]
        mask = mask & self._moved[geom].any(dim=-1)
        keys = geom.amin(-1) * int(self._model.mj.ngeom) + geom.amax(-1)
        known = (keys[:, :, None] == self._ignored[rows][:, None, :]).any(-1)
        return torch.where(mask & ~known, keys, -1)

    def _scratch_for(self, count: int) -> RigidSolver:
        """Return a solver with room for so many configurations."""
        size = next(size for size in _BATCHES if size >= count)
        if size not in self._scratch:
            self._scratch[size] = RigidSolver(self._model, size)
        return self._scratch[size]

    def _relative_poses(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Return position and orientation (n, 3), (n, 4) of the carried bodies in their links, at the start."""
        if self._links is None:
            return []
        pos, quat = self._links.poses(self._start)
        found = []
        for c, each in enumerate(self._carried):
            own = self._start[:, torch.as_tensor(each.coordinates, device=self._device)]
            back = quat[:, c].double() * torch.tensor([1.0, -1.0, -1.0, -1.0], device=self._device)
            turned = own[:, 3:] / own[:, 3:].norm(dim=1, keepdim=True)
            found.append((rotate(back, own[:, :3] - pos[:, c].double()), quat_mul(back, turned)))
        return found


def _moved_geoms(mj: mujoco.MjModel, coordinates: np.ndarray, carried: Sequence[Carried]) -> np.ndarray:
    """Return True for geoms that move with the planned coordinates or are carried, (ngeom,)."""
    joints = np.isin(mj.jnt_qposadr, coordinates) | np.isin(mj.jnt_qposadr, [c.coordinates[0] for c in carried])
    moved = np.zeros(mj.nbody, bool)
    for body in range(1, mj.nbody):
        own = joints[mj.body_jntadr[body] : mj.body_jntadr[body] + mj.body_jntnum[body]]
        moved[body] = moved[mj.body_parentid[body]] or (len(own) > 0 and own.any())
    return moved[mj.geom_bodyid]

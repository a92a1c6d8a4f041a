"""Poses, velocities and accelerations of an entity."""

from typing import Any

import numpy as np
import torch

from ..physics.solver.readout.derived import rotate
from .access import EntityAccess

LINK_ORIGIN, LINK_COM, ROOT_COM = REFERENCES = ("link_origin", "link_com", "root_com")
"""Points of a link: the origin of its frame, its centre of mass, and that of the whole tree."""


def reference_of(ref: Any) -> str:
    """Return the name of a reference point.

    Raises:
        ValueError: it is none.
    """
    name = getattr(ref, "name", ref)
    if name not in REFERENCES:
        raise ValueError(f"ref={ref!r}: it is one of {', '.join(map(repr, REFERENCES))}")
    return name


class Reading(EntityAccess):
    """Getters of states: positions in m, orientations as quaternions with w first, velocities in m/s and rad/s."""

    # the first link

    def get_pos(self, envs_idx: Any = None, *, relative: bool = True) -> torch.Tensor:
        """Return the position of its first link, (n, 3) m; not `relative`: where the environment is drawn."""
        world, envs = self._place(envs_idx)
        if self.is_free:
            pos = world.solver.state.get_columns("qpos", self._start("q") + np.arange(3), envs)
        else:
            pos = world.get("xpos", envs)[:, self._start("link") + 1]
        return world.out(self._moved(pos, envs, relative))

    def get_quat(self, envs_idx: Any = None, *, relative: bool = True) -> torch.Tensor:
        """Return the orientation of its first link, (n, 4); environments are not turned, `relative` or not."""
        world, envs = self._place(envs_idx)
        if not self.is_free:
            return world.out(world.get("xquat", envs)[:, self._start("link") + 1])
        quat = world.solver.state.get_columns("qpos", self._start("q") + np.arange(3, 7), envs)
        return world.out(quat / quat.norm(dim=-1, keepdim=True))

    def get_vel(self, envs_idx: Any = None, *, relative: bool = True) -> torch.Tensor:
        """Return the velocity of its first link's origin, (n, 3) m/s; environments stand still, `relative` or not."""
        world, envs = self._place(envs_idx)
        if self.is_free:
            return world.out(world.solver.state.get_columns("qvel", self._start("dof") + np.arange(3), envs))
        return world.out(self._velocities(np.array([self._start("link") + 1]), envs, LINK_ORIGIN)[:, 0])

    def get_ang(self, envs_idx: Any = None) -> torch.Tensor:
        """Return the angular velocity of its first link, in the world's axes, (n, 3) rad/s."""
        world, envs = self._place(envs_idx)
        if not self.is_free:
            return world.out(world.get("cvel", envs)[:, self._start("link") + 1, :3])
        spin = world.solver.state.get_columns("qvel", self._start("dof") + np.arange(3, 6), envs)
        quat = world.solver.state.get_columns("qpos", self._start("q") + np.arange(3, 7), envs)
        return world.out(rotate(quat / quat.norm(dim=-1, keepdim=True), spin))

    # links

    def get_links_pos(
        self, links_idx_local: Any = None, envs_idx: Any = None, *, ref: str = LINK_ORIGIN, relative: bool = True
    ) -> torch.Tensor:
        """Return positions of links, (n, k, 3) m.

        Args:
            links_idx_local: which links.
            envs_idx: which environments.
            ref: "link_origin"; "link_com", centres of mass; or "root_com", the centre of mass of the whole tree.
            relative: False: where the environments are drawn.
        """
        world, envs = self._place(envs_idx)
        return world.out(self._moved(self._points(self._bodies(links_idx_local), envs, ref), envs, relative))

    def get_links_quat(
        self, links_idx_local: Any = None, envs_idx: Any = None, *, relative: bool = True
    ) -> torch.Tensor:
        """Return orientations of links, (n, k, 4); environments are not turned, `relative` or not."""
        world, envs = self._place(envs_idx)
        return world.out(world.get("xquat", envs)[:, self._bodies(links_idx_local)])

    def get_links_vel(
        self, links_idx_local: Any = None, envs_idx: Any = None, *, ref: str = LINK_ORIGIN, relative: bool = True
    ) -> torch.Tensor:
        """Return velocities of points that move with links, (n, k, 3) m/s; `ref` as of `get_links_pos`."""
        world, envs = self._place(envs_idx)
        return world.out(self._velocities(self._bodies(links_idx_local), envs, ref))

    def get_links_ang(self, links_idx_local: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return angular velocities of links, in the world's axes, (n, k, 3) rad/s."""
        world, envs = self._place(envs_idx)
        return world.out(world.get("cvel", envs)[:, self._bodies(links_idx_local), :3])

    def get_links_acc(
        self, links_idx_local: Any = None, envs_idx: Any = None, *, relative: bool = True
    ) -> torch.Tensor:
        """Return accelerations of links' origins, (n, k, 3) m/s2: what a fall has is gravity."""
        world, envs = self._place(envs_idx)
        bodies = self._bodies(links_idx_local)
        found = world.get_many(("cacc", "cvel", "xpos", "subtree_com"), envs)
        arm = found["xpos"][:, bodies] - found["subtree_com"][:, self._roots(bodies)]
        turn, push = found["cacc"][:, bodies].split(3, -1)
        spin, speed = found["cvel"][:, bodies].split(3, -1)
        cross = torch.linalg.cross
        free = push + cross(turn, arm) + cross(spin, speed + cross(spin, arm))
        return world.out(free + world.parameter("gravity", envs)[:, None])

    def get_links_acc_ang(self, links_idx_local: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return angular accelerations of links, in the world's axes, (n, k, 3) rad/s2."""
        world, envs = self._place(envs_idx)
        return world.out(world.get("cacc", envs)[:, self._bodies(links_idx_local), :3])

    def _roots(self, bodies: np.ndarray) -> np.ndarray:
        return self.world.model.mj.body_rootid[bodies]

    def _points(self, bodies: np.ndarray, envs: Any, ref: str) -> torch.Tensor:
        """Return reference points (n, k, 3) of bodies."""
        name = reference_of(ref)
        if name == ROOT_COM:
            return self.world.get("subtree_com", envs)[:, self._roots(bodies)]
        return self.world.get("xpos" if name == LINK_ORIGIN else "xipos", envs)[:, bodies]

    def _velocities(self, bodies: np.ndarray, envs: Any, ref: str) -> torch.Tensor:
        """Return velocities (n, k, 3) of reference points of bodies."""
        point = {LINK_ORIGIN: "xpos", LINK_COM: "xipos", ROOT_COM: "subtree_com"}[reference_of(ref)]
        found = self.world.get_many(list(dict.fromkeys(("cvel", "subtree_com", point))), envs)
        roots = self._roots(bodies)
        arm = found[point][:, roots if ref == ROOT_COM else bodies] - found["subtree_com"][:, roots]
        spin, speed = found["cvel"][:, bodies].split(3, -1)
        return speed + torch.linalg.cross(spin, arm)

    # coordinates and dofs

    def get_qpos(self, qs_idx_local: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return its coordinates, (n, k) m or rad; quaternions of free and ball joints with w first."""
        world, envs = self._place(envs_idx)
        return world.out(world.solver.state.get_columns("qpos", self._qs(qs_idx_local), envs))

    def get_dofs_position(self, dofs_idx_local: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return positions of dofs, (n, k) m or rad.

        Those of hinges and slides are their coordinates, those of free joints their place and then, as of ball joints,
        angles about the world's or the parent's x, then y, then z axis.
        """
        world, envs = self._place(envs_idx)
        return world.out(world.coordinates.get(world.solver.state, self._dofs(dofs_idx_local), envs))

    def get_dofs_velocity(self, dofs_idx_local: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return velocities of dofs, (n, k) m/s or rad/s; turns of free joints are about the body's own axes."""
        world, envs = self._place(envs_idx)
        return world.out(world.solver.state.get_columns("qvel", self._dofs(dofs_idx_local), envs))

    def get_dofs_acc(self, dofs_idx_local: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return accelerations of dofs, (n, k) m/s2 or rad/s2, under the present state, inputs and contacts."""
        world, envs = self._place(envs_idx)
        return world.out(world.get("qacc", envs)[:, self._dofs(dofs_idx_local)])

    def get_dofs_force(self, dofs_idx_local: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return the sum of all forces on dofs, (n, k) N or N m: the mass matrix times `get_dofs_acc`."""
        world, envs = self._place(envs_idx)
        found = world.get_many(("qfrc_smooth", "qfrc_constraint"), envs)
        return world.out((found["qfrc_smooth"] + found["qfrc_constraint"])[:, self._dofs(dofs_idx_local)])

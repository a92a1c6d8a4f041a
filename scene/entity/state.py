"""Poses, velocities and accelerations of an entity, and setters of its state."""

from functools import cached_property

import numpy as np
import torch

from ...physics.base.joints import is_free, is_scalar
from ...physics.base.rotations import rotate
from ..checks import Indices, Numbers
from ..world import Envs, World
from .index import EntityIndex

LINK_ORIGIN, LINK_COM, ROOT_COM = REFERENCES = ("link_origin", "link_com", "root_com")
"""Points of a link: the origin of its frame, its centre of mass, and that of the whole tree."""


def reference_of(ref: object) -> str:
    """Return the name of a reference point.

    Raises:
        ValueError: it is invalid.
    """
    name = getattr(ref, "name", ref)
    if name not in REFERENCES:
        raise ValueError(f"ref={ref!r}: it is one of {', '.join(map(repr, REFERENCES))}")
    return name


class EntityState:
    """The state of an entity: positions in m, orientations as quaternions with w first, velocities in m/s and rad/s.

    Setters write the columns and environments that are named, and no others. With `zero_velocity` the whole entity
    stops in the environments that are named.
    """

    def __init__(self, index: EntityIndex) -> None:
        self._index = index

    # the first link

    def get_pos(self, envs_idx: Indices = None, *, relative: bool = True) -> torch.Tensor:
        """Return the position of its first link, (n, 3) m; not `relative`: where the environment is drawn."""
        world, envs = self._index.envs(envs_idx)
        if self._index.is_free:
            pos = world.solver.state.get_columns("qpos", self._index.start("q") + np.arange(3), envs)
        else:
            pos = world.get("xpos", envs)[:, self._index.start("link") + 1]
        return world.out(world.drawn(pos, envs, relative))

    def get_quat(self, envs_idx: Indices = None, *, relative: bool = True) -> torch.Tensor:
        """Return the orientation of its first link, (n, 4); environments are not turned, `relative` or not."""
        world, envs = self._index.envs(envs_idx)
        if not self._index.is_free:
            return world.out(world.get("xquat", envs)[:, self._index.start("link") + 1])
        quat = world.solver.state.get_columns("qpos", self._index.start("q") + np.arange(3, 7), envs)
        return world.out(quat / quat.norm(dim=-1, keepdim=True))

    def get_vel(self, envs_idx: Indices = None, *, relative: bool = True) -> torch.Tensor:
        """Return the velocity of its first link's origin, (n, 3) m/s; environments stand still, `relative` or not."""
        world, envs = self._index.envs(envs_idx)
        if self._index.is_free:
            return world.out(world.solver.state.get_columns("qvel", self._index.start("dof") + np.arange(3), envs))
        return world.out(velocities_of(world, np.array([self._index.start("link") + 1]), envs, LINK_ORIGIN)[:, 0])

    def get_ang(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return the angular velocity of its first link, in the world's axes, (n, 3) rad/s."""
        world, envs = self._index.envs(envs_idx)
        if not self._index.is_free:
            return world.out(world.get("cvel", envs)[:, self._index.start("link") + 1, :3])
        spin = world.solver.state.get_columns("qvel", self._index.start("dof") + np.arange(3, 6), envs)
        quat = world.solver.state.get_columns("qpos", self._index.start("q") + np.arange(3, 7), envs)
        return world.out(rotate(quat / quat.norm(dim=-1, keepdim=True), spin))

    # links

    def get_links_pos(
        self,
        links_idx_local: Indices = None,
        envs_idx: Indices = None,
        *,
        ref: str = LINK_ORIGIN,
        relative: bool = True,
    ) -> torch.Tensor:
        """Return positions of links, (n, k, 3) m.

        Args:
            links_idx_local: which links.
            envs_idx: which environments.
            ref: "link_origin"; "link_com", centres of mass; or "root_com", the centre of mass of the whole tree.
            relative: False: where the environments are drawn.
        """
        world, envs, bodies = self._index.bodies_in(links_idx_local, envs_idx)
        return world.out(world.drawn(points_of(world, bodies, envs, ref), envs, relative))

    def get_links_quat(
        self, links_idx_local: Indices = None, envs_idx: Indices = None, *, relative: bool = True
    ) -> torch.Tensor:
        """Return orientations of links, (n, k, 4); environments are not turned, `relative` or not."""
        world, envs, bodies = self._index.bodies_in(links_idx_local, envs_idx)
        return world.out(world.get("xquat", envs)[:, bodies])

    def get_links_vel(
        self,
        links_idx_local: Indices = None,
        envs_idx: Indices = None,
        *,
        ref: str = LINK_ORIGIN,
        relative: bool = True,
    ) -> torch.Tensor:
        """Return velocities of points that move with links, (n, k, 3) m/s; `ref` as of `get_links_pos`."""
        world, envs, bodies = self._index.bodies_in(links_idx_local, envs_idx)
        return world.out(velocities_of(world, bodies, envs, ref))

    def get_links_ang(self, links_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return angular velocities of links, in the world's axes, (n, k, 3) rad/s."""
        world, envs, bodies = self._index.bodies_in(links_idx_local, envs_idx)
        return world.out(world.get("cvel", envs)[:, bodies, :3])

    def get_links_acc(
        self, links_idx_local: Indices = None, envs_idx: Indices = None, *, relative: bool = True
    ) -> torch.Tensor:
        """Return accelerations of links' origins, (n, k, 3) m/s2: in free fall, gravity."""
        world, envs, bodies = self._index.bodies_in(links_idx_local, envs_idx)
        fields = world.get_many(("cacc", "cvel", "xpos", "subtree_com"), envs)
        arm = fields["xpos"][:, bodies] - fields["subtree_com"][:, world.model.mj.body_rootid[bodies]]
        turn, push = fields["cacc"][:, bodies].split(3, -1)
        spin, speed = fields["cvel"][:, bodies].split(3, -1)
        cross = torch.linalg.cross
        free = push + cross(turn, arm) + cross(spin, speed + cross(spin, arm))
        return world.out(free + world.parameter("gravity", envs)[:, None])

    def get_links_acc_ang(self, links_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return angular accelerations of links, in the world's axes, (n, k, 3) rad/s2."""
        world, envs, bodies = self._index.bodies_in(links_idx_local, envs_idx)
        return world.out(world.get("cacc", envs)[:, bodies, :3])

    # coordinates and dofs

    def get_qpos(self, qs_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return its coordinates, (n, k) m or rad; quaternions of free and ball joints with w first."""
        world, envs = self._index.envs(envs_idx)
        return world.out(world.solver.state.get_columns("qpos", self._index.qs(qs_idx_local), envs))

    def get_dofs_position(self, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return positions of dofs, (n, k) m or rad.

        For hinges and slides they are their coordinates, for free joints their place and then, as for ball joints,
        angles about the world's or the parent's x, then y, then z axis.
        """
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        return world.out(world.coordinates.get(world.solver.state, dofs, envs))

    def get_dofs_velocity(self, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return velocities of dofs, (n, k) m/s or rad/s; turns of free joints are about the body's own axes."""
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        return world.out(world.solver.state.get_columns("qvel", dofs, envs))

    def get_dofs_acc(self, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return accelerations of dofs, (n, k) m/s2 or rad/s2, under the present state, inputs and contacts."""
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        return world.out(world.get("qacc", envs)[:, dofs])

    def get_dofs_force(self, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return the sum of all forces on dofs, (n, k) N or N m: the mass matrix times `get_dofs_acc`."""
        world, envs = self._index.envs(envs_idx)
        forces = world.get_many(("qfrc_smooth", "qfrc_constraint"), envs)
        return world.out((forces["qfrc_smooth"] + forces["qfrc_constraint"])[:, self._index.dofs(dofs_idx_local)])

    # setters

    def set_pos(
        self,
        pos: Numbers,
        envs_idx: Indices = None,
        *,
        zero_velocity: bool = True,
        relative: bool = True,
        skip_forward: bool = False,
    ) -> None:
        """Put its first link to a position.

        A link that is not free must be fixed: it is mounted elsewhere then, by per-environment parameters
        (`RigidSolver.set_parameters`), which takes longer and lasts beyond a reset.

        Args:
            pos: (n, 3) or (3,) m.
            envs_idx: which environments.
            zero_velocity: whether the entity stops.
            relative: False: `pos` is where the environments are drawn.
            skip_forward: changes nothing.

        Raises:
            ValueError: the first link has joints and is not free, or is attached to another entity.
        """
        world, envs = self._index.envs(envs_idx)
        positions = world.entries("pos", pos, envs, 3)
        if not relative:
            positions = torch.as_tensor(positions, device=world.offsets.device) - world.offsets_of(envs)
        self._write_base("set_pos", "pos", positions, slice(0, 3), envs, zero_velocity)

    def set_quat(
        self,
        quat: Numbers,
        envs_idx: Indices = None,
        *,
        zero_velocity: bool = True,
        relative: bool = True,
        skip_forward: bool = False,
    ) -> None:
        """Turn its first link to a quaternion (n, 4) or (4,), w first, of any length but 0, as `set_pos` moves it."""
        world, envs = self._index.envs(envs_idx)
        quaternions = torch.as_tensor(world.entries("quat", quat, envs, 4))
        self._require_turn("quat", quaternions, np.arange(3, 7), 3)
        self._write_base(
            "set_quat", "quat", quaternions / quaternions.norm(dim=-1, keepdim=True), slice(3, 7), envs, zero_velocity
        )

    def set_qpos(
        self,
        qpos: Numbers,
        qs_idx_local: Indices = None,
        envs_idx: Indices = None,
        *,
        zero_velocity: bool = True,
        skip_forward: bool = False,
    ) -> None:
        """Set coordinates of the entity, (n, k) or (k,) m or rad; a quaternion may have any length above 0."""
        world, envs = self._index.envs(envs_idx)
        columns = self._index.qs(qs_idx_local)
        coordinates = world.entries("qpos", qpos, envs, len(columns))
        for first in self._quaternions:
            self._require_turn("qpos", coordinates, columns, first)
        self._write(columns, coordinates, envs, zero_velocity)

    def set_dofs_position(
        self,
        position: Numbers,
        dofs_idx_local: Indices = None,
        envs_idx: Indices = None,
        *,
        zero_velocity: bool = True,
        skip_forward: bool = False,
    ) -> None:
        """Write positions of dofs, (n, k) or (k,) m or rad, which `get_dofs_position` describes."""
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        positions = world.entries("position", position, envs, len(dofs))
        columns = world.coordinates.column[dofs]
        if (columns < 0).any():
            full = torch.as_tensor(positions, device=world.solver.device).expand(world.how_many(envs), len(dofs))
            columns, positions = world.coordinates.entries(world.solver.state, dofs, full, envs)
        self._write(columns, positions, envs, zero_velocity)

    def set_dofs_velocity(
        self,
        velocity: Numbers | None = None,
        dofs_idx_local: Indices = None,
        envs_idx: Indices = None,
        *,
        skip_forward: bool = False,
    ) -> None:
        """Write velocities of dofs, (n, k) or (k,) m/s or rad/s; None: zero."""
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        velocities = world.entries("velocity", 0.0 if velocity is None else velocity, envs, len(dofs))
        world.solver.state.set_columns(envs, qvel=(dofs, velocities))

    def zero_all_dofs_velocity(self, envs_idx: Indices = None, *, skip_forward: bool = False) -> None:
        """Stop the entity."""
        self.set_dofs_velocity(0.0, None, envs_idx)

    @cached_property
    def _quaternions(self) -> list[int]:
        """The first coordinate of each quaternion, numbered in the scene."""
        mj, joints = self._index.world.model.mj, self._index.all("joint")
        each = zip(mj.jnt_type[joints], mj.jnt_qposadr[joints].tolist(), strict=True)
        return [q + 3 * is_free(kind) for kind, q in each if not is_scalar(kind)]

    def _require_turn(self, name: str, given: Numbers, columns: np.ndarray, first: int) -> None:
        """Refuse numbers (n, k), (k,) or () of columns (k,) that make a quaternion, which begins at `first`, zero."""
        places = [np.flatnonzero(columns == first + k)[-1:] for k in range(4)]
        if all(len(place) for place in places):
            numbers = torch.as_tensor(given)
            parts = numbers[..., np.concatenate(places)] if numbers.ndim else numbers[None]
            if not bool((parts.norm(dim=-1) > 0).all()):
                raise ValueError(f"{name}: a quaternion of entity '{self._index.name}' has no length")

    def _write(self, columns: np.ndarray, values: Numbers, envs: Envs, zero_velocity: bool) -> None:
        """Write numbers of qpos."""
        parts: dict[str, tuple[Numbers, Numbers]] = {"qpos": (columns, values)}
        if zero_velocity and self._index.n_dofs:
            parts["qvel"] = (np.arange(self._index.start("dof"), self._index.end("dof")), 0.0)
        self._index.world.solver.state.set_columns(envs, **parts)

    def _write_base(
        self, call: str, what: str, values: Numbers, columns: slice, envs: Envs, zero_velocity: bool
    ) -> None:
        if self._index.is_free:
            places = self._index.start("q") + np.arange(columns.start, columns.stop)
            self._write(places, values, envs, zero_velocity)
            return
        world, base = self._index.world, self._index.start("link") + 1
        parent = int(world.model.mj.body_parentid[base])
        if world.model.mj.body_jntnum[base] or parent:
            why = f"is attached to '{world.model.mj.body(parent).name}'" if parent else "has joints, and is not free"
            raise ValueError(f"{call}: the first link of entity '{self._index.name}' {why}: it cannot be put anywhere")
        if isinstance(values, torch.Tensor) and values.requires_grad:
            raise ValueError(
                f"{call}: entity '{self._index.name}' is fixed, and steps have no gradients by its place; give {what} "
                "without gradients, x.detach()"
            )
        world.solver.parameters.set_items(envs, **{f"body_{what}": ([base], self._rows(values))})
        if zero_velocity and self._index.n_dofs:
            self.zero_all_dofs_velocity(None if envs is None else envs.index)

    @staticmethod
    def _rows(values: Numbers) -> np.ndarray:
        """Return numbers (n, k) or (k,) as (n, 1, k) or (1, k), in double precision."""
        rows = np.asarray(values.cpu() if isinstance(values, torch.Tensor) else values, np.float64)
        return rows[..., None, :] if rows.ndim else rows


def points_of(world: World, bodies: np.ndarray, envs: Envs, ref: str) -> torch.Tensor:
    """Return reference points (n, k, 3) of bodies (k,), m."""
    name = reference_of(ref)
    if name == ROOT_COM:
        return world.get("subtree_com", envs)[:, world.model.mj.body_rootid[bodies]]
    return world.get("xpos" if name == LINK_ORIGIN else "xipos", envs)[:, bodies]


def velocities_of(world: World, bodies: np.ndarray, envs: Envs, ref: str) -> torch.Tensor:
    """Return velocities (n, k, 3) of reference points of bodies (k,), m/s."""
    point = {LINK_ORIGIN: "xpos", LINK_COM: "xipos", ROOT_COM: "subtree_com"}[reference_of(ref)]
    fields = world.get_many(list(dict.fromkeys(("cvel", "subtree_com", point))), envs)
    roots = world.model.mj.body_rootid[bodies]
    arm = fields[point][:, roots if ref == ROOT_COM else bodies] - fields["subtree_com"][:, roots]
    spin, speed = fields["cvel"][:, bodies].split(3, -1)
    return speed + torch.linalg.cross(spin, arm)

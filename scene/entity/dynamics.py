"""Jacobians, mass matrices, energies and applied wrenches of an entity."""

from typing import Any

import mujoco
import numpy as np
import torch

from ...physics.base.joints import is_free, is_scalar
from ...physics.base.rotations import quat_mul, rotate
from ..checks import Indices, Numbers
from ..world import Envs
from .index import EntityIndex, LinkIndex
from .state import LINK_ORIGIN, points_of


class EntityDynamics:
    """Quantities of the equations of motion, at the present state."""

    def __init__(self, index: EntityIndex) -> None:
        self._index = index

    def get_jacobian(self, link: LinkIndex, local_point: Numbers | None = None) -> torch.Tensor:
        """Return the derivative of a point's velocity and a link's angular velocity by the entity's dof velocities.

        Args:
            link: a link of the entity.
            local_point: the point in the link's frame, (3,) or (n, 3) m; None: its origin.

        Returns:
            (n, 6, n_dofs): three rows of the velocity, three of the angular velocity, in the world's axes.

        Raises:
            TypeError: `link` is no link of the entity.
        """
        world = self._index.world
        if not isinstance(link, LinkIndex) or link.index is not self._index:
            raise TypeError(f"link={link!r}: expected a link of entity '{self._index.name}'")
        fields = world.get_many(("cdof", "subtree_com", "xpos", "xquat"))
        body, dofs = link.body, self._index.dofs(None)
        point = fields["xpos"][:, body]
        if local_point is not None:
            point = point + rotate(fields["xquat"][:, body], world.tensor("local_point", local_point, None, 3))
        arm = point - fields["subtree_com"][:, world.model.mj.body_rootid[body]]
        spin, slide = fields["cdof"][:, dofs].split(3, -1)
        rows = torch.cat((slide + torch.linalg.cross(spin, arm[:, None].expand_as(spin)), spin), -1)
        moves = torch.as_tensor(np.isin(dofs, _dofs_above(world.model.mj, body)), device=rows.device)
        return world.out(torch.where(moves[:, None], rows, torch.zeros_like(rows)).transpose(1, 2))

    def get_mass_mat(self, envs_idx: Indices = None, decompose: bool = False) -> Any:
        """Return the mass matrix of the entity's dofs, (n, n_dofs, n_dofs) kg, kg m and kg m2.

        Args:
            envs_idx: which environments.
            decompose: whether to return its factors instead: L, lower triangular with a diagonal of ones, and the
                inverse of the diagonal D (n, n_dofs), such that M = L' D L.
        """
        world, envs = self._index.envs(envs_idx)
        dofs = self._index.all("dof")
        mass = world.get("qM", envs)[:, dofs, dofs]
        if not decompose:
            return world.out(mass)
        # the factor K' K of a matrix is that of its reverse, reversed
        lower = torch.linalg.cholesky(mass.flip(1, 2)).flip(1, 2).transpose(1, 2)
        scale = lower.diagonal(dim1=1, dim2=2)
        return world.out(lower / scale[..., None]), world.out(1.0 / scale**2)

    # energies

    def get_kinetic_energy(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return the kinetic energy, armature included, (n,) J."""
        world, envs = self._index.envs(envs_idx)
        dofs = self._index.all("dof")
        speed = world.get("qvel", envs)[:, dofs]
        mass = world.get("qM", envs)[:, dofs, dofs]
        return world.out(0.5 * (speed * (mass * speed[:, None]).sum(-1)).sum(-1))

    def get_potential_energy(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return the energy of the weight, from the world's origin, and of the joints' springs, (n,) J."""
        world, envs = self._index.envs(envs_idx)
        bodies = self._index.bodies(None)
        weight = world.parameter("body_mass", envs)[:, bodies, None] * world.parameter("gravity", envs)[:, None]
        energy = -(weight * world.get("xipos", envs)[:, bodies]).sum((1, 2))
        return world.out(energy + self._of_springs(envs))

    def get_total_energy(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return the sum of kinetic and potential energy, (n,) J."""
        return self.get_kinetic_energy(envs_idx) + self.get_potential_energy(envs_idx)

    def _of_springs(self, envs: Envs) -> torch.Tensor:
        """Return the energy of the joints' springs, (n,) J; of plastic joints from the file's rest position."""
        world, mj = self._index.world, self._index.world.model.mj
        stiffness = world.parameter("jnt_stiffness", envs)
        rest, qpos = world.parameter("qpos_spring", envs), world.get("qpos", envs)
        energy = torch.zeros_like(qpos[:, 0]) if qpos.shape[1] else stiffness.new_zeros(len(stiffness))
        higher = mj.jnt_stiffnesspoly
        for joint in range(self._index.start("joint"), self._index.end("joint")):
            if not bool(stiffness[:, joint].any()) and not higher[joint].any():
                continue
            first, second = higher[joint].tolist()
            for stretch in _stretches(mj, joint, qpos, rest):
                linear = 0.5 * stiffness[:, joint]
                energy = energy + stretch**2 * (linear + stretch * (first / 3 + stretch * (second / 4)))
        return energy

    # wrenches

    def apply_links_external_wrench(
        self,
        force: Numbers | None = None,
        torque: Numbers | None = None,
        links_idx_local: Indices = None,
        envs_idx: Indices = None,
        *,
        pos: Numbers | None = None,
        ref: str = LINK_ORIGIN,
        local: bool = False,
    ) -> None:
        """Push and turn links during the next `scene.step`; several calls before it add up.

        Args:
            force: (n, k, 3) or (k, 3) N; None: zero.
            torque: (n, k, 3) or (k, 3) N m; None: zero.
            links_idx_local: which k links.
            envs_idx: which n environments.
            pos: where the force acts, (n, k, 3) or (k, 3) m; None: at `ref`.
            ref: "link_origin", "link_com" or "root_com", as of `get_links_pos`.
            local: whether force, torque and `pos` are in the link's frame; else they are in the world's.
        """
        world, envs, bodies = self._index.bodies_in(links_idx_local, envs_idx)
        turn = world.get("xquat", envs)[:, bodies] if local else None
        vectors = []
        for name, value in (("force", force), ("torque", torque)):
            vector = world.tensor(name, 0.0 if value is None else value, envs, len(bodies), 3)
            vectors.append(vector if turn is None else rotate(turn, vector))
        if pos is None:
            point = points_of(world, bodies, envs, ref)
        else:
            point = world.tensor("pos", pos, envs, len(bodies), 3)
            point = point if turn is None else world.get("xpos", envs)[:, bodies] + rotate(turn, point)
        arm = point - world.get("xipos", envs)[:, bodies]
        push, twist = vectors
        world.push(bodies, torch.cat((push, twist + torch.linalg.cross(arm, push)), -1), envs)


def _dofs_above(mj: mujoco.MjModel, body: int) -> list[int]:
    """Return the dofs that move a body."""
    dofs: list[int] = []
    while body:
        dofs += range(mj.body_dofadr[body], mj.body_dofadr[body] + mj.body_dofnum[body])
        body = int(mj.body_parentid[body])
    return dofs


def _stretches(mj: mujoco.MjModel, joint: int, qpos: torch.Tensor, rest: torch.Tensor) -> list[torch.Tensor]:
    """Return how far the springs of a joint are stretched, (n,) m or rad each."""
    kind, q = mj.jnt_type[joint], int(mj.jnt_qposadr[joint])
    if is_scalar(kind):
        return [qpos[:, q] - rest[:, q]]
    stretches = []
    if is_free(kind):
        stretches, q = [(qpos[:, q : q + 3] - rest[:, q : q + 3]).norm(dim=-1)], q + 3
    back = rest[:, q : q + 4] * rest.new_tensor([1.0, -1.0, -1.0, -1.0])
    turn = quat_mul(back, qpos[:, q : q + 4] / qpos[:, q : q + 4].norm(dim=-1, keepdim=True))
    return [*stretches, 2 * torch.atan2(turn[:, 1:].norm(dim=-1), turn[:, 0].abs())]

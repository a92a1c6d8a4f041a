"""Accelerations of bodies, forces between them, and momenta of subtrees: what a step does without.

MuJoCo's cacc, cfrc_int (mj_rnePostConstraint), subtree_linvel and subtree_angmom (mj_subtreeVel). Sums along the tree
are products with matrices of zeros and ones, so that all environments and bodies take part in a few operations.
Environments are in front of all tensors; spatial vectors are (rotation, translation) about the tree's centre of mass.
"""

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import torch

from ..kinematics.joints import fixed_dofs, group_starts

Tensor = torch.Tensor
MINVAL = 1e-15


@dataclass(frozen=True)
class Tree:
    """The kinematic tree of a model as matrices on a device: which dofs move which bodies.

    Attributes:
        before: (nv, nv), 1: the dof's axis is carried by that one, which belongs to the same body.
        parent: (nv,) parent of the dof's body.
        turns: (nv, 1), 0: the dof's axis never turns.
        above: (nbody, nv), 1: the dof moves the body.
        below: (nbody, nbody), 1: the second body is the first one or below it.
        root: (nbody,) root of the body's tree.
    """

    before: Tensor
    parent: Tensor
    turns: Tensor
    above: Tensor
    below: Tensor
    root: Tensor

    @staticmethod
    def of(mj: mujoco.MjModel, dtype: torch.dtype, device: torch.device) -> "Tree":
        """The tree of a model."""
        numbers = {name: torch.as_tensor(value, dtype=dtype, device=device) for name, value in _matrices(mj).items()}
        ids = {"parent": mj.body_parentid[mj.dof_bodyid], "root": mj.body_rootid}
        return Tree(**numbers, **{n: torch.as_tensor(np.array(i), device=device).long() for n, i in ids.items()})


def chosen(items: Any, device: torch.device) -> Any:
    """Indices of items (k,) on a device; a slice where they follow each other, as a slice is not copied."""
    if isinstance(items, slice):
        return items
    ids = np.asarray(items, np.int64)
    if ids.ndim == 1 and len(ids) and np.array_equal(ids, np.arange(ids[0], ids[0] + len(ids))):
        return slice(int(ids[0]), int(ids[0]) + len(ids))
    return torch.as_tensor(ids, device=device)


def _matrices(mj: mujoco.MjModel) -> dict[str, np.ndarray]:
    nv, nbody = mj.nv, mj.nbody
    before, above, below = np.zeros((nv, nv)), np.zeros((nbody, nv)), np.eye(nbody)
    turns = ~fixed_dofs(mj)[:, None]
    for i, first in enumerate(group_starts(mj)):
        before[i, mj.body_dofadr[mj.dof_bodyid[i]] : first] = 1.0
    for b in range(1, nbody):
        above[b] = above[mj.body_parentid[b]]
        above[b, mj.body_dofadr[b] : mj.body_dofadr[b] + mj.body_dofnum[b]] = 1.0
    for b in range(nbody - 1, 0, -1):
        below[mj.body_parentid[b]] += below[b]
    return {"before": before, "turns": turns, "above": above, "below": below}


def _parts(spatial: Tensor) -> tuple[Tensor, Tensor]:
    return spatial[..., :3], spatial[..., 3:]


def _sums(matrix: Tensor, spatial: Tensor) -> Tensor:
    """Rows of sums (n, k, c) of the items of each environment (n, m, c); `matrix` (k, m) says which."""
    return torch.einsum("km,nmc->nkc", matrix, spatial)


def body_accelerations(tree: Tree, cdof: Tensor, cvel: Tensor, qvel: Tensor, qacc: Tensor, gravity: Tensor) -> Tensor:
    """Cacc (n, nbody, 6): as if the world rose against gravity (n or 1, 3)."""
    speed, push = qvel[..., None], qacc[..., None]
    carried = cvel[:, tree.parent] + _sums(tree.before, cdof * speed)
    (turn, slide), (axis, line) = _parts(carried), _parts(cdof)
    change = torch.cat((_cross(turn, axis), _cross(turn, line) + _cross(slide, axis)), -1)
    cacc = _sums(tree.above, change * (tree.turns * speed) + cdof * push)
    cacc[..., 3:] -= gravity.reshape(-1, 1, 3)
    return cacc


def body_forces(tree: Tree, cinert: Tensor, cvel: Tensor, cacc: Tensor, cfrc_ext: Tensor) -> Tensor:
    """Cfrc_int (n, nbody, 6): torque and force of the parent on each body."""
    own = _momentum(cinert, cacc)
    (turn, slide), (twist, push) = _parts(cvel), _parts(_momentum(cinert, cvel))
    own = own + torch.cat((_cross(turn, twist) + _cross(slide, push), _cross(turn, push)), -1) - cfrc_ext
    own[:, 0] = 0.0
    return _sums(tree.below, own)


def _momentum(cinert: Tensor, motion: Tensor) -> Tensor:
    """Spatial inertia (n, nbody, 10) times a motion (n, nbody, 6)."""
    turn, slide = _parts(motion)
    offset, mass = cinert[..., 6:9], cinert[..., 9:]
    x, y, z = turn.unbind(-1)
    xx, yy, zz, xy, xz, yz = cinert[..., :6].unbind(-1)
    twist = torch.stack((xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z), -1)
    return torch.cat((twist + _cross(offset, slide), mass * slide - _cross(offset, turn)), -1)


@dataclass(frozen=True)
class Masses:
    """Masses of bodies (n or 1, nbody) and of their subtrees (n or 1, nbody); principal moments (n or 1, nbody, 3)."""

    own: Tensor
    subtree: Tensor
    inertia: Tensor


def center_velocities(tree: Tree, cvel: Tensor, xipos: Tensor, subtree_com: Tensor) -> Tensor:
    """Velocities (n, nbody, 6) of the bodies' centres of mass: rotation, translation."""
    turn, slide = _parts(cvel)
    return torch.cat((turn, slide + _cross(turn, xipos - subtree_com[:, tree.root])), -1)


def subtree_velocities(tree: Tree, masses: Masses, velocity: Tensor) -> Tensor:
    """Subtree_linvel (n, nbody, 3), from `center_velocities`."""
    momentum = _sums(tree.below, velocity[..., 3:] * masses.own[..., None])
    return momentum / masses.subtree[..., None].clamp(min=MINVAL)


def subtree_momenta(
    tree: Tree, masses: Masses, velocity: Tensor, ximat: Tensor, xipos: Tensor, subtree_com: Tensor
) -> Tensor:
    """Subtree_angmom (n, nbody, 3): angular momentum of every subtree about its centre of mass.

    In double precision: it is a difference of what grows with the distance between bodies.
    """
    below = tree.below.double()
    axes = ximat.unflatten(-1, (3, 3))
    own = (axes @ (masses.inertia[..., None] * (axes.mT @ velocity[..., :3, None])))[..., 0].double()
    middle = subtree_com[:, :1].double()
    arm = xipos.double() - middle
    momentum = velocity[..., 3:].double() * masses.own[..., None]
    total = _sums(below, own + _cross(arm, momentum))
    return (total - _cross(subtree_com.double() - middle, _sums(below, momentum))).to(velocity.dtype)


def _cross(a: Tensor, b: Tensor) -> Tensor:
    return torch.linalg.cross(a, b, dim=-1)

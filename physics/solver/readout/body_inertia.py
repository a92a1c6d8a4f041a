"""The inverse inertia of bodies at their centres of mass, J M^-1 J', and its factor, from the quantities of a step."""

from dataclasses import dataclass

import numpy as np
import torch

from ...base.joints import is_free
from ...model.model import Model

Tensor = torch.Tensor
SHARE, LEAST = 1e-12, 1e-24
"""The numbers that are added to the diagonal of an inverse inertia that may be singular, before it is factored: a share
of the mean of its three linear numbers, or of its three angular ones, and at least LEAST (1/kg or 1/(kg m^2)). A body
on one hinge has an inverse inertia of rank one, of which Cholesky's method would take roots of rounding errors, about
1e-15 of that mean in double precision; SHARE is well above them, and far below what single precision tells apart."""


@dataclass(frozen=True)
class _Group:
    """Bodies whose kinematic trees have the same number d of dofs, as indices; t trees, k bodies.

    Attributes:
        places: of the bodies among all those asked for, (k,).
        entries: of the dense mass matrix of each tree in the field M, (t, d, d).
        filled: 1 where the matrix has such an entry, else 0, (t, d, d).
        tree: of each body among these trees, (k,); None: tree i is that of body i.
        dofs: of the body's tree, (k, d).
        moves: 1 where the dof moves the body, else 0, (k, d, 1).
        spare: 1 for a body whose inverse inertia may be singular, else 0, (k, 1, 1).
    """

    places: Tensor
    entries: Tensor
    filled: Tensor
    tree: Tensor | None
    dofs: Tensor
    moves: Tensor
    spare: Tensor


class BodyInertia:
    """The inverse inertia of some bodies of a model.

    Args:
        model: the model.
        bodies: numbers of the bodies, (k,).
        device: where the quantities are.
    """

    def __init__(self, model: Model, bodies: np.ndarray, device: torch.device) -> None:
        self._count, self._device = len(bodies), device
        mj, trees = model.mj, model.mj.body_treeid[bodies]
        sizes = np.where(trees >= 0, mj.tree_dofnum[trees] if mj.ntree else 0, 0)
        paths = model.dof_paths()
        self._groups = [_group(model, paths, bodies, sizes == d, device) for d in np.unique(sizes[sizes > 0])]

    def factors(self, M: Tensor, cdof: Tensor, arms: Tensor) -> Tensor:
        """Return L (n, k, 6, 6), lower triangular, with L L' = J M^-1 J'; linear numbers first.

        Bodies carried by a free joint have exactly that matrix; to that of others SHARE or LEAST is added.

        Args:
            M: the field M, (n, numbers).
            cdof: motion subspaces of the dofs, (n, nv, 6).
            arms: from the centre of mass of its tree to that of the body, m, (n, k, 3).
        """
        M, cdof, arms = M.double(), cdof.double(), arms.double()
        found = torch.eye(6, dtype=M.dtype, device=self._device).mul(LEAST**0.5).repeat(len(M), self._count, 1, 1)
        for group in self._groups:
            found[:, group.places] = _factor(group, M, cdof, arms[:, group.places])
        return found


def _factor(group: _Group, M: Tensor, cdof: Tensor, arms: Tensor) -> Tensor:
    """Return the factors (n, k, 6, 6) of the bodies of a group."""
    axes = cdof[:, group.dofs]
    rot, lin = axes[..., :3], axes[..., 3:]
    jacobian = torch.cat((lin + torch.linalg.cross(rot, arms[:, :, None].expand_as(rot)), rot), -1) * group.moves
    root = torch.linalg.cholesky_ex(M[:, group.entries] * group.filled)[0]
    half = torch.linalg.solve_triangular(root if group.tree is None else root[:, group.tree], jacobian, upper=False)
    inverse = half.mT @ half
    mean = inverse.diagonal(dim1=-2, dim2=-1).unflatten(-1, (2, 3)).mean(-1, keepdim=True)
    more = torch.clamp(mean * SHARE, min=LEAST).expand(-1, -1, -1, 3).flatten(-2)
    return torch.linalg.cholesky_ex(inverse + torch.diag_embed(more) * group.spare)[0]


def _group(
    model: Model, paths: list[list[int]], bodies: np.ndarray, chosen: np.ndarray, device: torch.device
) -> _Group:
    """Return the group of the chosen ones of the bodies, (k,) bool, whose trees have the same number of dofs."""
    mj, mine = model.mj, bodies[chosen]
    trees, tree = np.unique(mj.body_treeid[mine], return_inverse=True)
    first, d = mj.tree_dofadr[trees], int(mj.tree_dofnum[trees[0]])
    rows = np.concatenate(([0], np.cumsum(model.values["dof_depth"])))
    entries, filled = np.zeros((2, len(trees), d, d), np.int64)
    for t, start in enumerate(first):
        for i in range(d):
            for place, other in enumerate(paths[start + i]):
                j = other - start
                entries[t, i, j] = entries[t, j, i] = rows[start + i] + place
                filled[t, i, j] = filled[t, j, i] = 1
    moves, free = np.zeros((len(mine), d)), np.zeros(len(mine), bool)
    for k, body in enumerate(mine):
        path = np.array(paths[model.values["body_lastdof"][body]])
        moves[k, path - first[tree[k]]] = 1.0
        free[k] = is_free(mj.jnt_type[mj.dof_jntid[path]]).any()
    ordered = len(trees) == len(mine) and (tree == np.arange(len(mine))).all()

    def index(numbers: np.ndarray) -> Tensor:
        return torch.as_tensor(numbers, dtype=torch.int64, device=device)

    def real(numbers: np.ndarray) -> Tensor:
        return torch.as_tensor(numbers, dtype=torch.float64, device=device)

    return _Group(
        places=index(np.flatnonzero(chosen)),
        entries=index(entries),
        filled=real(filled),
        tree=None if ordered else index(tree),
        dofs=index(first[tree][:, None] + np.arange(d)),
        moves=real(moves)[..., None],
        spare=real(~free)[:, None, None],
    )

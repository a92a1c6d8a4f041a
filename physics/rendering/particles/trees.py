"""Trees of boxes over the triangles of every environment, built by torch for each picture.

A tree is complete and binary, as those of meshes (`rays/mesh_tree.py`), so that the same walk goes through it; here
each leaf has `IN_LEAF` items, one after the other. Items are in the order of a curve that fills the room (G. Morton,
1966; C. Lauterbach et al., Fast BVH construction on GPUs, Eurographics 2009). An environment's tree depends on nothing
but its own items: that of a larger capacity has the same leaves, and empty ones after them.
"""

import torch

from ..rays.mesh_tree import ROUNDING

IN_LEAF = 4
_BITS = 10  # of a place along each axis, 30 in all
_NOWHERE = 2.0e30  # m: where the boxes of empty nodes are; no ray gets there, as it ends at `MISS`


def depth_of(count: int) -> int:
    """Return the number of levels below the root of a tree of so many items."""
    return max(0, -(-count // IN_LEAF) - 1).bit_length()


def order_of(middle: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
    """Return the order (n, k) of items in space; those that are not there are last.

    Args:
        middle: their middles (n, k, 3) m, finite where they are there.
        there: (n, k) bool.
    """
    inf = torch.inf
    low = torch.where(there[..., None], middle, inf).amin(dim=1, keepdim=True)
    high = torch.where(there[..., None], middle, -inf).amax(dim=1, keepdim=True)
    side = (high - low).amax(dim=-1, keepdim=True).clamp(min=1e-30)
    place = torch.where(there[..., None], (middle - low) / side, 0.0) * (2**_BITS - 1)
    x, y, z = (_spread(part) for part in place.to(torch.int32).unbind(-1))
    key = torch.where(there, x << 2 | y << 1 | z, 1 << 3 * _BITS)
    return torch.sort(key, dim=1, stable=True).indices


def _spread(number: torch.Tensor) -> torch.Tensor:
    """Put two zeros between the bits of numbers of `_BITS` bits."""
    for shift, mask in ((16, 0x30000FF), (8, 0x300F00F), (4, 0x30C30C3), (2, 0x9249249)):
        number = (number | number << shift) & mask
    return number


def boxes_over(low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    """Return the nodes (n, 2^(depth + 1) - 1, 6) of trees: lower and upper corners, the root first.

    Args:
        low: lower corners of the items in their order, (n, k, 3) m; above `high` for items that are not there.
        high: upper corners.
    """
    n, count, _ = low.shape
    leaves = 1 << depth_of(count)
    room = ROUNDING * torch.where(low <= high, torch.maximum(low.abs(), high.abs()), 0.0).amax(dim=(1, 2))
    levels = []
    for corners, empty, extreme in ((low, torch.inf, torch.amin), (high, -torch.inf, torch.amax)):
        filled = corners.new_full((n, IN_LEAF * leaves, 3), empty)
        filled[:, :count] = torch.where(low <= high, corners, empty)
        side = room[:, None, None] if empty < 0 else -room[:, None, None]
        level = extreme(filled.unflatten(1, (leaves, IN_LEAF)), dim=2) + side
        parts = [level]
        while level.shape[1] > 1:
            level = extreme(level.unflatten(1, (-1, 2)), dim=2)
            parts.append(level)
        levels.append(torch.cat(parts[::-1], dim=1))
    nodes = torch.cat(levels, dim=-1)
    return torch.where(torch.isfinite(nodes), nodes, _NOWHERE)

"""Two trees of configurations for each of many environments: those of RRT-Connect, from the start and from the goal."""

import torch

START, GOAL = 0, 1
"""The numbers of the two trees."""
_ROOM = 64
_AT_ONCE = 1 << 24  # numbers that are compared at once


class Trees:
    """The trees of n environments; node 0 is a tree's root.

    Args:
        start: (n, k) roots of the first trees.
        goal: (n, k) roots of the second trees.
        most: the most nodes of a tree.
    """

    def __init__(self, start: torch.Tensor, goal: torch.Tensor, most: int) -> None:
        n, k = start.shape
        self._most = most
        room = min(most, _ROOM)
        self.nodes = start.new_zeros((n, 2, room, k))
        self.nodes[:, START, 0], self.nodes[:, GOAL, 0] = start, goal
        self.parents = torch.full((n, 2, room), -1, device=start.device)
        self.alive = torch.zeros((n, 2, room), dtype=torch.bool, device=start.device)
        self.alive[:, :, 0] = True
        self.count = torch.ones((n, 2), dtype=torch.int64, device=start.device)

    def full(self) -> torch.Tensor:
        """Return which environments have a tree without room, (n,) bool."""
        return (self.count >= self._most).any(dim=1)

    def nearest(self, rows: torch.Tensor, tree: int, q: torch.Tensor) -> torch.Tensor:
        """Return the nodes nearest to configurations (r, k) of environments (r,), (r,)."""
        used = int(self.count[:, tree].max())
        found, few = [], max(1, _AT_ONCE // (used * q.shape[1]))
        for some, where in zip(rows.split(few), q.split(few), strict=True):
            apart = (self.nodes[some, tree, :used] - where[:, None]).square().sum(-1)
            found.append(torch.where(self.alive[some, tree, :used], apart, torch.inf).argmin(1))
        return torch.cat(found)

    def add(self, rows: torch.Tensor, tree: int, q: torch.Tensor, parents: torch.Tensor) -> torch.Tensor:
        """Add configurations (r, k) to the trees of environments (r,), which are sorted; -1 for those without room.

        Returns:
            The new nodes (r,).
        """
        order = torch.arange(len(rows), device=rows.device)
        begins = torch.searchsorted(rows, rows)
        index = self.count[rows, tree] + order - begins
        fits = index < self._most
        self._reserve(int(index[fits].max()) + 1 if bool(fits.any()) else 0)
        at = rows[fits], tree, index[fits]
        self.nodes[at], self.parents[at], self.alive[at] = q[fits], parents[fits], True
        self.count[:, tree] += torch.bincount(rows[fits], minlength=len(self.count))
        return torch.where(fits, index, -1)

    def branch(self, rows: torch.Tensor, tree: int, nodes: torch.Tensor) -> torch.Tensor:
        """Return nodes (r, depth) from some (r,) to their roots, which are repeated where a branch is shorter."""
        line = [nodes]
        while bool((line[-1] > 0).any()):
            above = self.parents[rows, tree, line[-1]]
            line.append(torch.where(above >= 0, above, 0))
        return torch.stack(line, 1)

    def cut(self, rows: torch.Tensor, tree: int, nodes: torch.Tensor) -> None:
        """Remove nodes (r,) of environments (r,), and all that grew from them."""
        self.alive[rows, tree, nodes] = False
        changed = True
        while changed:
            above = self.parents[:, tree].clamp(min=0)
            kept = self.alive[:, tree] & self.alive[:, tree].gather(1, above)
            changed = not torch.equal(kept, self.alive[:, tree])
            self.alive[:, tree] = kept

    def _reserve(self, room: int) -> None:
        """Make room for so many nodes, and for twice as many as now."""
        now = self.parents.shape[2]
        if room > now:
            more = min(self._most, max(room, 2 * now)) - now
            pad = torch.nn.functional.pad
            self.nodes = pad(self.nodes, (0, 0, 0, more))
            self.parents, self.alive = pad(self.parents, (0, more), value=-1), pad(self.alive, (0, more))

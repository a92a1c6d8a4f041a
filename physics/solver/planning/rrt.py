"""RRT-Connect in batches: two trees grow towards each other in each of many environments.

Kuffner and LaValle, "RRT-Connect: an efficient approach to single-query path planning", ICRA 2000. In each round a tree
grows towards several random configurations at once, and the other one towards the added nodes; all edges of all
environments are one batch of collision queries.
"""

import time
from dataclasses import dataclass
from typing import NamedTuple

import torch

from .collisions import CollisionChecker
from .draws import combined, uniform
from .polylines import compact

REACH = 16
"""Steps of the resolution that a tree grows by towards a random configuration."""
BATCH, MOST, CONNECTED = 512, 16, 4
"""Configurations that a round looks at, and the most edges of a tree and between trees in an environment."""
FINER = 20
"""A path that was found is looked at in so much finer steps."""


class PathLimits(NamedTuple):
    """The last four attributes of a `Query`."""

    resolution: float
    most_nodes: int
    both: bool
    until: float


@dataclass(frozen=True)
class Query:
    """Paths to be found in n environments.

    Attributes:
        start: (n, k).
        goal: (n, k).
        lower: (n, k), the least coordinates.
        upper: (n, k), the largest.
        keys: (n,) of random numbers.
        resolution: the longest change of a coordinate between two configurations that are looked at.
        most_nodes: of each tree.
        both: True if both trees grow (RRT-Connect), False if only that of the start does (RRT).
        until: the time (`time.monotonic`) at which the search ends.
    """

    start: torch.Tensor
    goal: torch.Tensor
    lower: torch.Tensor
    upper: torch.Tensor
    keys: torch.Tensor
    resolution: float
    most_nodes: int
    both: bool
    until: float


@dataclass
class Join:
    """Edges between trees that may complete paths: rows (r,) of environments, nodes of both trees, (r,) each."""

    rows: torch.Tensor
    of_start: torch.Tensor
    of_goal: torch.Tensor


def find_paths(checker: CollisionChecker, query: Query, pending: torch.Tensor) -> list[tuple[torch.Tensor, ...]]:
    """Search paths for the environments of rows `pending` (r,).

    Returns:
        Pairs of rows (s,) and lines (s, m, k), of the environments that have a path; no row is in two of them.
    """
    trees = Trees(query.start, query.goal, query.most_nodes)
    found: list[tuple[torch.Tensor, ...]] = []

    def settle(join: Join) -> None:
        nonlocal pending
        for rows, lines in _complete(checker, query, trees, join):
            found.append((rows, lines))
            pending = pending[~torch.isin(pending, rows)]

    # the straight way first
    roots = torch.zeros_like(pending)
    steps, free = checker.first_hits(pending, query.start[pending], query.goal[pending], query.resolution)
    direct = free >= steps
    settle(Join(pending[direct], roots[direct], roots[direct]))
    turn = 0
    while len(pending) and turn < query.most_nodes and time.monotonic() < query.until:
        tree = turn % 2 if query.both else START
        settle(_grow(checker, query, trees, pending, tree, turn))
        pending = pending[~trees.full()[pending]]
        turn += 1
    return found


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
        """Add configurations (r, k) to the trees of environments (r,), which are sorted; return nodes, -1 if full.

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


def _grow(checker: CollisionChecker, query: Query, trees: Trees, pending: torch.Tensor, tree: int, turn: int) -> Join:
    """Grow a tree towards random configurations, and the other one towards the new nodes; return where they join."""
    each = max(1, min(MOST, BATCH // (len(pending) * REACH)))
    # random configurations, and the nearest nodes
    keys = combined(query.keys[pending], torch.tensor(turn, device=pending.device))
    shares = uniform(combined(keys[:, None], torch.arange(each, device=pending.device)), query.start.shape[1])
    rows = pending.repeat_interleave(each)
    drawn = query.lower[rows] + shares.flatten(0, 1) * (query.upper - query.lower)[rows]
    near = trees.nearest(rows, tree, drawn)
    begin = trees.nodes[rows, tree, near]
    # as far as they are free, and no farther than REACH steps
    way = drawn - begin
    longest = way.abs().amax(1, keepdim=True)
    end = begin + way * (query.resolution * REACH / longest.clamp(min=1e-12)).clamp(max=1.0)
    rows, new, nodes = _extend(checker, query, trees, tree, (rows, begin, end, near))
    # the other tree, from its nearest node to each new one, the nearest first
    if not len(rows):
        return Join(rows, rows, rows)
    other = GOAL - tree
    near = trees.nearest(rows, other, new)
    begin = trees.nodes[rows, other, near]
    chosen = _shortest(rows, (new - begin).norm(dim=1), max(1, min(CONNECTED, BATCH // (4 * REACH * len(pending)))))
    rows, new, nodes, near, begin = rows[chosen], new[chosen], nodes[chosen], near[chosen], begin[chosen]
    steps, free = checker.first_hits(rows, begin, new, query.resolution)
    joined = free >= steps
    if query.both:
        part = ~joined & (free >= 2)
        stop = begin + (free.double() / steps.double())[:, None] * (new - begin)
        trees.add(rows[part], other, stop[part], near[part])
    sides = (nodes, near) if tree == START else (near, nodes)
    return Join(rows[joined], sides[0][joined], sides[1][joined])


def _extend(
    checker: CollisionChecker, query: Query, trees: Trees, tree: int, edges: tuple[torch.Tensor, ...]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Add the free parts of edges (rows, begin, end, node of the begin) to a tree.

    Returns:
        rows (r,), configurations (r, k) and nodes (r,) that were added.
    """
    rows, begin, end, near = edges
    steps, free = checker.first_hits(rows, begin, end, query.resolution)
    stop = begin + (free.double() / steps.double())[:, None] * (end - begin)
    grown = (free >= steps) | (free >= 2)
    rows, new = rows[grown], stop[grown]
    nodes = trees.add(rows, tree, new, near[grown])
    fits = nodes >= 0
    return rows[fits], new[fits], nodes[fits]


def _shortest(rows: torch.Tensor, length: torch.Tensor, count: int) -> torch.Tensor:
    """Return the indices of the `count` shortest edges of each environment, sorted; `rows` (r,) are sorted."""
    order = torch.argsort(length, stable=True)
    order = order[torch.argsort(rows[order], stable=True)]
    rank = torch.arange(len(rows), device=rows.device) - torch.searchsorted(rows, rows)
    return order[rank < count].sort().values


def _complete(
    checker: CollisionChecker, query: Query, trees: Trees, join: Join
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return rows and lines of the joins whose paths are free in finer steps too; cut the others from the trees."""
    first = torch.nn.functional.pad(join.rows[1:] != join.rows[:-1], (1, 0), value=True)[: len(join.rows)]
    rows = join.rows[first]
    if not len(rows):
        return []
    up = trees.branch(rows, START, join.of_start[first])
    down = trees.branch(rows, GOAL, join.of_goal[first])
    lines = torch.cat((trees.nodes[rows[:, None], START, up].flip(1), trees.nodes[rows[:, None], GOAL, down]), 1)
    free = free_edges(checker, rows, lines, query.resolution / FINER)
    good = free.all(1)
    # edges that are not free: their farther nodes go, with all that grew from them
    split = up.shape[1]
    for tree, nodes, edges in ((START, up.flip(1)[:, 1:], free[:, : split - 1]), (GOAL, down[:, :-1], free[:, split:])):
        env, place = torch.nonzero(~edges, as_tuple=True)
        if len(env):
            trees.cut(rows[env], tree, nodes[env, place])
    return [(rows[good], compact(lines[good]))] if bool(good.any()) else []


def free_edges(checker: CollisionChecker, rows: torch.Tensor, lines: torch.Tensor, step: float) -> torch.Tensor:
    """Return which edges of lines (r, m, k) are free of collisions, (r, m - 1) bool; edges of length 0 are."""
    begin, end = lines[:, :-1], lines[:, 1:]
    real = (begin != end).any(-1)
    free = ~real
    each = rows[:, None].expand(-1, real.shape[1])
    if bool(real.any()):
        steps, taken = checker.first_hits(each[real], begin[real], end[real], step)
        free[real] = taken >= steps
    return free

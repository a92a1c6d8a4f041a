"""Shortcuts: straight edges between random points of a path replace what lies between, where they are free.

Geraerts and Overmars, "Creating high-quality paths for motion planning", IJRR 2007.
"""

import time

import torch

from .collisions import CollisionChecker
from .draws import combined, uniform
from .polylines import arc_lengths, points_at, replace
from .rrt import BATCH, FINER, Query

ROUNDS, TRIES, IDLE = 30, 8, 5
"""Most rounds, shortcuts that an environment tries in each, and rounds without a gain after which all end."""
GAIN = 1e-2
"""The part of a path's length that a shortcut has to save."""


def shortened(checker: CollisionChecker, query: Query, rows: torch.Tensor, lines: torch.Tensor) -> torch.Tensor:
    """Return paths (r, m', k) no longer than those given (r, m, k), of environments (r,).

    In each round an environment tries some shortcuts, in steps of the resolution. The one that saves most is looked at
    in finer steps, as all edges of a path are.
    """
    begin, end, idle = lines[:, 0].clone(), lines[:, -1].clone(), 0
    tries = max(1, min(TRIES, BATCH // (2 * len(rows))))
    for turn in range(ROUNDS):
        lengths = arc_lengths(lines)
        along = _pairs(query, rows, lengths[:, -1], tries, turn)
        ends = points_at(lines, lengths, along.flatten(1)).unflatten(1, (tries, 2))
        saved = (along[..., 1] - along[..., 0]) - (ends[:, :, 1] - ends[:, :, 0]).norm(dim=-1)
        worth = saved > GAIN * lengths[:, -1:]
        free = _free(checker, rows[:, None].expand(-1, tries), ends, worth, query.resolution)
        saved = torch.where(free, saved, 0.0)
        best = saved.argmax(1, keepdim=True)
        chosen = saved.gather(1, best) > 0
        edge = ends.gather(1, best[..., None, None].expand(-1, -1, *ends.shape[2:]))
        chosen = _free(checker, rows[:, None], edge, chosen, query.resolution / FINER)[:, 0]
        idle = 0 if bool(chosen.any()) else idle + 1
        if idle == IDLE or time.monotonic() >= query.until:
            break
        if idle == 0:
            pair = along.gather(1, best[..., None].expand(-1, -1, 2))[:, 0]
            lines = replace(lines, pair[:, 0], pair[:, 1], chosen)
            lines[:, 0], lines[:, -1] = begin, end
    return lines


def _pairs(query: Query, rows: torch.Tensor, total: torch.Tensor, tries: int, turn: int) -> torch.Tensor:
    """Return pairs of random lengths (r, tries, 2) along paths of some lengths (r,); the first is the whole path."""
    keys = combined(query.keys[rows], torch.tensor(-1 - turn, device=rows.device))
    shares = uniform(combined(keys[:, None], torch.arange(tries, device=rows.device)), 2).sort(-1).values
    if turn == 0:
        shares[:, 0] = torch.tensor([0.0, 1.0], device=rows.device)
    return shares * total[:, None, None]


def _free(
    checker: CollisionChecker, rows: torch.Tensor, ends: torch.Tensor, asked: torch.Tensor, step: float
) -> torch.Tensor:
    """Return which straight edges are free (r, c), of those that are asked for; `ends` is (r, c, 2, k)."""
    free = torch.zeros_like(asked)
    if bool(asked.any()):
        steps, taken = checker.first_hits(rows[asked], ends[:, :, 0][asked], ends[:, :, 1][asked], step)
        free[asked] = taken >= steps
    return free

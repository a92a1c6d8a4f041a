"""Reduce the candidate contacts of a pair to the deepest and the most spread.

A pair on uneven ground can touch in hundreds of places. The deepest candidate is kept; after it always the one that is
farthest from all that are kept (farthest-point sampling, Gonzalez 1985), until there are SPREAD or none is farther from
them than CLOSE times the size of the solid. If the buffer is full, it is reduced so, and goes on: the deepest candidate
is never lost.

Candidates belong to one lane, whose view is `one`; positions are in any frame.
"""

import taichi as ti

from ...base.math import func
from .pair_table import SPREAD

CLOSE = 0.01
"""The share of a solid's size by which contacts are apart."""


@func
def clear_candidates(one):
    """Empty the buffer."""
    one.hit_count[0] = 0


@func
def put_candidate(model, one, close, dist, pos, normal):
    """Store a candidate: distance (m), position (m) and normal; `close` is the least distance of two contacts (m)."""
    if one.hit_count[0] == model.nhit:
        reduce_candidates(one, close)
    k = one.hit_count[0]
    one.hit_count[0] = k + 1
    one.hit_dist[k] = dist
    one.hit_pos.put(k, pos)
    one.hit_normal.put(k, normal)


@func
def has_candidate_at(one, close, pos):
    """Return True if a candidate is nearer than `close` to a position (m)."""
    found = False
    for k in range(one.hit_count[0]):
        apart = one.hit_pos[k] - pos
        found = found or apart.dot(apart) < close * close
    return found


@func
def reduce_candidates(one, close):
    """Keep the deepest candidate and the most widespread others, at most SPREAD, in this order."""
    count, kept = one.hit_count[0], 0
    for k in range(count):
        one.hit_apart[k] = 1e30
    going = ti.cast(count > 0, ti.i32)
    while going == 1:
        # The next one: the deepest, then the farthest from the first `kept`.
        best, chosen = one.ccd_lanes.real(-1e30), kept
        for k in range(kept, count):
            score = -one.hit_dist[k]
            if kept > 0:
                score = one.hit_apart[k]
            if score > best:
                best, chosen = score, k
        if kept > 0 and best <= close * close:
            going = 0
        else:
            _swap(one, kept, chosen)
            kept += 1
            for k in range(kept, count):
                apart = one.hit_pos[k] - one.hit_pos[kept - 1]
                one.hit_apart[k] = ti.min(one.hit_apart[k], apart.dot(apart))
            if kept == SPREAD or kept == count:
                going = 0
    one.hit_count[0] = kept


@func
def _swap(one, i: ti.i32, j: ti.i32):
    """Exchange two candidates."""
    dist, pos, normal, apart = one.hit_dist[i], one.hit_pos[i], one.hit_normal[i], one.hit_apart[i]
    one.hit_dist[i] = one.hit_dist[j]
    one.hit_apart[i] = one.hit_apart[j]
    one.hit_pos.put(i, one.hit_pos[j])
    one.hit_normal.put(i, one.hit_normal[j])
    one.hit_dist[j] = dist
    one.hit_apart[j] = apart
    one.hit_pos.put(j, pos)
    one.hit_normal.put(j, normal)

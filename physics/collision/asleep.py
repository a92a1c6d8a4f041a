"""The pairs of geoms that need no collision because both bodies sleep (MuJoCo documentation, Simulation: Sleeping)."""

import taichi as ti

from ..math import func
from ..model.sleeping import MOCAP


@func
def body_awake(model, work, b: ti.i32):
    """Return the mask of lanes in which body b may move: its tree is awake, or it is a mocap body."""
    t, awake = model.body_treeid[b], work.real(0.0)
    if t >= 0:
        awake = work.lanes.mask(work.tree_asleep[t] < 0.0)
    elif t == MOCAP:
        awake = work.real(1.0)
    return awake


@func
def pair_awake(model, work, g1: ti.i32, g2: ti.i32):
    """Return the mask of lanes in which the body of at least one of both geoms may move."""
    b1, b2 = model.geom_bodyid[g1], model.geom_bodyid[g2]
    return ti.max(body_awake(model, work, b1), body_awake(model, work, b2))

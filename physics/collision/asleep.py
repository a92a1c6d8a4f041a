"""Which pairs of geoms a sleeping environment need not look at (MuJoCo documentation, Simulation: Sleeping)."""

import taichi as ti

from ..math import func
from ..model.sleeping import MOCAP


@func
def body_awake(model, work, b: ti.i32):
    """Mask of lanes in which a body may move: its tree is awake, or the user moves it."""
    t, awake = model.body_treeid[b], work.real(0.0)
    if t >= 0:
        awake = work.lanes.mask(work.tree_asleep[t] < 0.0)
    elif t == MOCAP:
        awake = work.real(1.0)
    return awake


@func
def pair_awake(model, work, g1: ti.i32, g2: ti.i32):
    """Mask of lanes in which one of both geoms may move."""
    b1, b2 = model.geom_bodyid[g1], model.geom_bodyid[g2]
    return ti.max(body_awake(model, work, b1), body_awake(model, work, b2))

"""Pairs of a static geom, all of which are skipped at once if nothing that moves is near it.

A terrain of hundreds of boxes has thousands of pairs with the geoms of a robot. They stand side by side in the list of
pairs, those of one static geom after those of another, and `model.pair_run` says how many they are.
"""

import taichi as ti

from ....base.math import Vec3, func
from ..poses import sphere_around

FAR = 1e30


@func
def box_around_moving(model, work):
    """Return the corners of the box around all moving geoms that have many static ones to meet, in every lane (m)."""
    far = work.real(FAR)
    low, high = Vec3(far, far, far), Vec3(-far, -far, -far)
    for k in range(model.nrungeom):
        pos, radius = sphere_around(model, work, model.run_geom[k])
        low._assign(Vec3(ti.min(low.x, pos.x - radius), ti.min(low.y, pos.y - radius), ti.min(low.z, pos.z - radius)))
        high._assign(
            Vec3(ti.max(high.x, pos.x + radius), ti.max(high.y, pos.y + radius), ti.max(high.z, pos.z + radius))
        )
    return low, high


@func
def pairs_apart(model, work, p: ti.i32, low, high):
    """Return how many pairs from p on have one static geom that is away from a box in all lanes; 0: none."""
    count = 0
    if p < model.npair:
        if model.pair_run[p] > 0:
            pos, radius = sphere_around(model, work, model.run_static[p])
            near = (pos.x + radius >= low.x) & (pos.x - radius <= high.x)
            near = near & (pos.y + radius >= low.y) & (pos.y - radius <= high.y)
            near = near & (pos.z + radius >= low.z) & (pos.z - radius <= high.z)
            if not work.lanes.any(work.lanes.mask(near)):
                count = model.pair_run[p]
    return count

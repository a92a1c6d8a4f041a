"""The kernel of the queries: signed distances of pairs of geoms in every environment, one pair after the other."""

from typing import Any

import taichi as ti

from ...base.math import Vec3, func
from ...base.shapes import PLANE
from ...mechanics.collision.closed_forms.primitives import zero_vector
from ...mechanics.collision.convex.convex import search_limits, seek
from ...mechanics.collision.convex.epa import simplex_as_face, touching_face
from ...mechanics.collision.convex.gjk import FILL, FOUND, NOTHING, across
from ...mechanics.collision.convex.support import core_radius, support
from ...model.state.views import ModelView
from .workspace import CODE, PairWorkspace, with_own_sizes

F1, F2, F3 = (ti.types.ndarray(dtype=ti.f64, ndim=n) for n in (1, 2, 3))
I1, I2 = (ti.types.ndarray(dtype=ti.i32, ndim=n) for n in (1, 2))
FRAME = 24
"""Numbers of a pair's poses: where geom 1 is, the way from it to geom 2, and of both the three axes."""


@func
def _vector(frames, env: ti.i32, pair: ti.i32, k: ti.i32):
    return Vec3(frames[env, pair, 3 * k], frames[env, pair, 3 * k + 1], frames[env, pair, 3 * k + 2])


@func
def _place(one, frames, env: ti.i32, pair: ti.i32):
    """Fill `ccd_frame` as `support.place_geoms` does; 1 where all of it is finite, else 0."""
    one.ccd_frame.put(0, zero_vector(one.lanes))
    one.ccd_frame.put(4, _vector(frames, env, pair, 1))
    for k in range(3):
        one.ccd_frame.put(1 + k, _vector(frames, env, pair, 2 + k))
        one.ccd_frame.put(5 + k, _vector(frames, env, pair, 5 + k))
    finite = 1
    for i in range(FRAME):
        if not ti.abs(frames[env, pair, i]) < ti.math.inf:
            finite = 0
    return finite


@func
def _plane_distance(model, one, g1: ti.i32, g2: ti.i32):
    """Return distance, nearest point of geom 1 and normal towards geom 2, for a plane and any other shape."""
    first = ti.cast(model.geom_type[g1] == PLANE, ti.i32)
    normal = one.ccd_frame[3].copy()
    solid = g2
    if first == 0:
        normal, solid = one.ccd_frame[7] * -1.0, g1
    point, on1, _mark1, _mark2 = support(model, one, g1, g2, normal)
    radius = core_radius(model, one, solid)
    dist = -normal.dot(point) - radius
    near1 = on1 + normal * radius
    if first == 1:
        near1 = on1 - point - normal * (radius + dist)
    return dist, near1, normal


@func
def _convex_distance(model, one, g1: ti.i32, g2: ti.i32, distmax, sign: ti.i32):
    """Return the same as `_plane_distance` for two convex shapes; `distmax` if they are that far apart or farther.

    With `sign` 1 shapes whose cores overlap are not sought the depth of.
    """
    lanes = one.lanes
    dist, near1, normal = lanes.real(0.0) + distmax, zero_vector(lanes), zero_vector(lanes)
    radius1, radius2 = core_radius(model, one, g1), core_radius(model, one, g2)
    limits = search_limits(model, one, g1, g2, distmax)
    limits.reach = ti.max(limits.reach, 0.0)
    search = seek(model, one, g1, g2, limits, ti.select(sign == 1, FILL, FOUND))
    flat = search.phase == NOTHING and search.turned == 1
    if flat:  # their difference has no thickness in this direction, so that the overlap is zero
        axis = across(one, search.kept)
        simplex_as_face(one, search)
        one.ccd_normal.put(0, axis)
        one.ccd_height.put(0, lanes.real(0.0))
        search.phase = FOUND
    if search.phase == FOUND:
        _face, _between, on1 = touching_face(one, search, limits.seen)
        normal = one.ccd_normal[search.chosen]
        dist = -one.ccd_height[search.chosen] - radius1 - radius2
        near1 = on1 + normal * radius1
    elif search.phase != NOTHING:
        dist = -radius1 - radius2
    return dist, near1, normal


@ti.kernel
def measure(
    ints: I1,
    reals: F1,
    size: F1,
    rbound: F1,
    own: ti.i32,
    pairs: I2,
    frames: F3,
    distmax: ti.f64,
    sign: ti.i32,
    begins: I1,
    numbers: F1,
    indices: I1,
    workers: ti.i32,
    row_step: ti.i32,
    worker_step: ti.i32,
    worker_index_step: ti.i32,
    dist: F2,
    fromto: F3,
):
    """Fill dist (n, pairs) and fromto (n, pairs, 6) from frames (n, pairs, FRAME).

    With `own` 1 sizes are per environment. With `sign` 1 only whether dist is at most 0 means anything,
    and `fromto` nothing.
    """
    ti.loop_config(block_dim=1)
    for worker in range(workers):
        model = ModelView(ints, reals, None, CODE)
        one = PairWorkspace(numbers, indices, begins, worker, (row_step, worker_step, worker_index_step))
        item = worker
        while item < dist.shape[0] * dist.shape[1]:
            env, pair = item // dist.shape[1], item % dist.shape[1]
            shapes = with_own_sizes(model, size, rbound, env * own * model.ngeom)
            g1, g2 = pairs[pair, 0], pairs[pair, 1]
            found, near1, normal = one.lanes.real(ti.math.nan), zero_vector(one.lanes), zero_vector(one.lanes)
            if _place(one, frames, env, pair) == 1:
                found = distmax
                planes = ti.cast(model.geom_type[g1] == PLANE, ti.i32) + ti.cast(model.geom_type[g2] == PLANE, ti.i32)
                if planes == 1:
                    found, near1, normal = _plane_distance(shapes, one, g1, g2)
                elif planes == 0:
                    found, near1, normal = _convex_distance(shapes, one, g1, g2, distmax, sign)
            near = _vector(frames, env, pair, 0) + near1
            far = near + normal * found
            if not found < distmax:
                found = ti.select(found == found, distmax, found)
                near, far = zero_vector(one.lanes), zero_vector(one.lanes)
            dist[env, pair] = found
            for c in ti.static(range(3)):
                fromto[env, pair, c] = near.parts()[c]
                fromto[env, pair, 3 + c] = far.parts()[c]
            item += workers


def query_kernel() -> Any:
    """The kernel, for `drivers.tensor_kernels`."""
    return measure

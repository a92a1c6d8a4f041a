"""Narrow phase: one row of the dispatch table for each pair of geom types, in the order of `model.pack.PAIR_TYPES`.

Adding a pair of types: its geometry in `primitives`, its driver here, its row in `DRIVERS` and in `PAIR_TYPES`.
Poses come from `work.fine` with the lanes for them (`Features.fine`); `append` rounds what is found.
"""

import taichi as ti

from .contacts import append
from .plane_hulls import plane_box, plane_cylinder, plane_mesh
from .primitives import (
    closest_on_segments,
    plane_point,
    segment_parameter,
    sphere_sphere,
)


@ti.func
def plane_sphere(model: ti.template(), work: ti.template(), p: ti.i32):
    """One contact."""
    fine = work.fine
    g1, g2 = model.pair_geom1[p], model.pair_geom2[p]
    radius = model.geom_size.at(g2, 0)
    touch = plane_point(fine.lanes, fine.geom_xpos[g1], fine.geom_axis[g1], fine.geom_xpos[g2], radius)
    append(work, p, touch, fine.lanes.mask(touch.dist <= model.pair_reach[p]))


@ti.func
def plane_capsule(model: ti.template(), work: ti.template(), p: ti.i32):
    """Both end spheres; the first tangent follows the capsule."""
    fine = work.fine
    g1, g2 = model.pair_geom1[p], model.pair_geom2[p]
    plane, normal = fine.geom_xpos[g1], fine.geom_axis[g1]
    axis = fine.geom_axis[g2]
    for end in range(2):
        half = model.geom_size.at(g2, 1) * (1.0 - 2.0 * end)
        touch = plane_point(
            fine.lanes, plane, normal, fine.geom_xpos[g2] + axis * half, model.geom_size.at(g2, 0)
        ).along(axis)
        append(work, p, touch, fine.lanes.mask(touch.dist <= model.pair_reach[p]))


@ti.func
def _root(model: ti.template(), work: ti.template(), g: ti.i32):
    """Where the tree that geom g belongs to has its root."""
    return work.fine.xpos[model.body_rootid[model.geom_bodyid[g]]]


@ti.func
def _seen_from_root(model: ti.template(), work: ti.template(), p: ti.i32):
    """Centre of geom 2 of a pair from the root of geom 1's tree, where geom 1 is at its geom_offset.

    So the distance of two geoms has as many digits far from the origin as near it.
    """
    g1, g2 = model.pair_geom1[p], model.pair_geom2[p]
    center = work.fine.geom_offset[g2]
    if model.pair_same_tree[p] == 0:
        center = (_root(model, work, g2) - _root(model, work, g1)) + center
    return center


@ti.func
def _bounds_meet(model: ti.template(), work: ti.template(), p: ti.i32, apart: ti.template()):
    """Whether in some lane the bounding spheres of a pair, their centres `apart`, are close enough for a contact."""
    bound = model.pair_bound[p]
    return work.fine.lanes.any(work.fine.lanes.mask(apart.dot(apart) <= bound * bound))


@ti.func
def _append_balls(
    model: ti.template(),
    work: ti.template(),
    p: ti.i32,
    center1: ti.template(),
    center2: ti.template(),
    wanted: ti.template(),
):
    """The contact of two spheres with the radii of a pair's geoms, in the lanes of the mask `wanted`; where it is."""
    fine, lanes = work.fine, work.fine.lanes
    g1, g2 = model.pair_geom1[p], model.pair_geom2[p]
    apart = center2 - center1
    touching = model.pair_touch[p]
    present = lanes.mask(apart.dot(apart) <= touching * touching) * wanted
    if lanes.any(present):
        touch = sphere_sphere(
            lanes,
            center1,
            fine.geom_axis[g1],
            model.geom_size.at(g1, 0),
            center2,
            fine.geom_axis[g2],
            model.geom_size.at(g2, 0),
        )
        present = lanes.mask(touch.dist <= model.pair_reach[p]) * wanted
        append(work, p, touch.moved(_root(model, work, g1)), present)
    return present


@ti.func
def ball_ball(model: ti.template(), work: ti.template(), p: ti.i32):
    """Sphere against sphere: one contact."""
    center1 = work.fine.geom_offset[model.pair_geom1[p]]
    _append_balls(model, work, p, center1, _seen_from_root(model, work, p), work.fine.lanes.real(1.0))


@ti.func
def sphere_capsule(model: ti.template(), work: ti.template(), p: ti.i32):
    """The sphere against the nearest sphere in the capsule."""
    fine = work.fine
    g2 = model.pair_geom2[p]
    center1, center2 = fine.geom_offset[model.pair_geom1[p]], _seen_from_root(model, work, p)
    if _bounds_meet(model, work, p, center1 - center2):
        half = fine.geom_axis[g2] * model.geom_size.at(g2, 1)
        nearest = center2 + half * segment_parameter(center1, center2, half)
        _append_balls(model, work, p, center1, nearest, fine.lanes.real(1.0))


@ti.func
def capsule_capsule(model: ti.template(), work: ti.template(), p: ti.i32):
    """One contact, or up to two when the capsules are parallel: the ends of each are then tried in turn."""
    fine, lanes = work.fine, work.fine.lanes
    g1, g2 = model.pair_geom1[p], model.pair_geom2[p]
    center1, center2 = fine.geom_offset[g1], _seen_from_root(model, work, p)
    if _bounds_meet(model, work, p, center1 - center2):
        half1 = fine.geom_axis[g1] * model.geom_size.at(g1, 1)
        half2 = fine.geom_axis[g2] * model.geom_size.at(g2, 1)
        x1, x2, parallel = closest_on_segments(lanes, center1, half1, center2, half2)
        found = lanes.real(0.0)
        trials = 1
        if lanes.any(parallel):
            trials = 5
        for trial in range(trials):
            wanted = 1.0 - parallel
            if trial > 0:
                end = 1.0 - 2.0 * ((trial - 1) % 2)
                wanted = lanes.mask(found < 1.5) * parallel
                if trial <= 2:
                    x1 = lanes.real(end)
                    x2 = segment_parameter(center1 + half1 * x1, center2, half2)
                else:
                    x2 = lanes.real(end)
                    x1 = segment_parameter(center2 + half2 * x2, center1, half1)
            found += _append_balls(model, work, p, center1 + half1 * x1, center2 + half2 * x2, wanted)


DRIVERS = (
    (plane_sphere, False),
    (plane_capsule, False),
    (plane_cylinder, True),
    (plane_box, True),
    (plane_mesh, True),
    (ball_ball, False),
    (sphere_capsule, False),
    (capsule_capsule, False),
)
"""Driver of each pair of types, in the order of `model.pack.PAIR_TYPES`, and whether it belongs to `Features.rare`."""


@ti.func
def narrow_phase(model: ti.template(), work: ti.template()):
    """Fill the contact list with every contact closer than margin + gap."""
    work.tile_ncon[0] = 0
    for row, entry in ti.static(enumerate(DRIVERS)):
        if ti.static(model.has.rare or not entry[1]):
            for p in range(model.pair_start[row], model.pair_start[row + 1]):
                entry[0](model, work, p)

"""Where geoms are, as the narrow phase needs them: from the root of a tree, so that distances keep their digits."""

import taichi as ti

from .pairs_by_hand import detection_distance


@ti.func
def root_of(model: ti.template(), work: ti.template(), g: ti.i32):
    """Where the tree that geom g belongs to has its root."""
    return work.xpos[model.geom_rootid[g]]


@ti.func
def seen_from_root(model: ti.template(), work: ti.template(), g1: ti.i32, g2: ti.i32):
    """Centre of geom 2 of a pair from the root of geom 1's tree, where geom 1 is at its geom_offset.

    So the distance of two geoms has as many digits far from the origin as near it.
    """
    center = work.geom_offset[g2]
    if model.geom_rootid[g1] != model.geom_rootid[g2]:
        center = (root_of(model, work, g2) - root_of(model, work, g1)) + center
    return center


@ti.func
def geom_axes(model: ti.template(), work: ti.template(), g: ti.i32):
    """The geom's frame in the world."""
    return (work.xquat[model.geom_bodyid[g]] * model.geom_quat[g]).matrix()


@ti.func
def cautious(distance: ti.template()):
    """A little more than a distance: more than single precision rounds."""
    return distance * (1.0 + 1e-6)


@ti.func
def bounds_meet(model: ti.template(), work: ti.template(), g1: ti.i32, g2: ti.i32, apart: ti.template()):
    """Mask: the bounding spheres of a pair, their centres `apart`, are close enough for a contact."""
    bound = cautious(model.geom_rbound[g1] + model.geom_rbound[g2] + detection_distance(model, g1, g2))
    return work.precise_lanes.mask(apart.dot(apart) <= bound * bound)

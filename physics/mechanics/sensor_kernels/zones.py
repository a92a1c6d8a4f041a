"""Sites as zones: tests if a point is in one, and if a ray meets one. For one lane at a time."""

import taichi as ti

from ...base.math import func
from ...base.shapes import ENTRIES, INSIDES
from ...base.shapes.by_kind import by_kind
from ...base.shapes.ray import MISS
from ..collision.closed_forms.primitives import clip


@func
def inside_zone(model, one, s: ti.i32, point):
    """True if a point (m, world frame) is inside the site of sensor s, its surface left out."""
    size, kind = model.zone_size[s], model.zone_type[s]
    p = _turned_back(model, one, s, _from_centre(model, one, s, point))
    return by_kind(kind, INSIDES, False, p, size, clip)


@func
def ray_meets_zone(model, one, s: ti.i32, point, ray):
    """True if the ray (unit vector, world frame) from a point meets the site of sensor s, or begins inside of it."""
    place = _turned_back(model, one, s, _from_centre(model, one, s, point))
    along = _turned_back(model, one, s, ray)
    p, d = ti.Vector([place.x, place.y, place.z]), ti.Vector([along.x, along.y, along.z])
    size = ti.Vector([model.zone_size.at(s, 0), model.zone_size.at(s, 1), model.zone_size.at(s, 2)])
    begin, kind = p.dot(d), model.zone_type[s]
    near, back = p - d * begin, -d  # from the far side, against the ray
    way = by_kind(kind, ENTRIES, size.x * 0.0 + MISS, size, near, back)
    return way < MISS and -way >= begin


@func
def _from_centre(model, one, s: ti.i32, point):
    """A point from the centre of the site, in the world's axes."""
    body = model.zone_bodyid[s]
    return point - (one.xpos[body] + one.xquat[body].rotate(model.zone_pos[s]))


@func
def _turned_back(model, one, s: ti.i32, vector):
    """A vector of the world in the axes of the site."""
    turn = one.xquat[model.zone_bodyid[s]] * model.zone_quat[s]
    return turn.conjugate().rotate(vector)

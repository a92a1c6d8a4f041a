"""Sites as zones: tests if a point is in one, and if a ray meets one. For one lane at a time."""

import taichi as ti

from ..math import func
from ..rays.intersect import MISS
from ..rays.shapes import KIND_CAPSULE, KIND_CYLINDER, KIND_ELLIPSOID, KIND_SPHERE, solid_entry


@func
def inside_zone(model, one, s: ti.i32, point):
    """True if a point (m, world frame) is inside the site of sensor s, its surface left out."""
    size, kind = model.zone_size[s], model.zone_type[s]
    p = _turned_back(model, one, s, _from_centre(model, one, s, point))
    across = p.x * p.x + p.y * p.y
    inside = False
    if kind == KIND_SPHERE:
        inside = across + p.z * p.z < size.x * size.x
    elif kind == KIND_CAPSULE:
        beyond = p.z - ti.max(-size.y, ti.min(size.y, p.z))
        inside = across + beyond * beyond < size.x * size.x
    elif kind == KIND_ELLIPSOID:
        a, b, c = p.x / size.x, p.y / size.y, p.z / size.z
        inside = a * a + b * b + c * c < 1.0
    elif kind == KIND_CYLINDER:
        inside = ti.abs(p.z) < size.y and across < size.x * size.x
    else:
        inside = ti.abs(p.x) < size.x and ti.abs(p.y) < size.y and ti.abs(p.z) < size.z
    return inside


@func
def ray_meets_zone(model, one, s: ti.i32, point, ray):
    """True if the ray (unit vector, world frame) from a point meets the site of sensor s, or begins inside of it."""
    place = _turned_back(model, one, s, _from_centre(model, one, s, point))
    along = _turned_back(model, one, s, ray)
    p, d = ti.Vector([place.x, place.y, place.z]), ti.Vector([along.x, along.y, along.z])
    size = ti.Vector([model.zone_size.at(s, 0), model.zone_size.at(s, 1), model.zone_size.at(s, 2)])
    begin, kind = p.dot(d), model.zone_type[s]
    way = solid_entry(kind, size, p - d * begin, -d)  # from the far side, against the ray
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

"""Sensors that read contacts: touch, and MuJoCo's contact sensors. One lane after the other, as they sort and branch.

The number of contacts varies, the size of a sensor's reading does not. So readings are computed in the kernel and
returned as an output of fixed size.
"""

import taichi as ti

from ...base.hooks import CONTACT_PULL
from ...base.math import Vec3, func
from ...base.math.lanes import in_each_lane
from ...base.shapes import ENTRIES, INSIDES
from ...base.shapes.by_kind import by_kind
from ...base.shapes.ray import MISS
from ...base.stage import stage
from ...files.mjmodel.contact_sensors import (
    ANGVEL,
    ANY,
    BODY,
    DIST,
    FORCE,
    FOUND,
    GEOM,
    LINVEL,
    NEAREST,
    NORMAL,
    POS,
    SITE,
    STRONGEST,
    SUBTREE,
    TANGENT,
    TORQUE,
    TOTAL,
)
from ..collision.closed_forms.primitives import clip
from ..constraint.impedance import MINIMUM

_BEYOND = 1e30


@stage(
    when=lambda has: has.sensors,
    reads=(
        "xpos xquat subtree_com cvel con_dist con_pos con_frame con_present block_D block_force con_geom1",
        "con_geom2 con_pull block_dim tile_ncon tile_conadr",
    ),
    writes="sensed",
)
def contact_readings(model, work):
    """Set sensed."""
    for i in range(model.nsensed):
        work.sensed[i] = work.real(0.0)
    in_each_lane(_read_sensors, model, work, ())


@func
def _read_sensors(model, one):
    """Set the readings of one lane, whose view is `one`."""
    for s in range(model.nsense):
        if model.sense_is_touch[s] == 1:
            _touch(model, one, s)
        else:
            _contact_sensor(model, one, s)


@func
def _touch(model, one, s: ti.i32):
    """Normal forces of the contacts of the sensor's body whose force passes through its site."""
    body = model.zone_bodyid[s]
    total = one.lanes.real(0.0)
    for k in range(one.tile_ncon[0]):
        second = model.geom_bodyid[one.con_geom2[k]]
        if body == second or body == model.geom_bodyid[one.con_geom1[k]]:
            force = _force(model, one, k)
            if force.x > 0.0:
                ray = _row(one, k, 0)
                if body == second:
                    ray = ray * -1.0
                if ray_meets_zone(model, one, s, one.con_pos[k], ray):
                    total += force.x
    one.sensed[model.sense_adr[s]] = total


@func
def _contact_sensor(model, one, s: ti.i32):
    """Write the contacts that match into the sensor's slots, in the order of its criterion; or their sum."""
    count = 0
    for k in range(one.tile_ncon[0]):
        if _match(model, one, s, k) != 0:
            count += 1
    adr = model.sense_adr[s]
    if model.sense_reduce[s] == TOTAL:
        if count > 0:
            _total(model, one, s, count)
    else:
        last, last_value = -1, one.lanes.real(-_BEYOND)
        for _slot in range(ti.min(count, model.sense_slots[s])):
            best, best_value = -1, one.lanes.real(_BEYOND)
            for k in range(one.tile_ncon[0]):
                if _match(model, one, s, k) != 0:
                    value = _criterion(model, one, s, k)
                    behind = value > last_value or (value == last_value and k > last)
                    if behind and (best < 0 or value < best_value):
                        best, best_value = k, value
            if best >= 0:
                _write(model, one, s, adr, best, count)
            adr += model.sense_size[s]
            last, last_value = best, best_value


@func
def _criterion(model, one, s: ti.i32, k: ti.i32):
    """The number that the sensor's contacts are sorted by, least first."""
    value = one.lanes.real(0.0)
    if model.sense_reduce[s] == NEAREST:
        value = one.con_dist[k]
    elif model.sense_reduce[s] == STRONGEST:
        force, torque = _force(model, one, k), _torque(one, k)
        value = -(force.dot(force) + torque.dot(torque))
    return value


@func
def _match(model, one, s: ti.i32, k: ti.i32):
    """Return 1 if contact k matches with its normal, -1 if it does with the opposite one, else 0."""
    direction = 0
    if one.con_present[k] > 0.5:
        kind1, kind2 = model.sense_match1[s], model.sense_match2[s]
        within = True
        if kind1 == SITE:
            within = inside_zone(model, one, s, one.con_pos[k])
        if within:
            geom1, geom2 = one.con_geom1[k], one.con_geom2[k]
            straight1 = _is(model, kind1, model.sense_id1[s], geom1)
            crossed1 = _is(model, kind1, model.sense_id1[s], geom2)
            crossed2 = _is(model, kind2, model.sense_id2[s], geom1)
            straight2 = _is(model, kind2, model.sense_id2[s], geom2)
            if (straight1 or crossed1) and (straight2 or crossed2):
                if kind1 == ANY or kind2 == ANY:
                    right = straight2 if kind1 == ANY else straight1
                    direction = 1 if right else -1
                elif straight1 and straight2:
                    direction = 1
                elif crossed1 and crossed2:
                    direction = -1
    return direction


@func
def _is(model, kind: ti.i32, which: ti.i32, geom: ti.i32):
    """True if a geom is the geom, or is of the body or subtree, that a sensor asks for."""
    found = True
    body = model.geom_bodyid[geom]
    if kind == GEOM:
        found = geom == which
    elif kind == BODY:
        found = body == which
    elif kind == SUBTREE:
        while body > which:
            body = model.body_parentid[body]
        found = body == which
    return found


@func
def _write(model, one, s: ti.i32, adr: ti.i32, k: ti.i32, count: ti.i32):
    """The slot at `adr` of sensed gets contact k; one of opposite normal is turned about its second tangent."""
    sign = ti.cast(_match(model, one, s, k), one.lanes.dtype)
    bits, to = model.sense_data[s], adr
    if bits >> FOUND & 1:
        one.sensed[to] = ti.cast(count, one.lanes.dtype)
        to += 1
    for which in range(FORCE, ANGVEL + 1):
        if which == DIST:
            if bits >> DIST & 1:
                one.sensed[to] = one.con_dist[k]
                to += 1
        elif bits >> which & 1:
            value = one.con_pos[k]
            if which == FORCE:
                value = _mirrored(_force(model, one, k), sign)
            elif which == TORQUE:
                value = _mirrored(_torque(one, k), sign)
            elif which == NORMAL:
                value = _row(one, k, 0) * sign
            elif which == TANGENT:
                value = _row(one, k, 3) * sign
            elif which >= LINVEL:
                value = _mirrored(_velocity(model, one, k, which), sign)
            _put(one, to, value)
            to += 3


@func
def _total(model, one, s: ti.i32, count: ti.i32):
    """The first slot gets the wrench of all contacts that match, in the world's axes, about their weighted centre."""
    zero = one.lanes.real(0.0)
    point, weights = Vec3(zero, zero, zero), zero
    for k in range(one.tile_ncon[0]):
        if _match(model, one, s, k) != 0:
            weight = _force(model, one, k).norm()
            point = point + one.con_pos[k] * weight
            weights += weight
    point = point * (1.0 / ti.max(weights, MINIMUM))
    force, torque = Vec3(zero, zero, zero), Vec3(zero, zero, zero)
    for k in range(one.tile_ncon[0]):
        direction = _match(model, one, s, k)
        if direction != 0:
            sign = ti.cast(direction, one.lanes.dtype)
            push = _in_world(one, k, _force(model, one, k)) * sign
            force = force + push
            torque = torque + _in_world(one, k, _torque(one, k)) * sign + (one.con_pos[k] - point).cross(push)
    bits, to = model.sense_data[s], model.sense_adr[s]
    if bits >> FOUND & 1:
        one.sensed[to] = ti.cast(count, one.lanes.dtype)
        to += 1
    for which in range(FORCE, ANGVEL + 1):
        if bits >> which & 1:
            if which == FORCE:
                _put(one, to, force)
            elif which == TORQUE:
                _put(one, to, torque)
            elif which == POS:
                _put(one, to, point)
            elif which == NORMAL:
                one.sensed[to] = one.lanes.real(1.0)
            elif which == TANGENT:
                one.sensed[to + 1] = one.lanes.real(1.0)
            to += 1 if which == DIST else 3


@func
def _put(one, to: ti.i32, value):
    one.sensed[to] = value.x
    one.sensed[to + 1] = value.y
    one.sensed[to + 2] = value.z


@func
def _mirrored(value, sign):
    """Numbers in a contact's frame, seen from the other side where `sign` is -1."""
    return Vec3(value.x, value.y, value.z * sign)


@func
def _row(one, k: ti.i32, c):
    """The contact's normal (c = 0) or a tangent (3, 6)."""
    return Vec3(one.con_frame.at(k, c), one.con_frame.at(k, c + 1), one.con_frame.at(k, c + 2))


@func
def _in_world(one, k: ti.i32, value):
    return _row(one, k, 0) * value.x + _row(one, k, 3) * value.y + _row(one, k, 6) * value.z


@func
def _force(model, one, k: ti.i32):
    """Return the force of contact k in its frame (N), without its `con_pull`; zero if it is in the gap."""
    normal = _part(one, k, 0)
    if ti.static(not CONTACT_PULL.is_empty(model.has)):
        normal = normal - one.con_pull[k]
    return Vec3(normal, _part(one, k, 1), _part(one, k, 2))


@func
def _torque(one, k: ti.i32):
    """Its torque (N m)."""
    return Vec3(_part(one, k, 3), _part(one, k, 4), _part(one, k, 5))


@func
def _part(one, k: ti.i32, c):
    block = one.tile_conadr[0] + k
    there = one.block_D[block] > 0.0 and one.con_present[k] > 0.5 and c < one.block_dim[block]
    return ti.select(there, one.block_force.at(block, c), one.lanes.real(0.0))


@func
def _velocity(model, one, k: ti.i32, which: ti.i32):
    """Velocity of geom 2 relative to geom 1 at contact k, linear or angular, in its frame."""
    zero = one.lanes.real(0.0)
    velocity = Vec3(zero, zero, zero)
    for side in range(2):
        body = model.geom_bodyid[one.con_geom1[k] if side == 0 else one.con_geom2[k]]
        motion = one.lanes.cast(one.cvel[body])
        own = motion.rot.copy()
        if which == LINVEL:
            own = motion.lin + motion.rot.cross(one.con_pos[k] - one.subtree_com[model.body_rootid[body]])
        velocity = velocity + own * (2.0 * side - 1.0)
    return Vec3(_row(one, k, 0).dot(velocity), _row(one, k, 3).dot(velocity), _row(one, k, 6).dot(velocity))


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

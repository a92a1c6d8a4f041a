"""Rays and surfaces: conventions and functions that the intersections of several shapes share.

Conventions of `entry` of a kind
- A ray is ``origin + t * direction`` with a unit direction, in the geom's own frame; lengths are metres.
- ``origin`` is the point of the ray nearest to the geom's centre. So it is perpendicular to ``direction``, and not
  longer than the bounding radius for any ray that can hit. Large distances therefore never enter the quadratics, which
  keeps them exact in single precision (Haines et al., Ray Tracing Gems, chapter 7). ``t`` is relative to that point,
  and negative before it.
- Surfaces have one side: the distance is that of the *entry*. A ray that starts inside a geom does not hit it. The exit
  of a ray is the entry of the reversed ray: ``-entry(size, origin, -direction)``.
- A miss is the distance ``MISS``.
- Literals have the precision in force when a kernel is traced, and so must its arguments.
"""

import math

import taichi as ti

MISS = 1.0e30
PI = math.pi
_FAR = 1.0e15  # farther than anything is
_TINY = 1.0e-12
_PARALLEL = 1.0e-30  # square of the sine between a ray and the axis that it is parallel to


@ti.func
def unit(vector):
    """Return a vector of length one; Taichi's own `normalized` computes in the runtime's default precision."""
    return vector / vector.norm()


@ti.func
def turns(point):
    """Return the angle of a point about z, from x on, in turns from 0 to 1."""
    angle = ti.atan2(point.y, point.x) / (2.0 * PI)
    return ti.select(angle < 0.0, angle + 1.0, angle)


@ti.func
def slope(direction):
    """Return a component of a direction, or each component of a vector, as a denominator that is not zero."""
    return ti.select(ti.abs(direction) > _TINY, direction, _TINY)


@ti.func
def tube_interval(origin, direction, radius):
    """Return entry and exit of the infinite tube about z: (t_in, t_out), or (MISS, -MISS)."""
    t_in, t_out = MISS, -MISS
    a = direction.x * direction.x + direction.y * direction.y
    if a > _PARALLEL:
        cross = origin.x * direction.y - origin.y * direction.x
        discriminant = radius * radius - cross * cross / a
        if discriminant > 0.0:
            middle = -(origin.x * direction.x + origin.y * direction.y) / a
            half = ti.sqrt(discriminant / a)
            t_in, t_out = middle - half, middle + half
    elif origin.x * origin.x + origin.y * origin.y < radius * radius:
        t_in, t_out = -_FAR, _FAR
    return t_in, t_out


@ti.func
def slab_interval(origin, direction, half):
    """Return entry and exit of the slab |coordinate| <= half along one axis."""
    a = (-half - origin) / slope(direction)
    b = (half - origin) / slope(direction)
    return ti.min(a, b), ti.max(a, b)

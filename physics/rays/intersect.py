"""Intersection of rays with primitives: pure geometry, in the geom's own frame.

Conventions of this file
- A ray is ``origin + t * direction`` with a unit direction; lengths are metres.
- The origin has been slid along the ray to its point nearest the geom's centre, so ``origin`` is perpendicular to
  ``direction`` and no longer than the bounding radius for any ray that can hit. Large distances therefore never
  enter the quadratics, which is what keeps them exact in single precision (Haines et al., Ray Tracing Gems, chapter 7).
  ``t`` counts from that point and is negative in front of it.
- Surfaces have one side: the distance is that of the *entry*. A ray that starts inside a geom leaves it unseen. The
  way out of a solid is the way in of the reversed ray: ``-entry(origin, -direction)``.
- A miss is the distance ``MISS``.
- Literals take the precision in force when a kernel is traced, and so must be that of its arguments.
- Sizes are MuJoCo's: sphere (radius), capsule and cylinder (radius, half length along z), ellipsoid (radii), box
  (half extents).
"""

import taichi as ti

MISS = 1.0e30
_FAR = 1.0e15  # farther than anything is
_TINY = 1.0e-12
_PARALLEL = 1.0e-30  # square of the sine between a ray and the axis that it is parallel to


@ti.func
def unit(vector):
    """A vector of length one; Taichi's own `normalized` computes in the runtime's default precision."""
    return vector / vector.norm()


@ti.func
def slope(direction):
    """A component of a direction, or each of a vector's, that can be divided by."""
    return ti.select(ti.abs(direction) > _TINY, direction, _TINY)


@ti.func
def sphere_entry(origin, radius):
    """Entry into a sphere; needs no direction because the origin is perpendicular to it."""
    t = MISS
    discriminant = radius * radius - origin.dot(origin)
    if discriminant > 0.0:
        t = -ti.sqrt(discriminant)
    return t


@ti.func
def ellipsoid_entry(origin, direction, radii):
    """Entry into an ellipsoid: a unit sphere after the axes are scaled by 1 / radii."""
    o = origin / radii
    d = direction / radii
    a = d.dot(d)
    middle = -o.dot(d) / a
    nearest = o + middle * d
    t = MISS
    discriminant = 1.0 - nearest.dot(nearest)
    if discriminant > 0.0:
        t = middle - ti.sqrt(discriminant / a)
    return t


@ti.func
def tube_interval(origin, direction, radius):
    """Entry and exit of the infinite tube about z: (t_in, t_out), or (MISS, -MISS)."""
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
def capsule_entry(origin, direction, radius, half_length):
    """Entry into a capsule: the tube between the caps, else the sphere at the end where the tube was entered."""
    t, _ = tube_interval(origin, direction, radius)
    if t < MISS:
        z = origin.z + t * direction.z
        if ti.abs(z) > half_length:
            end = ti.select(z > 0.0, half_length, -half_length)
            centre = ti.Vector([0.0, 0.0, end])
            middle = direction.z * end
            t = MISS
            from_cap = sphere_entry(origin + middle * direction - centre, radius)
            if from_cap < MISS:
                t = middle + from_cap
    return t


@ti.func
def cylinder_entry(origin, direction, radius, half_length):
    """Entry into a solid cylinder: the tube cut by the slab between its flat ends."""
    t = MISS
    tube_in, tube_out = tube_interval(origin, direction, radius)
    slab_in, slab_out = slab_interval(origin.z, direction.z, half_length)
    t_in = ti.max(tube_in, slab_in)
    if t_in < ti.min(tube_out, slab_out):
        t = t_in
    return t


@ti.func
def slab_interval(origin, direction, half):
    """Entry and exit of the slab |coordinate| <= half, one axis."""
    a = (-half - origin) / slope(direction)
    b = (half - origin) / slope(direction)
    return ti.min(a, b), ti.max(a, b)


@ti.func
def box_entry(origin, direction, half):
    """Entry into a box: the three slabs' common interval."""
    t = MISS
    x_in, x_out = slab_interval(origin.x, direction.x, half.x)
    y_in, y_out = slab_interval(origin.y, direction.y, half.y)
    z_in, z_out = slab_interval(origin.z, direction.z, half.z)
    t_in = ti.max(x_in, y_in, z_in)
    if t_in < ti.min(x_out, y_out, z_out):
        t = t_in
    return t


@ti.func
def plane_entry(origin, direction, size):
    """Distance to the rectangle |x| <= size.x, |y| <= size.y of the plane z = 0 seen from above (size <= 0: endless).

    The one shape without a centre to slide to: the origin is any point.
    """
    t = MISS
    if direction.z < -1.0e-15:  # as MuJoCo has it
        reach = -origin.z / direction.z
        x = ti.abs(origin.x + reach * direction.x)
        y = ti.abs(origin.y + reach * direction.y)
        if (size.x <= 0.0 or x <= size.x) and (size.y <= 0.0 or y <= size.y):
            t = reach
    return t


@ti.func
def tube_normal(point, half_length):
    """Outward direction (not normalised) of a capsule at a surface point: away from its axis segment."""
    z = point.z - ti.max(-half_length, ti.min(half_length, point.z))
    return ti.Vector([point.x, point.y, z])


@ti.func
def cylinder_normal(point, radius, half_length):
    """Outward normal of a cylinder at a surface point: the flat end if it is the nearer surface, else radial."""
    normal = ti.Vector([point.x, point.y, 0.0])
    from_side = radius - ti.sqrt(point.x * point.x + point.y * point.y)
    if half_length - ti.abs(point.z) < from_side:
        normal = ti.Vector([0.0, 0.0, point.z])
    return normal


@ti.func
def box_normal(point, half):
    """Outward direction of a box at a surface point: the axis of the nearest face."""
    gap = half - abs(point)
    normal = ti.Vector([point.x, 0.0, 0.0])
    if gap.y < gap.x and gap.y <= gap.z:
        normal = ti.Vector([0.0, point.y, 0.0])
    elif gap.z < gap.x:
        normal = ti.Vector([0.0, 0.0, point.z])
    return normal

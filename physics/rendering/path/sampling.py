"""Random directions and points: from numbers in [0, 1) to discs, cones and hemispheres, and weights of two samplers.

Random numbers are made by counters: a number depends only on its use, not on numbers drawn before. So a pixel's sample
is the same whatever else is drawn, and in which order, and samples can be added to a film later. The hash is pcg4d:
Jarzynski and Olano, "Hash functions for GPU rendering", JCGT 9(3), 2020.
"""

import taichi as ti

from ...base.shapes.ray import PI
from ..shading import vec3


@ti.func
def in_disc(u, v):
    """Return a point of the unit disc, evenly, so that near numbers give near points.

    Shirley and Chiu, "A low distortion map between disk and square", Journal of Graphics Tools 2(3), 1997.
    """
    x, y = 2.0 * u - 1.0, 2.0 * v - 1.0
    is_wide = ti.abs(x) > ti.abs(y)
    radius, other = ti.select(is_wide, x, y), ti.select(is_wide, y, x)
    # the angle from the nearer axis, at most 45 degrees
    ahead, aside = sides(0.25 * PI * other / ti.select(radius != 0.0, radius, 1.0))
    return radius * ti.select(is_wide, ahead, aside), radius * ti.select(is_wide, aside, ahead)


@ti.func
def sides(angle):
    """Return cosine and sine of an angle up to 45 degrees: Taylor's series, whose next term is 3e-8 at most."""
    square = angle * angle
    cosine = 1.0 + square * (-1 / 2 + square * (1 / 24 + square * (-1 / 720 + square * (1 / 40320))))
    sine = angle * (1.0 + square * (-1 / 6 + square * (1 / 120 + square * (-1 / 5040 + square * (1 / 362880)))))
    return cosine, sine


@ti.func
def by_cosine(u, v):
    """Return a unit vector over z = 0 whose density per solid angle is z / pi."""
    x, y = in_disc(u, v)
    return vec3(x, y, ti.sqrt(ti.max(0.0, 1.0 - x * x - y * y)))


@ti.func
def in_cone(axis, spread, u, v):
    """Return a unit vector, evenly over the directions at most acos(1 - spread) away from an axis."""
    fall = u * spread
    across = ti.sqrt(ti.max(0.0, fall * (2.0 - fall)))
    return to_world(axis, vec3(across * ti.cos(2.0 * PI * v), across * ti.sin(2.0 * PI * v), 1.0 - fall))


@ti.func
def cone_density(spread):
    """Return the density per solid angle of `in_cone`."""
    return 1.0 / (2.0 * PI * ti.max(spread, 1.0e-12))


@ti.func
def beside(normal):
    """Return two unit vectors that make a right-handed frame with a unit vector: first, second, normal.

    T. Duff et al., "Building an orthonormal basis, revisited", JCGT 6(1), 2017.
    """
    sign = ti.select(normal.z < 0.0, -1.0, 1.0)
    a = -1.0 / (sign + normal.z)
    b = normal.x * normal.y * a
    first = vec3(1.0 + sign * normal.x * normal.x * a, sign * b, -sign * normal.x)
    return first, vec3(b, sign + normal.y * normal.y * a, -normal.y)


@ti.func
def to_world(normal, local):
    """Return a vector given in a frame whose z axis is a unit vector."""
    first, second = beside(normal)
    return local.x * first + local.y * second + local.z * normal


@ti.func
def to_frame(normal, way):
    """Return a vector in the frame of `to_world`."""
    first, second = beside(normal)
    return vec3(way.dot(first), way.dot(second), way.dot(normal))


@ti.func
def preferred(own, other):
    """Return the weight of a sample by its density and that of the other way to find it: the power heuristic.

    E. Veach, "Robust Monte Carlo methods for light transport simulation", 1997, section 9.2.4, with the power 2.
    """
    ratio = other / ti.max(own, 1.0e-30)
    return 1.0 / (1.0 + ratio * ratio)


PER_STEP = 3
"""Draws of four numbers each that a step of a path may use."""
vec4 = ti.types.vector(4, ti.f32)
_FACTOR, _TERM = 1664525, 1013904223


@ti.func
def draw(seed, pixel, sample, purpose):
    """Return four numbers in [0, 1) for a purpose of a sample of a pixel; all arguments are whole numbers."""
    x, y = ti.cast(pixel, ti.u32), ti.cast(sample, ti.u32)
    z, w = ti.cast(purpose, ti.u32), ti.cast(seed, ti.u32)
    x, y = x * ti.u32(_FACTOR) + ti.u32(_TERM), y * ti.u32(_FACTOR) + ti.u32(_TERM)
    z, w = z * ti.u32(_FACTOR) + ti.u32(_TERM), w * ti.u32(_FACTOR) + ti.u32(_TERM)
    for turn in ti.static(range(2)):
        x += y * w
        y += z * x
        z += x * y
        w += y * z
        if ti.static(turn == 0):
            x, y, z, w = x ^ (x >> 16), y ^ (y >> 16), z ^ (z >> 16), w ^ (w >> 16)
    return vec4(fraction(x), fraction(y), fraction(z), fraction(w))


@ti.func
def fraction(bits):
    """Return a number in [0, 1) from the upper 24 bits of a word, which single precision holds exactly."""
    return ti.cast(ti.cast(bits >> 8, ti.i32), ti.f32) * (1.0 / 16777216.0)

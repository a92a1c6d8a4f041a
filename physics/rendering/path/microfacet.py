"""Rough mirrors: the distribution of tiny facets called GGX, and facets that are seen from a direction.

Directions are in a frame whose z axis is the normal; `width` is the distribution's alpha. B. Walter et al.,
"Microfacet models for refraction through rough surfaces", EGSR 2007; E. Heitz, "Understanding the masking-shadowing
function", JCGT 3(2), 2014, and "Sampling the GGX distribution of visible normals", JCGT 7(4), 2018.
"""

import taichi as ti

from ...base.shapes.ray import PI
from ..shading import vec3

LEAST_WIDTH = 1.0e-3
"""The least alpha of a rough mirror: sharper ones look alike, and single precision holds their peak no better."""


@ti.func
def facets(half, width):
    """Return the density D of facets whose normal is `half`.

    It is written by x and y, which keep their digits where z is almost 1.
    """
    stretched = (half.x * half.x + half.y * half.y) / (width * width) + half.z * half.z
    return 1.0 / (PI * width * width * stretched * stretched)


@ti.func
def hidden(way, width):
    """Return Smith's Lambda of a direction: hidden facets for each one that is seen."""
    square = (way.x * way.x + way.y * way.y) / ti.max(way.z * way.z, 1.0e-12)
    return 0.5 * (ti.sqrt(1.0 + width * width * square) - 1.0)


@ti.func
def seen_from(way, width):
    """Return the share G1 of facets that are seen from a direction."""
    return 1.0 / (1.0 + hidden(way, width))


@ti.func
def seen_from_both(out, way, width):
    """Return the share G2 of facets that are seen from both of two directions, at correlated heights."""
    return 1.0 / (1.0 + hidden(out, width) + hidden(way, width))


@ti.func
def seen_facet(out, width, u, v):
    """Return the normal of a facet, as often as it is seen from `out`, whose z is above 0.

    The density per solid angle is `seen_density`.
    """
    stretched = vec3(width * out.x, width * out.y, out.z)
    stretched = stretched / stretched.norm()
    across = stretched.x * stretched.x + stretched.y * stretched.y
    first = vec3(1.0, 0.0, 0.0)
    if across > 0.0:
        first = vec3(-stretched.y, stretched.x, 0.0) / ti.sqrt(across)
    second = stretched.cross(first)
    radius, angle = ti.sqrt(u), 2.0 * PI * v
    x, y = radius * ti.cos(angle), radius * ti.sin(angle)
    share = 0.5 * (1.0 + stretched.z)
    y = (1.0 - share) * ti.sqrt(ti.max(0.0, 1.0 - x * x)) + share * y
    found = x * first + y * second + ti.sqrt(ti.max(0.0, 1.0 - x * x - y * y)) * stretched
    found = vec3(width * found.x, width * found.y, ti.max(found.z, 1.0e-6))
    return found / found.norm()


@ti.func
def seen_density(out, half, width):
    """Return the density per solid angle of facets' normals as they are seen from a direction."""
    facing = ti.max(out.dot(half), 0.0)
    return seen_from(out, width) * facets(half, width) * facing / ti.max(out.z, 1.0e-6)

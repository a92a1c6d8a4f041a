"""Glass, smooth and rough: what it reflects and what it refracts, by Fresnel's equations.

Directions are in a frame whose z axis is the normal on the side from which light leaves; they lead away from the
surface. `ratio` is the index of refraction beyond the surface over that on this side. A rough surface is one of tiny
facets of smooth glass (B. Walter et al., "Microfacet models for refraction through rough surfaces", EGSR 2007).
"""

import taichi as ti

from ...base.shapes.ray import unit
from ..shading import vec3
from .microfacet import seen_facet, seen_from, seen_from_both

SMOOTH = 2.0e-3
"""The alpha up to which glass is smooth."""


@ti.func
def reflectance(cosine, ratio):
    """Return the share of unpolarised light that a boundary reflects, 1 where all of it is."""
    sine_square = (1.0 - cosine * cosine) / (ratio * ratio)
    found = ti.f32(1.0)
    if sine_square < 1.0:
        beyond = ti.sqrt(1.0 - sine_square)
        parallel = (ratio * cosine - beyond) / (ratio * cosine + beyond)
        across = (cosine - ratio * beyond) / (cosine + ratio * beyond)
        found = 0.5 * (parallel * parallel + across * across)
    return found


@ti.func
def refracted(out, half, ratio):
    """Return the direction on the other side of a facet of normal `half`, for light that leaves along `out`."""
    cosine = out.dot(half)
    beyond = ti.sqrt(ti.max(0.0, 1.0 - (1.0 - cosine * cosine) / (ratio * ratio)))
    return unit((cosine / ratio - beyond) * half - out / ratio)


@ti.func
def pass_glass(out, width, ratio, which, u, v):
    """Return a random direction for light that leaves along `out`, its weight, and whether it comes through.

    The weight is BSDF times cosine over density, without the square of `ratio` by which radiance is denser in glass.
    """
    half = vec3(0.0, 0.0, 1.0)
    if width > SMOOTH:
        half = seen_facet(out, width, u, v)
    cosine = out.dot(half)
    through = which >= reflectance(cosine, ratio)
    way = 2.0 * cosine * half - out
    if through:
        way = refracted(out, half, ratio)
    weight = ti.f32(0.0)
    if (way.z < 0.0) == through and cosine > 0.0:
        weight = 1.0
        if width > SMOOTH:
            weight = seen_from_both(out, way, width) / seen_from(out, width)
    return way, weight, through

"""The scattering of light by surfaces: rough mirrors, smooth and rough glass, and surfaces without transmission.

Rough mirrors have tiny facets of a distribution called GGX. Directions are in a frame whose z axis is the normal, and
lead away from the surface; `width` is the distribution's alpha. B. Walter et al., "Microfacet models for refraction
through rough surfaces", EGSR 2007; E. Heitz, "Understanding the masking-shadowing function", JCGT 3(2), 2014, and
"Sampling the GGX distribution of visible normals", JCGT 7(4), 2018.

Glass reflects and refracts by Fresnel's equations; the normal is on the side from which light leaves, and `ratio` is
the index of refraction beyond the surface over that on this side. A rough glass has facets of smooth glass.

Surfaces without transmission are matt, with a clear coat or without, metals, and mixtures of these. The coat and the
metal are one rough mirror, whose reflectance rises towards grazing angles as Schlick has it (Computer Graphics Forum
13(3), 1994). Below the coat there is a matt ground (Lambert), which gets the light that the coat lets in and gives the
light that it lets out, so that exchanging both directions changes nothing. Light that rough facets throw onto each
other is lost, a tenth of it at a roughness of 0.5 and six tenths at 1.
"""

import taichi as ti

from ...base.shapes.ray import PI, unit
from ..rays.traced import Traced
from ..shading import mix, vec3
from .sampling import by_cosine

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


_BRIGHTNESS = vec3(0.3, 0.5, 0.2)
_LEAST_CHOICE = 0.1  # of the ways to sample a surface that has both


class Finish(Traced):
    """The surface at a point.

    Attributes:
        ground: colour (3,) of its matt part.
        mirror: reflectance (3,) of its mirror head on.
        edge: the same at grazing angles.
        coat, coat_edge: reflectances of the coat over the matt part, numbers.
        width: alpha of the mirror.
    """

    def __init__(self, ground, mirror, edge, coat, coat_edge, width):
        self.ground, self.mirror, self.edge = ground, mirror, edge
        self.coat, self.coat_edge, self.width = coat, coat_edge, width

    @ti.func
    def mirrored(self, cosine):
        """Reflectance (3,) of a facet at an angle."""
        return mix(self.mirror, self.edge, grazing(cosine))

    @ti.func
    def let_in(self, cosine):
        """Share of light that the coat lets through to the ground, or out."""
        return 1.0 - mix(self.coat, self.coat_edge, grazing(cosine))

    @ti.func
    def choice(self, out):
        """Probability with which a direction is sampled as the mirror's, for light that leaves along `out`."""
        bright = self.mirrored(out.z).dot(_BRIGHTNESS)
        dull = self.let_in(out.z) * self.ground.dot(_BRIGHTNESS)
        found = bright / ti.max(bright + dull, 1.0e-20)
        if dull > 0.0 and self.edge.max() > 0.0:
            found = ti.max(_LEAST_CHOICE, ti.min(1.0 - _LEAST_CHOICE, found))
        return found

    @ti.func
    def scattered(self, out, way):
        """The BSDF (3,) times the cosine of `way`, and the density with which `sample` finds that direction."""
        found, density = vec3(0.0, 0.0, 0.0), ti.f32(0.0)
        if out.z > 1.0e-6 and way.z > 1.0e-6:
            choice = self.choice(out)
            found = self.ground * (self.let_in(out.z) * self.let_in(way.z) * way.z / PI)
            density = (1.0 - choice) * way.z / PI
            if choice > 0.0:
                half = unit(out + way)
                facing = ti.max(out.dot(half), 1.0e-6)
                common = facets(half, self.width) * seen_from_both(out, way, self.width) / (4.0 * out.z)
                found += common * self.mirrored(facing)
                density += choice * seen_density(out, half, self.width) / (4.0 * facing)
        return found, density

    @ti.func
    def sample(self, out, which, u, v):
        """Return a random direction for light that leaves along `out`; below the surface it carries none."""
        way = by_cosine(u, v)
        if which < self.choice(out):
            half = seen_facet(out, self.width, u, v)
            way = 2.0 * out.dot(half) * half - out
        return way


@ti.func
def grazing(cosine):
    """Return Schlick's (1 - cosine)^5."""
    less = 1.0 - ti.max(0.0, ti.min(1.0, cosine))
    square = less * less
    return square * square * less

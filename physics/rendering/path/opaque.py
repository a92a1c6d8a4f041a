"""Surfaces that let nothing through: matt ones, with a clear coat or without, metals, and mixtures of these.

The coat and the metal are one rough mirror (`microfacet.py`), whose reflectance rises towards grazing angles as Schlick
has it (Computer Graphics Forum 13(3), 1994). Below the coat there is a matt ground (Lambert), which gets what the coat
lets in and gives what it lets out, so that exchanging both directions changes nothing. Light that rough facets throw
onto each other is lost, a tenth of it at a roughness of 0.5 and six tenths at 1.

Directions are in a frame whose z axis is the normal, and lead away from the surface.
"""

import taichi as ti

from ...base.shapes.ray import PI, unit
from ..rays.traced import Traced
from ..shading import mix, vec3
from .microfacet import facets, seen_density, seen_facet, seen_from_both
from .sampling import by_cosine

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

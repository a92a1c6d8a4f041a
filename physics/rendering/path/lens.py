"""The lens of a camera: a pinhole, or a thin lens that is sharp at one distance."""

import taichi as ti

from ...base.shapes.ray import unit
from ..cameras.lens import Lens
from . import settings as at
from .sampling import in_disc


class ThinLens(Lens):
    """Rays through a lens of some aperture (M. Pharr et al., "Physically Based Rendering", 4th edition, 5.2.3).

    A point d metres in front of a camera that is sharp at f is a disc of radius aperture |d - f| / f at a distance d.
    """

    def __init__(self, views, width, height, env, settings):
        super().__init__(views, width, height, env)
        self.settings = settings

    @ti.func
    def of_sample(self, x, y, numbers):
        """Origin and unit direction of a ray at a random place of a pixel, by four numbers."""
        return self.through(ti.cast(x, ti.f32) + numbers[0], ti.cast(y, ti.f32) + numbers[1], numbers[2], numbers[3])

    @ti.func
    def through(self, x, y, u, v):
        """Origin and unit direction of a ray at (x, y) in pixels, from a random point of the lens."""
        origin, direction = self.ray(x, y)
        aperture, focus = self.settings[at.APERTURE], self.settings[at.FOCUS]
        if aperture > 0.0:
            right, up = in_disc(u, v)
            sharp = origin + direction * (focus / ti.max(-direction.dot(self.axis(2)), 1.0e-6))
            origin += aperture * (right * self.axis(0) + up * self.axis(1))
            direction = unit(sharp - origin)
        return origin, direction

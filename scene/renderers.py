"""Ways of drawing a scene."""

from typing import Any

import numpy as np
from imageio.v3 import imread

from ..physics.machine.scalars import as_count
from .records import record
from .textures import ImageTexture


@record
class Renderer:
    """The ray caster, which draws all that is seen, with shadows."""


@record
class Rasterizer(Renderer):
    """The name that scripts have for pictures in real time: the ray caster."""


@record
class BatchRenderer(Renderer):
    """The name that scripts have for pictures of many environments in one call: the ray caster, which draws them so."""


@record
class RayTracer(Renderer):
    """Path tracing: light goes from surface to surface. Cameras say how many samples a pixel has (`spp`), and more.

    Attributes:
        tracing_depth: how often a path may be scattered.
        env_surface: an `Emission` that is all around; None: the sky and the sun.
        lights: none: an entity whose surface is an `Emission` is a light.
    """

    tracing_depth: int = 32
    env_surface: Any = None
    lights: Any = ()

    def __post_init__(self) -> None:
        """Raise if options are unknown or impossible.

        Raises:
            ValueError: with the option.
        """
        as_count("RayTracer: tracing_depth", self.tracing_depth)
        if self.env_surface is not None and getattr(self.env_surface, "emissive", None) is None:
            raise ValueError(f"RayTracer: env_surface={self.env_surface!r}: it must be an Emission")
        if self.lights:
            raise ValueError("RayTracer: lights: add a sphere whose surface is an Emission instead")

    @property
    def environment(self) -> Any:
        """Light from all around, (3,), or a map of it (h, w, 3); None: the sky and the sun."""
        if self.env_surface is None:
            return None
        image = self.env_surface.diffuse_texture
        if not isinstance(image, ImageTexture):
            return self.env_surface.emissive
        pixels = imread(image.image_path)[..., :3] / 255.0
        return np.square(pixels) * np.asarray(self.env_surface.emissive)

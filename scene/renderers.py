"""Ways of drawing a scene."""

from .records import record


@record
class Renderer:
    """The ray caster, which draws all that is seen, with shadows."""


@record
class Rasterizer(Renderer):
    """The name that scripts have for pictures in real time: the ray caster."""


@record
class BatchRenderer(Renderer):
    """The name that scripts have for pictures of many environments in one call: the ray caster, which draws them so.

    Attributes:
        use_rasterizer: has no effect.
    """

    use_rasterizer: bool = False


@record
class RayTracer(Renderer):
    """Path tracing, which is not there yet."""

    def __post_init__(self) -> None:
        """Refuse it.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("renderers.RayTracer: there is no path tracing yet; use renderers.Rasterizer()")

"""The renderer that a user asks for: the ray caster by default, or path tracing."""

import inspect
from collections.abc import Mapping
from typing import Any

from .names import nearest
from .renderer import BatchRenderer

RENDERERS = ("rays", "path")
"""Renderers by name."""
_GIVEN = ("model", "width", "height", "camera", "look", "show", "entities", "near")
"""Arguments of renderers that are not options of path tracing."""


def check_renderer(renderer: str | Mapping[str, Any]) -> None:
    """Refuse an unknown renderer, without making one.

    Raises:
        ValueError: an unknown name, or an unknown option of path tracing, with the nearest ones.
    """
    if isinstance(renderer, Mapping):
        from .path.tracer import PathTracer

        options = {name for name in inspect.signature(PathTracer).parameters if name not in _GIVEN}
        for name in renderer:
            if name not in options:
                raise ValueError(f"renderer: path tracing has no option {name!r}{nearest(name, options)}")
    elif renderer not in RENDERERS:
        raise ValueError(f"renderer={renderer!r}: it is 'rays', 'path', or a dict of options of path tracing")


def make_renderer(renderer: str | Mapping[str, Any], model: Any, width: int, height: int, **more: Any) -> BatchRenderer:
    """Make a renderer.

    Args:
        renderer: "rays", "path", or a dict of `PathTracer`'s own arguments, such as {"samples": 256}, for path tracing.
        model: a `Model`.
        width: of the pictures, pixels.
        height: of the pictures, pixels.
        **more: camera, look and other arguments that both have.

    Raises:
        ValueError: as in `check_renderer` and the renderers.
    """
    check_renderer(renderer)
    if renderer == "rays":
        return BatchRenderer(model, width, height, **more)
    from .path.tracer import PathTracer

    return PathTracer(model, width, height, **more, **(renderer if isinstance(renderer, Mapping) else {}))

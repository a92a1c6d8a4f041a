"""Surfaces of entities: how they look."""

from typing import Any

from .checks import number, numbers
from .records import put, record


@record
class Surface:
    """The look of a surface.

    Attributes:
        color: red, green, blue and, if four, opacity, from 0 to 1; None: the file's, or a light grey.
        opacity: from 0, clear, to 1.
        roughness: from 0, a mirror's, to 1, chalk's.
        metallic: from 0 to 1.
        emissive: light that it sends out: red, green, blue, from 0 on.
        vis_mode: "visual" or "collision": which geoms are drawn.
    """

    color: Any = None
    opacity: float | None = None
    roughness: float | None = None
    metallic: float | None = None
    emissive: Any = None
    vis_mode: str | None = None

    def __post_init__(self) -> None:
        """Refuse what no surface has.

        Raises:
            ValueError: with the argument.
        """
        owner = type(self).__name__
        if self.color is not None:
            count = 4 if len(self.color) == 4 else 3
            color = numbers(owner, "color", self.color, count)
            if not all(0.0 <= part <= 1.0 for part in color):
                raise ValueError(f"{owner}: color={self.color!r}: parts of a color are from 0 to 1")
            put(self, color=color[:3])
            if count == 4 and self.opacity is None:
                put(self, opacity=color[3])
        for name in ("opacity", "roughness", "metallic"):
            if getattr(self, name) is not None:
                put(self, **{name: number(owner, name, getattr(self, name), least=0.0, most=1.0)})
        if self.vis_mode not in (None, "visual", "collision"):
            raise ValueError(f"{owner}: vis_mode={self.vis_mode!r}: it is 'visual' or 'collision'")


@record
class Default(Surface):
    """A surface that says nothing of its own: the file's colours, or a light grey."""

"""Surfaces of entities: how they look.

A surface becomes a material of the model: its colour and opacity, how shining it is (by roughness and metal), the light
that it sends out, and an image. Numbers that a surface leaves open are the class' defaults.
"""

from typing import Any, ClassVar

from .checks import Numbers, numbers
from .records import nearest, put, put_numbers, record
from .textures import ColorTexture, ImageTexture

METALS = {
    "iron": (0.56, 0.57, 0.58),
    "aluminium": (0.91, 0.92, 0.92),
    "copper": (0.95, 0.64, 0.54),
    "gold": (1.0, 0.77, 0.34),
}
"""Colours of metals: the share of white light that they mirror at a right angle. N. Hoffman, "Background: Physics and
Math of Shading", SIGGRAPH 2012 course, has such numbers; these are in displayed colour."""

RIGID_MODES, MATTER_MODES = ("visual", "collision"), ("particle", "recon")


@record
class Surface:
    """The look of a surface.

    Attributes:
        color: red, green, blue and, if four, opacity, from 0 to 1; None: the file's, or a light grey.
        opacity: from 0, clear, to 1.
        roughness: from 0, a mirror's, to 1, chalk's.
        metallic: from 0 to 1.
        emissive: light that it sends out, red, green and blue from 0 on: it replaces the colour.
        ior: index of refraction, for path tracing.
        diffuse_texture: an `ImageTexture` or a `ColorTexture`.
        vis_mode: of rigid bodies "visual" or "collision": which geoms are drawn; of matter "particle": spheres, or
            "recon": the surface around them; None: the first of these.
    """

    color: Any = None
    opacity: float | None = None
    roughness: float | None = None
    metallic: float | None = None
    emissive: Any = None
    ior: float | None = None
    diffuse_texture: Any = None
    vis_mode: str | None = None
    ROUGHNESS: ClassVar[float] = 0.5
    METALLIC: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        """Raise if values are impossible for a surface.

        Raises:
            ValueError: the message has the argument.
            TypeError: a texture is not a `Texture`.
        """
        owner = type(self).__name__
        if not isinstance(self.diffuse_texture, ImageTexture | ColorTexture | None):
            raise TypeError(f"{owner}: diffuse_texture={self.diffuse_texture!r}: expected an ImageTexture")
        if isinstance(self.diffuse_texture, ColorTexture) and self.color is None:
            put(self, color=self.diffuse_texture.color)
        if self.color is not None:
            parts = _color(owner, "color", self.color)
            put(
                self, color=parts[:3], opacity=self.opacity if len(parts) == 3 or self.opacity is not None else parts[3]
            )
        if self.emissive is not None:
            put(self, emissive=numbers(owner, "emissive", self.emissive, 3))
        put_numbers(self, "opacity", "roughness", "metallic", least=0.0, most=1.0)
        put_numbers(self, "ior", least=1.0)
        if self.vis_mode not in (None, *RIGID_MODES, *MATTER_MODES):
            raise ValueError(
                f"{owner}: vis_mode={self.vis_mode!r}: it is {' or '.join(map(repr, RIGID_MODES))}, of matter "
                f"{' or '.join(map(repr, MATTER_MODES))}"
            )


def _color(owner: str, name: str, given: Numbers) -> tuple[float, ...]:
    count = 4 if hasattr(given, "__len__") and len(given) == 4 else 3
    color = numbers(owner, name, given, count)
    if not all(0.0 <= part <= 1.0 for part in color):
        raise ValueError(f"{owner}: {name}={given!r}: parts of a color are from 0 to 1")
    return color


@record
class Default(Surface):
    """A surface without settings: the file's colours, or a light grey."""


@record
class Plastic(Surface):
    """A plastic."""

    ROUGHNESS: ClassVar[float] = 0.5


@record
class Rough(Plastic):
    """A rough plastic, like chalk."""

    ROUGHNESS: ClassVar[float] = 1.0


@record
class Smooth(Plastic):
    """A smooth plastic."""

    ROUGHNESS: ClassVar[float] = 0.1


@record
class Reflective(Plastic):
    """A polished plastic."""

    ROUGHNESS: ClassVar[float] = 0.01


@record
class Collision(Plastic):
    """The look of collision geoms: `vis_mode` is "collision"."""

    color: Any = (0.5, 0.5, 0.5)
    vis_mode: str | None = "collision"


@record
class BSDF(Surface):
    """A surface whose numbers are all given."""


@record
class Glass(Surface):
    """Glass: clear, and it refracts in path tracing."""

    opacity: float | None = 0.3
    ior: float | None = 1.5
    ROUGHNESS: ClassVar[float] = 0.0


@record
class Water(Glass):
    """Water."""

    color: Any = (0.61, 0.98, 0.93)
    ior: float | None = 1.33


@record
class Emission(Surface):
    """A surface that shines."""

    emissive: Any = (1.0, 1.0, 1.0)


@record
class Metal(Surface):
    """A metal.

    Attributes:
        metal_type: "iron", "aluminium", "copper" or "gold", whose colour it has unless it has a `color`.
    """

    metal_type: str = "iron"
    ROUGHNESS: ClassVar[float] = 0.1
    METALLIC: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        """Refuse an unknown metal; errors as in `Surface`."""
        if self.metal_type not in METALS:
            raise ValueError(f"{type(self).__name__}: metal_type={self.metal_type!r}{nearest(self.metal_type, METALS)}")
        if self.color is None:
            put(self, color=METALS[self.metal_type])
        super().__post_init__()


@record
class Iron(Metal):
    """Iron."""


@record
class Aluminium(Metal):
    """Aluminium."""

    metal_type: str = "aluminium"


@record
class Copper(Metal):
    """Copper."""

    metal_type: str = "copper"


@record
class Gold(Metal):
    """Gold."""

    metal_type: str = "gold"


def says_nothing(surface: Surface) -> bool:
    """Return True for a surface that leaves the look of a file as it is."""
    return type(surface) is Default and surface == Default(vis_mode=surface.vis_mode)

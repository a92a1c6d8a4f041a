"""Shapes of one geom: boxes, spheres, cylinders, capsules, ellipsoids and planes."""

from typing import Any, ClassVar

from ..checks import lengths, mask, numbers
from ..records import put, put_numbers, record
from .morph import ALL_BITS, Morph


@record
class Primitive(Morph):
    """A shape of one geom.

    Attributes:
        fixed: whether it stands still; else it is free to move.
        contype, conaffinity: bit masks: two geoms touch if a bit of one's contype is in the other's conaffinity.
    """

    fixed: bool = False
    contype: int = ALL_BITS
    conaffinity: int = ALL_BITS

    def __post_init__(self) -> None:
        """Refuse masks and sizes that are invalid; errors as in `Morph`."""
        super().__post_init__()
        owner = type(self).__name__
        put_numbers(self, *(name for name in ("radius", "height") if hasattr(self, name)), above=0.0)
        put(self, contype=mask(owner, "contype", self.contype))
        put(self, conaffinity=mask(owner, "conaffinity", self.conaffinity))


@record
class Box(Primitive):
    """A box.

    Attributes:
        size: edges along x, y and z, (3,) m, with `pos` its middle; or
        lower, upper: its corners, (3,) m each, in the frame of `pos` and `euler` if these are given.
    """

    size: Any = None
    lower: Any = None
    upper: Any = None
    NAME: ClassVar[str] = "box"

    def __post_init__(self) -> None:
        """Refuse a box without a size; errors as in `Morph`."""
        super().__post_init__()
        if (self.lower is None) != (self.upper is None) or (self.size is None) == (self.lower is None):
            raise ValueError("Box: give either size, or both lower and upper")
        if self.size is not None:
            put(self, size=lengths("Box", "size", self.size, 3))
            return
        lower, upper = numbers("Box", "lower", self.lower, 3), numbers("Box", "upper", self.upper, 3)
        if not all(low < high for low, high in zip(lower, upper, strict=True)):
            raise ValueError(f"Box: lower={lower} must be below upper={upper} along every axis")
        put(self, lower=lower, upper=upper)
        put(self, size=tuple(high - low for low, high in zip(lower, upper, strict=True)))
        put(self, pos=tuple((low + high) / 2 for low, high in zip(lower, upper, strict=True)))


@record
class Sphere(Primitive):
    """A sphere.

    Attributes:
        radius: m.
    """

    radius: float = 0.5
    NAME: ClassVar[str] = "sphere"


@record
class Cylinder(Primitive):
    """A cylinder along z.

    Attributes:
        radius: m.
        height: from end to end, m.
    """

    radius: float = 0.5
    height: float = 1.0
    NAME: ClassVar[str] = "cylinder"


@record
class Capsule(Primitive):
    """A capsule along z.

    Attributes:
        radius: m.
        height: of its cylindrical part, m: from end to end it is `height + 2 * radius`.
    """

    radius: float = 0.5
    height: float = 1.0
    NAME: ClassVar[str] = "capsule"


@record
class Ellipsoid(Primitive):
    """An ellipsoid.

    Attributes:
        size: from end to end along x, y and z, (3,) m.
    """

    size: Any = (1.0, 1.0, 1.0)
    NAME: ClassVar[str] = "ellipsoid"

    def __post_init__(self) -> None:
        """Raise if sizes are invalid; errors as in `Morph`."""
        super().__post_init__()
        put(self, size=lengths("Ellipsoid", "size", self.size, 3))


@record
class Plane(Primitive):
    """A plane without end, which never moves.

    Attributes:
        normal: direction of its upper side, (3,), of any length but 0.
        plane_size: how much of it is drawn, (2,) m.
        tile_size: of its drawn pattern, (2,) m.
    """

    fixed: bool = True
    normal: Any = (0.0, 0.0, 1.0)
    plane_size: Any = (1000.0, 1000.0)
    tile_size: Any = (1.0, 1.0)
    NAME: ClassVar[str] = "plane"

    def __post_init__(self) -> None:
        """Refuse a plane that moves, or has no direction; errors as in `Morph`."""
        super().__post_init__()
        put(self, normal=numbers("Plane", "normal", self.normal, 3))
        if not any(self.normal):
            raise ValueError(f"Plane: normal={self.normal}: it must have a length")
        if not self.fixed:
            raise ValueError("Plane: fixed=False: a plane has no end and no mass, it cannot move")
        put(self, plane_size=lengths("Plane", "plane_size", self.plane_size, 2))
        put(self, tile_size=lengths("Plane", "tile_size", self.tile_size, 2))

"""Shapes of entities: what `Scene.add_entity` is given first.

Lengths are full (a box's `size`, a cylinder's `height`), in metres. Angles of `euler` are in degrees, about the world's
x, then y, then z axis; quaternions have w first. All arguments are keywords. What no shape can have is refused when the
morph is made.
"""

import os
from collections.abc import Mapping
from typing import Any, ClassVar

from .checks import lengths, mask, number, numbers
from .poses import quat_of_euler, unit_quat
from .records import put, record

ALL_BITS = 0xFFFF


@record
class Morph:
    """A shape and the pose at which its entity begins.

    Attributes:
        pos: position of the entity, (3,) m.
        euler: angles, (3,) degrees; or
        quat: a quaternion, (4,), w first, of any length but 0.
        visualization: whether it is drawn.
        collision: whether it touches anything.
    """

    pos: Any = (0.0, 0.0, 0.0)
    euler: Any = None
    quat: Any = None
    visualization: bool = True
    collision: bool = True
    NAME: ClassVar[str] = "morph"

    def __post_init__(self) -> None:
        """Refuse a pose that is none.

        Raises:
            ValueError: with the argument.
        """
        owner = type(self).__name__
        if self.pos is not None:
            put(self, pos=numbers(owner, "pos", self.pos, 3))
        if self.euler is not None:
            if self.quat is not None:
                raise ValueError(f"{owner}: give euler or quat, not both")
            put(self, euler=numbers(owner, "euler", self.euler, 3))
            put(self, quat=tuple(quat_of_euler(self.euler).tolist()))
        elif self.quat is not None:
            quat = numbers(owner, "quat", self.quat, 4)
            if not any(quat):
                raise ValueError(f"{owner}: quat={self.quat!r}: a quaternion must have a length")
            put(self, quat=tuple(unit_quat(quat).tolist()))
        if not self.visualization and not self.collision:
            raise ValueError(f"{owner}: visualization and collision cannot both be False: nothing would be left")

    @property
    def place(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Position (3,) m and quaternion (4,) at which the entity begins."""
        return self.pos or (0.0, 0.0, 0.0), self.quat or (1.0, 0.0, 0.0, 0.0)


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
        """Refuse masks that are none; errors are those of `Morph`."""
        super().__post_init__()
        owner = type(self).__name__
        put(self, contype=mask(owner, "contype", self.contype))
        put(self, conaffinity=mask(owner, "conaffinity", self.conaffinity))


@record
class Box(Primitive):
    """A box.

    Attributes:
        size: edges along x, y and z, (3,) m, with `pos` its middle; or
        lower, upper: its corners, (3,) m each, in the frame of `pos` and `euler` if those are given.
    """

    size: Any = None
    lower: Any = None
    upper: Any = None
    NAME: ClassVar[str] = "box"

    def __post_init__(self) -> None:
        """Refuse a box without a size; errors are those of `Morph`."""
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

    def __post_init__(self) -> None:
        """Refuse a radius that is none; errors are those of `Morph`."""
        super().__post_init__()
        put(self, radius=number("Sphere", "radius", self.radius, above=0.0))


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

    def __post_init__(self) -> None:
        """Refuse sizes that are none; errors are those of `Morph`."""
        super().__post_init__()
        put(self, radius=number("Cylinder", "radius", self.radius, above=0.0))
        put(self, height=number("Cylinder", "height", self.height, above=0.0))


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

    def __post_init__(self) -> None:
        """Refuse sizes that are none; errors are those of `Morph`."""
        super().__post_init__()
        put(self, radius=number("Capsule", "radius", self.radius, above=0.0))
        put(self, height=number("Capsule", "height", self.height, above=0.0))


@record
class Ellipsoid(Primitive):
    """An ellipsoid.

    Attributes:
        size: from end to end along x, y and z, (3,) m.
    """

    size: Any = (1.0, 1.0, 1.0)
    NAME: ClassVar[str] = "ellipsoid"

    def __post_init__(self) -> None:
        """Refuse sizes that are none; errors are those of `Morph`."""
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
        """Refuse a plane that moves, or has no direction; errors are those of `Morph`."""
        super().__post_init__()
        put(self, normal=numbers("Plane", "normal", self.normal, 3))
        if not any(self.normal):
            raise ValueError(f"Plane: normal={self.normal}: it must have a length")
        if not self.fixed:
            raise ValueError("Plane: fixed=False: a plane has no end and no mass, it cannot move")
        put(self, plane_size=lengths("Plane", "plane_size", self.plane_size, 2))
        put(self, tile_size=lengths("Plane", "tile_size", self.tile_size, 2))


@record
class FileMorph(Morph):
    """A shape from a file.

    Attributes:
        file: its path; one that is not found is looked for among `tumble.assets` as well.
        scale: metres in the file's unit of length.
        convexify: whether meshes touch as convex shapes (None: yes); False: as they are, by distance fields.
        decompose_object_error_threshold: how much larger than a mesh its hull may be, as a share of its volume, before
            an object without joints is taken apart into convex pieces.
        decompose_robot_error_threshold: the same for entities with joints.
        coacd_options: options of `coacd.run_coacd`, by name.
    """

    file: Any = ""
    scale: Any = 1.0
    convexify: bool | None = None
    decompose_object_error_threshold: float = 0.15
    decompose_robot_error_threshold: float = float("inf")
    coacd_options: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Refuse a file without a name, and a scale that is none; errors are those of `Morph`."""
        super().__post_init__()
        owner = type(self).__name__
        if not isinstance(self.file, str | os.PathLike) or not os.fspath(self.file):
            raise ValueError(f"{owner}: file={self.file!r}: expected the path of a file")
        put(self, file=os.fspath(self.file))
        for name in ("decompose_object_error_threshold", "decompose_robot_error_threshold"):
            put(self, **{name: number(owner, name, getattr(self, name), least=0.0, infinite=True)})
        self._check_scale(owner)

    def _check_scale(self, owner: str) -> None:
        put(self, scale=number(owner, "scale", self.scale, above=0.0))


@record
class Mesh(FileMorph):
    """A body from a file of triangles: obj, stl, glb, gltf, ply, off or dae.

    Attributes:
        scale: metres in the file's unit of length, or three of them, along x, y and z.
        fixed: whether it stands still.
        contype, conaffinity: as of `Primitive`.
        file_meshes_are_zup: whether z points up in the file; None: as its format has it (glTF: y, others: z).
    """

    fixed: bool = False
    contype: int = ALL_BITS
    conaffinity: int = ALL_BITS
    file_meshes_are_zup: bool | None = None
    NAME: ClassVar[str] = "mesh"

    def __post_init__(self) -> None:
        """Refuse masks that are none; errors are those of `FileMorph`."""
        super().__post_init__()
        put(self, contype=mask("Mesh", "contype", self.contype))
        put(self, conaffinity=mask("Mesh", "conaffinity", self.conaffinity))

    def _check_scale(self, owner: str) -> None:
        each = [self.scale] * 3 if isinstance(self.scale, int | float) else self.scale
        put(self, scale=lengths(owner, "scale", each, 3))


@record
class MJCF(FileMorph):
    """The bodies of an MJCF file, with its joints, actuators, tendons, equalities and sensors.

    Attributes:
        pos, euler, quat: moves all that is in the file; None: it stays where the file has it.
        default_armature: armature of joints that the file gives none, kg m2 or kg; None: as in the file.
        exclude_ground_plane: whether planes of the file's world are left out.
    """

    pos: Any = None
    default_armature: float | None = None
    exclude_ground_plane: bool = False
    NAME: ClassVar[str] = "mjcf"

    def __post_init__(self) -> None:
        """Refuse an armature that is none; errors are those of `FileMorph`."""
        super().__post_init__()
        if self.default_armature is not None:
            put(self, default_armature=number("MJCF", "default_armature", self.default_armature, least=0.0))


PRIMITIVES = (Box, Sphere, Cylinder, Capsule, Ellipsoid, Plane)

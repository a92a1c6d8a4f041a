"""A robot as its URDF file describes it: links, joints, shapes, with the lines they stand in."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

MOVING = {"revolute": 1, "continuous": 1, "prismatic": 1, "planar": 3, "floating": 6, "spherical": 3}
"""Joint types that move, and their degrees of freedom."""
TYPES = ("fixed", *MOVING)
WORLD = "world"
"""Name of a root link that is the world itself."""
FARTHEST = 1e9
"""No length, angle or mass of a robot is larger; a number that is larger has lost its decimal point."""


@dataclass(frozen=True, eq=False)
class Pose:
    """A frame in another: rotation (3, 3), and position (3,) in m."""

    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def __matmul__(self, other: "Pose") -> "Pose":
        """Return a pose in this frame as a pose in the frame that this one is in."""
        return Pose(self.rotation @ other.rotation, self.rotation @ other.position + self.position)

    def inverse(self) -> "Pose":
        """Return the pose of the other frame in this one."""
        return Pose(self.rotation.T, -self.rotation.T @ self.position)


@dataclass(frozen=True, eq=False)
class Inertial:
    """Mass (kg), centre of mass and axes in the link's frame, and inertia (3, 3) (kg m^2) about it in these axes."""

    mass: float
    pose: Pose
    inertia: np.ndarray
    line: int


@dataclass(frozen=True)
class ShapeMaterial:
    """The material of a shape: its colour (4), and the file of its texture."""

    rgba: tuple[float, ...] | None = None
    texture: str | None = None
    line: int = 0


@dataclass(eq=False)
class Shape:
    """A visual or collision element.

    Attributes:
        kind: "box", "capsule", "cylinder", "mesh", "plane" or "sphere".
        size: full sides of a box; radius and length of a cylinder or capsule; radius of a sphere; normal of a plane;
            scale (3,) of a mesh. m.
        pose: in the link's frame.
        name: as the file says; "" if it says none.
        file: of a mesh, as the URDF file writes it.
        path: where that was found.
    """

    kind: str
    size: np.ndarray
    pose: Pose
    line: int
    name: str = ""
    file: str = ""
    path: Path | None = None
    look: ShapeMaterial | None = None


@dataclass(eq=False)
class Link:
    """A link; `friction` applies to its collision shapes, if the link has one."""

    name: str
    line: int
    inertial: Inertial | None = None
    visuals: list[Shape] = field(default_factory=list)
    collisions: list[Shape] = field(default_factory=list)
    friction: float | None = None


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: position = offset + multiplier * that of the other."""

    joint: str
    multiplier: float
    offset: float
    line: int


@dataclass(eq=False)
class Joint:
    """A joint.

    Attributes:
        kind: one of `TYPES`.
        pose: of the child in the frame of the parent, with the joint at 0.
        axis: unit vector in the child's frame.
        limits: lower and upper (rad or m); None: no limits.
        effort: the largest force or torque, N or N m; 0: there is no limit.
        velocity: the largest speed, rad/s or m/s; 0: there is no limit.
        damping, friction: N s/m or N m s/rad; N or N m.
    """

    name: str
    kind: str
    parent: str
    child: str
    line: int
    pose: Pose = field(default_factory=Pose)
    axis: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    limits: tuple[float, float] | None = None
    effort: float = 0.0
    velocity: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None


@dataclass(eq=False)
class Robot:
    """Links and joints by name, in the file's order; `root` is the link without a parent.

    `meshdir`, `strippath` and `balance` are the settings of a <mujoco><compiler> in the file for mesh files and
    inertia.
    """

    name: str
    line: int
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    root: str = ""
    meshdir: str = ""
    strippath: bool = False
    balance: bool = False

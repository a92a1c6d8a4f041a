"""Shapes of entities: the first argument of `Scene.add_entity`.

Lengths are full (a box's `size`, a cylinder's `height`), in metres. Angles of `euler` are in degrees, about the world's
x, then y, then z axis; quaternions have w first. All arguments are keywords. Impossible values are refused when the
morph is made.
"""

from .files import MJCF, URDF, Drone, FileMorph, Mesh
from .morph import Morph, Nowhere
from .primitives import Box, Capsule, Cylinder, Ellipsoid, Plane, Primitive, Sphere
from .terrain import Terrain

PRIMITIVES = (Box, Sphere, Cylinder, Capsule, Ellipsoid, Plane)

__all__ = [
    "MJCF",
    "URDF",
    "Box",
    "Capsule",
    "Cylinder",
    "Drone",
    "Ellipsoid",
    "FileMorph",
    "Mesh",
    "Morph",
    "Nowhere",
    "Plane",
    "Primitive",
    "Sphere",
    "Terrain",
]

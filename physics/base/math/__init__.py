"""Mathematics on lanes, independent of model and state.

Conventions of this room: quaternions are (w, x, y, z) and of unit length; a matrix is stored by rows; a spatial vector
is (rotation, translation), expressed in the world frame about a reference point that both operands share (Featherstone,
Rigid Body Dynamics Algorithms, chapter 2).

A *lane* is one of W environments that a kernel computes side by side, one per place of a SIMD register. A *lane number*
is W numbers, one per lane. A *lane value* is made of lane numbers: the types here (`Vec3`, `Quat`, ...) are plain
Python classes that exist while Taichi traces a kernel, so that an expression such as `q.rotate(r) + p` becomes
straight-line arithmetic on lanes and costs nothing at run time. A *mask* is a lane number of ones and zeros.
"""

from .func import func, with_types
from .lanes import Lanes
from .quaternion import Quat
from .spatial import SpatialInertia, SpatialMotion
from .vector import Mat3, Sym3, Vec3

__all__ = ["Lanes", "Mat3", "Quat", "SpatialInertia", "SpatialMotion", "Sym3", "Vec3", "func", "with_types"]

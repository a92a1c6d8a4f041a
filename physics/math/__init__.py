"""Pure mathematics in lanes: knows no model and no state.

Conventions of this room: quaternions are (w, x, y, z) and of unit length; a matrix is stored by
rows; a spatial vector is (rotation, translation), expressed in the world frame about a reference
point that both operands share (Featherstone, Rigid Body Dynamics Algorithms, chapter 2).

A *lane value* is one number for each of W environments. The types here (`Vec3`, `Quat`, ...) are
plain Python classes that exist while Taichi traces a kernel: an expression such as
`q.rotate(r) + p` becomes straight-line arithmetic on lanes and costs nothing at run time.
"""

from .func import func, with_types
from .lanes import Lanes
from .quaternion import Quat
from .spatial import Inertia, Motion
from .vector import Mat3, Sym3, Vec3

__all__ = ["Inertia", "Lanes", "Mat3", "Motion", "Quat", "Sym3", "Vec3", "func", "with_types"]

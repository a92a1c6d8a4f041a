"""Kinds of geoms: a file each, and their table. Rooms above loop over the table, and name no kind.

A kind's file may define these names; what it lacks, it does not have. Functions take MuJoCo's `geom_size` (m) and are
in the geom's own frame. Pairs with a closed form are `model/pair_table.py`'s.

On the host, in numpy:
- `NUMBERS`: names of its sizes, or of its row of `GeometryStore.data`.
- `half_sides(size)`: half the sides (..., 3) of a box about its origin that holds it; else mjModel's geom_aabb has it.
- `reach(size)`: radius (...) of a sphere about its origin that holds it, 0 if it is endless; else its triangles say it.
- `bulk(size)`: half length and radius of a capsule about z that dims the sky's light in pictures as it does.

In torch: `extents(turn, size)`: half the sides (n, k, 3) of the box along the world's axes, from rotations
(n, k, 3, 3).

In torch and in kernels: `inside(p, size, clip)`: if a point is strictly inside (mju_insideGeom).

In kernels:
- `entry(size, origin, direction)`: the distance at which a ray enters it, by the conventions of `ray.py`.
- `normal(size, point)`: the direction of its surface, of any length, at a point of it; else it is z.
- `support(model, lanes, g, size, d)`: the point of its core that is farthest along d, and the number of that corner.
- `ROUNDED`: its core is a point or a segment; its surface is geom_size[0] away from there.
- `CURVED`: its core is not the hull of some corners.
"""

from types import ModuleType
from typing import Any

import mujoco

from . import box, capsule, cylinder, ellipsoid, mesh, plane, sphere

SHAPES: tuple[ModuleType, ...] = (mesh, box, cylinder, ellipsoid, capsule, sphere, plane)
"""All kinds that contacts and rays meet; a kernel asks for them in this order."""


def _kind(shape: ModuleType) -> int:
    return int(getattr(mujoco.mjtGeom, f"mjGEOM_{shape.__name__.rpartition('.')[2].upper()}"))


KINDS = MESH, BOX, CYLINDER, ELLIPSOID, CAPSULE, SPHERE, PLANE = tuple(map(_kind, SHAPES))
"""Their mjtGeom."""


def of_kinds(name: str) -> dict[int, Any]:
    """Return what the kinds define by a name, by their mjtGeom."""
    return {kind: vars(shape)[name] for kind, shape in zip(KINDS, SHAPES, strict=True) if name in vars(shape)}


HALF_SIDES, INSIDES, ENTRIES, NORMALS, SUPPORTS = map(of_kinds, ("half_sides", "inside", "entry", "normal", "support"))
ROUNDED, CURVED = (tuple(of_kinds(name)) for name in ("ROUNDED", "CURVED"))

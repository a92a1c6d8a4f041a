"""Kinds of geoms: a file each, and their table, `SHAPES`. Rooms above loop over the table.

A kind's file defines these names; what it lacks, it does not have. Sizes are MuJoCo's `geom_size` (m), and functions
are in the geom's own frame. Pairs with a closed form are in `model/pair_table.py`.

On the host, in numpy:
- `NUMBERS`: names of its sizes, or of its row of `GeometryStore.data`.
- `half_sides(size)`: half the sides (..., 3) of the box about its origin that holds it, if these are not its sizes.
- `reach(size)`: radius (...) of a sphere about its origin that holds it, 0 if it is endless; else its triangles say it.
- `bulk(size)`: half length and radius of a capsule about z that stands for it where the sky's light is dimmed.

In torch:
- `extents(turn, size)`: half the sides (n, k, 3) of its box along the world's axes, from rotations (n, k, 3, 3).
- `vertices(size)`: its corners (n, m, 3), if they follow from its sizes.
- `inside(p, size, clip)`: if a point is strictly inside (mju_insideGeom); `p` and `size` have x, y, z. In kernels too.

In kernels:
- `entry(size, origin, direction)`: the distance at which a ray enters it, by the conventions of `ray.py`.
- `crossing(size, origin, direction)`: the same for a ray that begins anywhere, of what has no centre (planes).
- `normal(size, point)`: the direction of its surface, of any length, at a point of it; else it is z.
- `support(model, lanes, g, size, d)`: the point of its core that is farthest along d, and the number of that corner.
- `ROUNDED`: its core is a point or a segment, and its surface geom_size[0] away from there.
- `CURVED`: its core is not the hull of some corners.

In kernels, of shapes with flat sides or edges (`collision/flat_sides.py`; geom g is number `side` of its pair):
- `corner(model, one, g, side, mark, point)`: the corner with a number, which support found at a point.
- `list_faces(model, one, g, side, row, size, marks, outward)`: list the faces that all of the first `size` corners have
  in ccd_flat and ccd_flat_face from `row` on; their number.
- `face_size(model, face)`, `face_corner(model, one, g, face, k)`: how many corners a face has, if not 4, and each.
- `edges_at(model, g, mark)`: how many edges begin at a corner, if not one.
- `edge_end(model, one, g, side, size, mark, trial, begin, end)`: the end of edge `trial`; `end` if both are known.
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

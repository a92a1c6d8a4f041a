"""Kinds of geoms: one file for each, and their table, `SHAPES`. Rooms above loop over the table.

A kind's file defines the names below that apply to it. Sizes are MuJoCo's `geom_size` (m), and functions
are in the geom's frame. Pairs with a closed form are in `mechanics/collision/pair_table.py`.

On the host, in numpy:
- `NUMBERS`: names of its sizes, or of its row of `GeometryStore.data`.
- `half_sides(size)`: half sides (..., 3) of the box around it, centred at its origin, if these are not its sizes.
- `reach(size)`: radius (...) of the sphere around it, centred at its origin, 0: infinite; meshes use their triangles.
- `area(size)`: area of its surface, m^2; 0 if it has no end.
- `bulk(size)`: half lengths and radii (...) of capsules about z that replace it in the occlusion of the sky's light.

In torch:
- `extents(turn, size)`: half sides (n, k, 3) of its box along the world's axes, from rotations (n, k, 3, 3).
- `vertices(size)`: its corners (n, m, 3), if they follow from its sizes.
- `inside(p, size, clip)`: True if a point is strictly inside (mju_insideGeom); `p` and `size` have x, y, z. In kernels
  too.

In kernels:
- `entry(size, origin, direction)`: distance at which a ray enters it, by the conventions of `ray.py`.
- `crossing(size, origin, direction)`: the same for a ray from any point, for a kind without a centre (planes).
- `normal(size, point)`: outward direction of its surface, of any length, at a point of it; without it, z.
- `unwrapped(size, point)`: where a flat texture lies on it, at a point of its surface: two numbers, (0, 0) and (1, 1)
  at the image's first and last texel.
- `spot(size, which, u, v)`: a random point of its surface, and the outward direction there, by numbers in [0, 1).
- `spot_density(size, point)`: density per area with which `spot` finds a point, if that is not one over the area.
- `distance(lanes, size, p)`: signed distance of a point of one lane from its surface, and the direction away from it.
- `edges(size)`, `edge(lanes, size, k)`: the number of straight edges of its core, and both ends of each.
- `support(model, lanes, g, size, d)`: the point of its core that is farthest along d, and the number of that corner.
- `ROUNDED`: defined if its core is a point or a segment, and its surface geom_size[0] away from there.
- `CURVED`: defined if its core is not the hull of finitely many corners.
- `half_core(model, lanes, g)`: half the length of a core that is a segment along z.
- `lowest_points(model, g)` and `lowest(model, lanes, g, size, down, k)`, of the kinds with an extent that are not
  ROUNDED: the number of points that can be lowest against a plane, and each of them; `down` points into the plane.
- `span(model, lanes, g, start, direction)`, of a kind without `entry`: distances at which a line enters and leaves it.

In kernels, of shapes with flat sides or edges (`convex/flat_sides.py`; geom g is number `side` of its pair):
- `corner(model, one, g, side, mark, point)`: the corner with a number, which support found at a point.
- `list_faces(model, one, g, side, row, size, marks, outward)`: store the faces that all of the first `size` corners
  have in ccd_flat and ccd_flat_face, from `row` on; return their number.
- `face_size(model, face)`, `face_corner(model, one, g, face, k)`: number of corners of a face, if not 4, and each.
- `edges_at(model, g, mark)`: number of edges at a corner, if not 1.
- `edge_end(model, one, g, side, size, mark, trial, begin, end)`: the end of edge `trial`; `end` if both are known.
"""

from types import ModuleType
from typing import Any

import mujoco

from . import box, capsule, cylinder, ellipsoid, hfield, mesh, plane, sphere

SHAPES: tuple[ModuleType, ...] = (mesh, box, cylinder, ellipsoid, capsule, sphere, plane)
"""All kinds for contacts and rays, in the order of the branches of a kernel."""


def _kind(shape: ModuleType) -> int:
    """Return the mjtGeom of a kind, from the name of its file."""
    return int(getattr(mujoco.mjtGeom, f"mjGEOM_{shape.__name__.rpartition('.')[2].upper()}"))


KINDS = MESH, BOX, CYLINDER, ELLIPSOID, CAPSULE, SPHERE, PLANE = tuple(map(_kind, SHAPES))
"""The mjtGeom of each of them."""


HFIELD = _kind(hfield)
"""Height fields, which are neither convex nor met by rays as the others are, and so are not in SHAPES."""
SEEN = (*KINDS, HFIELD)
"""The mjtGeom of all that rays meet and pictures show, with meshes in place of SDF."""
SDF = int(mujoco.mjtGeom.mjGEOM_SDF)
"""Meshes that collide by their distance field; for all else they are as other meshes."""
WITH_FIELDS = (MESH, SDF)
"""Kinds that have a distance field between nodes, if one of a pair is of the kind SDF."""


def of_kinds(name: str) -> dict[int, Any]:
    """Return the definitions of a name in the kinds' files, by mjtGeom."""
    return {kind: vars(shape)[name] for kind, shape in zip(KINDS, SHAPES, strict=True) if name in vars(shape)}


HALF_SIDES, INSIDES, ENTRIES, NORMALS, SUPPORTS = map(of_kinds, ("half_sides", "inside", "entry", "normal", "support"))
UNWRAPPED = of_kinds("unwrapped")
AREAS, SPOTS, SPOT_DENSITIES = map(of_kinds, ("area", "spot", "spot_density"))
DISTANCES, EDGE_COUNTS, EDGES = map(of_kinds, ("distance", "edges", "edge"))
LOWEST_POINTS, LOWEST, HALF_CORES, SPANS = map(of_kinds, ("lowest_points", "lowest", "half_core", "span"))
ROUNDED, CURVED = (tuple(of_kinds(name)) for name in ("ROUNDED", "CURVED"))

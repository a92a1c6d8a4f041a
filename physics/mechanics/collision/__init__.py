"""Collision detection: contacts between geoms.

The normal points from geom 1 to geom 2, geom 1 being the one of the smaller type (MuJoCo's order). A distance is
negative if the geoms penetrate; the contact point lies midway between the two surfaces. Units: metres.

Words of this room:

- The *detection distance* of a pair is the sum of both margins and gaps: geoms farther apart have no contact.
- *Explicit pairs* come from MJCF's `<contact><pair>`, and each has its contact parameters (`explicit_pairs`).
- A pair is *near* in a lane if bounding spheres and boxes are within the detection distance there; a *work list* holds
  the pairs that are near in some lane (`work_list`).
- Routines with branches run in one lane after the other. There `one` is the view of the scratch in that lane.
- A *core* is a shape without its radius: the centre of a sphere, the segment of a capsule (`support`).
- `ccd_` fields belong to the search of `gjk`, `epa` and `mpr` (convex collision detection, as MuJoCo names it).
"""

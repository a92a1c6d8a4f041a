"""Height fields: the ground under a grid of heights, down to a base.

Vertex (r, c) of a field of nrow x ncol heights is at x = -radius_x + c dx, y = -radius_y + r dy, at its height above
z = 0. The diagonal of cell (r, c), between vertices (r, c) and (r + 1, c + 1), divides it into two triangles.
"""

from ..math import func
from ..math.vector import zero_vector

NUMBERS = ("radius_x", "radius_y", "elevation", "base")


@func
def farthest_of_piece(one, d):
    """Return the farthest corner of the current piece of a field along d, the first of several, and its number."""
    best, found, mark = one.ccd_lanes.real(-1e30), zero_vector(one.ccd_lanes), 0
    for k in range(one.piece_size[0]):
        corner = one.piece_corner[k]
        height = d.dot(corner)
        if height > best:
            best, mark = height, k
            found = corner
    return found, mark

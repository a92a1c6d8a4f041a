"""The heights of a terrain in a task's own arrays: under robots, around them, and where the field ends."""

from ...terrain import Terrain
from ..arrays import Array, namespace
from .task import Task


class Ground:
    """The surface of a terrain that was added to a task's model, for n environments at once.

    Heights are exact on the field's triangles, as `Terrain.height_at` has them, and need no rays. Geoms on the
    field are not in them; `Task.rays` hits them. Make one in `bind`: `self.ground = Ground(terrain, self)`.

    Args:
        terrain: the terrain.
        task: a bound task, whose arrays are computed with.
    """

    def __init__(self, terrain: Terrain, task: Task) -> None:
        self._heights = task.array(terrain.heights.reshape(-1))
        self._shape, self._size = terrain.heights.shape, terrain.size

    def height(self, xy: Array) -> Array:
        """Return the ground's height at places (n, ..., 2) m, (n, ...) m; outside of the field that of its edge."""
        xp, (nrow, ncol) = namespace(xy), self._shape
        col, u = _cell((xy[..., 0] / self._size[0] + 0.5) * (ncol - 1), ncol)
        row, v = _cell((xy[..., 1] / self._size[1] + 0.5) * (nrow - 1), nrow)
        first = row * ncol + col
        corner, right, up, across = (self._at(first + step) for step in (0, 1, ncol, ncol + 1))
        below = corner + u * (right - corner) + v * (across - right)
        above = corner + v * (up - corner) + u * (across - up)
        return xp.where(u >= v, below, above)

    def above(self, pos: Array) -> Array:
        """Return how high points (n, ..., 3) m are above the ground under them, (n, ...) m.

        A robot's stance and falls are judged by this, not by its height.
        """
        return pos[..., 2] - self.height(pos[..., :2])

    def scan(self, pos: Array, mat: Array, points: Array) -> Array:
        """Return how far below a body the ground lies around it, (n, k) m: a height scan without rays.

        Args:
            pos: places of the body, (n, 3) m, as `xpos` has them.
            mat: its matrices, (n, 9), as `xmat` has them; the points turn only with the heading of its x axis.
            points: (k, 2 or 3) m, such as `self.array(grid_points())`.
        """
        xp = namespace(pos)
        x, y = mat[:, 0], mat[:, 3]
        length = xp.sqrt(x * x + y * y)
        upright = length < 1e-6  # it looks straight up or down
        length = xp.where(upright, 1.0, length)
        cosine, sine = xp.where(upright, 1.0, x / length)[:, None], xp.where(upright, 0.0, y / length)[:, None]
        along, aside = points[:, 0], points[:, 1]
        place = (pos[:, :1] + cosine * along - sine * aside, pos[:, 1:2] + sine * along + cosine * aside)
        return pos[:, 2:3] - self.height(xp.stack(place, axis=-1))

    def outside(self, xy: Array, buffer: float = 0.0) -> Array:
        """Return True where places (n, ..., 2) m are off the field or nearer to its edge than `buffer` m, (n, ...).

        A step hands this out as `truncated`: the episode is cut short, and nothing went wrong. A place that is not a
        number is outside.
        """
        x, y = (abs(xy[..., axis]) <= 0.5 * self._size[axis] - buffer for axis in (0, 1))
        return ~(x & y)

    def _at(self, places: Array) -> Array:
        """Return heights by the numbers of points, in the shape of `places`."""
        xp = namespace(places)
        return xp.reshape(xp.take(self._heights, xp.reshape(places, (-1,)), axis=0), places.shape)


def _cell(place: Array, count: int) -> tuple[Array, Array]:
    """Split places along an axis of `count` points into a cell, int64, and the place in it, 0 to 1.

    A place that is not a number is in the first cell.
    """
    xp = namespace(place)
    known = xp.where(place > 0.0, place, 0.0)
    known = xp.where(known < count - 1.0, known, count - 1.0)
    cell = xp.floor(xp.where(known < count - 2.0, known, count - 2.0))
    return xp.astype(cell, xp.int64), known - cell

"""A quadruped walks over rough ground, slopes, boxes and stairs, on levels that follow from how far it comes."""

from ...terrain import Terrain
from . import grounds
from .on_terrain import OnTerrain
from .quadruped import QuadrupedFlat


class QuadrupedRough(OnTerrain, QuadrupedFlat):
    """The quadruped on waves, rough ground, slopes, boxes and stairs of ten levels, whose heights it sees.

    Actions as in `QuadrupedFlat`. Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-47 | | | as in `QuadrupedFlat` |
    | 48-234 | heights | m | trunk above the ground at 17 x 11 points, less its height in standing, within ±0.5 |

    The points are 0.1 m apart in a rectangle of 1.6 by 1.0 m around the trunk that turns with its heading, row by row:
    from back to front, then from right to left. In `asymmetric=True` both parts have them.

    Rewards as in `QuadrupedFlat`; heights of feet and trunk are above the ground under them. Commands have a
    heading, to which the robot turns at 0.5 rad/s per rad. Levels: `tumble.envs.TerrainLevels`, the first up to
    `max_init_level`; with `curriculum=False` any. Ends as in `QuadrupedFlat`, and is cut short 1 m from the edge. Info
    has `level` too.
    """

    heading_share: float = 1.0
    lin_vel_x: tuple[float, float] = (0.3, 1.0)
    lin_vel_y: tuple[float, float] = (-0.2, 0.2)
    standing_share: float = 0.02
    max_init_level: int = 2
    curriculum: bool = True
    orientation: float = 0.5
    lin_vel_z: float = 0.2
    feet_clearance: float = 0.1
    foot_height: float = 0.1

    def terrain(self) -> Terrain:
        """Return the terrain, which all environments share."""
        return grounds.rough()


class QuadrupedStairs(QuadrupedRough):
    """The quadruped on stairs up and down, in ten levels: steps are 0.02 m high on the first, 0.22 m on the last.

    Actions, observation, rewards, levels and ends as in `QuadrupedRough`.
    """

    def terrain(self) -> Terrain:
        """Return the stairs."""
        return grounds.stairs()

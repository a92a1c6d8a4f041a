"""A biped walks over gentle rough ground, slopes and low stairs, on levels that follow from how far it comes."""

from ...terrain import Terrain
from . import grounds
from .biped import BipedFlat
from .on_terrain import OnTerrain


class BipedRough(OnTerrain, BipedFlat):
    """The biped on waves, rough ground, slopes and stairs of up to 0.1 m, in ten levels, whose heights it sees.

    Actions as in `BipedFlat`. Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-49 | | | as in `BipedFlat` |
    | 50-236 | heights | m | pelvis above the ground at 17 x 11 points, less its height in standing, within ±0.5 |

    Points, levels, the commands' headings and the edge are as in `QuadrupedRough`; rewards as in
    `BipedFlat`, with heights above the ground. Info has `level` too.
    """

    heading_share: float = 1.0
    lin_vel_x: tuple[float, float] = (0.3, 0.8)
    lin_vel_y: tuple[float, float] = (-0.2, 0.2)
    standing_share: float = 0.02
    max_init_level: int = 2
    curriculum: bool = True

    def terrain(self) -> Terrain:
        """Return the terrain, which all environments share."""
        return grounds.gentle()

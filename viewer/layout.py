"""The places of environments side by side."""

from typing import Any

import numpy as np


def grid(count: int, spacing: float) -> np.ndarray:
    """Return places (count, 3) m of a near-square grid about the origin, row by row from the back."""
    columns = int(np.ceil(np.sqrt(count)))
    rows = -(-count // columns)
    places = [((i % columns) - (columns - 1) / 2, (rows - 1) / 2 - i // columns, 0.0) for i in range(count)]
    return spacing * np.array(places)


def room(pos: np.ndarray, mj: Any) -> float:
    """Return the metres between environments: what the moving geoms at `pos` (n, ngeom, 3) reach, and some room."""
    moving = np.flatnonzero((mj.body_weldid[mj.geom_bodyid] != 0) & (mj.geom_rbound > 0))
    if not len(moving):
        return 2.0 * float(mj.stat.extent)
    places, radius = pos[:, moving, :2], mj.geom_rbound[moving][None, :, None]
    wide = (places + radius).max(axis=(0, 1)) - (places - radius).min(axis=(0, 1))
    return 1.5 * float(wide.max())

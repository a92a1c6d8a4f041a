"""Height fields for the kernels: heights, convex edges, and a pyramid of the largest heights.

Level 0 of the pyramid has the largest height of each cell; an entry of the next level has the largest of 2 x 2 entries.
So four entries bound the heights under a box of any size.
"""

import mujoco
import numpy as np

from ...base.shapes import HFIELD

ALONG_X, ALONG_Y, DIAGONAL = 1, 2, 4
"""Bits of `hfield_ridge` at a vertex (r, c): the edge to (r, c + 1), (r + 1, c) or (r + 1, c + 1) is convex."""
CORNERS = 6
"""Corners of a prism, the largest piece of a field that is tested at once."""
ROUNDING = 3e-7
"""The share of the elevation by which rounding of single precision moves the corner of a parallelogram of heights."""


def field_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the fields of `model.fields` about height fields; only fields of geoms have heights."""
    used = np.unique(mjm.geom_dataid[mjm.geom_type == HFIELD])
    heights, ridges, peaks = [np.zeros(0)], [np.zeros(0, int)], [np.zeros(0)]
    first, level = np.zeros((2, mjm.nhfield), int)
    slack, places, entries = np.zeros(mjm.nhfield), 0, 0
    starts: list[int] = []
    for k in used:
        field = heights_of(mjm, k)
        first[k], level[k] = places, len(starts)
        slack[k] = ROUNDING * mjm.hfield_size[k, 2] / steps_of(mjm, k).min()
        heights.append(field.ravel())
        ridges.append(_ridges(field, ROUNDING * mjm.hfield_size[k, 2]).ravel())
        places += field.size
        for peak in _pyramid(field):
            starts.append(entries)
            peaks.append(peak.ravel())
            entries += peak.size
    return {
        "geom_hfieldid": np.where(mjm.geom_type == HFIELD, mjm.geom_dataid, 0),
        "hfield_nrow": mjm.hfield_nrow,
        "hfield_ncol": mjm.hfield_ncol,
        "hfield_adr": first,
        "hfield_leveladr": level,
        "level_peakadr": np.array(starts, int),
        "hfield_ridge": np.concatenate(ridges),
        "hfield_size": mjm.hfield_size.copy(),
        "hfield_step": np.array([steps_of(mjm, k) for k in range(mjm.nhfield)]).reshape(-1, 2),
        "hfield_slack": slack,
        "hfield_peak": np.concatenate(peaks),
        "hfield_height": np.concatenate(heights),
    }


def field_sizes(values: dict[str, np.ndarray]) -> dict[str, int]:
    """Return the named sizes of these fields."""
    return {
        "nhfield": len(values["hfield_nrow"]),
        "nhfieldlevel": len(values["level_peakadr"]),
        "nhfieldpeak": len(values["hfield_peak"]),
        "nhfielddata": len(values["hfield_height"]),
    }


def heights_of(mjm: mujoco.MjModel, k: int) -> np.ndarray:
    """Return the heights (nrow, ncol) of field k, m above z = 0 of its geom."""
    shape = int(mjm.hfield_nrow[k]), int(mjm.hfield_ncol[k])
    data = mjm.hfield_data[mjm.hfield_adr[k] :][: np.prod(shape)].reshape(shape)
    return data.astype(float) * mjm.hfield_size[k, 2]


def steps_of(mjm: mujoco.MjModel, k: int) -> np.ndarray:
    """Return the sides (2,) of the cells of field k along x and y (m)."""
    return 2.0 * mjm.hfield_size[k, :2] / (np.array([mjm.hfield_ncol[k], mjm.hfield_nrow[k]]) - 1)


def _ridges(field: np.ndarray, rounding: float) -> np.ndarray:
    """Return the bits (nrow, ncol) of convex edges, among them the border's.

    The two triangles of an edge are a parallelogram seen from above: the edge is convex if its ends are higher, in
    sum, than the two other corners.
    """
    nrow, ncol = field.shape
    bits = np.zeros((nrow, ncol), int)
    along_x = np.full((nrow, ncol - 1), np.inf)
    along_x[1:-1] = field[1:-1, :-1] + field[1:-1, 1:] - field[2:, 1:] - field[:-2, :-1]
    along_y = np.full((nrow - 1, ncol), np.inf)
    along_y[:, 1:-1] = field[:-1, 1:-1] + field[1:, 1:-1] - field[1:, 2:] - field[:-1, :-2]
    diagonal = field[:-1, :-1] + field[1:, 1:] - field[:-1, 1:] - field[1:, :-1]
    bits[:, :-1] += ALONG_X * (along_x > rounding)
    bits[:-1] += ALONG_Y * (along_y > rounding)
    bits[:-1, :-1] += DIAGONAL * (diagonal > rounding)
    return bits


def _pyramid(field: np.ndarray) -> list[np.ndarray]:
    """Return the levels of the pyramid, from the cells to a single entry."""
    levels = [np.maximum.reduce([field[:-1, :-1], field[1:, :-1], field[:-1, 1:], field[1:, 1:]])]
    while levels[-1].size > 1:
        last = levels[-1]
        last = np.pad(last, [(0, n % 2) for n in last.shape], constant_values=-np.inf)
        levels.append(np.maximum.reduce([last[::2, ::2], last[1::2, ::2], last[::2, 1::2], last[1::2, 1::2]]))
    return levels

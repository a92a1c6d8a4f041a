"""Light from beyond all geoms: the sky of the ray caster and its sun, an even colour, or a map of all directions.

The rows of a map go from z down, its columns once around z, from x over y. It is looked at as often as its texels are
bright, by Walker's alias method (ACM Transactions on Mathematical Software 3, 1977).
"""

from typing import Any

import numpy as np
import taichi as ti

from ...base.shapes.ray import PI, turns
from .. import look as rows
from ..cast.raycast import background
from ..rays.traced import Traced
from ..shading import look_row, vec3
from . import settings as at

SKY, EVEN, MAP, LAMPLIT = range(4)
"""Kinds: the look's sky and sun; one colour; a map; the look's sky to see, and the lamps' ambient light on surfaces."""

# columns of `map_table`, a row for each texel
RADIANCE = 0  # 3 columns
KEEP = 3  # probability with which a texel that is drawn is kept
OTHER = 4  # the texel taken if it is not
CHANCE = 5  # probability of the texel, by both
MAP_COLUMNS = 6
MOST_TEXELS = 2**24
"""Texels of a map: single precision holds their numbers."""


def map_table(radiance: np.ndarray) -> np.ndarray:
    """The rows (height * width, MAP_COLUMNS) float32 of a map (height, width, 3)."""
    height, width = radiance.shape[:2]
    edges = np.cos(np.pi * np.arange(height + 1) / height)
    weight = radiance.mean(axis=-1) * (edges[:-1] - edges[1:])[:, None]
    chance = weight.reshape(-1) / max(float(weight.sum()), 1e-30)
    if not weight.any():
        chance = np.full(len(chance), 1.0 / len(chance))
    table = np.zeros((height * width, MAP_COLUMNS), np.float32)
    table[:, RADIANCE : RADIANCE + 3] = radiance.reshape(-1, 3)
    table[:, KEEP], table[:, OTHER] = _alias(chance)
    table[:, CHANCE] = chance
    return table


def _alias(chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Walker's tables: texels below the mean share are filled from texels that have more."""
    count = len(chance)
    keep, other = chance * count, np.arange(count)
    small, large = list(np.flatnonzero(keep < 1.0)), list(np.flatnonzero(keep >= 1.0))
    while small and large:
        less, more = small.pop(), large[-1]
        other[less] = more
        keep[more] -= 1.0 - keep[less]
        if keep[more] < 1.0:
            small.append(large.pop())
    keep[[*small, *large]] = 1.0  # but for rounding
    return keep, other


def as_map(given: Any) -> np.ndarray:
    """Check a map of the surroundings (height, width, 3), and return it as float64.

    Raises:
        ValueError: another shape, too many texels, or numbers below 0.
    """
    found = np.asarray(given, np.float64)
    if found.ndim != 3 or found.shape[2] != 3 or min(found.shape) < 1 or found.shape[0] * found.shape[1] > MOST_TEXELS:
        raise ValueError(
            f"environment: expected a colour (3,) or a map (height, width, 3) of at most {MOST_TEXELS:,} texels, "
            f"not {found.shape}"
        )
    if not np.isfinite(found).all() or found.min() < 0:
        raise ValueError("environment: its light must be finite, and not below 0")
    return found


class Surroundings(Traced):
    """The surroundings in a kernel, with the numbers of `settings.py`."""

    def __init__(self, scene, look, settings, table):
        self.scene, self.look, self.settings, self.table = scene, look, settings, table

    @ti.func
    def texel(self, way):
        """Return the texel of a map in a direction, and the share of its row's solid angle in a whole turn: sine."""
        width, height = ti.cast(self.settings[at.MAP_WIDTH], ti.i32), ti.cast(self.settings[at.MAP_HEIGHT], ti.i32)
        column = ti.min(ti.cast(turns(way) * ti.cast(width, ti.f32), ti.i32), width - 1)
        polar = ti.acos(ti.max(-1.0, ti.min(1.0, way.z))) / PI
        row = ti.min(ti.cast(polar * ti.cast(height, ti.f32), ti.i32), height - 1)
        return row * width + column

    @ti.func
    def texel_angle(self, texel):
        """Solid angle of a texel, and the heights z of its upper and lower edge."""
        width, height = ti.cast(self.settings[at.MAP_WIDTH], ti.i32), self.settings[at.MAP_HEIGHT]
        row = ti.cast(texel // width, ti.f32)
        top, low = ti.cos(PI * row / height), ti.cos(PI * (row + 1.0) / height)
        return 2.0 * PI * (top - low) / ti.cast(width, ti.f32), top, low

    @ti.func
    def seen(self, way, plainly):
        """Radiance (3,) from a direction; `plainly`: seen by the camera directly, or through mirrors and glass only."""
        kind = ti.cast(self.settings[at.KIND], ti.i32)
        found = vec3(self.settings[at.COLOUR], self.settings[at.COLOUR + 1], self.settings[at.COLOUR + 2])
        if kind == MAP:
            texel = self.texel(way)
            found = vec3(self.table[texel, 0], self.table[texel, 1], self.table[texel, 2])
        elif kind == LAMPLIT and not plainly:
            found = vec3(self.settings[at.AMBIENT], self.settings[at.AMBIENT + 1], self.settings[at.AMBIENT + 2])
        elif kind != EVEN:
            found = background(self.scene, self.look, way)
        return found

    @ti.func
    def map_chance(self, way):
        """Density per solid angle with which `choose` finds a direction."""
        texel = self.texel(way)
        angle, _, _ = self.texel_angle(texel)
        return self.table[texel, CHANCE] / angle

    @ti.func
    def choose(self, which, again, u, v):
        """Look for light in a map: a direction, its radiance and density."""
        count = ti.cast(self.settings[at.MAP_WIDTH] * self.settings[at.MAP_HEIGHT], ti.i32)
        texel = ti.min(ti.cast(which * ti.cast(count, ti.f32), ti.i32), count - 1)
        if again >= self.table[texel, KEEP]:
            texel = ti.cast(self.table[texel, OTHER], ti.i32)
        angle, top, low = self.texel_angle(texel)
        width = ti.cast(self.settings[at.MAP_WIDTH], ti.i32)
        z = top + v * (low - top)
        around = 2.0 * PI * (ti.cast(texel % width, ti.f32) + u) / ti.cast(width, ti.f32)
        across = ti.sqrt(ti.max(0.0, 1.0 - z * z))
        way = vec3(across * ti.cos(around), across * ti.sin(around), z)
        radiance = vec3(self.table[texel, 0], self.table[texel, 1], self.table[texel, 2])
        return way, radiance, self.table[texel, CHANCE] / angle

    @ti.func
    def has_sun(self):
        """Return True if there is a sun."""
        return self.settings[at.SUN_SPREAD] > 0.0

    @ti.func
    def sun(self, way):
        """Radiance (3,) of the sun in a direction, 0 outside of its disk."""
        found, spread = vec3(0.0, 0.0, 0.0), self.settings[at.SUN_SPREAD]
        if spread > 0.0:
            off = way - look_row(self.look, rows.SUN_DIRECTION)
            if 0.5 * off.dot(off) < spread:  # 1 - cosine, with all its digits
                found = self.sun_radiance()
        return found

    @ti.func
    def sun_radiance(self):
        """Radiance (3,) of a sun that gives a white surface that faces it the radiance of the look."""
        spread = self.settings[at.SUN_SPREAD]
        return look_row(self.look, rows.SUN_RGB) / (spread * (2.0 - spread))

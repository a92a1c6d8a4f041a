"""The geoms of an environment in eights, which a processor meets side by side: planes, boxes, and boxes around others.

A ray is slow because the processor has to guess branches, and for each geom it guesses several times.
So eight geoms at a time are met by the same arithmetic, without a branch: planes and boxes as they are, of all others
the boxes around them, and only geoms whose box is met are tested further. The plain way to the same
surfaces is `cast.World.meet` of every row.
"""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import taichi as ti

from ...base.shapes import BOX, HALF_SIDES, HFIELD, MESH, PLANE
from ...base.shapes.ray import MISS, slope
from ..rays.mesh_tree import FIRST_NODE
from ..rays.traced import Traced
from ..shown import render_model as columns
from ..shown.appearance import BY_ENV, TREE

if TYPE_CHECKING:
    import torch

WIDE = 8
# columns of the table, each of WIDE numbers
CENTRE = 0  # 3 columns, m
AXES = 3  # 9 columns: the geom's rotation by rows
HALF = 12  # 3 columns: half the sides of its box, m; below 0: nothing is there
ROW = 15  # of the render model
COLUMNS = 16

CLEARLY = 1.00001
"""The factor by which a later geom must be nearer to be seen: surfaces that coincide would speckle at 1."""
_WIDER = 1.0001  # boxes around others than boxes: rounding must not take the edge of a geom off


class GeomPackets(NamedTuple):
    """The places of a model's geoms among eights.

    Attributes:
        rows: (8 k,) rows of the render model, -1: empty.
        by_size: (8 k, 3, 3) float32: half the sides of a geom's box for one metre in one of its sizes.
        more: (8 k, 3) float32: half the sides of boxes that do not follow from sizes, m.
        ends: how many eights there are up to the last one of planes; and of boxes; and of other geoms; and in all.
    """

    rows: np.ndarray
    by_size: np.ndarray
    more: np.ndarray
    ends: tuple[int, int, int, int]

    def copied(self, rows: np.ndarray) -> "GeomPackets":
        """Return the packets of rows that are copies of these rows."""
        bounds = [0, *(WIDE * end for end in self.ends)]
        groups = [np.flatnonzero(np.isin(rows, self.rows[a:b])) for a, b in itertools.pairwise(bounds)]
        place = np.zeros(rows.max() + 1, np.int64)
        place[self.rows[np.isin(self.rows, rows)]] = np.flatnonzero(np.isin(self.rows, rows))
        return _arranged(groups, self.by_size[place[rows]], self.more[place[rows]])

    def table(self, pose: "torch.Tensor", shape: "torch.Tensor") -> "torch.Tensor":
        """Return the kernel's table, flat, for poses (n, rows, 12) and shapes (n or 1, rows, SHAPE_COLUMNS)."""
        import torch  # the process that compiles does without

        n, rows, by_size, more = len(pose), *(torch.as_tensor(array, device=pose.device) for array in self[:3])
        at, flat = rows.clamp(min=0), WIDE * self.ends[0]
        size = shape[:, at, :3]
        half = (size[..., None] * by_size).sum(dim=-2) + more
        half[:, :flat] = half[:, :flat].where(size[:, :flat] > 0, MISS)  # planes without end
        half[:, rows < 0] = -1.0
        parts = pose[:, at], half.expand(n, -1, -1), at.to(pose).expand(n, -1)[..., None]
        return torch.cat(parts, dim=-1).reshape(n, -1, WIDE, COLUMNS).transpose(2, 3).reshape(-1).contiguous()


def packets_of_eight(drawn: columns.RenderModel) -> GeomPackets:
    """Arrange the rows of a render model: planes, boxes, other geoms, overlays."""
    solid, kind = drawn.geom >= 0, drawn.kind
    is_flat = (kind == PLANE) | (kind == BOX)
    groups = solid & (kind == PLANE), solid & (kind == BOX), solid & ~is_flat, ~solid & (kind >= 0)
    boxes = [_box(drawn, row) for row in range(len(kind))]
    by_size, more = (np.array(part, np.float32) for part in zip(*boxes, strict=True))
    return _arranged([np.flatnonzero(group) for group in groups], by_size, more)


def _arranged(groups: Sequence[np.ndarray], by_size: np.ndarray, more: np.ndarray) -> GeomPackets:
    """Fill the rows of each group up to eights; `by_size` and `more` are of all rows of the render model."""
    parts, ends = [], []
    for rows in groups:
        parts.append(np.append(rows, np.full(-len(rows) % WIDE, -1)))
        ends.append(sum(map(len, parts)) // WIDE)
    if not ends[-1]:
        parts, ends[-1] = [np.full(WIDE, -1)], 1  # so that no table is empty
    rows = np.concatenate(parts).astype(np.int64)
    return GeomPackets(rows, by_size[rows], more[rows], (ends[0], ends[1], ends[2], ends[3]))


def _box(drawn: columns.RenderModel, row: int) -> tuple[np.ndarray, np.ndarray]:
    """The box around a geom, as `GeomPackets` has it."""
    kind, by_size, more = int(drawn.kind[row]), np.eye(3), np.zeros(3)
    if drawn.appearance.rows[row, BY_ENV]:
        pass  # particles: their row of `shape` has the sizes of the box around them
    elif kind == MESH:
        trees = drawn.appearance.trees
        corners = trees.nodes[trees.trees[drawn.appearance.rows[row, TREE], FIRST_NODE]].reshape(2, 3)
        by_size, more = 0.0 * by_size, _WIDER * np.abs(corners).max(axis=0)
    elif kind == HFIELD:
        by_size, more = 0.0 * by_size, np.full(3, drawn.shape[row, columns.BOUND])
    elif kind in HALF_SIDES:  # they are linear
        by_size = HALF_SIDES[kind](by_size)
    return by_size * (1.0 if kind in (PLANE, BOX) else _WIDER), more


class Placed(Traced):
    """The table in a kernel, for one environment."""

    def __init__(self, table, env, ends):
        self.table, self.env, self.ends = table, env, ends

    @ti.func
    def eight(self, group, column: ti.template()):
        """A column of eight geoms; `|` for `+` tells the compiler that they lie side by side."""
        at = ((self.env * self.ends[3] + group) * COLUMNS + column) * WIDE
        return ti.Vector([self.table[at | k] for k in ti.static(range(WIDE))])

    @ti.func
    def row(self, group, k):
        """The row of one of eight geoms."""
        at = ((self.env * self.ends[3] + group) * COLUMNS + ROW) * WIDE
        return ti.cast(self.table[at | k], ti.i32)

    @ti.func
    def reach(self, group, origin, direction, start, limit):
        """Distances (m) at which a ray meets eight geoms between `start` and `limit`, MISS if it does not.

        Of geoms that are neither planes nor boxes it is met the box around them, at `start` if that is in the box.
        """
        away = (
            self.eight(group, CENTRE) - origin.x,
            self.eight(group, CENTRE + 1) - origin.y,
            self.eight(group, CENTRE + 2) - origin.z,
        )
        found = away[0] * 0.0
        if group < self.ends[0]:
            found = self.of_planes(group, away, direction, start, limit)
        else:
            found = self.of_boxes(group, away, direction, start, limit)
        return found

    @ti.func
    def along(self, group, axis: ti.template(), x, y, z):
        """Components of vectors, one or eight, along an axis of eight geoms."""
        return (
            self.eight(group, AXES + axis) * x
            + self.eight(group, AXES + 3 + axis) * y
            + self.eight(group, AXES + 6 + axis) * z
        )

    @ti.func
    def of_planes(self, group, away, direction, start, limit):
        """The same for planes, whose middles are `away` from the origin."""
        fall = self.along(group, 2, direction.x, direction.y, direction.z)
        t = self.along(group, 2, away[0], away[1], away[2]) / fall
        x, y, z = t * direction.x - away[0], t * direction.y - away[1], t * direction.z - away[2]
        met = (fall < -1.0e-15) & (t > start) & (t < limit)
        for axis in ti.static(range(2)):
            met = met & (ti.abs(self.along(group, axis, x, y, z)) <= self.eight(group, HALF + axis))
        return ti.select(met, t, MISS)

    @ti.func
    def of_boxes(self, group, away, direction, start, limit):
        """The same for boxes: the common interval of three slabs."""
        enter, leave = away[0] * 0.0 - MISS, away[0] * 0.0 + limit
        for axis in ti.static(range(3)):
            inverse = 1.0 / slope(self.along(group, axis, direction.x, direction.y, direction.z))
            middle = self.along(group, axis, away[0], away[1], away[2]) * inverse
            half = self.eight(group, HALF + axis) * ti.abs(inverse)
            enter = ti.select(middle - half > enter, middle - half, enter)  # no number is nan, which max would ask
            leave = ti.select(middle + half < leave, middle + half, leave)
        first = ti.select(enter > start, enter, start)
        shown = enter > start
        if group >= self.ends[1]:
            shown = leave > start
        return ti.select(shown & (first < leave), first, MISS)


@ti.func
def smallest(numbers):
    """Return the least of eight numbers from 0 on, and the place of the first that is hardly more.

    Numbers from 0 on are in the order of their bits, whose least the compiler finds in three steps.
    """
    least = ti.bit_cast(numbers[0], ti.i32)
    for k in ti.static(range(1, WIDE)):
        least = ti.min(least, ti.bit_cast(numbers[k], ti.i32))
    found, place = ti.bit_cast(least, ti.f32), WIDE
    for k in ti.static(range(WIDE)):
        place = ti.min(place, ti.select(numbers[k] <= found * CLEARLY, k, WIDE))
    return found, place

"""The arguments of a kernel as one tile sees them: access to the numbers of its environments.

The arguments are flat arrays, so a kernel is compiled for a lane width and a precision, not for a model or a number of
environments. Only this file and `tiles` and `columns` know in which order they hold the numbers of a batch.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import taichi as ti
from taichi.lang.impl import subscript

from ...base.math import Lanes
from ...base.math.lanes import traced

ARGUMENTS = {
    "ints": ("integers", 1),
    "reals": ("reals", 1),
    "precise": ("doubles", 1),
    "memory": ("lanes", 3),
    "counts": ("integers", 3),
    "own": ("double lanes", 3),
    "call": ("integers", 1),
    "rows": ("integers", 1),
    "out": ("reals", 2),
    "dump": ("integers", 2),
    "controls": ("reals", 3),
    "track": ("reals", 3),
    "own_rows": ("integers", 1),
    "left": ("integers", 1),
}
"""Arguments of a kernel on a CPU: the type of each array, and its dimensions. The last dimension of "lanes" is
the lanes of a tile, which load and store as one."""


@dataclass
class Arguments:
    """The arrays that a kernel works on; some kernels do without the later ones.

    Attributes:
        memory: the environments' memory between launches.
        counters: their integers (`settings.Count`).
        own: their per-environment parameters.
        own_rows: for each per-environment number its position among the model's real numbers.
        call: the settings of the launch (`settings.Setting`).
        rows: rows of the scratch to hand out.
        out: the output array.
        dump: the array that receives integers of the scratch.
        controls: of every environment and period (num_envs, periods, nu).
        track: qpos and qvel after each (num_envs, periods, nq + nv).
        left: whether a tile did not fit into the scratch.
        model: the model's flat real numbers, and those in double precision.
    """

    _data_oriented: ClassVar[bool] = True
    _is_wrapped_kernel: ClassVar[bool] = True

    memory: Any
    counters: Any = None
    own: Any = None
    own_rows: Any = None
    call: Any = None
    rows: Any = None
    out: Any = None
    dump: Any = None
    controls: Any = None
    track: Any = None
    left: Any = None
    model: Any = None


class TileView:
    """One tile of arrays in tiles: memory (tiles, numbers, lanes), out (environments, columns), dump (tiles, integers).

    Methods return expressions that can be assigned to: `view.memory(r)._assign(x)`.

    Args:
        lanes: width and precision.
        arrays: the kernel's arrays.
        tile: the number of the tile, an integer of the kernel.

    Attributes:
        call: the settings of the launch.
    """

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, lanes: Lanes, arrays: Arguments, tile: Any) -> None:
        self.call = arrays.call
        self._lanes, self._arrays, self._tile = lanes, arrays, tile

    def _number(self, array: Any, row: Any) -> Any:
        """Return a whole lane number, which is loaded and stored as one."""
        if self._lanes.width == 1:
            return subscript(None, array, self._tile, row, 0)
        return subscript(None, array, self._tile, row)

    @traced
    def memory(self, row: Any) -> Any:
        """Return the lane number in a row of the memory."""
        return self._number(self._arrays.memory, row)

    @traced
    def own(self, k: Any) -> Any:
        """Return the k-th own lane number, which replaces one of the model's."""
        return self._number(self._arrays.own, k)

    @traced
    def own_row(self, k: Any) -> Any:
        """Return the position of the k-th own number among the model's real numbers."""
        return subscript(None, self._arrays.own_rows, k)

    @traced
    def counter(self, row: Any, lane: Any) -> Any:
        """Return one of the integers of an environment (`settings.Count`)."""
        return subscript(None, self._arrays.counters, self._tile, row, lane)

    @traced
    def left(self) -> Any:
        """Return the mark of the tile: 1 if it did not fit into the scratch."""
        return subscript(None, self._arrays.left, self._tile)

    @traced
    def env(self, lane: Any) -> Any:
        """Return the number of the environment in a lane; spare lanes have numbers that do not exist."""
        return self._tile * self._lanes.width + lane

    @traced
    def control(self, lane: Any, period: Any, u: Any) -> Any:
        """Return control u of a period; spare lanes have those of the first environment."""
        env, controls = self.env(lane), self._arrays.controls
        return subscript(None, controls, ti.select(env < controls.shape[0], env, 0), period, u)

    @traced
    def tracked(self, lane: Any) -> Any:
        """Return True if a lane holds an environment whose track is wanted."""
        return self.env(lane) < self._arrays.track.shape[0]

    @traced
    def track(self, lane: Any, period: Any, r: Any) -> Any:
        """Return the element for row r of the coordinates at the end of a period."""
        return subscript(None, self._arrays.track, self.env(lane), period, r)

    @traced
    def out_row(self, k: Any) -> Any:
        """Return the row of the scratch that goes to column k."""
        return subscript(None, self._arrays.rows, k)

    @traced
    def out(self, lane: Any, k: Any) -> Any:
        """Return the element for column k of the environment in a lane."""
        return subscript(None, self._arrays.out, self.env(lane), k)

    @traced
    def dump(self, k: Any) -> Any:
        """Return the element for integer k of the scratch."""
        return subscript(None, self._arrays.dump, self._tile, k)


class ColumnView(TileView):
    """One environment of arrays (numbers, environments): neighbours in a GPU's warp read neighbouring words."""

    def _number(self, array: Any, row: Any) -> Any:
        return subscript(None, array, row, self._tile)

    @traced
    def counter(self, row: Any, lane: Any) -> Any:
        """Return one of the integers of the environment."""
        return subscript(None, self._arrays.counters, row, self._tile)

    @traced
    def out(self, lane: Any, k: Any) -> Any:
        """Return the element for column k of the environment."""
        return subscript(None, self._arrays.out, k, self._tile)

    @traced
    def dump(self, k: Any) -> Any:
        """Return the element for integer k of the scratch."""
        return subscript(None, self._arrays.dump, k, self._tile)

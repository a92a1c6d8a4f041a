"""The kernel of one solver with its arguments, and the ways to launch it: step, evaluate, follow controls."""

from collections.abc import Collection, Sequence

import numpy as np
import torch

from . import kernel as driver
from .fields import layout
from .launcher import Launcher
from .memory import require_memory
from .model.features import Features
from .model.model import Model
from .outputs import Bound, Outputs
from .runtime import Runtime
from .scratch import workers_for
from .state.fields import INDICES, QUANTITIES, SMOOTH
from .state.sizes import all_sizes, coordinate_rows, flat_integers, flat_reals, kept_rows, scratch_rows
from .tiles import Tiles

_NO_DUMP = torch.zeros((1, 1), dtype=torch.int32)


class ClosedSolverError(RuntimeError):
    """A solver is used after `close`."""


class Launches:
    """The memory of a batch, where everything lies in it, and the kernel that works on it.

    Attributes:
        tiles: the arrangement of the batch.
        sizes: the model's and those of the scratch.
        offsets: first row of every quantity in the scratch.
        widths: rows of every quantity.
        coords: rows of the coordinates, the first in memory; as many of the last evaluation follow.
        kept: rows kept beside them.
        memory: (tiles, coords + kept, lanes).
        counters: (tiles, `kernel.COUNTERS`, lanes), int32.
    """

    def __init__(self, runtime: Runtime, model: Model, num_envs: int, width: int) -> None:
        self._runtime, self._dtype = runtime, runtime.torch_dtype
        self.sizes = all_sizes(model)
        self.offsets = layout(QUANTITIES, self.sizes)[0]
        self.widths = {f.name: f.length(self.sizes) for f in QUANTITIES}
        self.coords, self.kept = coordinate_rows(self.sizes), kept_rows(self.sizes)
        require_memory(num_envs, self._bytes_per_env())
        self.tiles = self._tiles = tiles = Tiles(num_envs, width)
        self.memory = tiles.zeros(self.coords + self.kept, self._dtype)
        self.counters = tiles.zeros(driver.COUNTERS, torch.int32)
        single = runtime.precision == "32"
        self.ints = torch.from_numpy(flat_integers(model))
        self.reals = torch.from_numpy(flat_reals(model, np.float32 if single else np.float64))
        rows, index_rows = scratch_rows(self.sizes)
        self._workers = most = workers_for(rows, index_rows, width, runtime)
        self._room = most * rows, most * index_rows
        self._kernel = driver.shared_kernel(runtime, width, Features.of(model, single))
        self._all = torch.arange(tiles.count, dtype=torch.int32)
        self._no_track = torch.zeros((1, 1, 1), dtype=self._dtype)

    def _bytes_per_env(self) -> int:
        """What an environment takes: its memory and what `reset` makes to fill it, counters, and two int64 indices."""
        return 2 * (self.coords + self.kept) * self._dtype.itemsize + 4 * (2 * driver.COUNTERS) + 16

    def bind(
        self, outputs: Outputs, memory: torch.Tensor, counters: torch.Tensor, values: torch.Tensor, replay: bool
    ) -> Bound:
        """The kernel over all tiles of `memory` with the outputs going to `values`."""
        call = self._call(self._tiles.count, outputs.count, 0, outputs.places, replay)
        tensors = (memory, counters, call, self._all, outputs.rows, values, _NO_DUMP)
        return Bound(call, self._launcher(*tensors, self._no_track, self._no_track))

    def follow(self, call: torch.Tensor, outputs: Outputs, controls: torch.Tensor, track: torch.Tensor) -> None:
        """One step under each of the controls (num_envs, nstep, nu); where they end goes to `track`.

        Args:
            call: the settings of a step.
            outputs: delivered after the last step.
            controls: (num_envs, nstep, nu).
            track: (num_envs, nstep, nq + nv).
        """
        call = call.clone()
        call[driver.SUBSTEPS], call[driver.PERIODS] = 1, controls.shape[1]
        tensors = (self.memory, self.counters, call, self._all, outputs.rows, outputs.values, _NO_DUMP)
        self._launcher(*tensors, controls, track)()

    def evaluate(
        self, names: Sequence[str], tiles: torch.Tensor | None = None, with_indices: bool = False
    ) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        """Fields and integers of the scratch at the last evaluation of some tiles, None: of all.

        Returns:
            The fields by name, each (tiles W, numbers), and the integers (tiles, n) where asked for.
        """
        tiles = self._all if tiles is None else tiles
        rows = torch.cat([torch.arange(self.offsets[n], self.offsets[n] + self.widths[n]) for n in names])
        count = layout(INDICES, self.sizes)[1] if with_indices else 0
        out = torch.zeros((len(tiles) * self._tiles.width, max(1, len(rows))), dtype=self._dtype)
        dump = torch.zeros((len(tiles), max(1, count)), dtype=torch.int32)
        call = self._call(len(tiles), len(rows), count, names, replay=True)
        call[driver.FIRST] = tiles[0]
        rows = rows.to(torch.int32) if len(rows) else torch.zeros(1, dtype=torch.int32)
        tensors = (self.memory, self.counters, call, tiles, rows, out, dump)
        self._launcher(*tensors, self._no_track, self._no_track)()
        fields, first = {}, 0
        for name in names:
            fields[name] = out[:, first : first + self.widths[name]]
            first += self.widths[name]
        return fields, dump

    def close(self) -> None:
        """Give the memory back; a launch afterwards is an error."""
        self.memory = torch.zeros((0, 0, 0))

    def _launcher(self, *tensors: torch.Tensor) -> Launcher:
        """The kernel bound to further arguments.

        Raises:
            RuntimeError: the memory was given back, or Taichi was started anew.
        """
        self._runtime.require()
        if not self.memory.numel():
            raise ClosedSolverError("this solver was closed; make a new one")
        return Launcher(self._kernel, (self.ints, self.reals, *tensors), self._room)

    def _call(self, tiles: int, rows: int, indices: int, names: Collection[str], replay: bool) -> torch.Tensor:
        call = torch.zeros(driver.CALL_LENGTH, dtype=torch.int32)
        call[driver.REPLAY] = int(replay)
        call[driver.WORKERS] = min(self._workers, tiles)
        call[driver.TILES], call[driver.ROWS], call[driver.INDICES] = tiles, rows, indices
        call[driver.CENTERS] = int("xipos" in names or "subtree_com" in names)
        call[driver.EXTERNAL], call[driver.INERTIAS] = int("cfrc_ext" in names), int("cinert" in names)
        call[driver.SMOOTH] = int(not SMOOTH.isdisjoint(names))
        call[driver.COORDS], call[driver.KEPT] = self.coords, self.kept
        return call

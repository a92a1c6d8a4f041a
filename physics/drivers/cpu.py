"""The arrangement of a batch on a CPU: environments in lanes, tiles of them taken by workers through one kernel.

How a batch lies in memory is in `tiles.py`, what a launch is told in `settings.py`, what it does in `kernel.py`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ..model.features import Features
from ..model.model import Model
from ..process.memory import require_memory
from ..process.runtime import Runtime
from ..state.sizes import memory_groups
from .bound_kernel import BoundKernel
from .growing import GrowingRoom
from .outputs import Outputs, Selection
from .programs import shared_program
from .settings import Count, Setting
from .tiles import Tiles

_NUMBERING = 25
"""Bytes of an environment in `Tiles`: its tile, its lane, a number while they are made, and whether it is used."""


class CpuArrangement(Tiles):
    """Tiles, scratch that workers share and that grows, launches that take the tiles without room again.

    Args:
        runtime: whose threads and precision are used.
        num_envs: number of environments.
        width: lanes of a tile.

    Raises:
        MemoryError: more environments than there is memory to number.
    """

    def __init__(self, runtime: Runtime, num_envs: int, width: int) -> None:
        require_memory(num_envs, _NUMBERING)
        super().__init__(num_envs, width)
        self._runtime, self._dtype = runtime, runtime.torch_dtype

    def room(self, model: Model, moved: Callable[[], None]) -> GrowingRoom:
        """Return the scratch for a model; it calls `moved` when it has grown.

        Raises:
            MemoryError: more environments than fit.
            ValueError: the model is too large.
        """
        room = GrowingRoom(model, self.width, self._runtime, moved)
        rows = max(group.stop for group in memory_groups(room.sizes).values())
        # its memory and what `reset` makes to fill it, and counters
        require_memory(self.num_envs, 2 * rows * self._dtype.itemsize + 4 * (2 * len(Count)) + _NUMBERING)
        return room

    def kernel(self, features: Features) -> Any:
        """Return the code of a launch with optional code."""
        return shared_program(self._runtime, self.width, features)

    def outputs(self, selection: Selection) -> "TileOutputs":
        """Return a place for what every step delivers."""
        return TileOutputs(self, selection, self.rows(self.count * self.width, selection.width, self._dtype))

    def bind(
        self, kernel: Any, arguments: tuple, room: GrowingRoom, call: torch.Tensor, left: torch.Tensor
    ) -> BoundKernel:
        """Return the launch of a kernel over a batch, by as many workers as `call` says; 0: as there is room for."""
        call[Setting.TILES] = len(left)
        call[Setting.WORKERS] = min(len(left), int(call[Setting.WORKERS]) or room.workers)
        return BoundKernel(kernel, arguments, room, call, left)


class TileOutputs(Outputs):
    """Outputs of a batch in tiles: the host knows which are stale, and has these alone evaluated, side by side."""

    def __init__(self, tiles: Tiles, selection: Selection, values: torch.Tensor) -> None:
        super().__init__(selection, values)
        self._tiles, self._stale = tiles, np.ones(tiles.num_envs, np.bool_)
        self._beside: tuple[Sequence[torch.Tensor], torch.Tensor, Any] | None = None

    def _mark(self, index: np.ndarray | None) -> None:
        self._stale[slice(None) if index is None else index] = True

    def _clear(self) -> None:
        self._stale[:] = False

    def launches(self) -> list[Any]:
        """Return the launches that are bound at present."""
        return super().launches() + ([self._beside[2]] if self._beside else [])

    def unbind(self) -> None:
        """Forget all launches: the batch or the kernel is another one."""
        super().unbind()
        self._beside = None

    def refresh(self, index: np.ndarray | None, batch: Sequence[torch.Tensor], bind: Callable[..., Any]) -> None:
        """Evaluate the stale ones of these environments again at the state of their last evaluation."""
        stale = np.flatnonzero(self._stale) if index is None else np.unique(index[self._stale[index]])
        if len(stale) == len(self._stale):
            self._whole = self._whole or bind(self)
            self._whole()
        elif len(stale):
            self._evaluate_beside(stale, batch, bind)
        self._stale[stale] = False
        self.current = not self._stale.any()

    def _evaluate_beside(self, index: np.ndarray, batch: Sequence[torch.Tensor], bind: Callable[..., Any]) -> None:
        if self._beside is None:
            room, values = [torch.zeros_like(tensor) for tensor in batch], torch.zeros_like(self.values)
            self._beside = room, values, bind(self, room, values)
        copies, values, launch = self._beside
        self._tiles.gather(batch, index, copies)
        launch.call[Setting.TILES] = -(-len(index) // self._tiles.width)
        launch()
        self.values.numpy()[index] = values.numpy()[: len(index)]

"""The arrangement of a batch on a CPU: tiles of environments in vector lanes, which workers take in turn.

`tiles.py` has the layout of the memory, `settings.py` the settings of a launch, and `kernel.py` the kernel.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import torch

from ..model.features import Features
from ..model.model import Model
from ..process.memory import require_memory
from ..process.runtime import Runtime
from ..state.room import first_room
from ..state.sizes import all_sizes, stored_numbers
from .bound_kernel import BoundKernel
from .growing import GrowingRoom
from .outputs import Outputs, Selection
from .programs import is_there, shared_program
from .settings import Count, Setting
from .tiles import Tiles

_NUMBERING = 25
"""Bytes per environment in `Tiles`: tile and lane indices, a temporary while they are made, and the `used` flag."""


class CpuArrangement(Tiles):
    """Tiles, a growing scratch that workers share, and launches that repeat the tiles that did not fit into it.

    Args:
        runtime: the runtime, with its threads and precision.
        model: of the environments.
        num_envs: number of environments.
        width: lanes of a tile.
        outputs: fields that every step delivers.

    Raises:
        MemoryError: so many environments do not fit.
    """

    def __init__(
        self, runtime: Runtime, model: Model, num_envs: int, width: int, outputs: Collection[str] = ()
    ) -> None:
        numbers = stored_numbers(all_sizes(model, first_room(model)), outputs)
        # also the copies of some environments, with which `reset` fills them and `refresh` evaluates them, and counters
        require_memory(num_envs, 2 * numbers * runtime.torch_dtype.itemsize + 4 * (2 * len(Count)) + _NUMBERING)
        super().__init__(num_envs, width)
        self._runtime, self._dtype = runtime, runtime.torch_dtype

    def room(self, model: Model, moved: Callable[[], None]) -> GrowingRoom:
        """Return the scratch for a model; it calls `moved` when its layout has changed.

        Raises:
            ValueError, MemoryError: the model is too large.
        """
        return GrowingRoom(model, self.width, self._runtime, moved)

    def kernel(self, features: Features) -> Any:
        """Return the kernel with the optional code of `features`."""
        return shared_program(self._runtime, self.width, features)

    def has_kernel(self, features: Features) -> bool:
        """Return True if the code of the kernel with these features is known to be compiled."""
        return is_there(self._runtime, self.width, features)

    def outputs(self, selection: Selection) -> "TileOutputs":
        """Return storage for the fields that every step delivers."""
        return TileOutputs(self, selection, self.rows(self.count * self.width, selection.width, self._dtype))

    def bind(
        self, kernel: Any, arguments: tuple, room: GrowingRoom, call: torch.Tensor, left: torch.Tensor
    ) -> BoundKernel:
        """Return a launch of the kernel over a batch; `call` has the most workers, 0 for as many as have scratch."""
        call[Setting.TILES] = len(left)
        call[Setting.WORKERS] = min(len(left), int(call[Setting.WORKERS]) or room.workers)
        return BoundKernel(kernel, arguments, room, call, left)


class TileOutputs(Outputs):
    """Outputs of a batch in tiles: the host knows the stale environments, and evaluates only these, as copies."""

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
        """Forget all launches, because the batch or the kernel has been replaced."""
        super().unbind()
        self._beside = None

    def refresh(self, index: np.ndarray | None, batch: Sequence[torch.Tensor], bind: Callable[..., Any]) -> None:
        """Evaluate the stale ones of these environments again, at the state of their last evaluation."""
        stale = np.flatnonzero(self._stale) if index is None else np.unique(index[self._stale[index]])
        if len(stale) == len(self._stale):
            self._whole = self._whole or bind(self)
            self._whole()
        elif len(stale):
            self._evaluate_beside(stale, batch, bind)
        self._stale[stale] = False
        self.current = not self._stale.any()

    def _evaluate_beside(self, index: np.ndarray, batch: Sequence[torch.Tensor], bind: Callable[..., Any]) -> None:
        """Evaluate copies of environments `index` in a batch of their own; copy the outputs to their rows."""
        if self._beside is None:
            room, values = [torch.zeros_like(tensor) for tensor in batch], torch.zeros_like(self.values)
            self._beside = room, values, bind(self, room, values)
        copies, values, launch = self._beside
        self._tiles.gather(batch, index, copies)
        launch.call[Setting.TILES] = -(-len(index) // self._tiles.width)
        launch()
        self.values.numpy()[index] = values.numpy()[: len(index)]

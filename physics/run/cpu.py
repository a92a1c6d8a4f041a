"""The arrangement of a batch on a CPU: tiles of environments in vector lanes, which workers take in turn.

`tiles.py` has the layout of the memory, `settings.py` the settings of a launch, and `kernel.py` the kernel.
"""

from collections.abc import Collection

import torch

from ..machine.memory import require_memory
from ..machine.runtime import Runtime
from ..model.features import Features
from ..model.model import Model
from ..model.state.capacity import first_capacity
from ..model.state.sizes import all_sizes, stored_numbers
from .bound_kernel import BoundTiles, Kernel
from .programs import is_there, shared_program
from .settings import Count, Setting
from .tiles.growing import GrowingCapacity
from .tiles.tiles import Tiles

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
        numbers = stored_numbers(all_sizes(model, first_capacity(model)), outputs)
        # also the copies of some environments, with which `reset` fills them and `refresh` evaluates them, and counters
        require_memory(num_envs, 2 * numbers * runtime.torch_dtype.itemsize + 4 * (2 * len(Count)) + _NUMBERING)
        super().__init__(num_envs, width)
        self._runtime = runtime

    def room(self, model: Model) -> GrowingCapacity:
        """Return the scratch for a model.

        Raises:
            ValueError, MemoryError: the model is too large.
        """
        return GrowingCapacity(model, self.width, self._runtime)

    def kernel(self, features: Features) -> Kernel:
        """Return the kernel with the optional code of `features`."""
        return shared_program(self._runtime, self.width, features)

    def has_kernel(self, features: Features) -> bool:
        """Return True if the code of the kernel with these features is known to be compiled."""
        return is_there(self._runtime, self.width, features)

    def bind(
        self, kernel: Kernel, arguments: tuple, room: GrowingCapacity, call: torch.Tensor, left: torch.Tensor
    ) -> BoundTiles:
        """Return a launch of the kernel over a batch; `call` has the most workers, 0 for as many as have scratch."""
        call[Setting.TILES] = len(left)
        call[Setting.WORKERS] = min(len(left), int(call[Setting.WORKERS]) or room.workers)
        return BoundTiles(kernel, arguments, room, call, left)

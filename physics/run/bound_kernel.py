"""Launches of the driver: kernels bound to tensors, and the protocol of these kernels."""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from ..machine.interrupts import interrupts_wait
from ..model.state.capacity import Capacity
from .settings import Setting
from .tiles.growing import GrowingCapacity, ScratchRows

_LEFT, _CONTACTS, _ENTRIES = (int(s) for s in (Setting.LEFT, Setting.NEED_CONTACTS, Setting.NEED_ENTRIES))
_PAIRS = int(Setting.NEED_PAIRS)


class Kernel(Protocol):
    """The code of all launches with the same features: a `programs.Program`, or a `taichi_kernel.TaichiKernel`."""

    def bind(self, arguments: Sequence[torch.Tensor], rows: Sequence[int] = ()) -> Callable[[], None]:
        """Compile or load the code, if necessary, and return a launch with these arguments.

        Args:
            arguments: tensors, which must stay alive and in place.
            rows: items of each array that the scratch on a CPU must have for them.

        Raises:
            StaleRuntimeError: Taichi was restarted. The launch raises it, too.
        """


class BoundKernel:
    """A kernel bound to tensors, which it keeps alive. On a GPU, a call returns before the launch has finished.

    Args:
        kernel: the kernel.
        arguments: the tensors.
        room: the scratch of the model.
        call: the settings of the next launch (`settings.Setting`), one of the tensors.
    """

    def __init__(self, kernel: Kernel, arguments: tuple, room: ScratchRows, call: torch.Tensor) -> None:
        self.call, self._kernel, self._arguments, self._room = call, kernel, arguments, room
        self._launch: Callable[[], None] | None = None
        self._grown = room.grown

    def __call__(self) -> None:
        """Launch on the present contents of the arguments."""
        self.attempt()

    def attempt(self) -> bool:
        """Launch once. Return True if the scratch has room for all environments."""
        self.prepare()()
        return True

    def prepare(self) -> Callable[[], None]:
        """Return the launch; compile it, or bind it to the enlarged scratch, if necessary."""
        if self._launch is None or self._grown != self._room.grown:
            grown = self._room.grown
            self._launch = self._bind()
            self._grown = grown
        return self._launch

    def _bind(self) -> Callable[[], None]:
        """Bind the kernel to its arguments and to the present size of the scratch."""
        return self._kernel.bind(self._arguments, self._room.rows)


class BoundTiles(BoundKernel):
    """A kernel bound to tensors in tiles, which is launched again on tiles that did not fit into the scratch.

    Args:
        kernel: the kernel.
        arguments: the tensors.
        room: the scratch of the model.
        call: the settings of the next launch, one of the tensors.
        left: (tiles,), where a launch writes 1 for a tile that did not fit into the scratch, and 0 for the others.
    """

    _room: GrowingCapacity

    def __init__(
        self, kernel: Kernel, arguments: tuple, room: GrowingCapacity, call: torch.Tensor, left: torch.Tensor
    ) -> None:
        super().__init__(kernel, arguments, room, call)
        self._settings, self._left = call.numpy().data, left

    def __call__(self) -> None:
        """Launch on the present contents of the arguments, and again on tiles that were left, in a larger scratch.

        After an interrupt from the keyboard all tiles have been stepped, or none.

        Raises:
            ValueError, MemoryError: the scratch cannot grow enough for a tile, which stays as it was.
        """
        try:
            if not self.attempt():
                self._go_on()
        except BaseException:
            if self._left.any():  # an interrupt came right after the launch
                self._go_on()
            raise

    def _go_on(self) -> None:
        """Launch again on the tiles that the last launch left, until none is left."""
        with interrupts_wait():
            self.call[Setting.AGAIN] = 1
            try:
                while self._left.any():
                    self.attempt()
            finally:
                self.call[Setting.AGAIN] = 0

    def attempt(self) -> bool:
        """Launch once. Return True if all tiles fitted into the scratch; otherwise enlarge it for the next launch."""
        if (launch := self._launch) is None or self._grown != self._room.grown:  # as above, without further calls
            launch = self.prepare()
        launch()
        settings = self._settings
        if settings[_LEFT] <= 0:
            return True
        needed = Capacity(settings[_CONTACTS], settings[_ENTRIES], settings[_PAIRS])
        settings[_LEFT] = settings[_CONTACTS] = settings[_ENTRIES] = settings[_PAIRS] = 0
        try:
            self._room.grow(needed, int(self._left.sum()))  # the counter may miss tiles of concurrent workers
        except (ValueError, MemoryError):
            self._left.zero_()
            raise
        return False

    def _bind(self) -> Callable[[], None]:
        """Bind the kernel as above, for no more workers than the scratch has room for."""
        self.call[Setting.WORKERS] = min(int(self.call[Setting.WORKERS]), self._room.workers)
        return super()._bind()

"""Kernels and their launches: a few microseconds each, and hundreds through Taichi's front door."""

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import taichi as ti
import torch

from ..state.room import Room
from ..taichi_thread import in_taichis_thread
from ..tracing import quick_tracing
from ..waiting import Waiting
from .growing import GrowingRoom
from .scratch import Scratch
from .settings import Setting

SOLVER = "the solver for this model"
"""What most kernels are part of, as the logger names it."""


def compiled(make: Callable[[], Any], arguments: Sequence[torch.Tensor | int | float]) -> tuple[Any, Any, Any]:
    """What `make` decorated: Taichi's kernel, its trace, which makes contexts, and its code; in Taichi's thread."""
    with warnings.catch_warnings(), quick_tracing():
        warnings.filterwarnings("ignore", message=".*Calling non-taichi function", category=SyntaxWarning)
        primal, program = make()._primal, ti.lang.impl.get_runtime().prog
        traced = primal.compiled_kernels[primal.ensure_compiled(*arguments)]
        return primal, traced, program.compile_kernel(program.config(), program.get_device_caps(), traced)


class Kernel:
    """A Taichi kernel over scratch, traced and compiled when it is first launched.

    The machine code goes on to hold when scratch grows; what Taichi traced does not (`scratch`). So Taichi is asked to
    compile once, over scratch as small as it begins, and never again.

    Args:
        scratch: what the kernel works in.
        make: returns the decorated function; called in Taichi's thread.
    """

    def __init__(self, scratch: Scratch, make: Callable[[], Any]) -> None:
        self.scratch = scratch
        self._make = make
        self._traced: Any = None  # makes contexts
        self._code: Any = None
        self._dims: list[int] = []  # of the arguments
        self._generation = -1  # of the scratch that the code works in

    def do_first(self, job: Callable[[], None]) -> None:
        """Do a job that binds and launches: in Taichi's thread, as Taichi loads code in the thread that launches it."""
        in_taichis_thread(job)

    def bind(self, arguments: Sequence[torch.Tensor], room: tuple[int, int]) -> Callable[[], None]:
        """A launch with these arguments, which must stay alive and in place; to be called by `do_first`.

        Args:
            arguments: of the decorated function.
            room: rows and integers that scratch must have for them.
        """
        if self._generation != self.scratch.generation:
            self._compile(arguments)
        self.scratch.grow(*room)
        if self._generation != self.scratch.generation:
            self._compile(arguments)
        context = self._traced.make_launch_context()
        for i, tensor in enumerate(arguments):
            size = tensor.element_size() * tensor.nelement()
            shape = tensor.shape[: self._dims[i]]  # the rest is inside its elements
            context.set_arg_external_array_with_shape((i,), tensor.data_ptr(), size, shape, 0)
        return functools.partial(ti.lang.impl.get_runtime().prog.launch_kernel, self._code, context)

    def _compile(self, arguments: Sequence[torch.Tensor]) -> None:
        with Waiting(f"compiling {SOLVER}, once", holds_gil=True):
            primal, self._traced, self._code = compiled(self._make, arguments)
        self._dims = [argument.annotation.ndim for argument in primal.arguments]
        self._generation = self.scratch.generation


_LEFT, _CONTACTS, _ENTRIES = (int(s) for s in (Setting.LEFT, Setting.NEED_CONTACTS, Setting.NEED_ENTRIES))
_PAIRS = int(Setting.NEED_PAIRS)


class BoundKernel:
    """A kernel bound to tensors, which it holds, and to as much scratch as there is room for.

    Attributes:
        call: the settings that the next launch will read (`settings.Setting`), one of the tensors.
    """

    def __init__(self, kernel: Kernel, arguments: tuple, room: GrowingRoom, call: torch.Tensor) -> None:
        self.call, self._told = call, call.numpy().data
        self._kernel, self._arguments, self._room = kernel, arguments, room
        self._turn, self._grown = kernel.scratch.lock, room.grown
        self._launch: Callable[[], None] | None = None

    def __call__(self) -> None:
        """Run the kernel on the present contents of its arguments; once more on tiles that did not find room.

        Raises:
            ValueError, MemoryError: there is no more room for a tile; it is left as it was.
        """
        if not self.attempt():
            self.call[Setting.AGAIN] = 1
            try:
                while not self.attempt():
                    pass
            finally:
                self.call[Setting.AGAIN] = 0

    def attempt(self) -> bool:
        """Run the kernel; whether all tiles found room in the scratch. There is more of it the next time."""
        if self._launch is not None and self._grown == self._room.grown:
            with self._turn:
                self._launch()
        else:
            self._kernel.do_first(self._launch_first)
        left, told = self._told[_LEFT] > 0, self._told
        if left:
            needed = Room(told[_CONTACTS], told[_ENTRIES], told[_PAIRS])
            told[_LEFT] = told[_CONTACTS] = told[_ENTRIES] = told[_PAIRS] = 0
            self._room.grow(needed, int(self._arguments[-1].sum()))  # workers side by side may lose counts, not marks
        return not left

    def _launch_first(self) -> None:
        self._grown = self._room.grown
        self.call[Setting.WORKERS] = min(int(self.call[Setting.WORKERS]), self._room.workers)
        self._launch = self._kernel.bind(self._arguments, self._room.rows)
        with self._turn:
            self._launch()

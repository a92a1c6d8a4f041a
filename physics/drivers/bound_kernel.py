"""Kernels and their launches: a few microseconds each, and hundreds through Taichi's front door."""

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import taichi as ti
import torch

from ..process.interrupts import interrupts_wait
from ..process.runtime import Runtime
from ..process.taichi_thread import in_taichis_thread
from ..process.tracing import quick_tracing
from ..process.waiting import Waiting
from ..state.room import Room
from .growing import GrowingRoom
from .scratch import Scratch
from .settings import Setting

SOLVER = "the solver for this model"
"""The logger's name for the thing that most kernels are part of."""


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
        runtime: whose Taichi compiles and launches it.
        scratch: what the kernel works in.
        make: returns the decorated function; called in Taichi's thread.
    """

    def __init__(self, runtime: Runtime, scratch: Scratch, make: Callable[[], Any]) -> None:
        self.scratch = scratch
        self._runtime, self._make = runtime, make
        self._traced: Any = None  # makes contexts
        self._code: Any = None
        self._dims: list[int] = []  # of the arguments
        self._generation = -1  # of the scratch that the code works in

    def prepare(self, job: Callable[[], None]) -> None:
        """Do a job that binds: in Taichi's thread, where kernels are traced."""
        in_taichis_thread(job)

    def bind(
        self, arguments: Sequence[torch.Tensor], idle: Sequence[torch.Tensor], room: tuple[int, ...]
    ) -> Callable[[], None]:
        """A launch with these arguments, which must stay alive and in place; to be called by `prepare`.

        Args:
            arguments: of the decorated function.
            idle: arguments with which it does nothing.
            room: items of each array that scratch must have for them.

        Raises:
            StaleRuntimeError: Taichi was started anew; so does the launch.
        """
        self._runtime.require()
        if self._generation != self.scratch.generation:
            self._compile(arguments, idle)
        self.scratch.grow(room)
        if self._generation != self.scratch.generation:
            self._compile(arguments, idle)
        launch = self._launch_with(arguments)
        return functools.partial(self._runtime.launch, launch)

    def _compile(self, arguments: Sequence[torch.Tensor], idle: Sequence[torch.Tensor]) -> None:
        """Compile, and launch for nothing: Taichi loads code in the thread that launches it (`Scratch.grow`)."""
        with Waiting(f"compiling {SOLVER}, once", holds_gil=True):
            primal, self._traced, self._code = compiled(self._make, arguments)
        self._dims = [argument.annotation.ndim for argument in primal.arguments]
        self._launch_with(idle)()
        self._generation = self.scratch.generation

    def _launch_with(self, arguments: Sequence[torch.Tensor]) -> Callable[[], None]:
        context = self._traced.make_launch_context()
        for i, tensor in enumerate(arguments):
            size = tensor.element_size() * tensor.nelement()
            shape = tensor.shape[: self._dims[i]]  # the rest is inside its elements
            context.set_arg_external_array_with_shape((i,), tensor.data_ptr(), size, shape, 0)
        return functools.partial(ti.lang.impl.get_runtime().prog.launch_kernel, self._code, context)


_LEFT, _CONTACTS, _ENTRIES = (int(s) for s in (Setting.LEFT, Setting.NEED_CONTACTS, Setting.NEED_ENTRIES))
_PAIRS = int(Setting.NEED_PAIRS)


class BoundKernel:
    """A kernel bound to tensors, which it holds, and to as much scratch as there is room for.

    Args:
        kernel: a `Kernel`, or a `programs.Program`.
        arguments: the tensors.
        room: what the model needs of the scratch.
        call: the settings that the next launch will read (`settings.Setting`), one of the tensors.
        left: (tiles,), where a launch writes 1 for a tile that did not find room, and else 0.
    """

    def __init__(
        self, kernel: Any, arguments: tuple, room: GrowingRoom, call: torch.Tensor, left: torch.Tensor
    ) -> None:
        self.call, self._told, self._left = call, call.numpy().data, left
        self._kernel, self._arguments, self._room = kernel, arguments, room
        self._turn, self._grown = kernel.scratch.lock, room.grown
        self._launch: Callable[[], None] | None = None

    def __call__(self) -> None:
        """Run the kernel on the present contents of its arguments; once more on tiles that did not find room.

        An interrupt from the keyboard leaves all tiles as they were before, or all as they are afterwards.

        Raises:
            ValueError, MemoryError: there is no more room for a tile; it is left as it was.
        """
        try:
            if not self.attempt():
                self._go_on()
        except BaseException:
            if self._left.any():  # an interrupt came as soon as the launch was over
                self._go_on()
            raise

    def _go_on(self) -> None:
        """Run the kernel on the tiles that the launch before left, until none is left."""
        with interrupts_wait():
            self.call[Setting.AGAIN] = 1
            try:
                while self._left.any():
                    self.attempt()
            finally:
                self.call[Setting.AGAIN] = 0

    def attempt(self) -> bool:
        """Run the kernel; whether all tiles found room in the scratch. There is more of it the next time."""
        if (launch := self._launch) is None or self._grown != self._room.grown:
            launch = self.prepare()
        with self._turn:
            launch()
        left, told = self._told[_LEFT] > 0, self._told
        if left:
            needed = Room(told[_CONTACTS], told[_ENTRIES], told[_PAIRS])
            told[_LEFT] = told[_CONTACTS] = told[_ENTRIES] = told[_PAIRS] = 0
            try:
                self._room.grow(needed, int(self._left.sum()))  # workers side by side may lose counts, not marks
            except (ValueError, MemoryError):
                self._left.zero_()
                raise
        return not left

    def prepare(self) -> Callable[[], None]:
        """Have all that a launch needs: it is compiled, and bound to as much scratch as there is room for."""
        if self._launch is None or self._grown != self._room.grown:
            self._kernel.prepare(self._bind)
        assert self._launch is not None
        return self._launch

    def _bind(self) -> None:
        grown = self._room.grown
        self.call[Setting.WORKERS] = min(int(self.call[Setting.WORKERS]), self._room.workers)
        idle = [torch.zeros_like(tensor) if tensor is self.call else tensor for tensor in self._arguments]
        self._launch = self._kernel.bind(self._arguments, idle, self._room.rows)
        self._grown = grown

"""Kernels compiled by Taichi, and launches bound to their arguments.

A bound launch takes a few microseconds, a call through Taichi's own interface hundreds.
"""

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import taichi as ti
import torch

from ..machine.interrupts import interrupts_wait
from ..machine.runtime import Runtime
from ..machine.taichi_thread import in_taichis_thread
from ..machine.tracing import quick_tracing
from ..machine.waiting import Waiting
from ..model.state.capacity import Capacity
from .settings import Setting
from .tiles.growing import GrowingCapacity
from .tiles.scratch import Scratch

SOLVER = "the solver for this model"
"""The name, in log messages, of what most kernels are part of."""


def compiled(make: Callable[[], Any], arguments: Sequence[torch.Tensor | int | float]) -> tuple[Any, Any, Any]:
    """Compile the kernel that `make` decorates; to be called in Taichi's thread.

    Returns:
        Taichi's kernel, its trace, from which launch contexts are made, and its machine code.
    """
    with warnings.catch_warnings(), quick_tracing():
        warnings.filterwarnings("ignore", message=".*Calling non-taichi function", category=SyntaxWarning)
        primal, program = make()._primal, ti.lang.impl.get_runtime().prog
        traced = primal.compiled_kernels[primal.ensure_compiled(*arguments)]
        return primal, traced, program.compile_kernel(program.config(), program.get_device_caps(), traced)


class Kernel:
    """A Taichi kernel over scratch, traced and compiled at its first launch.

    The machine code stays valid when the scratch grows, but Taichi's trace does not (`scratch`). So Taichi compiles
    once, over scratch of its first size, and never again.

    Args:
        runtime: the runtime whose Taichi compiles and launches the kernel.
        scratch: the scratch that the kernel computes in.
        make: returns the decorated function; called in Taichi's thread.
    """

    def __init__(self, runtime: Runtime, scratch: Scratch, make: Callable[[], Any]) -> None:
        self.scratch = scratch
        self._runtime, self._make = runtime, make
        self._traced: Any = None  # makes launch contexts
        self._code: Any = None
        self._dims: list[int] = []  # dimensions of each argument
        self._generation = -1  # generation of the scratch for which the code was compiled

    def prepare(self, job: Callable[[], None]) -> None:
        """Run a job that calls `bind` in Taichi's thread, where kernels are traced."""
        in_taichis_thread(job)

    def bind(
        self, arguments: Sequence[torch.Tensor], idle: Sequence[torch.Tensor], room: tuple[int, ...]
    ) -> Callable[[], None]:
        """Return a launch with these arguments, which must stay alive and in place; to be called by `prepare`.

        Args:
            arguments: of the decorated function.
            idle: arguments with which it does nothing.
            room: items of each array that scratch must have for them.

        Raises:
            StaleRuntimeError: Taichi was restarted. The launch raises it, too.
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
        """Compile, then launch with idle arguments: Taichi loads code in the launching thread (`Scratch.grow`)."""
        with Waiting(f"compiling {SOLVER}", once=True):
            primal, self._traced, self._code = compiled(self._make, arguments)
        self._dims = [argument.annotation.ndim for argument in primal.arguments]
        self._launch_with(idle)()
        self._generation = self.scratch.generation

    def _launch_with(self, arguments: Sequence[torch.Tensor]) -> Callable[[], None]:
        """Return a function that launches the compiled code with these arguments."""
        context = self._traced.make_launch_context()
        for i, tensor in enumerate(arguments):
            size = tensor.element_size() * tensor.nelement()
            shape = tensor.shape[: self._dims[i]]  # further dimensions are within the elements (lanes)
            context.set_arg_external_array_with_shape((i,), tensor.data_ptr(), size, shape, 0)
        return functools.partial(ti.lang.impl.get_runtime().prog.launch_kernel, self._code, context)


_LEFT, _CONTACTS, _ENTRIES = (int(s) for s in (Setting.LEFT, Setting.NEED_CONTACTS, Setting.NEED_ENTRIES))
_PAIRS = int(Setting.NEED_PAIRS)


class BoundKernel:
    """A kernel bound to tensors, which it keeps alive, and to scratch of the present size.

    Args:
        kernel: a `Kernel` or a `programs.Program`.
        arguments: the tensors.
        room: the scratch of the model.
        call: the settings of the next launch (`settings.Setting`), one of the tensors.
        left: (tiles,), where a launch writes 1 for a tile that did not fit into the scratch, and 0 for the others.
    """

    def __init__(
        self, kernel: Any, arguments: tuple, room: GrowingCapacity, call: torch.Tensor, left: torch.Tensor
    ) -> None:
        self.call, self._settings, self._left = call, call.numpy().data, left
        self._kernel, self._arguments, self._room = kernel, arguments, room
        self._lock, self._grown = kernel.scratch.lock, room.grown
        self._launch: Callable[[], None] | None = None

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
        if (launch := self._launch) is None or self._grown != self._room.grown:
            launch = self.prepare()
        with self._lock:
            launch()
        left, settings = self._settings[_LEFT] > 0, self._settings
        if left:
            needed = Capacity(settings[_CONTACTS], settings[_ENTRIES], settings[_PAIRS])
            settings[_LEFT] = settings[_CONTACTS] = settings[_ENTRIES] = settings[_PAIRS] = 0
            try:
                self._room.grow(needed, int(self._left.sum()))  # the counter may miss tiles of concurrent workers
            except (ValueError, MemoryError):
                self._left.zero_()
                raise
        return not left

    def prepare(self) -> Callable[[], None]:
        """Return the launch; compile it, or bind it to the enlarged scratch, if necessary."""
        if self._launch is None or self._grown != self._room.grown:
            self._kernel.prepare(self._bind)
        assert self._launch is not None
        return self._launch

    def _bind(self) -> None:
        """Bind the kernel to its arguments and to the present size of the scratch."""
        grown = self._room.grown
        self.call[Setting.WORKERS] = min(int(self.call[Setting.WORKERS]), self._room.workers)
        idle = [torch.zeros_like(tensor) if tensor is self.call else tensor for tensor in self._arguments]
        self._launch = self._kernel.bind(self._arguments, idle, self._room.rows)
        self._grown = grown

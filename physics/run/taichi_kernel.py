"""Kernels that Taichi compiles and launches in this process: on a GPU, and on a CPU without another compiler.

Their arrays are torch tensors. A bound launch takes a few microseconds, a call through Taichi's own interface hundreds.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import taichi as ti
import torch

from ..machine.runtime import Runtime
from ..machine.taichi_thread import in_taichis_thread
from ..machine.waiting import Waiting
from .compile.taichi_code import compiled
from .settings import Setting
from .tiles.scratch import Scratch
from .tiles.tile_view import ARGUMENTS

SOLVER = "the solver for this model"
"""The name, in log messages, of what most kernels are part of."""

Argument = torch.Tensor | int | float
Arguments = Sequence[Argument]


class TaichiKernel:
    """A kernel, traced and compiled at its first launch.

    When its scratch grows, the machine code stays valid, but Taichi's trace does not (`scratch`). So Taichi compiles
    once, over scratch of its first size, and never again.

    Args:
        runtime: the runtime whose Taichi compiles and launches it.
        make: returns the decorated function; called in Taichi's thread.
        literals: the type of real literals in the kernel; by default the solver's precision.
        idle: makes arguments with which the kernel does nothing from those of a launch. Without it, the first launch is
            made in Taichi's thread.
        what: the name, in log messages, of the group of kernels that this one belongs to.
        scratch: the scratch on a CPU that the kernel computes in.
    """

    def __init__(
        self,
        runtime: Runtime,
        make: Callable[[], Any],
        literals: Any = None,
        idle: Callable[[Arguments], Arguments] | None = None,
        what: str = SOLVER,
        scratch: Scratch | None = None,
    ) -> None:
        self._runtime, self._make, self._literals, self._idle = runtime, make, literals, idle
        self._what, self._scratch = what, scratch
        self._traced: Any = None  # makes launch contexts
        self._code: Any = None
        self._dims: list[int] = []  # dimensions of each argument; further ones are within the elements (lanes)
        self._generation = 0  # of the scratch for which the code was compiled

    def __call__(self, arguments: Arguments) -> None:
        """Launch with these arguments, contiguous tensors and numbers; on a GPU it returns before the work is done.

        Raises:
            StaleRuntimeError: Taichi was restarted.
        """
        if self._code is None and self._idle is None:
            self._launch_first(arguments)
        else:
            self.bind(arguments)()

    def bind(self, arguments: Arguments, rows: Sequence[int] = ()) -> Callable[[], None]:
        """Compile and load the kernel for arguments of these types, if necessary; return a launch with these.

        `bound_kernel.Kernel` explains the arguments.
        """
        launch = partial(self._launch, arguments)
        if self._code is None or self._scratch is not None:
            launch = in_taichis_thread(self._prepare, arguments, rows)
        return partial(self._runtime.launch, launch)

    def _prepare(self, arguments: Arguments, rows: Sequence[int]) -> Callable[[], None]:
        """Compile the kernel, if necessary, enlarge its scratch, and return the launch."""
        self._runtime.require()
        self._compile(arguments)
        if self._scratch is None:
            return partial(self._launch, arguments)
        self._scratch.grow(rows)
        self._compile(arguments)
        return partial(_launch_compiled, self._code, self._context(arguments))

    def _launch_first(self, arguments: Arguments) -> None:
        """Compile and launch in Taichi's thread; if the caller is interrupted meanwhile, only compile."""
        awaited = [True]

        def compile_and_launch() -> None:
            launch = self._prepare(arguments, ())
            if awaited:
                self._runtime.launch(launch)

        try:
            in_taichis_thread(compile_and_launch)
        finally:
            awaited.clear()

    def _compile(self, arguments: Arguments) -> None:
        """Compile, then launch with idle arguments: Taichi loads code in the launching thread (`Scratch.grow`)."""
        generation = self._scratch.generation if self._scratch else 0
        if self._code is not None and self._generation == generation:  # perhaps compiled meanwhile by another thread
            return
        with _literals_of(self._literals), Waiting(f"compiling {self._what}", once=True):
            kernel = self._make()
            self._traced, code = compiled(kernel, arguments)
        self._dims = [getattr(argument.annotation, "ndim", 0) for argument in kernel._primal.arguments]
        if self._idle is not None:
            idle = self._idle(arguments)  # alive until the launch has finished
            _launch_compiled(code, self._context(idle))
        self._code, self._generation = code, generation

    def _launch(self, arguments: Arguments) -> None:
        """Launch with a new context: on a GPU Taichi leaves the address of its copy of the arguments in a context."""
        _launch_compiled(self._code, self._context(arguments))

    def _context(self, arguments: Arguments) -> Any:
        """Return Taichi's launch context with these arguments."""
        context = self._traced.make_launch_context()
        for i, argument in enumerate(arguments):
            if isinstance(argument, torch.Tensor):
                size, shape = argument.element_size() * argument.nelement(), argument.shape[: self._dims[i]]
                context.set_arg_external_array_with_shape((i,), argument.data_ptr(), size, shape, 0)
            elif isinstance(argument, int):
                context.set_arg_int((i,), argument)
            else:
                context.set_arg_float((i,), argument)
        return context


def _launch_compiled(code: Any, context: Any) -> None:
    """Launch machine code with a launch context."""
    ti.lang.impl.get_runtime().prog.launch_kernel(code, context)


@contextmanager
def _literals_of(dtype: Any) -> Iterator[None]:
    """Trace real literals of kernels as `dtype`; Taichi gives them the runtime's default type while it traces."""
    runtime = ti.lang.impl.get_runtime()
    before = runtime.default_fp
    runtime.default_fp = before if dtype is None else dtype
    try:
        yield
    finally:
        runtime.default_fp = before


_CALL, _LEFT = (list(ARGUMENTS).index(name) - len(ARGUMENTS) for name in ("call", "left"))
"""Positions of these arguments of the driver's kernels, from the end."""


def nothing_to_do(arguments: Arguments) -> Arguments:
    """Return arguments of a no-op launch: the driver's kernel takes only marked environments, and no mark is set."""
    given: list[Any] = list(arguments)
    given[_CALL], given[_LEFT] = torch.zeros_like(given[_CALL]), torch.zeros_like(given[_LEFT])
    given[_CALL][Setting.AGAIN] = 1
    return given

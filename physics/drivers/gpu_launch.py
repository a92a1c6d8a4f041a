"""Launches, through Taichi, of kernels whose arrays are torch tensors: the GPU driver's, and those that draw."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import taichi as ti
import torch

from ..model.features import Features
from ..process.runtime import Runtime
from ..process.taichi_thread import in_taichis_thread
from ..process.waiting import Waiting
from .bound_kernel import SOLVER, compiled
from .gpu_kernel import make_column_kernel
from .settings import Setting

Argument = torch.Tensor | int | float


Arguments = Sequence[Argument]


class ColumnKernel:
    """A kernel over arrays and numbers that are all arguments, traced and compiled when it is first launched.

    Args:
        runtime: whose Taichi compiles and launches it.
        make: returns the decorated function; called in Taichi's thread.
        literals: the type of the numbers that are written in the kernel; by default the solver's precision.
        idle: makes, of the arguments of a launch, some with which the kernel does nothing. Without it the first launch
            is done in Taichi's thread.
        what: the thing that it is part of, as the logger names it.
    """

    def __init__(
        self,
        runtime: Runtime,
        make: Callable[[], Any],
        literals: Any = None,
        idle: Callable[[Arguments], Arguments] | None = None,
        what: str = SOLVER,
    ) -> None:
        self._runtime, self._make, self._literals, self._idle = runtime, make, literals, idle
        self._what = what
        self._traced: Any = None
        self._code: Any = None

    def __call__(self, arguments: Arguments) -> None:
        """Launch with these arguments, tensors that are contiguous; on a GPU it returns before the work is done.

        Raises:
            StaleRuntimeError: Taichi was started anew.
        """
        if self._code is None and self._idle is None:
            self._launch_first(arguments)
        else:
            self.prepare(arguments)
            self._runtime.launch(partial(self._launch, arguments))

    def prepare(self, arguments: Arguments) -> None:
        """Have the kernel compiled, with arguments as those of a launch, and loaded."""
        if self._code is None:
            in_taichis_thread(self._compile, arguments)

    def _launch_first(self, arguments: Arguments) -> None:
        """Compile and launch in Taichi's thread; if the caller is interrupted meanwhile, compile alone."""
        awaited = [True]

        def launch() -> None:
            self._compile(arguments)
            if awaited:
                self._runtime.launch(partial(self._launch, arguments))

        try:
            in_taichis_thread(launch)
        finally:
            awaited.clear()

    def _compile(self, arguments: Arguments) -> None:
        """Compile, and launch for nothing: Taichi loads code in the thread that launches it (`Scratch.grow`)."""
        if self._code is not None:  # another thread wanted it, too
            return
        self._runtime.require()
        with _literals_of(self._literals), Waiting(f"compiling {self._what}, once", holds_gil=True):
            _, self._traced, code = compiled(self._make, arguments)
        if self._idle is not None:
            self._launch(self._idle(arguments), code)
        self._code = code

    def _launch(self, arguments: Arguments, code: Any = None) -> None:
        """A context serves one launch: on a GPU Taichi leaves in it where its copy of the arguments was."""
        context = self._traced.make_launch_context()
        for i, argument in enumerate(arguments):
            if isinstance(argument, torch.Tensor):
                size = argument.element_size() * argument.nelement()
                context.set_arg_external_array_with_shape((i,), argument.data_ptr(), size, argument.shape, 0)
            elif isinstance(argument, int):
                context.set_arg_int((i,), argument)
            else:
                context.set_arg_float((i,), argument)
        ti.lang.impl.get_runtime().prog.launch_kernel(self._code if code is None else code, context)


@contextmanager
def _literals_of(dtype: Any) -> Iterator[None]:
    """Trace the numbers written in kernels as `dtype`: Taichi gives them the runtime's default type at that time."""
    runtime = ti.lang.impl.get_runtime()
    before = runtime.default_fp
    runtime.default_fp = before if dtype is None else dtype
    try:
        yield
    finally:
        runtime.default_fp = before


_CALL = 10
"""Place of the tensor `call` among the arguments of the driver's kernel; the last is `left`."""


def _none_of_them(arguments: Arguments) -> Arguments:
    """Arguments with which the driver's kernel takes no environment: only those that are left, which none is."""
    given: list[Any] = list(arguments)
    given[_CALL], given[-1] = torch.zeros_like(given[_CALL]), torch.zeros_like(given[-1])
    given[_CALL][Setting.AGAIN] = 1
    return given


def shared_column_kernel(runtime: Runtime, features: Features) -> ColumnKernel:
    """The kernel for optional code; made once, then shared."""
    key = ("columns", features)
    if key not in runtime.pool:
        make = partial(make_column_kernel, runtime.dtype, features)
        runtime.pool[key] = ColumnKernel(runtime, make, idle=_none_of_them)
    return runtime.pool[key]

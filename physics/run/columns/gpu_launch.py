"""Launches through Taichi of kernels whose arrays are torch tensors: the GPU driver's kernel, and pictures' kernels."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import taichi as ti
import torch

from ...machine.runtime import Runtime
from ...machine.taichi_thread import in_taichis_thread
from ...machine.waiting import Waiting
from ...model.features import Features
from ..bound_kernel import SOLVER, compiled
from ..settings import Setting
from .gpu_kernel import make_column_kernel

Argument = torch.Tensor | int | float


Arguments = Sequence[Argument]


class ColumnKernel:
    """A kernel whose arrays and numbers are all arguments, traced and compiled at its first launch.

    Args:
        runtime: the runtime whose Taichi compiles and launches it.
        make: returns the decorated function; called in Taichi's thread.
        literals: the type of real literals in the kernel; by default the solver's precision.
        idle: makes arguments with which the kernel does nothing from those of a launch. Without it, the first launch is
            made in Taichi's thread.
        what: the name, in log messages, of the group of kernels that this one belongs to.
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
        """Launch with these arguments, contiguous tensors and numbers; on a GPU it returns before the work is done.

        Raises:
            StaleRuntimeError: Taichi was restarted.
        """
        if self._code is None and self._idle is None:
            self._launch_first(arguments)
        else:
            self.prepare(arguments)
            self._runtime.launch(partial(self._launch, arguments))

    def prepare(self, arguments: Arguments) -> None:
        """Compile and load the kernel for arguments of these types, if that has not been done."""
        if self._code is None:
            in_taichis_thread(self._compile, arguments)

    def _launch_first(self, arguments: Arguments) -> None:
        """Compile and launch in Taichi's thread; if the caller is interrupted meanwhile, only compile."""
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
        """Compile, then launch with idle arguments: Taichi loads code in the launching thread (`Scratch.grow`)."""
        if self._code is not None:  # another thread has compiled it meanwhile
            return
        self._runtime.require()
        with _literals_of(self._literals), Waiting(f"compiling {self._what}", once=True):
            _, self._traced, code = compiled(self._make, arguments)
        if self._idle is not None:
            self._launch(self._idle(arguments), code)
        self._code = code

    def _launch(self, arguments: Arguments, code: Any = None) -> None:
        """Launch with a new context: on a GPU Taichi leaves the address of its copy of the arguments in a context."""
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
    """Trace real literals of kernels as `dtype`; Taichi gives them the runtime's default type while it traces."""
    runtime = ti.lang.impl.get_runtime()
    before = runtime.default_fp
    runtime.default_fp = before if dtype is None else dtype
    try:
        yield
    finally:
        runtime.default_fp = before


_CALL = 10
"""Position of the tensor `call` among the arguments of the driver's kernel; the last is `left`."""


def _none_of_them(arguments: Arguments) -> Arguments:
    """Return arguments of a no-op launch: the driver's kernel takes only marked environments, and no mark is set."""
    given: list[Any] = list(arguments)
    given[_CALL], given[-1] = torch.zeros_like(given[_CALL]), torch.zeros_like(given[-1])
    given[_CALL][Setting.AGAIN] = 1
    return given


def shared_column_kernel(runtime: Runtime, features: Features) -> ColumnKernel:
    """Return the kernel with the optional code of `features`; it is made once, then shared."""
    key = ("columns", features)
    if key not in runtime.pool:
        make = partial(make_column_kernel, runtime.dtype, features)
        runtime.pool[key] = ColumnKernel(runtime, make, idle=_none_of_them)
    return runtime.pool[key]

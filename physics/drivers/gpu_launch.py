"""Launches, through Taichi, of kernels whose arrays are torch tensors: the GPU driver's, and those that draw."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import taichi as ti
import torch

from ..model.features import Features
from ..runtime import Runtime
from ..taichi_thread import in_taichis_thread
from ..waiting import Waiting
from .bound_kernel import SOLVER, compiled
from .gpu_kernel import make_column_kernel

Argument = torch.Tensor | int | float


class ColumnKernel:
    """A kernel over arrays and numbers that are all arguments, traced and compiled when it is first launched.

    Args:
        make: returns the decorated function; called in Taichi's thread.
        literals: the type of the numbers that are written in the kernel; by default the solver's precision.
        what: the thing that it is part of, as the logger names it.
    """

    def __init__(self, make: Callable[[], Any], literals: Any = None, what: str = SOLVER) -> None:
        self._make, self._literals, self._what = make, literals, what
        self._traced: Any = None
        self._code: Any = None

    def __call__(self, arguments: Sequence[Argument]) -> None:
        """Launch with these arguments, tensors that are contiguous; on a GPU it returns before the work is done."""
        if self._code is None:
            in_taichis_thread(self._launch_first, arguments)
        else:
            self._launch(arguments)

    def _launch_first(self, arguments: Sequence[Argument]) -> None:
        """In Taichi's thread, as Taichi loads the code in the thread that is first to launch it (`Scratch.grow`)."""
        self._compile(arguments)
        self._launch(arguments)

    def _compile(self, arguments: Sequence[Argument]) -> None:
        with _literals_of(self._literals), Waiting(f"compiling {self._what}, once", holds_gil=True):
            _, self._traced, self._code = compiled(self._make, arguments)

    def _launch(self, arguments: Sequence[Argument]) -> None:
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
        ti.lang.impl.get_runtime().prog.launch_kernel(self._code, context)


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


def shared_column_kernel(runtime: Runtime, features: Features) -> ColumnKernel:
    """The kernel for optional code; made once, then shared."""
    key = ("columns", features)
    if key not in runtime.pool:
        runtime.pool[key] = ColumnKernel(lambda: make_column_kernel(runtime.dtype, features))
    return runtime.pool[key]

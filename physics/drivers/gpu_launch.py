"""Launches of the GPU driver's kernel through Taichi."""

from collections.abc import Callable, Sequence
from typing import Any

import taichi as ti
import torch

from ..model.features import Features
from ..runtime import Runtime
from ..taichi_thread import in_taichis_thread
from .bound_kernel import compiled
from .gpu_kernel import make_column_kernel


class ColumnKernel:
    """A kernel over arrays that are all arguments, traced and compiled when it is first launched.

    Args:
        make: returns the decorated function; called in Taichi's thread.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._traced: Any = None
        self._code: Any = None

    def __call__(self, arguments: Sequence[torch.Tensor]) -> None:
        """Launch with these arguments; on a GPU it returns before the work is done.

        A context serves one launch: on a GPU Taichi leaves in it where its copy of the arguments was.
        """
        if self._code is None:
            in_taichis_thread(self._compile, arguments)
        context = self._traced.make_launch_context()
        for i, tensor in enumerate(arguments):
            size = tensor.element_size() * tensor.nelement()
            context.set_arg_external_array_with_shape((i,), tensor.data_ptr(), size, tensor.shape, 0)
        ti.lang.impl.get_runtime().prog.launch_kernel(self._code, context)

    def _compile(self, arguments: Sequence[torch.Tensor]) -> None:
        _, self._traced, self._code = compiled(self._make, arguments)


def shared_column_kernel(runtime: Runtime, features: Features) -> ColumnKernel:
    """The kernel for optional code; made once, then shared."""
    key = ("columns", features)
    if key not in runtime.pool:
        runtime.pool[key] = ColumnKernel(lambda: make_column_kernel(runtime.dtype, features))
    return runtime.pool[key]

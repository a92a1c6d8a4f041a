"""Kernels of path tracing and of the filter, made once, then shared; they compute in single precision."""

from ...machine.runtime import Runtime
from ...run.tensor_kernels import Launch, Recipe, shared_kernels
from ..cast.raycast import Has
from .kernel import make_trace_paths
from .wavelets import make_measure, make_smooth


def shared_path_kernel(runtime: Runtime, has: Has) -> Launch:
    """`trace_paths` for models that have something or not."""
    (trace,) = shared_kernels(runtime, "f32", (Recipe(make_trace_paths, tuple(has)),), "path tracing")
    return trace


def shared_filter_kernels(runtime: Runtime) -> tuple[Launch, Launch]:
    """`measure` and `smooth`."""
    measure, smooth = shared_kernels(runtime, "f32", (Recipe(make_measure), Recipe(make_smooth)), "denoising")
    return measure, smooth

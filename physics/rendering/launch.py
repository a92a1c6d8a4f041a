"""The ray caster's kernels, launched on the addresses of torch tensors: nothing is copied, nobody waits for a GPU."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import taichi as ti
from taichi.lang import impl

from ..drivers.gpu_launch import Argument, ColumnKernel
from ..runtime import Runtime
from .raycast import cast_rays, cast_rays_at_meshes, cull_tiles


class RayKernel(ColumnKernel):
    """A kernel whose literals are float32, also where the solver runs in float64."""

    def _compile(self, arguments: Sequence[Argument]) -> None:
        with _float32_literals():
            super()._compile(arguments)


def shared_ray_kernels(runtime: Runtime, meshes: bool) -> tuple[RayKernel, RayKernel]:
    """Kernels of `cull_tiles` and, for models with meshes or without, `cast_rays`; made once, then shared."""
    return _shared(runtime, cull_tiles), _shared(runtime, cast_rays_at_meshes if meshes else cast_rays)


def _shared(runtime: Runtime, decorated: Callable[..., Any]) -> RayKernel:
    return runtime.pool.setdefault(("rays", decorated.__name__), RayKernel(lambda: decorated))


@contextmanager
def _float32_literals() -> Iterator[None]:
    """Trace the numbers written in kernels as float32.

    Taichi gives a literal the runtime's default type at the time a kernel is traced.
    """
    runtime = impl.get_runtime()
    before = runtime.default_fp
    runtime.default_fp = ti.f32
    try:
        yield
    finally:
        runtime.default_fp = before

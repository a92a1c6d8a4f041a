"""The ray caster's kernels, launched on the addresses of torch tensors: nothing is copied, nobody waits for a GPU."""

from collections.abc import Callable
from typing import Any

import taichi as ti

from ..drivers.gpu_launch import ColumnKernel
from ..runtime import Runtime
from .raycast import cast_rays, cast_rays_at_meshes, cull_tiles


def shared_ray_kernels(runtime: Runtime, meshes: bool) -> tuple[ColumnKernel, ColumnKernel]:
    """Kernels of `cull_tiles` and, for models with meshes or without, `cast_rays`; made once, then shared.

    They compute in single precision, also where the solver runs in double.
    """
    return _shared(runtime, cull_tiles), _shared(runtime, cast_rays_at_meshes if meshes else cast_rays)


def _shared(runtime: Runtime, decorated: Callable[..., Any]) -> ColumnKernel:
    return runtime.pool.setdefault(("rays", decorated.__name__), ColumnKernel(lambda: decorated, literals=ti.f32))

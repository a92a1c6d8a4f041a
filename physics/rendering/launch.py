"""The ray caster's kernels, launched on the addresses of torch tensors, without a copy or a wait for a GPU."""

from ..drivers.tensor_kernels import Launch, Recipe, shared_kernels
from ..process.runtime import Runtime
from .raycast import cast_rays, cast_rays_at_meshes, cull_tiles, kernel_named


def shared_ray_kernels(runtime: Runtime, meshes: bool) -> tuple[Launch, Launch]:
    """Kernels of `cull_tiles` and, for models with meshes or without, `cast_rays`; made once, then shared.

    They compute in single precision, also where the solver runs in double.
    """
    names = cull_tiles.__name__, (cast_rays_at_meshes if meshes else cast_rays).__name__
    cull, cast = shared_kernels(runtime, "f32", tuple(Recipe(kernel_named, (name,)) for name in names), "pictures")
    return cull, cast

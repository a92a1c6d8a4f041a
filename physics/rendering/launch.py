"""The ray caster's kernels, launched on the addresses of torch tensors, without a copy or a wait for a GPU."""

from ..drivers.tensor_kernels import Launch, Recipe, shared_kernels
from ..process.runtime import Runtime
from .raycast import cull_kernel, make_cast_rays


def shared_ray_kernels(runtime: Runtime, meshes: bool, fields: bool) -> tuple[Launch, Launch]:
    """`cull_tiles` and, for models with meshes and height fields or without, `cast_rays`; made once, then shared.

    They compute in single precision, also where the solver runs in double.
    """
    recipes = Recipe(cull_kernel), Recipe(make_cast_rays, (meshes, fields))
    cull, cast = shared_kernels(runtime, "f32", recipes, "pictures")
    return cull, cast

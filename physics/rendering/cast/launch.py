"""The ray caster's kernels, launched on the addresses of torch tensors, without a copy or a wait for a GPU."""

from ...machine.runtime import Runtime
from ...run.tensor_kernels import Launch, Recipe, shared_kernels
from .raycast import Has, cull_kernel, make_cast_rays


def shared_ray_kernels(runtime: Runtime, has: Has) -> tuple[Launch, Launch]:
    """`cull_tiles` and, for models that have something or not, `cast_rays`; made once, then shared.

    They compute in single precision, also where the solver runs in double.
    """
    recipes = Recipe(cull_kernel), Recipe(make_cast_rays, tuple(has))
    cull, cast = shared_kernels(runtime, "f32", recipes, "pictures")
    return cull, cast

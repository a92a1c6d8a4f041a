"""Kernels whose arguments are tensors and numbers, on a CPU or a GPU, for pictures, rays and distances.

On a CPU they are machine code that another process compiles (`loop_programs`). On a GPU, and if no process can be
started for it, Taichi compiles and launches them (`taichi_kernel`).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import taichi as ti

from ..machine.runtime import Runtime
from .loop_programs import Recipe, loop_programs
from .programs import can_compile_apart
from .taichi_kernel import Argument, TaichiKernel

__all__ = ["Argument", "Launch", "Recipe", "shared_kernels"]

Launch = Callable[[Sequence[Argument]], Any]
"""A function that launches a kernel with arguments; tensors must be contiguous. On a GPU it returns before the end."""


def shared_kernels(runtime: Runtime, literals: str, recipes: tuple[Recipe, ...], what: str) -> list[Launch]:
    """Return kernels that are used together; they are compiled at the first launch, made once, then shared.

    Args:
        runtime: the runtime that they run in.
        literals: the type of real literals in the kernels and of their real arguments: "f32" or "f64".
        recipes: the recipes of the kernels.
        what: the name, in log messages, of the thing that they are part of.
    """
    key = what, literals, recipes
    if key not in runtime.pool:
        if runtime.columns or not can_compile_apart():
            made: Sequence[Launch] = [_by_taichi(runtime, literals, recipe, what) for recipe in recipes]
        else:
            made = loop_programs(literals, recipes, runtime.threads, what)
        runtime.pool.setdefault(key, made)
    return runtime.pool[key]


def _by_taichi(runtime: Runtime, literals: str, recipe: Recipe, what: str) -> TaichiKernel:
    kernel = TaichiKernel(runtime, partial(recipe.make, *recipe.arguments), getattr(ti, literals), what=what)
    return runtime.pool.setdefault((literals, recipe), kernel)

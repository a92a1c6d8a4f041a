"""Kernels whose arguments are tensors and numbers, wherever they run: pictures, rays and distances are made by them.

On a CPU they are machine code that another process compiles (`loop_programs`); on a GPU, and where nothing can be
compiled apart, Taichi compiles and launches them (`gpu_launch`).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import taichi as ti

from ..process.runtime import Runtime
from .gpu_launch import Argument, ColumnKernel
from .loop_programs import Recipe, loop_programs
from .programs import can_compile_apart

__all__ = ["Argument", "Launch", "Recipe", "shared_kernels"]

Launch = Callable[[Sequence[Argument]], Any]
"""Launches a kernel with its arguments, tensors that are contiguous; on a GPU it returns before the work is done."""


def shared_kernels(runtime: Runtime, literals: str, recipes: tuple[Recipe, ...], what: str) -> list[Launch]:
    """Kernels that are used together, compiled at the first launch; made once, then shared.

    Args:
        runtime: where they run.
        literals: the type of numbers that are written in the kernels, and of their arguments with a fraction: "f32"
            or "f64".
        recipes: of the kernels.
        what: the thing that they are part of, as somebody who waits for them is told.
    """
    key = what, literals, recipes
    if key not in runtime.pool:
        if runtime.columns or not can_compile_apart():
            made: Sequence[Launch] = [_by_taichi(runtime, literals, recipe, what) for recipe in recipes]
        else:
            made = loop_programs(literals, recipes, runtime.threads, what)
        runtime.pool.setdefault(key, made)
    return runtime.pool[key]


def _by_taichi(runtime: Runtime, literals: str, recipe: Recipe, what: str) -> ColumnKernel:
    kernel = ColumnKernel(runtime, partial(recipe.make, *recipe.arguments), getattr(ti, literals), what=what)
    return runtime.pool.setdefault((literals, recipe), kernel)

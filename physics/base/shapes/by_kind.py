"""A kernel's branches on the kind of a geom, made from a table of functions."""

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any

from taichi._lib import core
from taichi.lang import impl

from ..math.lanes import LaneValue, let, traced


@traced
def by_kind(kind: Any, functions: dict[int, Callable], usual: Any, *arguments: Any) -> Any:
    """Return the result of the function of a kind, or `usual` for a kind without a function.

    The kernel that is being traced gets a chain `if kind == ...: elif ...`, in the order of the table.

    Args:
        kind: a geom's mjtGeom, a number of the kernel.
        functions: a function for kernels by mjtGeom, such as `shapes.SUPPORT`.
        usual: a value, or a tuple of values if the functions return several.
        arguments: of the functions.
    """
    kind, several = let(kind), isinstance(usual, tuple)
    found = [value.copy() if isinstance(value, LaneValue) else let(value) for value in (usual if several else [usual])]
    builder = impl.get_runtime().compiling_callable.ast_builder()
    for number, function in functions.items():
        impl.begin_frontend_if(builder, kind == number, core.DebugInfo())
        builder.begin_frontend_if_true()
        values = function(*arguments)
        for variable, value in zip(found, values if several else [values], strict=True):
            variable._assign(value)
        builder.pop_scope()
        builder.begin_frontend_if_false()
    for _ in functions:
        builder.pop_scope()
    return tuple(found) if several else found[0]


@traced
def is_one_of(kind: Any, kinds: tuple[int, ...]) -> Any:
    """Return True in a kernel if a number is one of these kinds."""
    return reduce(or_, [kind == number for number in kinds])

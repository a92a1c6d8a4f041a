"""The decorators of functions that kernels call, and of kernels whose arguments a table declares."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import taichi as ti
from taichi.lang.kernel_impl import Func


def func(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function callable from kernels, as `ti.func` does, with `ti.template()` for parameters without annotation.

    Such a parameter is passed as it is: an object of the trace, such as `model` or `work`, or an expression. A number
    that the function assigns to, or that is computed at the call, is annotated, for example by `ti.i32`, and passed by
    value. This is for functions of modules, not for methods: `ti.func` inspects the frames for a class.
    """
    for name in function.__code__.co_varnames[: function.__code__.co_argcount]:
        function.__annotations__.setdefault(name, ti.template())
    inlined = Func(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return inlined(*args, **kwargs)

    vars(call).update(_is_taichi_function=True, _is_real_function=False, func=inlined)
    return call


def with_types(types: Mapping[str, Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Annotate a function, for `ti.kernel` to decorate, with the types of its parameters by their names."""

    def annotated(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__annotations__.update(types)
        return function

    return annotated

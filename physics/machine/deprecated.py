"""Warnings of names and arguments that a later version will not have; CONTRIBUTING says when something may go.

@deprecated("0.3", "solver.state.set")
def set_state(...):

if wide is not None:
    warn_deprecated("the argument wide", "0.3", "lanes")
"""

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def warn_deprecated(what: str, goes: str, instead: str, stacklevel: int = 3) -> None:
    """Warn the caller's caller that `what` goes in version `goes`, and name its replacement."""
    text = f"{what} goes in Tumble {goes}; use {instead}"
    warnings.warn(text, DeprecationWarning, stacklevel=stacklevel)


def deprecated(goes: str, instead: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator of a function or method, each call of which warns; see `warn_deprecated`."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            warn_deprecated(f"{function.__qualname__}()", goes, instead)
            return function(*args, **kwargs)

        return call

    return decorate

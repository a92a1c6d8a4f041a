"""Functions with derivatives of their own: `gradients` puts functions with tangents in their place."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from .lanes import traced

ELEMENTARY: dict[str, Callable[..., Any]] = {}
"""The functions by name."""


def elementary(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare a function whose derivative is no derivative of its code: calls of it go through `ELEMENTARY`."""
    ELEMENTARY[function.__name__] = function

    @traced
    @wraps(function)
    def call(*arguments: Any) -> Any:
        return ELEMENTARY[function.__name__](*arguments)

    return call


@elementary
def with_limit(value: Any, still: Any, limit: Any) -> Any:
    """Return `value`; where the comparison `still` holds, its derivative is that of `limit`.

    A quotient such as sin(|w|) w / max(|w|, MINIMUM) is right at |w| = 0, but its derivative there is not.
    """
    return value

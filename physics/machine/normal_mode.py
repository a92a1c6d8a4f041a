"""Code that keeps tensors runs in torch's normal mode, also where a caller is under `torch.inference_mode()`.

A tensor that is made in inference mode can never be written to outside of it: one that lives on must not be made there.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import torch

_C = TypeVar("_C", bound=type)
_F = TypeVar("_F", bound=Callable[..., Any])


def normal_mode(function: _F) -> _F:
    """Make a function run in normal mode, without gradients, if it is called in inference mode."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not torch.is_inference_mode_enabled():
            return function(*args, **kwargs)
        with torch.inference_mode(False), torch.no_grad():
            return function(*args, **kwargs)

    return call  # type: ignore[return-value]  # a function with the same parameters


def in_normal_mode(cls: _C) -> _C:
    """Make the constructor, the public methods and the properties of a class run as `normal_mode` has it."""
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and name not in ("__init__", "__call__"):
            continue
        if isinstance(member, property):
            doors: list[Any] = [part and normal_mode(part) for part in (member.fget, member.fset, member.fdel)]
            setattr(cls, name, property(doors[0], doors[1], doors[2], member.__doc__))
        elif inspect.isfunction(member) and not inspect.isgeneratorfunction(member):
            setattr(cls, name, normal_mode(member))
    return cls

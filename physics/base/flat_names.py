"""Flat names on an object for members of its parts: `solver.qpos` is `solver.state.qpos`.

A class lists them once, by part:

    @flat_names(state="qpos qvel wake", inputs="ctrl set_inputs=set")
    class SolverNames:
        state: SolverState
        inputs: Inputs

Editors and type checkers read the file `.pyi` beside the class's, which `python -m tests.flat_names` writes.
"""

from collections.abc import Callable
from typing import Any, TypeVar

_Class = TypeVar("_Class", bound=type)


class FlatName(property):
    """The property of a class that is a member of a part: a method, or a property with or without a setter."""

    def __init__(self, part: str, member: str) -> None:
        def get(instance: Any) -> Any:
            return getattr(getattr(instance, part), member)

        def put(instance: Any, value: Any) -> None:
            setattr(getattr(instance, part), member, value)

        super().__init__(get, put)
        self.part, self.member, self.__doc__ = part, member, f"`{part}.{member}`."


def flat_names(**names_by_part: str) -> Callable[[_Class], _Class]:
    """Return a decorator that gives a class names for members of its parts.

    Args:
        names_by_part: by attribute of the class, the names; `flat=member` where they differ.

    Raises:
        TypeError: two parts have the same flat name, or the class has it already.
    """

    def decorate(kind: _Class) -> _Class:
        for part, names in names_by_part.items():
            for pair in names.split():
                name, _, member = pair.partition("=")
                if name in vars(kind):
                    raise TypeError(f"{kind.__name__}.{name}: the name is taken")
                setattr(kind, name, FlatName(part, member or name))
        return kind

    return decorate

"""Records of numbers and choices of users: only keyword arguments; a misspelt one is refused with the nearest."""

import copy
import difflib
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol, TypeVar, dataclass_transform

import numpy as np

from .checks import number
from .compat.ignored import names_of, without_ignored

Record = TypeVar("Record")


class Named(Protocol):
    """A part of a scene that has a name."""

    @property
    def name(self) -> str:
        """Its name, which no other part of its kind has."""


Part = TypeVar("Part", bound=Named)


def nearest(name: object, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the names that are near it, or all there are."""
    names = list(known)
    if not names:
        return "; there is none"
    close = difflib.get_close_matches(str(name), names, n=3, cutoff=0.5)
    return f"; nearest: {', '.join(close)}" if close else f"; there are: {', '.join(names)}"


def part_named(owner: str, kind: str, name: str | None, parts: Sequence[Part]) -> Part:
    """Return a part by its name.

    Raises:
        KeyError: for an unknown name, with the nearest.
    """
    for part in parts:
        if part.name == name:
            return part
    raise KeyError(f"{owner} has no {kind} {name!r}{nearest(name, [part.name for part in parts])}")


class Uid(str):
    """The name of a part of a scene, which no other part has."""

    def short(self) -> str:
        """Return it."""
        return str(self)

    full = short


@dataclass_transform(kw_only_default=True, frozen_default=True)
def record(cls: type[Record]) -> type[Record]:
    """Make a frozen dataclass with keyword arguments, which names the nearest ones where an argument is unknown.

    Its attribute `given` has the arguments as they were given, from which the same record is made again.
    """
    made = dataclass(frozen=True, kw_only=True)(cls)
    setattr(made, "__init__", _checked(made, made.__init__))  # noqa: B010  # as an assignment, mypy refuses it
    return made


def _checked(cls: Any, init: Callable[..., None]) -> Callable[..., None]:
    """Return an `__init__` that refuses unknown arguments in words."""
    known = [field.name for field in fields(cls) if field.init]
    accepted = {*known, *(name for each in cls.__mro__ for name in names_of(each.__name__))}

    @functools.wraps(init)
    def initialize(self: Any, *positional: Any, **named: Any) -> None:
        if positional:
            raise TypeError(f"{cls.__name__} takes only keyword arguments: {', '.join(known)}")
        for name in named:
            if name not in accepted:
                raise TypeError(f"{cls.__name__} has no argument {name!r}{nearest(name, known)}")
        named = without_ignored(cls, named)
        changing = list | dict | np.ndarray  # a user may change these later
        put(self, given={k: copy.deepcopy(v) if isinstance(v, changing) else v for k, v in named.items()})
        init(self, **named)

    return initialize


def put(self: Any, **values: Any) -> None:
    """Set fields of a frozen record, in its `__post_init__`."""
    for name, value in values.items():
        object.__setattr__(self, name, value)


def put_numbers(self: Any, *names: str, **limits: Any) -> None:
    """Turn fields of a frozen record into numbers within limits, but None where that is the default; see `number`."""
    for name in names:
        if getattr(self, name) is not None or getattr(type(self), name) is not None:
            put(self, **{name: number(type(self).__name__, name, getattr(self, name), **limits)})


def same_with(told: Record, **changed: Any) -> Record:
    """Return a record like another one, with some arguments replaced."""
    given: Any = told
    return type(told)(**given.given | changed)

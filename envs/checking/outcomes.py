"""A check, and how it ends: it passes, fails, notes something, or does not apply."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class Failed(Exception):
    """A requirement is not met.

    Args:
        seen: what was seen, with the numbers.
        do: what to do about it.
    """

    def __init__(self, seen: str, do: str) -> None:
        super().__init__(seen)
        self.seen, self.do = seen, do


class Noted(Exception):
    """Something that Gymnasium allows, and that a user should know."""


class NotApplicable(Exception):
    """The check says nothing about these environments; the message is the reason."""


@dataclass(frozen=True)
class Check:
    """A requirement of vector environments, and how it is checked.

    Attributes:
        name: what `skip` and reports call it.
        requires: one sentence: what is required.
        because: what Gymnasium's documentation says.
        needs: names of checks that must pass before this one says anything.
        run: takes the subject; returns words about what was seen, or raises `Failed`, `Noted` or `NotApplicable`.
    """

    name: str
    requires: str
    because: str
    needs: tuple[str, ...]
    run: Callable[[Any], str | None]


def check(
    name: str, *, requires: str, because: str, needs: tuple[str, ...] = ()
) -> Callable[[Callable[[Any], str | None]], Check]:
    """Make a check of a function; the arguments are those of `Check`."""
    return lambda run: Check(name, requires, because, needs, run)

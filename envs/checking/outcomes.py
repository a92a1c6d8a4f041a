"""A check, and how it ends: it passes, fails, notes something, or does not apply."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class Failed(Exception):
    """A requirement is not met.

    Args:
        seen: the observed fact, with the numbers.
        do: the advice to the user.
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
        name: the name in `skip` and reports.
        requires: one sentence: the requirement.
        because: the words of Gymnasium's documentation.
        needs: names of checks that must pass before this one means anything.
        run: takes the subject; returns the observed fact in words, or raises `Failed`, `Noted` or `NotApplicable`.
    """

    name: str
    requires: str
    because: str
    needs: tuple[str, ...]
    run: Callable[[Any], str | None]


def check(
    name: str, *, requires: str, because: str, needs: tuple[str, ...] = ()
) -> Callable[[Callable[[Any], str | None]], Check]:
    """Make a check of a function; the arguments as in `Check`."""
    return lambda run: Check(name, requires, because, needs, run)

"""Checks of the arguments that environments are made with: counts, time limits and autoreset modes."""

import operator
from typing import Any

from gymnasium.vector import AutoresetMode


def whole(name: str, value: Any, least: int | None = 1) -> int:
    """Return a whole number, Python's or numpy's, as Python's.

    Raises:
        TypeError: the value is not of a whole type; 2.0 is not either.
        ValueError: it is less than `least`.
    """
    try:
        number = operator.index(value)
    except TypeError as error:
        raise TypeError(f"{name}={value!r}: it must be a whole number") from error
    if least is not None and number < least:
        raise ValueError(f"{name}={number}: it must be at least {least}")
    return number


def time_limit(max_episode_steps: Any) -> int | None:
    """Return after how many steps an episode is truncated; None: never.

    Raises:
        TypeError, ValueError: it is no whole number, or neither positive nor -1.
    """
    if max_episode_steps is None:
        return None
    limit = whole("max_episode_steps", max_episode_steps, least=None)
    if limit < 1 and limit != -1:
        raise ValueError(f"max_episode_steps={limit}: at least 1, or -1 for no limit")
    return None if limit == -1 else limit


def parse_autoreset_mode(mode: str | AutoresetMode) -> AutoresetMode:
    """Return the mode that was given as a member, by its name ("SAME_STEP") or by its value ("SameStep").

    Raises:
        ValueError: no such mode.
    """
    for member in AutoresetMode:
        if mode in (member, member.name, member.value):
            return member
    raise ValueError(f"autoreset_mode={mode!r}: there is {', '.join(member.name for member in AutoresetMode)}")

"""Observations are one array, or several by name; these functions treat both alike."""

from collections.abc import Callable
from typing import Any

from .task import Observation


def each(function: Callable[..., Any], observation: Observation, *others: Observation) -> Any:
    """Apply a function to the array, or to each of the named arrays, of one or several observations built alike."""
    if isinstance(observation, dict):
        return {name: function(part, *(other[name] for other in others)) for name, part in observation.items()}
    return function(observation, *others)


def parts_of(observation: Observation) -> dict[str, Any]:
    """Return the arrays by name; an observation that is one array has the name ""."""
    return observation if isinstance(observation, dict) else {"": observation}

"""Observations as one array or several by name: the same function for every part, whichever it is."""

from collections.abc import Callable
from typing import Any

from .task import Observation


def each(function: Callable[..., Any], observation: Observation, *others: Observation) -> Any:
    """Apply a function to the parts of observations that belong together; the result is built like the first."""
    if isinstance(observation, dict):
        return {name: function(part, *(other[name] for other in others)) for name, part in observation.items()}
    return function(observation, *others)


def parts_of(observation: Observation) -> dict[str, Any]:
    """The parts by name; "" is that of an observation that is one array."""
    return observation if isinstance(observation, dict) else {"": observation}

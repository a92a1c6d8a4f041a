"""Wrappers of vector environments that remember something, for torch and numpy output and all three autoreset modes.

Gymnasium's wrappers of the same names are numpy code, and its observation wrappers do not know SAME_STEP. Users import
these from `tumble.wrappers`.

| file | what |
|---|---|
| `stateful` | the base of all: which environments have just begun an episode |
| `moments` | running mean and variance, in double precision on the device of the data |
| `episodes` | `RecordEpisodeStatistics` |
| `normalize` | `NormalizeObservation`, `NormalizeReward` |
| `stacking` | `FrameStackObservation` |
"""

import importlib
from typing import TYPE_CHECKING, Any

from ...physics.machine.libraries import load_mujoco, load_torch

if TYPE_CHECKING:
    from .episodes import RecordEpisodeStatistics
    from .normalize import NormalizeObservation, NormalizeReward
    from .stacking import FrameStackObservation

__all__ = ["FrameStackObservation", "NormalizeObservation", "NormalizeReward", "RecordEpisodeStatistics"]

_HOMES = {"FrameStackObservation": "stacking", "NormalizeObservation": "normalize", "NormalizeReward": "normalize"}
_HOMES |= {"RecordEpisodeStatistics": "episodes"}


def __getattr__(name: str) -> Any:
    """Load a wrapper when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    load_mujoco()
    load_torch()
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)

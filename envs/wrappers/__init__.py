"""Wrappers of vector environments that remember something, for torch and numpy output and all three autoreset modes.

Gymnasium's wrappers of the same names are numpy code, and those of observations do not know SAME_STEP. Users import
these from `tumble.wrappers`.

| file | what |
|---|---|
| `stateful` | the base of all: which environments have just begun an episode |
| `moments` | running mean and variance, in double precision on the device of the data |
| `episodes` | `RecordEpisodeStatistics` |
| `normalize` | `NormalizeObservation`, `NormalizeReward` |
| `stacking` | `FrameStackObservation` |
"""

from .episodes import RecordEpisodeStatistics
from .normalize import NormalizeObservation, NormalizeReward
from .stacking import FrameStackObservation

__all__ = ["FrameStackObservation", "NormalizeObservation", "NormalizeReward", "RecordEpisodeStatistics"]

"""Wrappers of vector environments that remember something, for torch and numpy output and all three autoreset modes.

Gymnasium's own of the same names are numpy code, and those of observations know no SAME_STEP. Users import these from
`tumble.wrappers`.

| file | what |
|---|---|
| `stateful` | who begins an episode when: what the wrappers share |
| `moments` | running mean and variance, in double precision on the device of the data |
| `episodes` | `RecordEpisodeStatistics` |
| `normalize` | `NormalizeObservation`, `NormalizeReward` |
| `stacking` | `FrameStackObservation` |
"""

from .episodes import RecordEpisodeStatistics
from .normalize import NormalizeObservation, NormalizeReward
from .stacking import FrameStackObservation

__all__ = ["FrameStackObservation", "NormalizeObservation", "NormalizeReward", "RecordEpisodeStatistics"]

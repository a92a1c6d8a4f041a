"""Wrappers of vector environments, right for torch and numpy output in all three autoreset modes.

The same names, arguments and info keys as in `gymnasium.wrappers.vector`, whose own are numpy code.
"""

from .envs.wrappers import FrameStackObservation, NormalizeObservation, NormalizeReward, RecordEpisodeStatistics

__all__ = ["FrameStackObservation", "NormalizeObservation", "NormalizeReward", "RecordEpisodeStatistics"]

"""Episodes that a policy played: returns, lengths, and numbers of `info`."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Played(NamedTuple):
    """Episodes, one of each environment."""

    returns: np.ndarray  # (num_envs,)
    lengths: np.ndarray  # (num_envs,) int64, steps
    sums: dict[str, np.ndarray]  # (num_envs,) of each number of `info`: its sum over the episode's steps
    ends: dict[str, np.ndarray]  # (num_envs,): what it is at the end

    @property
    def successes(self) -> np.ndarray | None:
        """Flags of the episodes that ended in success, (num_envs,) bool; None if the task tells of none."""
        return self.ends["success"] > 0 if "success" in self.ends else None

    def infos(self) -> dict[str, tuple[float, float]]:
        """Return the mean over all steps and the mean at the ends of episodes, for each number of `info`."""
        steps = self.lengths.sum()
        return {name: (float(self.sums[name].sum() / steps), float(self.ends[name].mean())) for name in self.sums}


def joined(parts: Sequence[Played]) -> Played:
    """Return the episodes of several batches as one."""
    returns, lengths = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    sums, ends = ({name: np.concatenate([part[k][name] for part in parts]) for name in parts[0][k]} for k in (2, 3))
    return Played(returns, lengths, sums, ends)


class Readings:
    """The numbers, one for each environment, that `info` has during the first episode of each."""

    def __init__(self, num_envs: int) -> None:
        self.num_envs = num_envs
        self.sums: dict[str, np.ndarray] = {}
        self.ends: dict[str, np.ndarray] = {}

    def add(self, infos: dict[str, Any], playing: np.ndarray, ended: np.ndarray) -> None:
        """Add a step's numbers where a first episode goes on, or has just ended; those are in `final_info` then."""
        last = infos.get("final_info", {})
        for name in {**infos, **last}:
            now = np.asarray(infos.get(name, last.get(name)))
            if name.startswith("_") or now.shape != (self.num_envs,) or now.dtype.kind not in "biuf":
                continue
            value = np.where(ended, last[name], now) if name in last else now
            self.sums[name] = self.sums.get(name, 0.0) + np.where(playing, value, 0.0)
            self.ends[name] = np.where(playing & ended, value, self.ends.get(name, 0.0))

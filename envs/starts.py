"""Where the next episodes begin: drawn before they are needed, for many environments at once."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .noise import Noise, Streams

Draw = Callable[[Noise], tuple[np.ndarray, np.ndarray]]
"""qpos (k, nq) and qvel (k, nv) for the noise of k episodes: `Task.draw`."""

_MOST, _ENOUGH = 8, 8192  # starts drawn ahead for an environment; and for all, where they are many


class Starts:
    """The starts of every environment's next episodes.

    A draw costs dozens of numpy calls, however many episodes it is for. So when an environment has no start left, they
    are drawn for all that have few; then many steps need no draw. What is drawn does not depend on when or with whom,
    see `noise`.

    Args:
        num_envs: number of environments.
        draw: what draws.
        dtype: precision of the starts.
    """

    def __init__(self, num_envs: int, draw: Draw, dtype: np.dtype) -> None:
        self._streams, self._draw, self._dtype = Streams(num_envs), draw, dtype
        self._ahead = max(1, min(_MOST, _ENOUGH // num_envs))
        self._left = np.zeros(num_envs, np.int64)
        self._table = np.zeros((num_envs, self._ahead, 0), dtype)  # qpos and qvel; it becomes as wide as they are

    @property
    def seeds(self) -> list[int | None]:
        """The seed of every environment; None before it has one."""
        return self._streams.seeds

    def seed(self, seeds: Sequence[int | None], rows: np.ndarray) -> None:
        """Seed the environments in `rows` from the list of all environments' seeds; None leaves one as it is."""
        self._streams.seed(seeds, rows)
        self._left[rows] = 0

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Begin an episode in each of these environments, (k,) indices: qpos and qvel side by side, (k, nq + nv)."""
        left = self._left[rows]
        if np.count_nonzero(left) < len(rows):
            self._refill()
            left = self._left[rows]
        self._left[rows] = left - 1
        self._streams.count(rows)
        return self._table[rows, -left]

    def state_dict(self) -> dict[str, Any]:
        """Seeds and counts as plain numbers."""
        return self._streams.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` left off."""
        self._streams.load_state_dict(state)
        self._left[:] = 0

    def _refill(self) -> None:
        """Draw anew for every environment that has used half of its starts or more."""
        rows = np.flatnonzero(self._left <= self._ahead // 2)
        drawn = np.concatenate(self._draw(self._streams.noise(rows, self._ahead)), 1)
        if not self._table.shape[2]:
            self._table = np.zeros((*self._table.shape[:2], drawn.shape[1]), self._dtype)
        self._table[rows] = drawn.reshape(len(rows), self._ahead, -1)
        self._left[rows] = self._ahead

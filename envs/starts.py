"""Where the next episodes begin: drawn before they are needed, for many environments at once."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .arrays import Array, blank, concat, host, indices_like
from .noise import Noise, Streams

_MOST, _ENOUGH = 8, 8192  # starts drawn ahead for an environment; and for all, where they are many
_AT_ONCE = 1024  # so many starts are drawn at once: few enough that what they are made of stays in the caches


class Start(NamedTuple):
    """Where k episodes begin, and what is seen there."""

    state: Array  # (k, nq + nv), qpos and qvel side by side
    place: Array  # (k, n), see `Task.place`
    observation: Array  # (k, observation size)
    info: dict[str, Array]  # each (k, ...)


class Starts:
    """The starts of every environment's next episodes.

    A draw costs dozens of numpy calls, and what is seen at a start dozens more, however many episodes it is for. So
    when an environment has no start left, they are drawn for all that have few; then many steps need no draw. What is
    drawn does not depend on when or with whom, see `noise`.

    Args:
        num_envs: number of environments.
        draw: makes the starts of k episodes of the noise for k.
    """

    def __init__(self, num_envs: int, draw: Callable[[Noise], Start]) -> None:
        self._streams, self._draw = Streams(num_envs), draw
        self._ahead = max(1, min(_MOST, _ENOUGH // num_envs))
        self._left = np.zeros(num_envs, np.int64)
        self._tables: list[Array] = []  # (num_envs, ahead, ...) each: state, place and observation side by side; infos
        self._told: list[str] = []  # the infos' keys
        self._cuts = 0, 0  # where place and observation begin

    @property
    def seeds(self) -> list[int | None]:
        """The seed of every environment; None before it has one."""
        return self._streams.seeds

    def seed(self, seeds: Sequence[int | None], rows: np.ndarray) -> None:
        """Seed the environments in `rows` from the list of all environments' seeds; None leaves one as it is."""
        self._streams.seed(seeds, rows)
        self._left[[row for row in rows.tolist() if seeds[row] is not None]] = 0

    def take(self, rows: Array) -> Start:
        """Begin an episode in each of these environments, (k,) indices."""
        own = host(rows)
        left = self._left[own]
        if np.count_nonzero(left) < len(own):
            everyone = 1 < len(own) == len(self._left)  # many at once already, and a first reset should not take long
            self._refill(1 if everyone else self._ahead)
            left = self._left[own]
        self._left[own] = left - 1
        chosen = rows, indices_like(rows, -left)
        numbers, *told = (table[chosen] for table in self._tables)
        place, seen = self._cuts
        info = dict(zip(self._told, told, strict=True))
        return Start(numbers[:, :place], numbers[:, place:seen], numbers[:, seen:], info)

    def state_dict(self) -> dict[str, Any]:
        """Seeds and counts of episodes begun as plain numbers."""
        self._put_back(np.arange(len(self._left)))
        return self._streams.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` left off."""
        self._streams.load_state_dict(state)
        self._left[:] = 0

    def _refill(self, ahead: int) -> None:
        """Draw so many starts for every environment that has a quarter of its own left or less."""
        needy = np.flatnonzero(self._left <= self._ahead // 4)
        self._put_back(needy)
        count = max(1, _AT_ONCE // ahead)
        for first in range(0, len(needy), count):
            self._fill(needy[first : first + count], ahead)

    def _fill(self, rows: np.ndarray, ahead: int) -> None:
        """Draw so many starts for each of these environments, (k,) indices, which have none."""
        drawn = self._draw(self._streams.noise(rows, ahead))
        self._streams.count(rows, ahead)
        self._left[rows] = ahead
        parts = [concat(drawn[:3]), *drawn.info.values()]
        if not self._tables:
            self._told, width = list(drawn.info), drawn.state.shape[1]
            self._cuts = width, width + drawn.place.shape[1]
            shape = len(self._left), self._ahead
            self._tables = [blank(part, shape[0] * shape[1]).reshape(*shape, *part.shape[1:]) for part in parts]
        chosen = indices_like(drawn.state, rows), slice(self._ahead - ahead, None)
        for table, part in zip(self._tables, parts, strict=True):
            table[chosen] = part.reshape(len(rows), ahead, *part.shape[1:])

    def _put_back(self, rows: np.ndarray) -> None:
        """Forget the starts that these environments, (k,) indices, have left: they will be drawn again."""
        self._streams.count(rows, -self._left[rows])
        self._left[rows] = 0

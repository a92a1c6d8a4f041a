"""Returns and lengths of episodes."""

import time
from collections import deque
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from ..arrays import Array, host, indices, namespace
from ..task.task import Observation
from .stateful import StatefulWrapper, Step, in_the_library_of


class RecordEpisodeStatistics(StatefulWrapper):
    """Reports the return, length and duration of every episode that ends, as Gymnasium's wrapper of the same name does.

    The info of a step in which episodes end has the key `episode`: {"r": returns, "l": lengths in steps, "t": durations
    in seconds}, each (num_envs,) with zeros where none ended, and the mask `_episode`. Under NEXT_STEP the step that
    resets an environment belongs to no episode. Returns are added up in double precision.

    Attributes:
        episode_count: episodes that have ended.
        return_queue: the returns of the last episodes, as numbers.
        length_queue: their lengths in steps.
        time_queue: their durations in seconds.
        episode_returns: sums of the rewards of the running episodes, (num_envs,); `episode_lengths` their steps.

    Args:
        env: the vector environments.
        buffer_length: how many episodes the queues hold.
        stats_key: the name of the info.
    """

    def __init__(self, env: VectorEnv, buffer_length: int = 100, stats_key: str = "episode") -> None:
        """Begin with no episode."""
        super().__init__(env)
        self._key = stats_key
        self.episode_count = 0
        self.return_queue: deque[float] = deque(maxlen=buffer_length)
        self.length_queue: deque[int] = deque(maxlen=buffer_length)
        self.time_queue: deque[float] = deque(maxlen=buffer_length)
        self.episode_returns: Array = np.zeros(self.num_envs)
        self.episode_lengths: Array = np.zeros(self.num_envs, np.int64)
        self._begun_at: Array = np.zeros(self.num_envs)  # s, by the machine's clock

    def _began(self, observation: Observation, begun: Array) -> Observation:
        """Begin to count at zero in the environments that were reset."""
        self._restart(begun)
        return observation

    def _restart(self, begun: Array) -> None:
        """Put returns and lengths to zero, and starting times to now, where the mask (num_envs,) is True."""
        where = namespace(begun).where
        returns, lengths, times = (
            in_the_library_of(x, begun) for x in (self.episode_returns, self.episode_lengths, self._begun_at)
        )
        self.episode_returns, self.episode_lengths = where(begun, 0, returns), where(begun, 0, lengths)
        self._begun_at = where(begun, time.perf_counter(), times)

    def _stepped(self, step: Step, begun: Array) -> Step:
        """Add the rewards, and report the episodes that end."""
        xp = namespace(step.reward)
        moved = ~begun
        self._restart(begun)
        self.episode_returns = self.episode_returns + xp.where(moved, xp.astype(step.reward, xp.float64), 0)
        self.episode_lengths = self.episode_lengths + xp.astype(moved, xp.int64)
        done = step.terminated | step.truncated
        ended = indices(done)
        if not len(ended):
            return step
        if self._key in step.info or f"_{self._key}" in step.info:
            raise ValueError(f"the info has a key {self._key!r} already: give this wrapper another stats_key")
        times = xp.round((time.perf_counter() - self._begun_at) * 1e6) / 1e6
        self.episode_count += len(ended)
        self.return_queue.extend(self.episode_returns[ended].tolist())
        self.length_queue.extend(self.episode_lengths[ended].tolist())
        self.time_queue.extend(times[ended].tolist())
        numbers = {"r": self.episode_returns, "l": self.episode_lengths, "t": times}
        episode = {name: xp.where(done, number, 0) for name, number in numbers.items()}
        if self.resets_in_the_same_step:
            self._restart(done)
        return step._replace(info={**step.info, self._key: episode, f"_{self._key}": done})

    def state_dict(self) -> dict[str, Any]:
        """The running episodes, the count and the queues."""
        return super().state_dict() | {
            "returns": host(self.episode_returns).copy(),
            "lengths": host(self.episode_lengths).copy(),
            "seconds": time.perf_counter() - host(self._begun_at),
            "count": self.episode_count,
            "queues": [list(queue) for queue in (self.return_queue, self.length_queue, self.time_queue)],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` left off."""
        super().load_state_dict(state)
        self.episode_returns, self.episode_lengths = np.array(state["returns"]), np.array(state["lengths"])
        self._begun_at = time.perf_counter() - np.asarray(state["seconds"])
        self.episode_count = state["count"]
        queues: tuple[deque[Any], ...] = (self.return_queue, self.length_queue, self.time_queue)
        for queue, saved in zip(queues, state["queues"], strict=True):
            queue.clear()
            queue.extend(saved)

"""The memory of a rollout that compiled code collects: rows for the update, statistics, and the running episodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from ...physics.machine.codegen.pool import Pool
from ..distributed import SINGLE_PROCESS, ProcessGroup, combined, moments_of
from .code import code
from .minibatches import Minibatches, RowColumns
from .ppo_loss import VALUE
from .rollouts import ACTING, PART, ROLLOUT


@dataclass
class Statistics:
    """Running means and variances, as `VecNormalize` has them; `normalizes` and `limit` say what they are used for."""

    mean: np.ndarray  # (width,) float64
    variance: np.ndarray
    count: np.ndarray  # (1,) float64
    normalizes: bool
    learns: bool
    limit: float

    def take_in(self, moments: Tensor) -> None:
        """Go on with the moments (width, 3) of more rows."""
        mean, variance, count = (torch.from_numpy(x) for x in (self.mean, self.variance, self.count))
        before = torch.stack([count.expand_as(mean), mean, variance * count], 1)
        total, new_mean, squares = combined(before, moments).unbind(1)
        mean.copy_(new_mean)
        variance.copy_(squares / total)
        count.copy_(total[:1])


def take_in(statistics: Sequence[Any], rows: Sequence[Tensor], group: ProcessGroup) -> None:
    """Give each of several statistics its rows (n, width) of all processes, in one exchange."""
    learning = [(one, moments_of(x)) for one, x in zip(statistics, rows, strict=True) if one.learns]
    if learning:
        whole = group.merged(torch.cat([moments for _, moments in learning]))
        widths = [len(moments) for _, moments in learning]
        for (one, _), moments in zip(learning, whole.split(widths), strict=True):
            one.take_in(moments)


@dataclass(frozen=True)
class ObservationPart:
    """A part of an observation: its name, its width, and its first columns in a row."""

    name: str
    width: int
    columns: tuple[int, ...]


class RolloutMemory:
    """Rows, values and rewards of one rollout.

    Attributes:
        rows: float32 (steps + 2, envs, width): a block for each step, one for what follows the last, and one for the
            last observations of episodes that end at a step.
        values: float32 (steps + 2, envs).
        rewards: float32 (steps, envs).
        starts: float32 (steps + 1, envs), 1 if an episode begins at the step.
        taken: float32 (envs, numbers), the actions for the environment.
        numbers: of an action.
    """

    _column: ClassVar = {name: ROLLOUT.column(name) for name in ROLLOUT.fields}
    _x = PART.column("x")

    def __init__(
        self,
        envs: int,
        steps: int,
        parts: Sequence[ObservationPart],
        columns: RowColumns,
        networks: Minibatches,
        low: Any,
        high: Any,
        pool: Pool,
        group: ProcessGroup = SINGLE_PROCESS,
    ) -> None:
        self.numbers = numbers = networks.numbers
        self.envs, self.steps, self.parts, self.columns = envs, steps, list(parts), columns
        self._networks, self._group = networks, group
        self.rows = torch.zeros(steps + 2, envs, columns.actions + numbers + VALUE + 1)
        self.values, self.rewards = torch.zeros(steps + 2, envs), torch.zeros(steps, envs)
        self.starts, self.taken = torch.zeros(steps + 1, envs), torch.zeros(envs, numbers)
        self._places = [np.array(part.columns, np.int64) for part in parts]
        self._part = np.zeros((len(parts), len(PART.fields)), np.int64)
        self._return_part = np.zeros((1, len(PART.fields)), np.int64)
        self._index, self._returns_copy = np.arange(envs), np.zeros(envs, np.float32)
        self._limits = [np.broadcast_to(np.asarray(x, np.float32), (numbers,)).copy() for x in (low, high)]
        self._record = ROLLOUT.pack(
            envs=envs,
            step=0,
            steps=steps,
            rows=self.rows.data_ptr(),
            width=self.rows.shape[2],
            actions=columns.actions,
            parts=len(parts),
            part=self._part,
            actor=networks.actor.networks,
            critic=networks.critic.networks,
            actor_column=columns.actor,
            critic_column=columns.critic,
            distribution=networks.distribution,
            index=self._index,
            key=0,
            first=group.rank * envs,
            low=self._limits[0],
            high=self._limits[1],
            taken=self.taken.data_ptr(),
            values=self.values.data_ptr(),
            reward=0,
            terminated=0,
            truncated=0,
            rewards=self.rewards.data_ptr(),
            starts=self.starts.data_ptr(),
            returns=0,
            return_part=self._return_part,
            sums=0,
            lengths=0,
            gamma=1.0,
            gae_lambda=1.0,
            ended=0,
        )
        tasks = [ACTING.pack(rollout=self._record, critic=k) for k in (0, 1)]
        self._tasks, self._act = tasks, pool.bind(code().act, [task.ctypes.data for task in tasks])

    def begin(
        self,
        observations: Mapping[str, np.ndarray],
        starts: np.ndarray,
        statistics: Mapping[str, Statistics],
        of_returns: Statistics,
        episodes: Mapping[str, Any],
        gamma: float,
        gae_lambda: float,
    ) -> None:
        """Begin a rollout.

        Args:
            observations: normalised, by the names of parts (envs, width): what the first step acts on.
            starts: whether episodes begin (envs,).
            statistics: of each part.
            of_returns: of discounted returns.
            episodes: float64 (envs,) arrays: `returns` (discounted), `sums` of rewards, and `lengths`.
            gamma: discount.
            gae_lambda: of generalised advantages.
        """
        for part in self.parts:
            for column in part.columns:
                self.rows[0, :, column : column + part.width] = torch.from_numpy(observations[part.name])
        self.starts[0] = torch.from_numpy(np.asarray(starts, np.float32))
        self._kept = (dict(statistics), of_returns, dict(episodes))
        alone = self._group.size == 1
        for k, part in enumerate(self.parts):
            self._part[k] = _part(part.width, self._places[k], statistics[part.name], 0, alone)
        self._return_part[0] = _part(1, self._index[:1], of_returns, self._returns_copy, alone)
        for name, array in episodes.items():
            self._record[self._column[name]] = _address(array)
        self._gamma = gamma
        for name, value in (("gamma", gamma), ("gae_lambda", gae_lambda)):
            self._record[self._column[name] :][:1].view(np.float64)[0] = value

    def act(self, step: int, key: int) -> Tensor:
        """Draw the actions of a step; return them inside of their limits."""
        self._set(step=step, key=key)
        self._act()
        return self.taken

    def record(
        self, step: int, observations: Mapping[str, Tensor], reward: Tensor, terminated: Tensor, truncated: Tensor
    ) -> int:
        """Take in what a step returned; return the number of environments whose episode ended."""
        self._set(step=step, reward=_address(reward), terminated=_address(terminated), truncated=_address(truncated))
        self._point(observations)
        if self._group.size > 1:
            self._take_in(observations, reward)
        code().record(self._record.ctypes.data)
        return int(self._record[self._column["ended"]])

    def bootstrap(self, step: int, final: Mapping[str, Tensor], cut: np.ndarray, gamma: float) -> None:
        """Add the discounted values of last observations to the rewards of environments that time limits cut (k,)."""
        self.normalize(final)
        code().value(self._record.ctypes.data)
        self.rewards[step, cut] += gamma * self.values[self.steps + 1, cut]

    def normalize(self, final: Mapping[str, Tensor]) -> None:
        """Write observations, normalised, into the block of last observations."""
        self._set(step=self.steps + 1)
        self._point(final)
        code().normalize(self._record.ctypes.data)

    def finish(self) -> None:
        """Compute advantages and returns."""
        self._set(step=self.steps)
        code().value(self._record.ctypes.data)
        code().advantages(self._record.ctypes.data)

    def observations(self, block: int) -> dict[str, np.ndarray]:
        """Return views of a block's normalised observations by the names of parts."""
        return {part.name: self.view(part)[block] for part in self.parts}

    def view(self, part: ObservationPart) -> np.ndarray:
        """Return a view of a part of all blocks (steps + 2, envs, width)."""
        first = part.columns[0]
        return self.rows[:, :, first : first + part.width].numpy()

    def _take_in(self, observations: Mapping[str, Tensor], reward: Tensor) -> None:
        """Give statistics the rows of all processes, as `record` gives them those of one."""
        statistics, of_returns, episodes = self._kept
        returns = torch.as_tensor(episodes["returns"]) * self._gamma + reward
        rows = [returns.float()[:, None], *(observations[part.name] for part in self.parts)]
        take_in([of_returns, *(statistics[part.name] for part in self.parts)], rows, self._group)

    def _point(self, tensors: Mapping[str, Tensor]) -> None:
        """Point the parts at tensors (envs, width), float32 and without gaps."""
        for k, part in enumerate(self.parts):
            self._part[k, self._x] = _address(tensors[part.name])

    def _set(self, **words: int) -> None:
        for name, word in words.items():
            self._record[self._column[name]] = word


def _part(width: int, places: np.ndarray, statistics: Statistics, x: Any, learns: bool) -> np.ndarray:
    return PART.pack(
        x=x,
        width=width,
        columns=len(places),
        column=places,
        learns=int(learns and statistics.learns),
        normalizes=int(statistics.normalizes),
        limit=statistics.limit,
        mean=statistics.mean,
        variance=statistics.variance,
        count=statistics.count,
    )


def _address(array: Any) -> int:
    return array.data_ptr() if isinstance(array, Tensor) else array.ctypes.data

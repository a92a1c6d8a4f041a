"""Rollouts as tensors on the device of the learner: what compiled rollouts do on a CPU, in torch.

Nothing here waits for a GPU: statistics, normalisation, draws, rewards, ends of episodes and advantages stay on the
device. The numbers are those of `training.compiled.rollouts`, to rounding, draws included.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.policies import ActorCriticPolicy
from torch import Tensor

from ...physics.base.draws import hashed_key
from ..compiled.distributions import HALF_LOG_2PI
from ..compiled.minibatches import RowColumns
from ..compiled.ppo_loss import ADVANTAGE, LOG_PROB, RETURN, VALUE
from ..compiled.rollout_memory import ObservationPart, Statistics, take_in
from ..compiled.rollouts import EPSILON
from ..distributed import SINGLE_PROCESS, ProcessGroup, combined

_MASK, _SCALE = 2**24 - 1, 2.0**-24


class RunningStatistics:
    """Mean, variance and count of all rows so far, float64 on a device (`VecNormalize`'s `RunningMeanStd`)."""

    def __init__(self, source: Statistics, device: torch.device) -> None:
        self.source, self.learns = source, source.learns
        self.mean, self.variance, self.count = (
            torch.from_numpy(array.copy()).to(device) for array in (source.mean, source.variance, source.count)
        )

    def take_in(self, moments: Tensor) -> None:
        """Go on with the moments (width, 3) of more rows."""
        before = torch.stack([self.count.expand_as(self.mean), self.mean, self.variance * self.count], 1)
        total, self.mean, squares = combined(before, moments).unbind(1)
        self.variance, self.count = squares / total, total[:1]

    def normalized(self, x: Tensor, center: bool = True) -> Tensor:
        """Return rows in units of the deviation, clipped, without the mean if `center`."""
        if not self.source.normalizes:
            return x
        x = (x - self.mean.to(x.dtype)) if center else x
        limit = self.source.limit
        return (x * (1.0 / torch.sqrt(self.variance + EPSILON)).to(x.dtype)).clamp(-limit, limit)

    def write_back(self) -> None:
        """Copy the numbers to the arrays that they came from."""
        for array, tensor in (
            (self.source.mean, self.mean),
            (self.source.variance, self.variance),
            (self.source.count, self.count),
        ):
            array[:] = tensor.cpu().numpy()


class TensorRollouts:
    """The memory of one rollout; attributes and methods are those of `compiled.rollout_memory.RolloutMemory`.

    Attributes:
        ends: float64 (steps, 4, envs): whether an episode ended, whether only a time limit ended it, its return, and
            its length, which are of the running episodes elsewhere.
    """

    def __init__(
        self,
        envs: int,
        steps: int,
        parts: Sequence[ObservationPart],
        columns: RowColumns,
        policy: ActorCriticPolicy,
        options: Sequence[int],
        low: Any,
        high: Any,
        group: ProcessGroup = SINGLE_PROCESS,
    ) -> None:
        device, dtype, self._group = policy.device, next(policy.parameters()).dtype, group
        self.envs, self.steps, self.parts, self.columns = envs, steps, list(parts), columns
        self.policy, self.options = policy, list(options)
        self.numbers = numbers = len(self.options) or int(policy.log_std.shape[0])
        self.rows = torch.zeros(steps + 2, envs, columns.actions + numbers + VALUE + 1, device=device, dtype=dtype)
        self.values, self.rewards, self.starts = (
            torch.zeros(steps + more, envs, device=device, dtype=dtype) for more in (2, 0, 1)
        )
        self.ends = torch.zeros(steps, 4, envs, dtype=torch.float64, device=device)
        self._low, self._high = (torch.as_tensor(np.asarray(x, np.float32), device=device) for x in (low, high))
        first = group.rank * envs * numbers + 1
        self._counts = torch.arange(first, first + envs * numbers, device=device).view(envs, numbers)

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
        """Begin a rollout, with the arguments of `RolloutMemory.begin`."""
        device = self.rows.device
        for part in self.parts:
            values = torch.as_tensor(observations[part.name], device=device)
            self._write(0, part, values.flatten(1))
        self.starts[0] = torch.from_numpy(np.asarray(starts, np.float32)).to(device)
        self._statistics = {name: RunningStatistics(one, device) for name, one in statistics.items()}
        self._of_returns = RunningStatistics(of_returns, device)
        self._returns_source = episodes["returns"]
        self._returns = torch.from_numpy(np.array(episodes["returns"])).to(device)
        self._sums, self._lengths = episodes["sums"], episodes["lengths"]
        self._gamma, self._lambda = gamma, gae_lambda

    @torch.no_grad()
    def act(self, step: int, key: int) -> Tensor:
        """Draw the actions of a step; return them inside of their limits."""
        self._value(step)
        row, first = self.rows[step], self.columns.actions
        output = self.policy.action_net(self.policy.mlp_extractor.policy_net(self._seen(step, self.columns.actor)))
        bits = hashed_key(torch.full_like(self._counts, key), self._counts)
        if self.options:
            actions, log_prob = choose(output, self.options, bits)
            taken = actions
        else:
            log_std = self.policy.log_std.detach()
            z = normal(bits)
            actions = output + z * log_std.exp()
            log_prob = -0.5 * (z * z).sum(1) - (log_std.sum() + len(log_std) * HALF_LOG_2PI)
            taken = torch.minimum(torch.maximum(actions, self._low), self._high)
        row[:, first : first + self.numbers] = actions
        row[:, first + self.numbers + LOG_PROB] = log_prob
        row[:, first + self.numbers + VALUE] = self.values[step]
        return taken

    def record(
        self, step: int, observations: Mapping[str, Tensor], reward: Tensor, terminated: Tensor, truncated: Tensor
    ) -> None:
        """Take in what a step returned."""
        ended = terminated | truncated
        self._sums += reward
        self._lengths += 1
        self.ends[step] = torch.stack([ended, truncated & ~terminated, self._sums, self._lengths])
        self._sums *= ~ended
        self._lengths *= ~ended
        self._returns = self._returns * self._gamma + reward
        statistics = [self._of_returns, *(self._statistics[part.name] for part in self.parts)]
        rows = [self._returns.to(reward.dtype)[:, None], *(observations[part.name] for part in self.parts)]
        take_in(statistics, rows, self._group)
        self.rewards[step] = self._of_returns.normalized(reward[:, None], center=False)[:, 0]
        self._returns = torch.where(ended, 0.0, self._returns)
        self.starts[step + 1] = ended
        for part in self.parts:
            self._write(step + 1, part, self._statistics[part.name].normalized(observations[part.name]))

    @torch.no_grad()
    def bootstrap(self, step: int, final: Mapping[str, Tensor], cut: Tensor, gamma: float) -> None:
        """Add the discounted values of last observations to the rewards where time limits cut episodes (envs,)."""
        self.normalize(final)
        self._value(self.steps + 1)
        self.rewards[step] += torch.where(cut, gamma * self.values[self.steps + 1], 0.0)

    def normalize(self, final: Mapping[str, Tensor]) -> None:
        """Write observations, normalised, into the block of last observations."""
        for part in self.parts:
            self._write(self.steps + 1, part, self._statistics[part.name].normalized(final[part.name]))

    @torch.no_grad()
    def finish(self) -> None:
        """Compute advantages and returns, and give statistics back."""
        self._value(self.steps)
        advantage, first = torch.zeros_like(self.rewards[0]), self.columns.actions + self.numbers
        for t in range(self.steps - 1, -1, -1):
            goes_on = 1.0 - self.starts[t + 1]
            change = self.rewards[t] + self._gamma * self.values[t + 1] * goes_on - self.values[t]
            advantage = change + self._gamma * self._lambda * goes_on * advantage
            self.rows[t, :, first + ADVANTAGE] = advantage
            self.rows[t, :, first + RETURN] = advantage + self.values[t]
        for statistics in (*self._statistics.values(), self._of_returns):
            statistics.write_back()
        self._returns_source[:] = self._returns.cpu().numpy()

    def observations(self, block: int) -> dict[str, np.ndarray]:
        """Return a block's normalised observations by the names of parts, on the host."""
        return {part.name: self.view(part)[block].cpu().numpy() for part in self.parts}

    def view(self, part: ObservationPart) -> Tensor:
        """Return a view of a part of all blocks (steps + 2, envs, width)."""
        first = part.columns[0]
        return self.rows[:, :, first : first + part.width]

    def _write(self, block: int, part: ObservationPart, values: Tensor) -> None:
        for column in part.columns:
            self.rows[block, :, column : column + part.width] = values

    def _seen(self, block: int, first: int) -> Tensor:
        """Return what a network sees, whose observations begin at a column."""
        last = self.columns.actions if first or not self.columns.critic else self.columns.critic
        return self.rows[block, :, first:last]

    def _value(self, block: int) -> None:
        seen = self._seen(block, self.columns.critic)
        self.values[block] = self.policy.value_net(self.policy.mlp_extractor.value_net(seen))[:, 0]


def fraction(bits: Tensor) -> Tensor:
    """Return 24 bits, int64, as float32 multiples of 2^-24 below 1."""
    return (bits & _MASK).float() * _SCALE


def normal(bits: Tensor) -> Tensor:
    """Return float32 numbers of the normal distribution by Box and Muller, from 64 random bits each."""
    radius = torch.sqrt(-2.0 * torch.log((((bits >> 40) & _MASK) + 1).float() * _SCALE))
    return radius * torch.cos(2 * math.pi * fraction(bits))


def choose(logits: Tensor, options: Sequence[int], bits: Tensor) -> tuple[Tensor, Tensor]:
    """Return choices (n, len(options)) as float32, drawn with random bits, and their log-probabilities (n,)."""
    chosen, total = [], torch.zeros_like(logits[:, 0])
    for k, part in enumerate(logits.split(list(options), 1)):
        weights = torch.exp(part - part.max(1, keepdim=True).values)
        below, chance = weights.cumsum(1)[:, :-1], fraction(bits[:, k] >> 40)[:, None] * weights.sum(1, keepdim=True)
        choice = (below <= chance).sum(1)
        chosen.append(choice.float())
        total = total + torch.log_softmax(part, 1).gather(1, choice[:, None])[:, 0]
    return torch.stack(chosen, 1), total

"""PPO in one file of torch, as single-file learners write it: autograd, `Normal`, clipped losses, Adam.

A peer of the duels. It trains on vector environments with numpy arrays that reset a finished environment in the next
step, as Gymnasium's `SyncVectorEnv` and envpool do. The row of that step belongs to no episode and is left out of the
update; its observation is the last one of the episode before, whose value bootstraps an episode cut by a time limit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

LARGEST = 10.0
"""The bound of normalised observations and rewards."""
EPSILON = 1e-8


@dataclass(frozen=True)
class PlainSettings:
    """Numbers of the learner: those of CleanRL's `ppo_continuous_action.py`, but for environments and total steps."""

    total_steps: int = 3_000_000
    num_envs: int = 64
    num_steps: int = 32
    minibatches: int = 32
    epochs: int = 10
    learning_rate: float = 3e-4
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    value_weight: float = 0.5
    max_grad_norm: float = 0.5


class Moments:
    """Running mean and variance of rows (n, width)."""

    def __init__(self, width: int) -> None:
        self.mean, self.variance, self.count = np.zeros(width), np.ones(width), 1e-4

    def add(self, rows: np.ndarray) -> None:
        """Add rows, as Chan et al. (1979) join two samples."""
        count, shift = len(rows), rows.mean(0) - self.mean
        total = self.count + count
        sums = self.variance * self.count + rows.var(0) * count + shift**2 * self.count * count / total
        self.mean, self.variance, self.count = self.mean + shift * count / total, sums / total, total


def _network(observations: int, outputs: int, gain: float) -> nn.Sequential:
    sizes = [(observations, 64, 2**0.5), (64, 64, 2**0.5), (64, outputs, gain)]
    layers: list[nn.Module] = []
    for inputs, width, scale in sizes:
        layer = nn.Linear(inputs, width)
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
        layers += [layer, nn.Tanh()]
    return nn.Sequential(*layers[:-1])


class Agent(nn.Module):
    """Actor and critic, two networks of two layers of 64."""

    def __init__(self, observations: int, actions: int) -> None:
        super().__init__()
        self.actor, self.critic = _network(observations, actions, 0.01), _network(observations, 1, 1.0)
        self.log_std = nn.Parameter(torch.zeros(actions))

    def policy(self, observations: torch.Tensor) -> Normal:
        """Return the distribution of actions."""
        mean = self.actor(observations)
        return Normal(mean, self.log_std.exp().expand_as(mean))

    def value(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the values (n,)."""
        return self.critic(observations)[:, 0]


class EpisodeRows(NamedTuple):
    """Rows of a rollout that belong to episodes."""

    observations: torch.Tensor
    actions: torch.Tensor
    log_probs: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor
    values: torch.Tensor


class PlainPPO:
    """The learner.

    Args:
        envs: vector environments; `reset` and `step` take and return numpy arrays.
        space: the actions of one environment, a `Box`.
        settings: its numbers.
        seed: of weights, noise and environments.
        reset: arguments of `envs.reset`.
    """

    def __init__(self, envs: Any, space: Any, settings: PlainSettings, seed: int, reset: dict[str, Any]) -> None:
        torch.manual_seed(seed)
        self.envs, self.space, self.settings = envs, space, settings
        self.generator, self.steps = np.random.default_rng(seed), 0
        self.seen, _ = envs.reset(**reset)
        self.agent = Agent(self.seen.shape[1], space.shape[0])
        self.optimizer = torch.optim.Adam(self.agent.parameters(), settings.learning_rate, eps=1e-5)
        self.moments, self.return_moments = Moments(self.seen.shape[1]), Moments(1)
        self.discounted, self.ended = np.zeros(settings.num_envs), np.zeros(settings.num_envs, dtype=bool)
        self.moments.add(self.seen)

    def train(self, is_over: Callable[[int, Callable[[np.ndarray], np.ndarray]], bool]) -> None:
        """Train until all steps are taken, or until `is_over(steps, act)` says so between two iterations."""
        iterations = self.settings.total_steps // (self.settings.num_envs * self.settings.num_steps)
        for number in range(iterations):
            if is_over(self.steps, self.act):
                return
            self.optimizer.param_groups[0]["lr"] = (1 - number / iterations) * self.settings.learning_rate
            self.update(self.collect())

    def act(self, observations: np.ndarray) -> np.ndarray:
        """Return the most likely actions (n, actions) for observations (n, width)."""
        with torch.no_grad():
            return self.bounded(self.agent.actor(self.normalized(observations)))

    def bounded(self, actions: torch.Tensor) -> np.ndarray:
        """Return actions within the bounds of their space."""
        return np.clip(actions.numpy(), self.space.low, self.space.high).astype(self.space.dtype)

    def normalized(self, observations: np.ndarray) -> torch.Tensor:
        """Return observations without their running mean, over their deviation."""
        rows = (observations - self.moments.mean) / np.sqrt(self.moments.variance + EPSILON)
        return torch.from_numpy(np.clip(rows, -LARGEST, LARGEST).astype(np.float32))

    def scaled(self, rewards: np.ndarray, ended: np.ndarray) -> np.ndarray:
        """Return rewards over the running deviation of discounted returns."""
        self.discounted = self.discounted * self.settings.gamma + rewards
        self.return_moments.add(self.discounted[:, None])
        self.discounted[ended] = 0
        return np.clip(rewards / np.sqrt(self.return_moments.variance + EPSILON), -LARGEST, LARGEST)

    def collect(self) -> EpisodeRows:
        """Take steps in all environments, and compute advantages."""
        s, agent = self.settings, self.agent
        shape = (s.num_steps, s.num_envs)
        observations = torch.zeros(*shape, self.seen.shape[1])
        actions, log_probs, rewards = torch.zeros(*shape, *self.space.shape), torch.zeros(shape), torch.zeros(shape)
        values, terminals = torch.zeros(s.num_steps + 1, s.num_envs), torch.zeros(shape)
        ends, outside = torch.zeros(shape), torch.zeros(shape, dtype=torch.bool)
        with torch.no_grad():
            for t in range(s.num_steps):
                observations[t] = self.normalized(self.seen)
                policy = agent.policy(observations[t])
                actions[t] = policy.sample()
                log_probs[t], values[t] = policy.log_prob(actions[t]).sum(1), agent.value(observations[t])
                outside[t] = torch.from_numpy(self.ended)
                self.seen, reward, terminated, truncated, _ = self.envs.step(self.bounded(actions[t]))
                self.ended = terminated | truncated
                self.moments.add(self.seen)
                rewards[t] = torch.from_numpy(self.scaled(reward, self.ended))
                terminals[t], ends[t] = torch.from_numpy(terminated), torch.from_numpy(self.ended)
            values[-1] = agent.value(self.normalized(self.seen))
        self.steps += s.num_steps * s.num_envs
        advantages, carried = torch.zeros(shape), torch.zeros(s.num_envs)
        for t in reversed(range(s.num_steps)):
            surprise = rewards[t] + s.gamma * (1 - terminals[t]) * values[t + 1] - values[t]
            advantages[t] = carried = surprise + s.gamma * s.gae_lambda * (1 - ends[t]) * carried
        inside, values = ~outside, values[:-1]
        found = (observations, actions, log_probs, advantages, advantages + values, values)
        return EpisodeRows(*(part[inside] for part in found))

    def update(self, rows: EpisodeRows) -> None:
        """Take the steps of Adam on all minibatches of all epochs."""
        size = self.settings.num_envs * self.settings.num_steps // self.settings.minibatches
        for _ in range(self.settings.epochs):
            order = torch.from_numpy(self.generator.permutation(len(rows.values)))
            for index in order[: len(order) // size * size].split(size):
                self.optimizer.zero_grad()
                self.loss(EpisodeRows(*(part[index] for part in rows))).backward()
                nn.utils.clip_grad_norm_(self.agent.parameters(), self.settings.max_grad_norm)
                self.optimizer.step()

    def loss(self, batch: EpisodeRows) -> torch.Tensor:
        """Return the clipped loss of policy and value."""
        clip = self.settings.clip
        log_probs = self.agent.policy(batch.observations).log_prob(batch.actions).sum(1)
        ratio = (log_probs - batch.log_probs).exp()
        gains = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + EPSILON)
        policy_loss = -torch.min(gains * ratio, gains * ratio.clamp(1 - clip, 1 + clip)).mean()
        values = self.agent.value(batch.observations)
        near = batch.values + (values - batch.values).clamp(-clip, clip)
        value_loss = torch.max((values - batch.returns) ** 2, (near - batch.returns) ** 2).mean() / 2
        return policy_loss + self.settings.value_weight * value_loss

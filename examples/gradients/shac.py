"""Train a policy by derivatives of the simulation: SHAC (Xu et al., ICLR 2022), a short-horizon actor-critic.

The actor goes up the gradient of what the next steps earn, through policy, physics and reward; a critic says what comes
after these steps. `python shac.py` prints a line for each evaluation: the environment steps, the
processor's seconds that training took until then, and the mean return of a hundred episodes.
"""

import argparse
import copy
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn

import tumble
from tumble.envs.gym.differentiable import DifferentiableEnvs

EPISODES = 100
"""Episodes of an evaluation."""


@dataclass
class Settings:
    """What the command may change."""

    task: str = "DroneHover"
    option: dict[str, Any] = field(default_factory=lambda: {"rotor_drag": False})  # of the task
    seed: int = 1
    updates: int = 120
    evaluate_every: int = 10  # updates
    num_envs: int = 64
    horizon: int = 16
    episode: int = 128  # steps after which training goes on from a new start; the critic says what would have followed
    hidden: int = 64
    deviation: float = 0.4  # of actions before tanh, at first
    gamma: float = 0.98
    td_lambda: float = 0.95
    actor_rate: float = 1e-2
    critic_rate: float = 2e-3
    critic_epochs: int = 8
    minibatches: int = 4
    target_memory: float = 0.4  # share of the target network that an update keeps
    max_grad_norm: float = 1.0


class Normaliser:
    """Running mean and deviation of observations."""

    def __init__(self, size: int, dtype: torch.dtype) -> None:
        self.count, self.mean, self.square = 1e-4, torch.zeros(size, dtype=dtype), torch.ones(size, dtype=dtype)

    def __call__(self, seen: Tensor) -> Tensor:
        """Return observations of about unit size."""
        return (seen - self.mean) / (self.square - self.mean**2).clamp(min=1e-6).sqrt()

    def update(self, seen: Tensor) -> None:
        """Take rows of observations into account."""
        self.count += len(seen)
        share = len(seen) / self.count
        self.mean = self.mean + share * (seen.mean(0) - self.mean)
        self.square = self.square + share * ((seen**2).mean(0) - self.square)


def network(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    """Two hidden layers."""
    first, second, last = nn.Linear(inputs, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, outputs)
    return nn.Sequential(first, nn.ELU(), second, nn.ELU(), last)


class Actor(nn.Module):
    """A Gaussian whose deviation does not depend on the state, squashed into the bounds of actions."""

    def __init__(self, inputs: int, hidden: int, box: gym.spaces.Box, deviation: float) -> None:
        super().__init__()
        low, high = (torch.from_numpy(np.where(np.isfinite(x), x, s)) for x, s in ((box.low, -1.0), (box.high, 1.0)))
        self.middle, self.half = (high + low) / 2, (high - low) / 2
        self.mean = network(inputs, hidden, len(low))
        self.log_deviation = nn.Parameter(torch.full((len(low),), float(np.log(deviation))))

    def forward(self, seen: Tensor, draw: bool = True) -> Tensor:
        """Return actions for normalised observations: drawn ones, by which the deviation has a gradient too."""
        mean = self.mean(seen)
        if draw:
            mean = mean + self.log_deviation.exp() * torch.randn_like(mean)
        return (self.middle + self.half * mean.tanh()).to(mean.dtype)


@dataclass
class Step:
    """What one step of all environments leaves for the critic, without graph, (num_envs, ...) each."""

    seen: Tensor
    following: Tensor
    reward: Tensor
    terminated: Tensor
    cut: Tensor  # an episode or the horizon ended


class Shac:
    """The learner."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        torch.manual_seed(settings.seed)
        task, episode = settings.task, settings.episode
        self.envs = DifferentiableEnvs(task, settings.num_envs, max_episode_steps=episode, **settings.option)
        first, _ = self.envs.reset(settings.seed)
        size, hidden = first.shape[1], settings.hidden
        self.normaliser = Normaliser(size, first.dtype)
        self.normaliser.update(first)
        self.actor = Actor(size, hidden, self.envs.single_action_space, settings.deviation).to(first.dtype)
        self.critic = network(size, hidden, 1).to(first.dtype)
        self.target = copy.deepcopy(self.critic)
        self.actor_steps = torch.optim.Adam(self.actor.parameters(), settings.actor_rate, (0.7, 0.95), fused=True)
        self.critic_steps = torch.optim.Adam(self.critic.parameters(), settings.critic_rate, (0.7, 0.95), fused=True)

    def earned(self) -> tuple[Tensor, list[Step]]:
        """Play a horizon; return what it earns with its end's value, (num_envs,), and its steps."""
        gamma, horizon, seen = self.settings.gamma, self.settings.horizon, self.envs.observation
        total, discount, steps = torch.zeros(len(seen), dtype=seen.dtype), torch.ones(len(seen), dtype=seen.dtype), []
        for left in reversed(range(horizon)):
            action = self.actor(self.normaliser(seen))
            following, reward, terminated, truncated, info = self.envs.step(action)
            end = info.get("final_obs", following)
            ended = terminated | truncated
            cut = ended | (left == 0)
            total = total + discount * reward
            if cut.any():
                value = self.target(self.normaliser(end))[:, 0]
                total = total + torch.where(cut & ~terminated, gamma * discount * value, 0.0)
            steps.append(Step(seen.detach(), end.detach(), reward.detach(), terminated, cut))
            discount = torch.where(ended, 1.0, gamma * discount)  # the next episode counts as much
            seen = following
        return total, steps

    @torch.no_grad()
    def returns(self, steps: list[Step]) -> Tensor:
        """Return the TD(lambda) returns of steps, (horizon, num_envs)."""
        gamma, share = self.settings.gamma, self.settings.td_lambda
        values = self.target(self.normaliser(torch.stack([step.following for step in steps])))[..., 0]
        found, later = [], values[-1]
        for step, value in zip(reversed(steps), reversed(values), strict=True):
            ahead = torch.where(step.cut, value, (1 - share) * value + share * later)
            later = step.reward + gamma * torch.where(step.terminated, 0.0, ahead)
            found.append(later)
        return torch.stack(found[::-1])

    def update(self, progress: float) -> None:
        """Improve actor and critic by one horizon; their rates fall with `progress`, from 0 to 1."""
        settings = self.settings
        for optimiser, rate in ((self.actor_steps, settings.actor_rate), (self.critic_steps, settings.critic_rate)):
            optimiser.param_groups[0]["lr"] = rate * max(1 - progress, 0.01)
        total, steps = self.earned()
        descend(self.actor_steps, -total.mean() / settings.horizon, settings.max_grad_norm)
        self.envs.detach()
        returns = self.returns(steps).flatten()
        rows = torch.cat([step.seen for step in steps])
        seen = self.normaliser(rows)
        for _ in range(settings.critic_epochs):
            for batch in torch.randperm(len(seen)).chunk(settings.minibatches):
                error = self.critic(seen[batch])[:, 0] - returns[batch]
                descend(self.critic_steps, (error**2).mean(), settings.max_grad_norm)
        self.normaliser.update(rows)
        with torch.no_grad():
            for old, new in zip(self.target.parameters(), self.critic.parameters(), strict=True):
                old.lerp_(new, 1 - settings.target_memory)

    @torch.no_grad()
    def evaluate(self, envs: gym.vector.VectorEnv) -> float:
        """Return the mean return of an episode in each environment, with the most likely actions."""
        seen, _ = envs.reset(seed=1_000_000)
        total, playing = torch.zeros(len(seen)), torch.ones(len(seen), dtype=torch.bool)
        while playing.any():
            seen, reward, terminated, truncated, _ = envs.step(self.actor(self.normaliser(seen), draw=False))
            total += torch.where(playing, reward, 0.0)
            playing &= ~(terminated | truncated)
        return float(total.mean())


def descend(optimiser: torch.optim.Optimizer, loss: Tensor, max_grad_norm: float) -> None:
    """Take a step against the gradient of a loss, whose norm is limited."""
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(optimiser.param_groups[0]["params"], max_grad_norm)
    optimiser.step()


def train(settings: Settings) -> Iterator[dict[str, float]]:
    """Train; yield a line of the learning curve for each evaluation, whose time does not count."""
    learner = Shac(settings)
    judge = tumble.make_vec(settings.task, EPISODES, **settings.option)  # whole episodes
    spent, last = 0.0, time.process_time()
    for update in range(settings.updates + 1):
        if update % settings.evaluate_every == 0:
            spent += time.process_time() - last
            steps = update * settings.horizon * settings.num_envs
            yield {"step": steps, "cpu_seconds": spent, "mean": learner.evaluate(judge)}
            last = time.process_time()
        learner.update(update / settings.updates)
    judge.close()
    learner.envs.close()


def main() -> None:
    """Read the command and print the learning curve."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in vars(Settings()).items():
        kind = json.loads if name == "option" else type(default)
        parser.add_argument(f"--{name.replace('_', '-')}", default=default, type=kind, help=f"{default}")
    torch.set_num_threads(1)  # networks are small
    for line in train(Settings(**vars(parser.parse_args()))):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()

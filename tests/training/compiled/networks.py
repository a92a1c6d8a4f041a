"""Random actors and critics with a rollout, for compiled updates and for torch's automatic differentiation."""

import itertools
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical, Normal

from tumble.physics.machine.codegen.pool import shared_pool
from tumble.training.compiled.minibatches import Minibatches, PPOSettings, RowColumns

ACTIVATIONS = {"tanh": nn.Tanh, "relu": nn.ReLU, "elu": nn.ELU, "silu": nn.SiLU}
WIDTHS = (5, 8, 16, 30, 32, 64, 100, 128)
ROWS = (1, 2, 7, 64, 70, 128, 200, 513, 1100)


def perceptron(sizes: list[int], activation: str) -> nn.Sequential:
    """Linear layers of these sizes with an activation between them."""
    layers: list[nn.Module] = []
    for k, (inputs, outputs) in enumerate(itertools.pairwise(sizes)):
        layers.append(nn.Linear(inputs, outputs))
        if k < len(sizes) - 2:
            layers.append(ACTIVATIONS[activation]())
    return nn.Sequential(*layers)


@dataclass
class Case:
    """Networks, a rollout and settings.

    Attributes:
        options: numbers of options of each choice; empty: Gaussian actions.
        rollout: float32 rows: observations of the actor, those of the critic, actions, log p, advantage, return, value.
    """

    actor: nn.Sequential
    critic: nn.Sequential
    log_std: nn.Parameter | None
    options: list[int]
    columns: RowColumns
    rollout: Tensor
    n: int
    settings: PPOSettings

    def compiled(self, threads: int = 1) -> Minibatches:
        """The compiled networks, with the present parameters."""
        networks = Minibatches(self.actor, self.critic, self.log_std, self.options, self.n, shared_pool(threads))
        networks.read(self.optimizer(networks))
        return networks

    def optimizer(self, networks: Minibatches) -> torch.optim.Adam:
        """An optimizer of the parameters, in the order of the compiled networks."""
        parameters = [*networks.actor.tensors, *networks.critic.tensors]
        return torch.optim.Adam(parameters, lr=self.settings.rate, eps=self.settings.epsilon)

    def loss(self, batch: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
        """PPO's loss of some rows by torch, as Stable-Baselines3's `PPO.train` writes it."""
        s, rows, columns = self.settings, self.rollout[batch].to(dtype), self.columns
        log_std = None if self.log_std is None else self.log_std.to(dtype)
        output = _apply(self.actor, rows[:, columns.actor :], dtype)
        value = _apply(self.critic, rows[:, columns.critic :], dtype)[:, 0]
        numbers = len(self.options) if log_std is None else len(log_std)
        actions, (old, advantage, target, old_value) = (
            rows[:, columns.actions : columns.actions + numbers],
            rows[:, columns.actions + numbers :].T,
        )
        if log_std is None:
            choices = [Categorical(logits=logits) for logits in output.split(self.options, 1)]
            log_prob = sum(choice.log_prob(actions[:, k].long()) for k, choice in enumerate(choices))
            entropy = sum(choice.entropy() for choice in choices)
        else:
            gaussian = Normal(output, log_std.exp())
            log_prob, entropy = gaussian.log_prob(actions).sum(1), gaussian.entropy().sum(1)
        if s.normalize:
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        ratio = torch.exp(log_prob - old)
        clipped = ratio.clamp(1 - s.clip_range, 1 + s.clip_range)
        if s.clip_range_vf is not None:
            value = old_value + (value - old_value).clamp(-s.clip_range_vf, s.clip_range_vf)
        policy_loss = -torch.min(advantage * ratio, advantage * clipped).mean()
        return policy_loss + s.vf_coef * ((value - target) ** 2).mean() - s.ent_coef * entropy.mean()


def _apply(network: nn.Sequential, x: Tensor, dtype: torch.dtype) -> Tensor:
    x = x[:, : network[0].in_features]
    for layer in network:
        if isinstance(layer, nn.Linear):
            x = nn.functional.linear(x, layer.weight.to(dtype), layer.bias.to(dtype))
        else:
            x = layer(x)
    return x


def random_case(seed: int, **settings: object) -> Case:
    """A case with random architectures, batch sizes and options."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    activation = str(rng.choice(list(ACTIVATIONS)))
    options = [int(rng.integers(2, 20)) for _ in range(rng.integers(1, 4))] if rng.random() < 0.4 else []
    numbers = len(options) or int(rng.integers(1, 20))
    of_actor, of_critic, same = int(rng.integers(1, 60)), int(rng.integers(1, 60)), rng.random() < 0.5
    of_critic = of_actor if same else of_critic
    hidden = [[int(rng.choice(WIDTHS)) for _ in range(rng.integers(0, 4))] for _ in range(2)]
    actor = perceptron([of_actor, *hidden[0], sum(options) or numbers], activation)
    critic = perceptron([of_critic, *hidden[1], 1], activation)
    log_std = None if options else nn.Parameter(torch.randn(numbers) * 0.3)
    n = int(rng.choice(ROWS))
    columns = RowColumns(0, 0 if same else of_actor, of_actor if same else of_actor + of_critic)
    chosen = {
        "clip_range": 0.2,
        "rate": 3e-4,
        "clip_range_vf": None if rng.random() < 0.5 else 0.3,
        "normalize": bool(rng.random() < 0.7) and n > 1,
        "ent_coef": float(rng.choice([0.0, 0.01])),
    }
    rollout = _rollout(actor, critic, log_std, options, columns, 3 * n)
    return Case(actor, critic, log_std, options, columns, rollout, n, PPOSettings(**(chosen | settings)))


@torch.no_grad()
def _rollout(
    actor: nn.Sequential,
    critic: nn.Sequential,
    log_std: Tensor | None,
    options: list[int],
    columns: RowColumns,
    rows: int,
) -> Tensor:
    """A rollout whose policy was another one, by a little."""
    seen = torch.randn(rows, columns.actions)
    output = _apply(actor, seen[:, columns.actor :], torch.float32)
    value = _apply(critic, seen[:, columns.critic :], torch.float32)[:, 0]
    if log_std is None:
        actions = torch.stack([torch.randint(k, (rows,)) for k in options], 1)
        choices = [Categorical(logits=logits) for logits in output.split(options, 1)]
        log_prob = sum(choice.log_prob(actions[:, k]) for k, choice in enumerate(choices))
    else:
        actions = output + torch.randn(rows, len(log_std)) * log_std.exp()
        log_prob = Normal(output, log_std.exp()).log_prob(actions).sum(1)
    old = value + 0.3 * torch.randn(rows)
    advantage = 2 * torch.randn(rows) + 0.3
    rest = [log_prob + 0.2 * torch.randn(rows), advantage, advantage + old, old]
    return torch.cat([seen, actions.float(), *(column[:, None] for column in rest)], 1).contiguous()

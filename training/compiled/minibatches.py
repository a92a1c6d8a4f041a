"""Updates of actor and critic by compiled code: `Minibatches.run` takes all minibatches of an iteration."""

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ...physics.machine.codegen.pool import Pool
from .code import code
from .distributions import DISTRIBUTION
from .networks import BETA_1, BETA_2
from .perceptron import Perceptron
from .ppo_loss import FIGURES, UPDATE
from .ppo_update import LAUNCHES, TASK
from .products import padded

GROUP, MOST_GROUPS = 512, 8
"""Rows of a minibatch for each group of rows, and the most groups: what more threads than two can share."""


@dataclass(frozen=True)
class PPOSettings:
    """The numbers of PPO's loss and of its optimiser, as in `ppo_loss.UPDATE`."""

    clip_range: float
    rate: float
    clip_range_vf: float | None = None
    normalize: bool = True
    vf_coef: float = 0.5
    ent_coef: float = 0.0
    max_grad_norm: float = 0.5
    epsilon: float = 1e-5
    target_kl: float | None = None
    desired_kl: float = 0.0


@dataclass(frozen=True)
class RowColumns:
    """The columns of a rollout at which begin the observations of the actor, those of the critic, and actions."""

    actor: int
    critic: int
    actions: int


@dataclass(frozen=True)
class Shared:
    """The part of minibatches that other processes have.

    Attributes:
        sizes: rows of each minibatch in all processes, int64.
        scales: mean of each minibatch's advantages, and 1 / (deviation + 1e-8): float32 (minibatches, 2).
        add: replaces numbers by their sum over all processes.
        first: whether this process has the part of the gradient that does not depend on rows, for all.
    """

    sizes: np.ndarray
    scales: np.ndarray
    add: Callable[[Tensor], None]
    first: bool


@dataclass(frozen=True)
class UpdateReport:
    """The outcome: means of FIGURES over minibatches, those after which parameters changed, and the rate at the end."""

    figures: dict[str, float]
    done: int
    stopped: bool
    rate: float


class Minibatches:
    """Actor and critic in panels, and the launches of an update.

    Attributes:
        actor, critic: the networks.
        distribution: the record DISTRIBUTION of actions.
        numbers: of an action.
        steps: Adam's steps so far.
    """

    def __init__(
        self,
        actor: Sequence[nn.Module],
        critic: Sequence[nn.Module],
        log_std: Tensor | None,
        options: Sequence[int],
        batch_size: int,
        pool: Pool,
    ) -> None:
        """Prepare networks for minibatches of at most `batch_size` rows.

        Args:
            actor: its layers, in order, the last without an activation.
            critic: its layers.
            log_std: logarithms of standard deviations (numbers of an action,), of Gaussians.
            options: the numbers of options, of choices.
            batch_size: rows.
            pool: the threads.
        """
        groups = min(max(batch_size // GROUP, 1), MOST_GROUPS)
        self.actor = Perceptron(actor, groups, () if log_std is None else (log_std,))
        self.critic = Perceptron(critic, groups)
        self.steps = 0
        numbers = len(options) if log_std is None else len(log_std)
        self._options, self._deviations = np.array([*options, 0], np.int64), np.zeros((2, padded(numbers)), np.float32)
        self.numbers = numbers
        self.distribution = DISTRIBUTION.pack(
            numbers=numbers,
            choices=len(options),
            options=self._options,
            log_std=self.actor.vectors[0].data_ptr() + 4 * self.actor.others,
            std=self._deviations[0],
            inverse_std=self._deviations[1],
            log_normalizer=0.0,
        )
        self._groups, self._figures, self._totals = groups, np.zeros((groups, len(FIGURES))), np.zeros(len(FIGURES))
        self._update = np.zeros(len(UPDATE.fields), np.int64)
        compiled = code()
        both = [TASK.pack(update=self._update, critic=k, group=0) for k in (0, 1)]
        parts = [TASK.pack(update=self._update, critic=k, group=g) for g in range(groups) for k in (0, 1)]
        self._tasks = [both, parts]
        of_phases = {"gradients": parts, "sums": both, "steps": both, "fused": both}
        launches = {
            phase: pool.launch(getattr(compiled, phase), [task.ctypes.data for task in tasks])
            for phase, tasks in of_phases.items()
        }
        self._kept = launches
        addresses = {phase: launch.address for phase, launch in launches.items()}
        self._gradients = [self.actor.whole_gradient, self.critic.whole_gradient]
        sizes = [*map(len, self._gradients), len(FIGURES)]
        self._numbers = torch.zeros(sum(sizes))  # of an exchange
        self._parts = self._numbers.split(sizes)
        self._add: Callable[[Tensor], None] | None = None
        self._error: BaseException | None = None
        self._exchange = ctypes.CFUNCTYPE(None)(self._add_up)
        exchange = ctypes.cast(self._exchange, ctypes.c_void_p).value or 0
        launch = launches["fused"].function
        self._launches = LAUNCHES.pack(update=self._update, launch=launch, exchange=exchange, **addresses)

    def read(self, optimizer: torch.optim.Optimizer) -> None:
        """Copy parameters, moments and the number of steps from torch."""
        for network in (self.actor, self.critic):
            network.read(optimizer)
            code().transpose(network.networks.ctypes.data)
        code().prepare(self.distribution.ctypes.data)
        state = optimizer.state.get(self.actor.tensors[0], {})
        self.steps = int(state["step"]) if state else 0

    def write(self, optimizer: torch.optim.Optimizer) -> None:
        """Copy parameters, moments and the number of steps to torch."""
        for network in (self.actor, self.critic):
            network.write(optimizer, self.steps)

    def _add_up(self) -> None:
        """Add the gradients and figures of all processes; an error ends the update, and `run` raises it."""
        for part, given in zip(self._parts, [*self._gradients, torch.from_numpy(self._figures.sum(0))], strict=True):
            part.copy_(given)
        try:
            assert self._add is not None
            self._add(self._numbers)
        except BaseException as error:  # no error passes through compiled code
            self._error = error
            self._update[UPDATE.column("shared")] = -1
        *gradients, means = self._parts
        for gradient, part in zip(self._gradients, gradients, strict=True):
            gradient.copy_(part)
        self._figures[:], self._figures[0] = 0.0, means.numpy()

    def _pack(
        self,
        rollout: Tensor,
        columns: RowColumns,
        batches: Sequence[Tensor],
        settings: PPOSettings,
        shared: Shared | None,
    ) -> list[Any]:
        """Write the record of an update with `run`'s arguments; return arrays that it has addresses of."""
        index = torch.cat(list(batches))
        starts = np.cumsum([0, *(len(batch) for batch in batches)])
        steps = self.steps + 1 + np.arange(len(batches), dtype=np.float64)
        corrections = np.stack([1 / (1 - BETA_1**steps), 1 / np.sqrt(1 - BETA_2**steps)], 1)
        self._totals[:] = 0.0
        limit, sizes, scales, ent_coef = math.inf, np.diff(starts), np.zeros((1, 2), np.float32), settings.ent_coef
        if shared is not None:
            sizes, scales, self._add = shared.sizes, shared.scales, shared.add
            if not (shared.first or len(self._options) > 1):  # the entropy of Gaussians does not depend on rows
                ent_coef = 0.0
        self._update[:] = UPDATE.pack(
            rollout=rollout.data_ptr(),
            width=rollout.stride(0),
            actions=columns.actions,
            index=index.data_ptr(),
            starts=starts,
            minibatches=len(batches),
            minibatch=0,
            sizes=sizes,
            scales=scales,
            groups=self._groups,
            distribution=self.distribution,
            clip_range=settings.clip_range,
            clip_range_vf=limit if settings.clip_range_vf is None else settings.clip_range_vf,
            normalize=int(settings.normalize) * (1 if shared is None else 2),
            vf_coef=settings.vf_coef,
            ent_coef=ent_coef,
            max_grad_norm=settings.max_grad_norm,
            rate=settings.rate,
            epsilon=settings.epsilon,
            corrections=corrections,
            desired_kl=settings.desired_kl,
            target_kl=limit if settings.target_kl is None else settings.target_kl,
            optimizer=0,
            pending=0,
            done=0,
            stopped=0,
            shared=int(shared is not None),
            totals=self._totals,
            actor=self.actor.networks,
            critic=self.critic.networks,
            actor_column=columns.actor,
            critic_column=columns.critic,
            figures=self._figures,
            log_std_gradient=self.actor.others,
        )
        return [index, starts, sizes, scales, corrections]

    def run(
        self,
        rollout: Tensor,
        columns: RowColumns,
        batches: Sequence[Tensor],
        settings: PPOSettings,
        shared: Shared | None = None,
    ) -> UpdateReport:
        """Take the minibatches.

        Args:
            rollout: float32 (rows, width): observations, actions, and then log p, advantage, return and value.
            columns: where they are.
            batches: the rows of each minibatch, int64.
            settings: numbers of the loss.
            shared: the part of other processes; None: there are none.
        """
        kept = self._pack(rollout, columns, batches, settings, shared)
        code().update(self._launches.ctypes.data)
        del kept  # the record has addresses of these
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        done = int(self._update[UPDATE.column("done")])
        stopped = bool(self._update[UPDATE.column("stopped")])
        self.steps += done
        rate = float(self._update[UPDATE.column("rate") :][:1].view(np.float64)[0])
        means = self._totals / (done + stopped)
        return UpdateReport(dict(zip(FIGURES, means.tolist(), strict=True)), done, stopped, rate)

"""Updates of soft actor-critic and TD3 by compiled code: `QUpdates.run` takes all gradient steps of an iteration."""

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from ...physics.machine.codegen.pool import Pool
from .code import q_code
from .networks import BETA_1, BETA_2
from .perceptron import Activations, Layer, Perceptron, widths_of
from .products import CHUNK, PANEL, padded
from .q_loss import FIGURES, GROUP, Q_UPDATE, REPLAY, SEEN
from .q_update import EXCHANGES, PHASES, Q_LAUNCHES, Q_TASK
from .squashed import ACTIONS, DRAWN

GROUP_ROWS, MOST_GROUPS = 128, 8
"""Rows of a minibatch for each group of rows, and the most groups: what threads can share."""
Parts = Sequence[tuple[str, int]]
"""Names and widths of the parts of observations that a network sees."""
TOTALS = (*FIGURES, "temperature", "temperature_loss")


class Optimizers(NamedTuple):
    """Torch's optimizers of critics, actor and temperature; None: the temperature is fixed."""

    critics: torch.optim.Optimizer
    actor: torch.optim.Optimizer
    temperature: torch.optim.Optimizer | None = None


@dataclass(frozen=True)
class QNetworks:
    """The layers of the networks, in order, the last without an activation.

    Attributes:
        actor: its last layer has means and, of Gaussians, logarithms of standard deviations.
        critics: of each critic; the inputs are observations and then the action.
        targets: of each critic.
        target_actor: of TD3; None: targets draw from the actor.
        log_temperature: a number, if it is learned.
    """

    actor: Sequence[Layer]
    critics: Sequence[Sequence[nn.Module]]
    targets: Sequence[Sequence[nn.Module]]
    target_actor: Sequence[Layer] | None = None
    log_temperature: Tensor | None = None


@dataclass(frozen=True)
class QSettings:
    """The numbers of the losses, as in `q_loss.Q_UPDATE`."""

    gamma: float = 0.99
    tau: float = 0.005
    temperature: float = 0.0  # if it is not learned
    entropy: float = 0.0  # that is aimed at
    smoothing: float = 0.0  # of TD3
    smoothing_limit: float = 0.0


@dataclass(frozen=True)
class Normalization:
    """Means and variances of numbers, which become (x - mean) / sqrt(variance + epsilon), clipped to +- limit."""

    mean: np.ndarray
    variance: np.ndarray
    epsilon: float
    limit: float


@dataclass(frozen=True)
class Transitions:
    """A replay buffer: float32 arrays (transitions, ...), and how the numbers are normalised.

    Attributes:
        now, later: the parts of observations by name (transitions, width).
        normalizations: of parts by name, and of rewards under the name None; those missing stay as they are.
    """

    now: Mapping[str, np.ndarray]
    later: Mapping[str, np.ndarray]
    actions: np.ndarray
    rewards: np.ndarray
    ends: np.ndarray
    timeouts: np.ndarray
    normalizations: Mapping[str | None, Normalization]


@dataclass(frozen=True)
class GradientSteps:
    """The gradient steps of an iteration, as int64 arrays.

    Attributes:
        index: transitions of all minibatches (rows,).
        order: the number of each in its minibatch, of which its draws depend (rows,).
        starts: the first row of each minibatch, and the number of rows (steps + 1,).
        size: rows of a minibatch in all processes.
        keys: of draws at next observations and at observations (steps, 2).
        moves: whether actor and temperature learn (steps,).
        follows: whether targets follow (steps,).
    """

    index: np.ndarray
    order: np.ndarray
    starts: np.ndarray
    size: int
    keys: np.ndarray
    moves: np.ndarray
    follows: np.ndarray


class QUpdates:
    """Actor, critics and their targets in panels, and the launches of an update.

    Attributes:
        actor, critics, targets, temperature: the networks.
        target_actor: TD3's; in soft actor-critic it is the actor.
    """

    def __init__(
        self,
        networks: QNetworks,
        actor_parts: Parts,
        critic_parts: Parts,
        numbers: int,
        batch_size: int,
        pool: Pool,
    ) -> None:
        """Prepare networks for minibatches.

        Args:
            networks: the layers.
            actor_parts: what the actor sees.
            critic_parts: what the critics see.
            numbers: of an action.
            batch_size: rows.
            pool: the threads.
        """
        self._groups = min(max(batch_size // GROUP_ROWS, 1), MOST_GROUPS)
        self._numbers, self._gaussian = numbers, networks.target_actor is None
        of_actor, of_critic = (sum(width for _, width in parts) for parts in (actor_parts, critic_parts))
        first = 0 if actor_parts == critic_parts else -(-of_actor // PANEL) * PANEL  # the critics' first column
        self._action_column = first + of_critic
        self._places = _places(actor_parts, critic_parts, first)
        width = -(-(self._action_column + numbers) // PANEL) * PANEL
        inputs = [torch.zeros(width * CHUNK) for _ in range(self._groups)]
        self.actor, rows = _with_activations(networks.actor, inputs)
        self.target_actor = self.actor
        if networks.target_actor is not None:
            self.target_actor = Perceptron(networks.target_actor, self._groups, activations=rows)
        self.critics, self.targets = [], []
        for critic, target in zip(networks.critics, networks.targets, strict=True):
            perceptron, rows = _with_activations(critic, [x[first * CHUNK :] for x in inputs])
            self.critics.append(perceptron)
            self.targets.append(Perceptron(target, self._groups, activations=rows))
        log_temperature = [] if networks.log_temperature is None else [networks.log_temperature]
        self._learns_temperature, self.temperature = bool(log_temperature), Perceptron([], 1, log_temperature)
        self._steps = np.zeros(3, np.int64)  # Adam's, of critics, actor, temperature
        self._kept: list[Any] = []  # arrays whose addresses are in records
        self._totals, self._zeros = np.zeros(len(TOTALS)), np.zeros(of_critic + numbers + PANEL, np.float32)
        self._mask = np.ones(padded(numbers), np.float32)
        self._mask[numbers:] = 0.0
        self._figures = np.zeros((self._groups, len(FIGURES)))
        self._add: Callable[[Tensor], None] | None = None
        self._error: BaseException | None = None
        self._group = np.stack([self._group_record(g, inputs[g]) for g in range(self._groups)])
        self._update = np.zeros(len(Q_UPDATE.fields), np.int64)
        self._launches = self._launch_record(pool)

    def _group_record(self, g: int, x: Tensor) -> np.ndarray:
        """Return the record GROUP of a group of rows."""
        size = (CHUNK, len(self._mask))
        arrays: dict[str, np.ndarray] = {name: np.zeros(size, np.float32) for name in DRAWN.fields}
        drawn = DRAWN.pack(**arrays)
        targets = np.zeros(CHUNK, np.float32)
        critics, targeted = (np.stack([one.networks[g] for one in all]) for all in (self.critics, self.targets))
        pulls = np.zeros((len(self.critics), self._numbers + 2 * PANEL, CHUNK), np.float32)
        self._kept += [arrays, drawn, targets, critics, targeted, pulls]
        return GROUP.pack(
            x=x.data_ptr(),
            drawn=drawn,
            targets=targets,
            pulls=pulls,
            actor=self.actor.networks[g],
            target_actor=self.target_actor.networks[g],
            critic=critics,
            target=targeted,
            figures=self._figures[g],
        )

    def _launch_record(self, pool: Pool) -> np.ndarray:
        """Return the record Q_LAUNCHES."""
        compiled, critics = q_code(), len(self.critics)
        most = max(self._groups, critics + 1)
        tasks = [Q_TASK.pack(update=self._update, number=k) for k in range(most)]
        launches = {
            phase: pool.launch(getattr(compiled, phase), [task.ctypes.data for task in tasks[:count]])
            for phase, count in zip(PHASES, (self._groups, critics, self._groups, critics + 1), strict=True)
        }
        of_critics, of_actor = np.split(self._figures, [1], 1)
        parts = (self.critics, of_critics), ([self.actor], of_actor)
        exchanges = [ctypes.CFUNCTYPE(None)(self._exchange(*part)) for part in parts]
        self._kept += [tasks, launches, exchanges]
        addresses = {name: launch.address for name, launch in launches.items()}
        for name, exchange in zip(EXCHANGES, exchanges, strict=True):
            addresses[name] = ctypes.cast(exchange, ctypes.c_void_p).value or 0
        return Q_LAUNCHES.pack(update=self._update, launch=launches["rest"].function, **addresses)

    def read(self, optimizers: Optimizers) -> None:
        """Copy parameters, moments and numbers of steps from torch."""
        for networks, optimizer in self._with_optimizers(optimizers):
            for network in networks:
                network.read(optimizer)
                if optimizer and network.widths:
                    q_code().transpose(network.networks.ctypes.data)
        for k, (networks, optimizer) in enumerate(self._with_optimizers(optimizers)[:3]):
            state = optimizer.state.get(networks[0].tensors[0], {}) if optimizer and networks else {}
            self._steps[k] = int(state["step"]) if state else 0

    def write(self, optimizers: Optimizers) -> None:
        """Copy parameters, moments and numbers of steps to torch."""
        for k, (networks, optimizer) in enumerate(self._with_optimizers(optimizers)):
            for network in networks:
                network.write(optimizer, int(self._steps[min(k, 2)]))

    def _with_optimizers(self, optimizers: Optimizers) -> list[tuple[list[Perceptron], torch.optim.Optimizer | None]]:
        """Return networks and their optimizers: critics, actor, temperature, and targets."""
        targets = self.targets if self._gaussian else [*self.targets, self.target_actor]
        return [
            (self.critics, optimizers.critics),
            ([self.actor], optimizers.actor),
            ([self.temperature] if self._learns_temperature else [], optimizers.temperature),
            (targets, None),
        ]

    def _exchange(self, networks: Sequence[Perceptron], figures: np.ndarray) -> Callable[[], None]:
        """Return a function that makes the first group's gradients and figures the sums over groups and processes.

        Its error ends the update, and `run` raises it.
        """
        gradients = [network.gradients for network in networks]
        numbers = torch.zeros(sum(len(first) for first, *_ in gradients) + figures.shape[1])
        *parts, totals = numbers.split([*(len(first) for first, *_ in gradients), figures.shape[1]])

        def add_up() -> None:
            for (first, *others), part in zip(gradients, parts, strict=True):
                part.copy_(first)
                for other in others:
                    part.add_(other)
                    other.zero_()
            totals.copy_(torch.from_numpy(figures.sum(0)))
            try:
                assert self._add is not None
                self._add(numbers)
            except BaseException as error:  # no error passes through compiled code
                self._error = error
                self._update[Q_UPDATE.column("shared")] = -1
            for (first, *_), part in zip(gradients, parts, strict=True):
                first.copy_(part)
            figures[:], figures[0] = 0.0, totals.numpy()

        return add_up

    def _pack(self, replay: Transitions, steps: GradientSteps, rates: Optimizers, settings: QSettings) -> list[Any]:
        """Write the record of an update with `run`'s arguments; return arrays that it has addresses of."""
        before, moved = self._steps.copy(), np.cumsum(steps.moves)
        counts = before + np.stack([np.arange(1, len(moved) + 1), moved, moved * self._learns_temperature], 1)
        self._steps = counts[-1]
        powers = np.maximum(counts, 1).astype(np.float64)
        corrections = np.stack([1 / (1 - BETA_1**powers), 1 / np.sqrt(1 - BETA_2**powers)], 2)
        groups = [one.param_groups[0] if one else {"lr": 0.0, "eps": 1.0} for one in rates]
        numbers = np.array([[group["eps"], group["lr"]] for group in groups], np.float64).T.copy()
        kept, replayed = self._replay_record(replay)
        actions = ACTIONS.pack(
            numbers=self._numbers,
            padded=len(self._mask),
            gaussian=int(self._gaussian),
            mask=self._mask,
            limit=settings.smoothing_limit,
        )
        self._totals[:] = 0.0
        self._update[:] = Q_UPDATE.pack(
            replay=replayed,
            actions=actions,
            index=steps.index,
            order=steps.order,
            starts=steps.starts,
            keys=steps.keys,
            moves=steps.moves,
            follows=steps.follows,
            corrections=corrections,
            epsilons=numbers[0],
            rates=numbers[1],
            steps=len(moved),
            step=0,
            n=steps.size,
            shared=int(self._add is not None),
            groups=self._groups,
            group=self._group,
            critics=len(self.critics),
            judges=len(self.critics) if self._gaussian else 1,
            zeros=self._zeros,
            gamma=settings.gamma,
            tau=settings.tau,
            smoothing=settings.smoothing,
            loss_factor=0.5 if self._gaussian else 1.0,
            temperature=self.temperature.networks,
            learns_temperature=int(self._learns_temperature),
            entropy=settings.entropy,
            t=settings.temperature,
            totals=self._totals,
        )
        return [kept, replayed, actions, corrections, numbers]

    def run(
        self,
        replay: Transitions,
        steps: GradientSteps,
        rates: Optimizers,
        settings: QSettings,
        add: Callable[[Tensor], None] | None = None,
    ) -> dict[str, float]:
        """Take gradient steps, with the rates and epsilons of the optimizers.

        Args:
            replay: the replay buffer.
            steps: the minibatches.
            rates: the optimizers.
            settings: numbers of the losses.
            add: replaces numbers by their sum over all processes, of which each has a part of the minibatches; None:
                there are no others.

        Returns:
            Means of TOTALS, over the steps at which they were computed.
        """
        self._add = add
        kept = self._pack(replay, steps, rates, settings)
        q_code().update(self._launches.ctypes.data)
        del kept  # the record has addresses of these
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        means = self._totals / [len(steps.moves), *[max(steps.moves.sum(), 1)] * (len(TOTALS) - 1)]
        return dict(zip(TOTALS, means.tolist(), strict=True))

    def _replay_record(self, replay: Transitions) -> tuple[Any, np.ndarray]:
        """Return the record REPLAY, and arrays that must be kept."""
        kept: list[Any] = []
        table = np.zeros((len(self._places), len(SEEN.fields)), np.int64)
        for row, (name, place) in zip(table, self._places.items(), strict=True):
            now, later = replay.now[name], replay.later[name]
            width = now.shape[1]
            mean, factor, limit = np.zeros(width), np.ones(width), math.inf
            if name in replay.normalizations:
                one = replay.normalizations[name]
                mean, factor, limit = one.mean, 1 / np.sqrt(one.variance + one.epsilon), one.limit
            kept += [mean, factor]
            row[:] = SEEN.pack(
                now=now,
                later=later,
                width=width,
                places=len(place),
                place=place,
                mean=mean,
                factor=factor,
                limit=limit,
            )
        rewards = replay.normalizations.get(None)
        return [*kept, table], REPLAY.pack(
            parts=len(table),
            part=table,
            actions=replay.actions,
            action_column=self._action_column,
            rewards=replay.rewards,
            ends=replay.ends,
            timeouts=replay.timeouts,
            reward_factor=1.0 if rewards is None else 1 / math.sqrt(float(rewards.variance) + rewards.epsilon),
            reward_limit=math.inf if rewards is None else rewards.limit,
        )


def _with_activations(layers: Sequence[Layer], inputs: Sequence[Tensor]) -> tuple[Perceptron, list[Activations]]:
    """Return a network with groups of rows that begin with these inputs, and its rows for another one."""
    rows = [Activations(widths_of(layers), x) for x in inputs]
    return Perceptron(layers, len(inputs), activations=rows), rows


def _places(actor: Parts, critic: Parts, first: int) -> dict[str, np.ndarray]:
    """Return the columns of each part in a row of inputs, where those of the critics begin at `first`."""
    places: dict[str, list[int]] = {}
    for parts, column in ((actor, 0), (critic, first)):
        for name, width in parts:
            if column not in places.setdefault(name, []):
                places[name].append(column)
            column += width
    return {name: np.array(columns, np.int64) for name, columns in places.items()}

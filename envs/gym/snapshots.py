"""Snapshots of environments, for planning: states are taken, put back, and copied into other environments."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

from ...physics.base.arguments import as_environments
from ...physics.machine.normal_mode import in_normal_mode
from ..arrays import Array, any_true, copy
from ..task.observations import parts_of
from .episodes import Episodes

if TYPE_CHECKING:
    from ...physics import Model

NOISE = ("same", "own")
Environments = int | Sequence[int] | np.ndarray | torch.Tensor | None
"""Numbers of environments, or a mask (num_envs,) of bools; None for all."""


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    """Everything that the future of n environments depends on, on the solver's device; nothing writes to it.

    Attributes:
        task: the name of the task's class.
        model: of all environments of the batch.
        num_envs: n, how many environments it is of.
        envs: their numbers (n,) in the batch that they were taken from; None: all of it.
        observation: their last observation, by the names of its parts, each (n, ...).
        elapsed: steps of the time limit that they have taken, (n,) int64.
        done: True where an episode has finished and waits for its reset, (n,) bool.
        ended: True if any has.
        states: their states in the solver, the task's memory and the streams of noise: `TaskBatch.states`.
    """

    task: str
    model: "Model"
    num_envs: int
    envs: np.ndarray | None
    observation: dict[str, Array]
    elapsed: Array
    done: Array
    ended: bool
    states: dict[str, Any]

    def __len__(self) -> int:
        """Return how many environments it is of."""
        return self.num_envs

    def __repr__(self) -> str:
        return f"Snapshot({self.task}, {self.num_envs} environments)"


@in_normal_mode
class Snapshots:
    """Takes snapshots of environments, and lets environments go on from them."""

    def __init__(self, episodes: Episodes) -> None:
        """Take and restore states of these episodes."""
        self._episodes, self._batch, self._kind = episodes, episodes.batch, episodes.batch.kind
        self._num_envs = episodes.batch.num_envs
        self._alike: Model | None = None  # the last model of another batch whose numbers were compared and are the same

    def take(self, envs_idx: Environments = None) -> Snapshot:
        """Take a snapshot of environments: of state, inputs, own numbers of the model, memory, noise and time limits.

        Args:
            envs_idx: their numbers, or a mask (num_envs,); None for all.

        Raises:
            ResetNeeded: before the first reset.
            IndexError: an environment does not exist.
        """
        episodes = self._episodes
        episodes.require_open()
        if episodes.observation is None:
            raise ResetNeeded("there is no state to take a snapshot of before the first reset()")
        envs = as_environments(envs_idx, self._num_envs)
        rows = self._numbers(envs)
        rows_idx = slice(None) if rows is None else rows
        observation = {name: copy(part[rows_idx]) for name, part in parts_of(episodes.observation).items()}
        elapsed, done = copy(episodes.elapsed[rows_idx]), copy(episodes.done[rows_idx])
        count = self._num_envs if envs is None else len(envs)
        states = self._batch.states(rows)
        model = self._batch.solver.model
        return Snapshot(
            type(self._batch.task).__name__, model, count, envs, observation, elapsed, done, any_true(done), states
        )

    def restore(self, snapshot: Snapshot, envs_idx: Environments = None, *, noise: str = "same") -> Any:
        """Go on where a snapshot was taken, of these environments or of others with the same task.

        The same actions then give the same bits. Environments that are not named stay as they are.

        Args:
            snapshot: of as many environments as are named, or of one, which all of them then copy.
            envs_idx: numbers of environments, or a mask (num_envs,); None: the ones that the snapshot was taken from.
            noise: "same" goes on with the noise and the seeds of the snapshot; with "own" each environment keeps its
                noise and seed.

        Returns:
            The observations of all environments, as `reset` returns them.

        Raises:
            TypeError: this is no snapshot.
            ValueError: it is of another task, model, frame_skip, precision or number of environments, or environments
                are named twice; nothing is changed then.
            IndexError: an environment does not exist.
            ResetNeeded: before the first reset, unless all environments are restored.
        """
        episodes = self._episodes
        episodes.require_open()
        rows = self._numbers(self._check_snapshot(snapshot, envs_idx, noise))
        if episodes.observation is None and rows is not None:
            raise ResetNeeded("restore all environments, or call reset() before some of them are restored")
        observation = episodes.begun()
        self._batch.put_states(snapshot.states, rows, keep_noise=noise == "own")
        rows_idx, bring = slice(None) if rows is None else rows, self._kind.like
        for name, part in parts_of(observation).items():
            part[rows_idx] = bring(snapshot.observation[name])
        episodes.elapsed[rows_idx], episodes.done[rows_idx] = bring(snapshot.elapsed), bring(snapshot.done)
        episodes.ended = snapshot.ended or (episodes.ended and any_true(episodes.done))
        return episodes.hand_out(observation, info={})[0]

    def branch(self, env: int, targets: Environments = None, *, noise: str = "same") -> Any:
        """Copy an environment into others, from which they all go on: `restore(snapshot(env), targets)`.

        Args:
            env: number of the environment that is copied.
            targets: numbers of the environments that become its copies, or a mask (num_envs,); None for all.
            noise: "same": the copies draw the same noise, so that the same actions give the same bits in all of them,
                in later episodes too; "own": each goes on with the noise and the seed that it had.

        Returns:
            The observations of all environments, as `reset` returns them.

        Raises:
            ResetNeeded: before the first reset.
            IndexError: an environment does not exist.
            ValueError: `env` is not a single environment.
        """
        one = as_environments(env, self._num_envs)
        if one is None or one.size != 1:
            raise ValueError(f"env={env!r}: one environment is copied, by its number")
        everyone = np.ones(self._num_envs, np.bool_) if targets is None else targets
        return self.restore(self.take(one), everyone, noise=noise)

    def _numbers(self, envs: np.ndarray | None) -> Array | None:
        """Return numbers of environments (k,) as an array of the batch; None for all in their order."""
        if envs is None or (len(envs) == self._num_envs and np.array_equal(envs, np.arange(self._num_envs))):
            return None
        return self._kind.xp.asarray(envs, device=self._kind.device)

    def _check_snapshot(self, snapshot: Any, envs_idx: Environments, noise: str) -> np.ndarray | None:
        """Return the environments (k,) that a snapshot goes to, once it is known to fit; errors are `restore`'s."""
        if not isinstance(snapshot, Snapshot):
            raise TypeError(f"expected what snapshot() returned, not {type(snapshot).__name__}")
        if noise not in NOISE:
            raise ValueError(f"noise={noise!r}: there is {' and '.join(NOISE)}")
        if (mine := type(self._batch.task).__name__) != snapshot.task:
            raise ValueError(f"the snapshot is of the task {snapshot.task}, and these environments do {mine}")
        envs = as_environments(snapshot.envs if envs_idx is None else envs_idx, self._num_envs)
        count = self._num_envs if envs is None else len(envs)
        if len(snapshot) not in (1, count):
            raise ValueError(
                f"the snapshot is of {len(snapshot)} environments, and {count} are to go on from it: name as many, or "
                "take a snapshot of one"
            )
        if envs is not None and len(snapshot) > 1 and len(np.unique(envs)) < count:
            raise ValueError("envs_idx: an environment is named twice, and can go on only from one state")
        if snapshot.ended and self._episodes.autoreset_mode is AutoresetMode.SAME_STEP:
            raise ValueError(
                "environments of the snapshot have finished and wait for their reset, which SAME_STEP makes within the "
                "step: reset them before the snapshot"
            )
        shapes = {name: tuple(part.shape[1:]) for name, part in parts_of(self._batch.observation).items()}
        found = {name: tuple(part.shape[1:]) for name, part in snapshot.observation.items()}
        if shapes != found:
            raise ValueError(f"the snapshot has observations of other shapes, {found}; needed are {shapes}")
        model = self._batch.solver.model
        if snapshot.model is not model and snapshot.model is not self._alike:
            if difference := _difference(snapshot.model, model):
                raise ValueError(f"the snapshot is of another model: {difference}; make both with the same options")
            self._alike = snapshot.model
        self._batch.check_states(snapshot.states, len(snapshot))
        return envs


def _difference(one: "Model", other: "Model") -> str | None:
    """Return which number differs between two models, the timestep before others, in words; None if no number does."""
    names = {"timestep": None, **dict.fromkeys(sorted(one.values)), **dict.fromkeys(sorted(other.values))}
    for name in names:
        mine, theirs = (np.asarray(model.values.get(name, ())) for model in (one, other))
        if not np.array_equal(mine, theirs):
            few = mine.size == theirs.size == 1
            return f"its {name} is {mine.item():g}, and here {theirs.item():g}" if few else f"its {name} differs"
    return None

"""Callbacks of training: progress, checkpoints, and a stop on request that loses nothing."""

import logging
import math
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback
from tqdm import tqdm

from ...physics.machine.waiting import Waiting
from ..checkpoint import CheckpointError, save_checkpoint
from ..distributed import group_of
from ..runs import Run
from .learner import OTHER_BUFFER, Learner

Progress = Literal["lines"] | bool
LINE_EVERY = 10.0  # s, between two lines of progress
LEAST_SHARE = 20.0  # a periodic checkpoint is due only after so many times the duration of the last one
clock = time.monotonic
logger = logging.getLogger("tumble")


class StopTraining(Exception):
    """Raised between two iterations, after the checkpoint is written, when the user asked to stop."""


class StopRequest:
    """Ctrl-C or a termination signal, remembered until training reaches a point from which it can go on exactly.

    One of each counts as one request: SLURM sends SIGTERM to all processes, and that of several seeds passes it on.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.wanted, self.quiet = False, quiet
        self._numbers: set[int] = set()

    def __call__(self, number: int, frame: Any) -> None:
        """Handle the signal; the second one of a kind interrupts at once, leaving the last checkpoint."""
        if number in self._numbers:
            raise KeyboardInterrupt
        self._numbers.add(number)
        self.wanted = True
        if not self.quiet:
            tqdm.write("stopping: this iteration is finished and saved first (again to stop at once)")

    @contextmanager
    def listening(self) -> Iterator["StopRequest"]:
        """Handle SIGINT and SIGTERM inside the block; elsewhere than in the main thread signals stay as they are."""
        try:
            before = {number: signal.signal(number, self) for number in (signal.SIGINT, signal.SIGTERM)}
        except ValueError:
            before = {}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class CheckpointCallback(BaseCallback):
    """Write checkpoints as `CheckpointConfig` says, always between two iterations.

    Raises `StopTraining` between two iterations if a stop was requested.
    """

    def __init__(self, learner: Learner, run: Run, request: StopRequest) -> None:
        super().__init__()
        self.learner, self.run, self.request = learner, run, request
        self.settings = learner.config.checkpoint
        self._next = self._begun = 0
        self._saved, self._saved_at, self._cost = 0, 0.0, 0.0  # step and time of the last checkpoint; s that it took
        self._rolls = False  # whether a rollout is under way
        self._before: dict[str, Any] | None = None  # the learner's state when it began, if that is not saved

    def _on_training_start(self) -> None:
        self._plan()
        self._begun = self._saved = self.model.num_timesteps
        self._saved_at = clock()

    def _plan(self) -> None:
        every = self.settings.every_steps
        self._next = (self.model.num_timesteps // every + 1) * every

    def _on_rollout_start(self) -> None:
        group = self.learner.group
        stop, passing = group.sums(self.request.wanted, group.rank == 0 and self._passing_is_due())
        if stop:
            self.save()
            raise StopTraining
        if self.model.num_timesteps >= self._next:
            self.save()
            self._plan()
        elif passing:
            self._save_in_passing()
        self._rolls = True
        group.busy = self.model.num_timesteps == self._begun  # the first iteration compiles
        news = self.model.num_timesteps > self._saved and group.size == 1
        self._before = self.learner.state_dict() if news else None

    def _on_rollout_end(self) -> None:
        self._rolls, self._before = False, None

    def _on_training_end(self) -> None:
        self.save()

    def _on_step(self) -> bool:
        self.learner.group.progress += 1
        return True

    def save(self) -> Path:
        """Write a checkpoint of this moment."""
        return self._write(passing=False)

    def save_after_crash(self) -> int:
        """Write the state before an error in the task's code, as it was between two iterations.

        The weights are those of now: only updates change them, and the task's code is not at work there.

        Returns:
            The step of the newest checkpoint; 0 if there is none.

        Raises:
            CheckpointError: It could not be written.
        """
        news = self._before is not None or (not self._rolls and self.learner.model.num_timesteps > self._saved)
        if news and self.learner.is_finite():
            self._write(passing=True, state=self._before)
        return self._saved

    def _passing_is_due(self) -> bool:
        """Return whether a periodic checkpoint is due: after a tenth of the run, or by the clock."""
        every, total = self.settings.every_seconds, self.learner.config.total_steps
        waited = clock() - self._saved_at
        tenth = 10 * self.model.num_timesteps // total > 10 * self._saved // total
        news = self.model.num_timesteps > self._saved
        return news and every < math.inf and (tenth or waited >= every) and waited >= LEAST_SHARE * self._cost

    def _save_in_passing(self) -> None:
        """Write a checkpoint if that is possible; else the next is tried after `every_seconds`."""
        try:
            self._write(passing=True)
        except CheckpointError as error:
            self._saved_at, self._cost = clock(), self.settings.every_seconds / LEAST_SHARE
            logger.warning("%s, or wait: training goes on", error)

    def _write(self, passing: bool, state: dict[str, Any] | None = None) -> Path:
        step = self.learner.model.num_timesteps if state is None else state["num_timesteps"]
        path, begun, others = self.run.checkpoints, clock(), self.learner.other_states(self.run.checkpoints)
        if self.learner.group.rank == 0:
            with self.learner.group.long_work(), Waiting(f"writing the checkpoint of step {step:,}"):
                write = partial(self.learner.save, state=state, others=others)
                path = save_checkpoint(path, step, write, keep=self.settings.keep, passing=passing)
            for leftover in self.run.checkpoints.glob(OTHER_BUFFER.format("*")):  # there was one of this step already
                leftover.unlink()
        self._saved, self._saved_at = step, clock()
        self._cost = self._saved_at - begun
        return path


class InfoCallback(BaseCallback):
    """Logs the numbers of `info`, as `info/NAME`: the mean over environments at the last step of each rollout."""

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        envs: Any = self.training_env.unwrapped
        means: dict[str, float] = {}
        for name, values in getattr(envs, "info", {}).items():
            numbers = isinstance(values, np.ndarray | torch.Tensor) and tuple(values.shape) == (envs.num_envs,)
            if numbers and not name.startswith("_"):
                means[name] = float(torch.as_tensor(values).double().mean())
        given = group_of(self.training_env).gather(means)
        for name in dict.fromkeys(name for means in given for name in means):
            all_means = [means[name] for means in given if name in means]
            self.logger.record(f"info/{name}", sum(all_means) / len(all_means))


class ProgressCallback(BaseCallback):
    """Shows the progress of training, with the mean return and length of the last 100 episodes.

    A bar, or, with `show="lines"` and where standard error is no terminal, a line on standard output at each tenth of
    the way and every ten seconds; both say first which folder the run is kept in. With `show=False` nothing is printed.
    """

    def __init__(self, total_steps: int, show: Progress = True, folder: Path | None = None) -> None:
        super().__init__()
        self.total_steps, self.folder = total_steps, folder
        self.show: Progress = "lines" if show is True and not sys.stderr.isatty() else show
        self._bar: Any = None
        self._begun = self._said = (0, 0.0)  # step, and time in s: of the beginning, and of the last line
        self._update = Waiting("learning from the last steps", patience=LINE_EVERY)

    def _on_training_start(self) -> None:
        done = self.model.num_timesteps
        self._begun = self._said = (done, time.perf_counter())
        if self.show and self.folder is not None:
            print(f"run folder: {self.folder}", flush=True)
        disable = self.show is not True
        self._bar = tqdm(total=self.total_steps, initial=done, unit=" steps", unit_scale=True, disable=disable)

    def _on_rollout_start(self) -> None:
        self._update.end()

    def _on_step(self) -> bool:
        self._bar.update(self.training_env.num_envs * group_of(self.training_env).size)
        if self.show == "lines" and time.perf_counter() - self._said[1] > LINE_EVERY:
            self._say()
        return True

    def _on_rollout_end(self) -> None:
        if self.show is True:
            self._bar.set_postfix_str(self._figures(), refresh=False)
        tenth = 10 * self.model.num_timesteps // self.total_steps > 10 * self._said[0] // self.total_steps
        if self.show == "lines" and tenth:
            self._say()
        self._update.begin()

    def _on_training_end(self) -> None:
        self._update.end()

    def _say(self) -> None:
        """Print a line."""
        step, now = self._said = self.model.num_timesteps, time.perf_counter()
        rate = (step - self._begun[0]) / (now - self._begun[1])
        share = min(100 * step // self.total_steps, 100)
        print(f"{step:,} steps ({share} %), {rate:,.0f} a second{self._figures(', ')}", flush=True)

    def _figures(self, before: str = "") -> str:
        """Return mean return and length of the last episodes after `before`; empty until each environment ended one."""
        episodes = self.model.ep_info_buffer
        if not episodes or not self.training_env.unwrapped.all_have_ended():  # type: ignore[attr-defined]
            return ""
        mean_return = sum(episode["r"] for episode in episodes) / len(episodes)
        mean_length = sum(episode["l"] for episode in episodes) / len(episodes)
        return f"{before}return {mean_return:.1f}, length {mean_length:.0f}"

    def close(self) -> None:
        """Leave the bar on the screen and the cursor below it."""
        self._update.end()
        if self._bar is not None:
            self._bar.close()

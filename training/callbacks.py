"""Callbacks of training: progress, learning curve, checkpoints, and a stop on request that loses nothing."""

import importlib.util
import json
import logging
import math
import os
import signal
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Literal, TextIO

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat
from tqdm import tqdm

from ..physics.process.disk import open_own, own_folder, read_regular
from ..physics.process.waiting import Waiting
from .checkpoint import CheckpointError, save_checkpoint, write_text_atomically
from .config import RunConfig
from .errors import TumbleUserError
from .learner import Learner
from .runs import Run
from .sb3_bridge import TumbleVecEnv

Progress = Literal["lines"] | bool
LINE_EVERY = 10.0  # s, between two lines of progress
EPISODE_FIGURES = ("rollout/ep_rew_mean", "rollout/ep_len_mean", "rollout/success_rate")
LEAST_SHARE = 20.0  # times the duration of a checkpoint that pass before one is written in passing
clock = time.monotonic
logger = logging.getLogger("tumble")


class StopTraining(Exception):
    """Raised between two iterations, after the checkpoint is written, when the user asked to stop."""


class StopRequest:
    """Ctrl-C or a termination signal, remembered until training reaches a point from which it can go on exactly."""

    def __init__(self) -> None:
        self.wanted = False

    def __call__(self, number: int, frame: Any) -> None:
        """Handle the signal; the second one interrupts at once, leaving the last checkpoint."""
        if self.wanted:
            raise KeyboardInterrupt
        self.wanted = True
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
        self._next = 0
        self._saved, self._saved_at, self._cost = 0, 0.0, 0.0  # step and time of the last checkpoint; s that it took
        self._rolls = False  # whether a rollout is under way
        self._before: dict[str, Any] | None = None  # the learner's state when it began, if that is not saved

    def _on_training_start(self) -> None:
        self._plan()
        self._saved, self._saved_at = self.model.num_timesteps, clock()

    def _plan(self) -> None:
        every = self.settings.every_steps
        self._next = (self.model.num_timesteps // every + 1) * every

    def _on_rollout_start(self) -> None:
        if self.request.wanted:
            self.save()
            raise StopTraining
        if self.model.num_timesteps >= self._next:
            self.save()
            self._plan()
        elif self._passing_is_due():
            self._save_in_passing()
        self._rolls = True
        self._before = self.learner.state_dict() if self.model.num_timesteps > self._saved else None

    def _on_rollout_end(self) -> None:
        self._rolls, self._before = False, None

    def _on_training_end(self) -> None:
        self.save()

    def _on_step(self) -> bool:
        return True

    def save(self) -> Path:
        """Write a checkpoint of this moment."""
        return self._write(passing=False)

    def save_after_crash(self) -> int:
        """Write what was learnt before an error in the task's code, as it was between two iterations.

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
        """Say whether a checkpoint is to be written in passing: after a tenth of the run, or by the clock."""
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
        begun = clock()
        with Waiting(f"writing the checkpoint of step {step:,}"):
            write = partial(self.learner.save, state=state)
            path = save_checkpoint(self.run.checkpoints, step, write, keep=self.settings.keep, passing=passing)
        self._saved, self._saved_at = step, clock()
        self._cost = self._saved_at - begun
        return path


class InfoCallback(BaseCallback):
    """Logs what tasks tell in `info`, as `info/NAME`: the mean over environments at the last step of each rollout."""

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        envs = self.training_env.unwrapped
        for name, values in getattr(envs, "info", {}).items():
            numbers = isinstance(values, np.ndarray | torch.Tensor) and tuple(values.shape) == (envs.num_envs,)
            if numbers and not name.startswith("_"):
                self.logger.record(f"info/{name}", float(torch.as_tensor(values).double().mean()))


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
        self._bar.update(self.training_env.num_envs)
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


class RunLogger(Logger):
    """SB3's logger, without figures of episodes until each environment has ended a whole one.

    The first episodes to end are the short ones: their mean ranks a policy that fails above one that goes on.
    """

    def __init__(self, folder: Path, writers: list[KVWriter], bridge: TumbleVecEnv) -> None:
        super().__init__(folder=str(folder), output_formats=writers)
        self._bridge = bridge

    def dump(self, step: int = 0) -> None:
        """Write all figures recorded since the last dump."""
        if not self._bridge.all_have_ended():
            for name in EPISODE_FIGURES:
                self.name_to_value.pop(name, None)
                self.name_to_excluded.pop(name, None)
        super().dump(step)


class TrainingClock:
    """The seconds of training so far; a resumed run goes on from `last`, the last line of its curve that is kept.

    `seconds` are those of a clock, `cpu_seconds` those for which this process kept cores busy, which tell more on a
    machine that does other work too.
    """

    def __init__(self, last: dict[str, float] | None = None) -> None:
        last = last or {"seconds": 0.0}
        self._started = time.perf_counter() - last["seconds"]
        self._busy = time.process_time() - last.get("cpu_seconds", last["seconds"])

    def read(self) -> dict[str, float]:
        """Return both."""
        seconds, busy = time.perf_counter() - self._started, time.process_time() - self._busy
        return {"seconds": round(seconds, 3), "cpu_seconds": round(busy, 3)}


class CurveWriter(KVWriter):
    """The learning curve as a text file: one JSON object a line, with step, seconds of training and SB3's figures.

    On resume the lines after the checkpoint are dropped, and the clock goes on from where it stood.
    """

    def __init__(self, path: Path, resumed_at: int | None) -> None:
        kept = keep_rows(path, resumed_at)
        self._file = open_to_append(path)
        self.clock = TrainingClock(kept[-1] if kept else None)

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Append one line."""
        row: dict[str, float] = {"step": step} | self.clock.read() | _numbers(key_values)
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class TensorBoardWriter(TensorBoardOutputFormat):
    """SB3's TensorBoard output; on resume the points after the checkpoint are purged."""

    def __init__(self, folder: Path, resumed_at: int | None) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.writer = SummaryWriter(
            log_dir=str(own_folder(folder)), purge_step=None if resumed_at is None else resumed_at + 1
        )
        self._is_closed = False


class WandbWriter(KVWriter):
    """The figures as a run of Weights & Biases, named after the run folder; a resumed run goes on in the same one."""

    def __init__(self, project: str, run: Run) -> None:
        import wandb

        path = run.folder / "wandb-id.txt"
        identity = read_regular(path, 1000).decode().strip() if path.exists() else uuid.uuid4().hex[:12]
        write_text_atomically(path, identity + "\n")
        own_folder(run.folder / "wandb")
        settings = asdict(run.config)
        self._run: Any = wandb.init(
            project=project, id=identity, resume="allow", name=run.folder.name, dir=str(run.folder), config=settings
        )

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Log the numbers of one step."""
        self._run.log(_numbers(key_values), step=step)

    def close(self) -> None:
        """Finish the run."""
        self._run.finish()


def _numbers(key_values: dict[str, Any]) -> dict[str, float]:
    """Return what is a number among SB3's figures."""
    return {
        key: float(value)
        for key, value in key_values.items()
        if isinstance(value, int | float) or hasattr(value, "item")
    }


def read_curve(path: Path) -> list[dict[str, Any]]:
    """Read a learning curve, up to a line that was cut off by a kill or is damaged otherwise."""
    rows = []
    for line in read_regular(path).decode(errors="replace").splitlines() if path.exists() else []:
        try:
            row = json.loads(line)
            rows.append(row | {"step": int(row["step"]), "seconds": float(row["seconds"])})
        except (ValueError, TypeError, KeyError, RecursionError):
            break
    return rows


def keep_rows(path: Path, resumed_at: int | None) -> list[dict[str, Any]]:
    """Drop the lines of a file of rows after the step from which a run goes on, or all; return what is kept."""
    kept = [] if resumed_at is None else [row for row in read_curve(path) if row["step"] <= resumed_at]
    write_text_atomically(path, "".join(json.dumps(row) + "\n" for row in kept))
    return kept


def open_to_append(path: Path) -> TextIO:
    """Open a file of rows to add some; OSError if it is a link."""
    return os.fdopen(open_own(path, os.O_WRONLY | os.O_APPEND), "a", encoding="utf-8")


def require_loggers(config: RunConfig) -> None:
    """Refuse a configuration that asks for a logger which is not installed.

    Raises:
        TumbleUserError: The package of Weights & Biases is missing.
    """
    if config.log.wandb and importlib.util.find_spec("wandb") is None:
        raise TumbleUserError(
            'logging to Weights & Biases needs its package: pip install -c constraints.txt -e ".[wandb]"'
        )


def make_logger(run: Run, resumed_at: int | None, bridge: TumbleVecEnv) -> tuple[RunLogger, TrainingClock]:
    """Log to the run folder's curve, to TensorBoard, and to Weights & Biases where the configuration names a project.

    Args:
        run: The run.
        resumed_at: The step from which a resumed run goes on.
        bridge: Its environments.

    Returns:
        The logger, and the clock of the curve.
    """
    project = run.config.log.wandb
    writers: list[KVWriter] = [WandbWriter(project, run)] if project else []
    curve = CurveWriter(run.folder / "progress.jsonl", resumed_at)
    writers.append(curve)
    with Waiting("importing TensorBoard"):
        writers.append(TensorBoardWriter(run.folder / "tensorboard", resumed_at))
    return RunLogger(run.folder, writers, bridge), curve.clock

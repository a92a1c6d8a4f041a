"""Loggers of a run: the learning curve as a file, TensorBoard, and Weights & Biases."""

import importlib.util
import json
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat

from ...physics.machine.disk import open_own, own_folder, read_regular
from ...physics.machine.libraries import pip_install
from ...physics.machine.waiting import Waiting
from ..checkpoint import write_text_atomically
from ..config import RunConfig
from ..errors import TumbleUserError
from ..runs import Run
from ..sb3_bridge import TumbleVecEnv

CLOCKS = ("seconds", "cpu_seconds")
"""Times in a row of a learning curve: of a clock, and for which the process kept cores busy."""
NO_ROW: dict[str, Any] = {"step": 0, "seconds": 0.0, "cpu_seconds": 0.0}
EPISODE_FIGURES = ("rollout/ep_rew_mean", "rollout/ep_len_mean", "rollout/success_rate")


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

    `seconds` are measured by a clock, `cpu_seconds` count how long this process kept cores busy, which tell more on a
    machine that does other work too. Evaluations do not count.
    """

    def __init__(self, last: dict[str, Any] = NO_ROW) -> None:
        self._started = time.perf_counter() - last["seconds"]
        self._busy = time.process_time() - last["cpu_seconds"]

    def read(self) -> dict[str, float]:
        """Return both."""
        seconds, busy = time.perf_counter() - self._started, time.process_time() - self._busy
        return {"seconds": round(seconds, 3), "cpu_seconds": round(busy, 3)}

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Do not count the time inside of the block."""
        started, busy = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self._started += time.perf_counter() - started
            self._busy += time.process_time() - busy


class CurveWriter(KVWriter):
    """The learning curve as a text file: one JSON object a line, with step, seconds of training and SB3's figures.

    On resume the lines after the checkpoint are dropped, and the clock goes on from where it stood.
    """

    def __init__(self, path: Path, resumed_at: int | None) -> None:
        rows, self._path = keep_rows(path, resumed_at), path
        self.clock = TrainingClock(rows[-1] if rows else NO_ROW)

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Append one line."""
        append_row(self._path, {"step": step} | self.clock.read() | _numbers(key_values))

    def close(self) -> None:
        """Do nothing: the file is open while a line is written only."""


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
    """Return the numbers among SB3's figures."""
    return {
        key: float(value)
        for key, value in key_values.items()
        if isinstance(value, int | float) or hasattr(value, "item")
    }


def read_curve(path: Path) -> list[dict[str, Any]]:
    """Read a learning curve, up to a line that was cut off by a kill or is damaged otherwise.

    Each row has step, seconds and cpu_seconds, which are the seconds if the line has none.

    Raises:
        OSError: It is no regular file, or too large.
    """
    rows = []
    for line in read_regular(path).decode(errors="replace").splitlines() if path.exists() else []:
        try:
            row = json.loads(line)
            times = {name: float(row.get(name, row["seconds"])) for name in CLOCKS}
            rows.append(row | {"step": int(row["step"])} | times)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            break
    return rows


def keep_rows(path: Path, resumed_at: int | None) -> list[dict[str, Any]]:
    """Drop the lines of a file of rows after the step from which a run goes on, or all; return the kept ones."""
    rows = [] if resumed_at is None else [row for row in read_curve(path) if row["step"] <= resumed_at]
    write_text_atomically(path, "".join(json.dumps(row) + "\n" for row in rows))
    return rows


def append_row(path: Path, row: dict[str, Any]) -> None:
    """Add a line to a file of rows; OSError, with the file's name, if it cannot be written."""
    try:
        with open_to_append(path) as file:
            file.write(json.dumps(row) + "\n")
    except OSError as error:
        error.filename = error.filename or (str(path) if error.errno else None)
        raise


def open_to_append(path: Path) -> TextIO:
    """Open a file of rows to add some; OSError if it is a link."""
    return os.fdopen(open_own(path, os.O_WRONLY | os.O_APPEND), "a", encoding="utf-8")


def require_loggers(config: RunConfig) -> None:
    """Refuse a configuration that asks for a logger which is not installed.

    Raises:
        TumbleUserError: The package of Weights & Biases is missing.
    """
    if config.log.wandb and importlib.util.find_spec("wandb") is None:
        raise TumbleUserError(f"logging to Weights & Biases needs its package: {pip_install('wandb')}")


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

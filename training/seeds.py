"""Several seeds of one configuration: a folder of runs, trained side by side in separate processes.

runs/Ant-v0-ppo-seeds-20260101-120000/
    seeds.toml       the configuration that the runs share
    seed-1/          a run folder for each seed, see `runs.py`; empty until its training begins
    seed-2/
    seeds.json       scores of each seed, their mean and spread, see `curves.py`
    curve.png        the learning curve: mean and spread

Each run is trained by the command that a user would type, `tumble train --config seeds.toml --seed 1 --out seed-1`, or
`--resume seed-1`, in a separate process: runs have the same bits as if only one were trained.
"""

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ..physics.machine.children import python_command
from ..physics.machine.cores import usable_cores
from ..physics.machine.disk import own_folder
from .checkpoint import CheckpointError, verify_checkpoint, write_text_atomically
from .config import RunConfig
from .errors import TumbleUserError
from .learning.callbacks import StopRequest
from .runs import Run, RunError, _unused
from .tasks import short_name, source_name

CONFIG = "seeds.toml"
FOLDER = "seed-{}"
PATIENCE = 10.0  # s that a process gets to stop at once, before it is killed
MOST = 1000  # seeds
INTERRUPTED = 130  # the command's exit code
END: Any = object()  # of an iterator
Process = TypeVar("Process", bound="ChildProcess")


@dataclass(frozen=True)
class SeedBatch:
    """The folder of several runs that differ only in their seeds."""

    folder: Path

    @classmethod
    def create(cls, config: RunConfig, seeds: list[int], out: Path | None = None) -> "SeedBatch":
        """Make the folder, `runs/<task>-<algorithm>-seeds-<time>` unless `out` names one.

        Raises:
            RunError: `out` already holds a run, or several.
        """
        name = f"{short_name(config.task)}-{config.algo}-seeds-{time.strftime('%Y%m%d-%H%M%S')}"
        folder = out or _unused(Path("runs") / name)
        if (folder / CONFIG).exists() or Run(folder).config_path.exists():
            raise RunError(
                f"{folder} already holds runs: continue them with --resume {folder}, or choose another --out"
            )
        for seed in seeds:
            (folder / FOLDER.format(seed)).mkdir(parents=True, exist_ok=True)
        batch = cls(folder)
        batch.keep_config(config)
        return batch

    @classmethod
    def find(cls, folder: Path) -> "SeedBatch | None":
        """Open a folder of several seeds; None if it is something else."""
        return cls(folder) if (folder / CONFIG).exists() else None

    @property
    def config(self) -> RunConfig:
        """The configuration that the runs share; its seed is not used."""
        return RunConfig.load(self.folder / CONFIG)

    def keep_config(self, config: RunConfig) -> None:
        """Write the configuration that runs begin with."""
        write_text_atomically(self.folder / CONFIG, config.to_toml())

    @property
    def seeds(self) -> list[int]:
        """The seeds, in order."""
        names = (re.fullmatch(FOLDER.format(r"(\d+)"), path.name) for path in self.folder.iterdir() if path.is_dir())
        return sorted(int(name[1]) for name in names if name)

    def run(self, seed: int) -> Run:
        """Return the run of a seed; its folder is empty before it begins."""
        return Run(self.folder / FOLDER.format(seed))

    @property
    def runs(self) -> list[Run]:
        """The runs that have begun, in the order of their seeds."""
        return [run for run in map(self.run, self.seeds) if run.config_path.exists()]

    def require_one_task(self) -> None:
        """Check that each run that has begun is of the batch's task; a child would import the code of another one.

        Raises:
            TumbleUserError: A run's configuration cannot be read, or it names another task.
            OSError: A run's folder is a link to another place.
        """
        task = self.config.task
        for seed in self.seeds:
            own_folder(self.run(seed).folder)
        for run in self.runs:
            if run.config.task != task:
                raise TumbleUserError(
                    f"{run.config_path}: its task is {run.config.task}, and that of {self.folder / CONFIG} is {task}: "
                    "runs of several seeds have one task. Empty that folder, and its seed begins again"
                )

    def is_finished(self, seed: int, total_steps: int) -> bool:
        """Say whether a seed's run has taken all its steps."""
        run = self.run(seed)
        try:
            return run.has_checkpoint() and verify_checkpoint(run.latest()) >= total_steps
        except CheckpointError:
            return False


def parse_seeds(text: str) -> list[int]:
    """Read seeds such as "1-3", "1,2,5" or "1 2 5".

    Raises:
        TumbleUserError: It is something else, names a seed twice, or too many.
    """
    seeds: list[int] = []
    for word in re.split(r"[,\s]+", text.strip()):
        bounds = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", word)
        first, last = (int(bounds[1]), int(bounds[2] or bounds[1])) if bounds else (1, 0)
        if not first <= last < first + MOST:
            raise TumbleUserError(f"--seeds {text}: write whole numbers, such as 1-3 or 1,2,5 (at most {MOST})")
        seeds += range(first, last + 1)
    twice = [seed for seed in seeds if seeds.count(seed) > 1]
    if twice:
        raise TumbleUserError(f"--seeds {text}: {twice[0]} is there twice")
    return seeds


def default_jobs(config: RunConfig, count: int) -> int:
    """Return how many runs train at a time: one for `threads` cores on a processor, a single one on a GPU."""
    return 1 if config.device != "cpu" else max(1, min(count, usable_cores() // config.threads))


def train_batch(batch: SeedBatch, jobs: int | None = None, arguments: tuple[str, ...] = ()) -> list[str]:
    """Train the unfinished seeds of a batch, as `train_batches` does."""
    return train_batches([batch], jobs, arguments)


def train_batches(
    batches: list[SeedBatch],
    jobs: int | None = None,
    arguments: tuple[str, ...] = (),
    ended: Callable[[], object] = lambda: None,
) -> list[str]:
    """Train the unfinished seeds of all batches side by side, and print their output, with the seed in front.

    Ctrl-C stops all of them: each finishes its iteration and saves, and waiting ones do not begin.

    Args:
        batches: The batches, in the order in which their seeds begin.
        jobs: How many processes at a time; by default as many as there are cores for, see `default_jobs`.
        arguments: More arguments of `tumble train` for each of them, such as ("--threads", "2").
        ended: Called after each run that ends, unless all are being stopped.

    Returns:
        For each process that failed, its seed and its last line of output.

    Raises:
        TumbleUserError: A run's configuration cannot be read, or its task is not its batch's; nothing is started.
        KeyboardInterrupt: Ctrl-C was pressed twice; no process is left.
    """
    failures: list[str] = []
    waiting: list[tuple[SeedBatch, RunConfig, int]] = []
    for batch in batches:
        batch.require_one_task()
        config = batch.config
        todo = [seed for seed in batch.seeds if not batch.is_finished(seed, config.total_steps)]
        waiting += [(batch, config, seed) for seed in todo]
    if not waiting:
        return failures
    jobs = jobs or default_jobs(waiting[0][1], len(waiting))

    def tell(line: str) -> None:
        print(line, flush=True)

    def children() -> Iterator[Child]:
        for batch, config, seed in waiting:
            name = f"seed {seed}" if len(batches) == 1 else f"{batch.folder.name} seed {seed}"
            yield Child(batch, seed, ("--steps", str(config.total_steps), *arguments), jobs, name, tell)

    def end(child: Child, stopping: bool) -> None:
        if child.failure and not (stopping and child.was_interrupted):
            failures.append(child.failure)
        if not stopping:
            ended()

    run_processes(children(), jobs, end)
    return failures


def run_processes(
    children: Iterator[Process | None],
    jobs: int,
    end: Callable[[Process, bool], None],
    watch: Callable[[], None] = lambda: None,
    pause: float = 0.05,
    quiet: bool = False,
) -> None:
    """Run processes side by side until all have ended, or until Ctrl-C, which stops them and begins no more.

    Args:
        children: Starts a process when it is asked for the next one; None if there is nothing to start at present.
        jobs: How many processes at a time.
        end: Called with each process that has ended, and with whether all were being stopped.
        watch: Called after each pause.
        pause: Seconds between two looks at the processes.
        quiet: Whether the processes say themselves that they are stopping.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed twice; no process is left.
    """
    running: list[Process] = []
    exhausted, stopping = False, False
    with StopRequest(quiet).listening() as request:
        try:
            while running or not (exhausted or request.wanted):
                if request.wanted and not stopping:
                    stopping = True
                    for child in running:
                        child.interrupt()
                if len(running) < jobs and not (exhausted or request.wanted):
                    started = next(children, END)
                    exhausted = started is END
                    if started is not None and not exhausted:
                        running.append(started)
                        continue
                time.sleep(pause)
                watch()
                for child in [child for child in running if child.has_ended()]:
                    running.remove(child)
                    end(child, stopping)
        finally:
            for child in running:  # where something went wrong here, or Ctrl-C was pressed twice
                child.stop_at_once()


class ChildProcess:
    """A process for `run_processes`; a terminal's Ctrl-C reaches only this process, which passes it on."""

    def __init__(self, command: list[str], environment: dict[str, str], **streams: Any) -> None:
        self.process = subprocess.Popen(command, env=environment, start_new_session=True, **streams)

    def has_ended(self) -> bool:
        """Say whether the process has ended."""
        return self.process.poll() is not None

    def interrupt(self) -> None:
        """Ask the process to finish its iteration, save and stop."""
        self.process.send_signal(signal.SIGINT)

    def stop_at_once(self) -> None:
        """Stop the process without waiting for its iteration's end; its last checkpoint stays."""
        self.interrupt()
        self.interrupt()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Child(ChildProcess):
    """A process that trains one seed.

    Args:
        batch: The batch of the seed.
        seed: The seed.
        arguments: More arguments of `tumble train`.
        jobs: How many processes share the cores.
        name: A name for messages, such as "seed 1".
        tell: Takes each line of output, with the name in front.
    """

    def __init__(
        self,
        batch: SeedBatch,
        seed: int,
        arguments: tuple[str, ...],
        jobs: int,
        name: str,
        tell: Callable[[str], None],
    ) -> None:
        run, config = batch.run(seed), batch.config
        what = ["--config", str(batch.folder / CONFIG), "--seed", str(seed), "--out", str(run.folder)]
        if run.config_path.exists():  # naming the module or file of the batch's task trusts no other one
            source = source_name(config.task)
            what = [*(() if source is None else (source,)), "--resume", str(run.folder)]
        program = f"from {__package__}.cli import main; main()"
        command = python_command(program, "train", *what, *arguments, "--no-progress")
        threads = str(max(1, usable_cores() // jobs))  # of each solver
        self.run, self.name, self.tell, self.last = run, name, tell, ""
        super().__init__(
            command,
            {"TUMBLE_THREADS": threads, "PYTHONUNBUFFERED": "1"} | os.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        """Pass on the output of the process."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.last = line.strip() or self.last
            self.tell(f"{self.name}: {line.rstrip()}")

    def has_ended(self) -> bool:
        """Say whether the process has ended and all that it printed is read."""
        if not super().has_ended():
            return False
        self.reader.join(PATIENCE)
        return True

    @property
    def was_interrupted(self) -> bool:
        """True if it ended by the interrupt, before it could learn anything that is worth to be saved."""
        return self.process.returncode in (INTERRUPTED, -signal.SIGINT)

    @property
    def failure(self) -> str:
        """Name the process that failed, and why; empty if it did not."""
        code = self.process.returncode
        return f"{self.name} (exit code {code}): {self.last}" if code else ""

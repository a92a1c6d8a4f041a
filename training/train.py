"""Train a policy: `train(config)` starts a run, `resume(folder)` goes on with one.

config = RunConfig.packaged("tumble/Ant-v0", "ppo").replace(seed=3)
run = train(config)
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import torch
from gymnasium.vector import VectorEnv
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.logger import Logger

from ..physics.machine.waiting import Waiting
from .best import EvaluationCallback
from .checkpoint import CheckpointError, verify_checkpoint
from .config import RunConfig
from .distributed import ProcessGroup
from .learning.callbacks import CheckpointCallback, InfoCallback, Progress, ProgressCallback, StopRequest, StopTraining
from .learning.learner import Learner, check_device, stagger
from .learning.loggers import make_logger, require_loggers
from .lock import locked
from .processes import joined, leads
from .provenance import write_record
from .runs import Run
from .task_errors import is_the_tasks
from .tasks import find_task, source_name
from .time_spent import TimeSpent

logger = logging.getLogger("tumble")
LOG_EVERY = {"ppo": 1, "recurrent_ppo": 1, "sac": 16, "td3": 16}  # in SB3's units: iterations and finished episodes


@dataclass(frozen=True)
class Outcome:
    """The result of a call of `train` or `resume`.

    Attributes:
        run: The run.
        step: Environment steps taken so far.
        finished: Whether all configured steps have been taken.
        changed: Whether anything was done; a resumed run may have had nothing left to do.
        leads: Whether this process writes the run; of several that train together only one does.
        spent: Share of the time by its use, see `TimeSpent`.
        rate: Environment steps a second of this call, without evaluations.
    """

    run: Run
    step: int
    finished: bool
    changed: bool = True
    leads: bool = True
    spent: dict[str, float] = field(default_factory=dict)
    rate: float = 0.0


def train(
    config: RunConfig, out: Path | None = None, progress: Progress = True, envs: VectorEnv | None = None
) -> Outcome:
    """Train from scratch until `config.total_steps`, or until Ctrl-C, which saves.

    Args:
        config: The configuration of the run, see `RunConfig`.
        out: The run folder; by default `runs/<task>-<algorithm>-<seed>-<time>`.
        progress: Whether to show a progress bar; "lines" prints a line now and then instead, which also
            replaces the bar if standard error is no terminal.
        envs: Replaces the environments that the configuration describes (for tests).

    Raises:
        TaskError: The task does not exist or cannot be made.
        SpaceError: The algorithm cannot learn from such observations or with such actions.
        DeviceError: The device is not there, or the run is none of several processes.
        GroupError: Another process that a launcher started for the run failed, hangs, or is another than the others.
        RunError: `out` already holds a run.
        LockedError: Another process trains in `out`.
        CheckpointError: A checkpoint could not be written.
        Exception: An error of the task's code. The progress until then is saved; a note of the exception says so.
    """
    require_loggers(config)
    if envs is None:
        config = config.replace(task=find_task(config.task))
    with joined(config) as group:
        if out is not None and group.rank == 0:
            Run(out).require_free()
        learner = _beginner(config, envs, group)
        run = Run(group.broadcast(Run.create(config, out).folder if group.rank == 0 else None))
        with _held(run, group):
            if group.rank == 0:
                run.require_free()  # again: no other process can begin there from now on
                run.keep_config(config)
            return _learn(learner, run, resumed_at=None, progress=progress)


def resume(
    folder: Path,
    total_steps: int | None = None,
    threads: int | None = None,
    progress: Progress = True,
    envs: VectorEnv | None = None,
) -> Outcome:
    """Go on with a run from its newest intact checkpoint, as if it had never stopped.

    A run that has taken its steps already is left as it is; one that ended before its first checkpoint begins again,
    with its configuration and seed, and the logger `tumble` says so. A task in a user's module or file is imported:
    that runs its code, so make sure that the run's `config.toml` is yours.

    Args:
        folder: The run folder.
        total_steps: A new total; schedules then stretch over it. By default the configured one.
        threads: Threads of the learner; more than one may change the last bits. By default the configured number.
        progress: As in `train`.
        envs: As in `train`.

    Raises:
        RunError: No such run.
        LockedError: Another process trains in its folder.
        TaskError: The run's task does not exist any more; the run's config.toml says where it was.
        CheckpointError: No checkpoint of the run is intact, or the next one could not be written.
        Exception: As in `train`.
    """
    run = Run.find(folder)
    config = run.config.replace(total_steps=total_steps, threads=threads)
    if run.has_checkpoint():
        with Waiting(f"reading the newest checkpoint of {folder}"):
            step = verify_checkpoint(run.latest())
        if step >= config.total_steps:
            return Outcome(run, step, finished=True, changed=False, leads=leads())
    require_loggers(config)
    check_device(config.device)
    with joined(config) as group, _held(run, group):
        if not group.broadcast(run.has_checkpoint()):
            if group.rank == 0:
                logger.warning("%s has no checkpoint: it begins again, with its configuration and seed", folder)
            return _learn(_beginner(config, envs, group), run, resumed_at=None, progress=progress)
        learner = Learner(config, envs, group)
        with Waiting(f"loading the newest checkpoint of {folder}"):
            run.load_latest(learner.load)
        step = learner.model.num_timesteps
        group.require_equal("steps of the checkpoint that was read", torch.tensor(step))
        if group.rank == 0:
            run.keep_config(config)
        return _learn(learner, run, resumed_at=step, progress=progress)


@contextmanager
def _held(run: Run, group: ProcessGroup) -> Iterator[None]:
    """Hold the lock of a run's folder in the process that writes there."""
    with locked(run.folder) if group.rank == 0 else nullcontext():
        yield


def _beginner(config: RunConfig, envs: VectorEnv | None, group: ProcessGroup) -> Learner:
    """Make a learner that has learnt nothing."""
    learner = Learner(config, envs, group)
    if config.stagger and envs is None:
        stagger(learner.bridge)
    return learner


def _learn(learner: Learner, run: Run, resumed_at: int | None, progress: Progress) -> Outcome:
    """Run SB3's loop from the learner's present state to the configured total."""
    model, total, first = learner.model, learner.config.total_steps, learner.group.rank == 0
    bar = ProgressCallback(total, progress if first else False, run.folder)
    evaluation = None
    if first:
        write_record(run, learner, resumed_at)
        run_logger, clock = make_logger(run, resumed_at, learner.bridge)
        model.set_logger(run_logger)
        if learner.config.evaluation.every_steps:
            evaluation = EvaluationCallback(learner, run, resumed_at, clock)
    else:
        model.set_logger(Logger(None, []))
    finished, spent = True, TimeSpent(learner, evaluation)
    with StopRequest(quiet=not first).listening() as request, spent.watching():
        checkpoints = CheckpointCallback(learner, run, request)
        callbacks: list[BaseCallback] = [bar, checkpoints, InfoCallback(), spent]
        if evaluation is not None:
            callbacks.insert(1, evaluation)
        try:
            left = max(total - model.num_timesteps, 0)  # SB3 adds the steps already taken
            model.learn(
                left,
                callback=CallbackList(callbacks),
                log_interval=LOG_EVERY[learner.config.algo],
                reset_num_timesteps=resumed_at is None,
            )
        except StopTraining:
            finished = False
        except Exception as error:
            if is_the_tasks(error) and learner.group.size == 1:
                error.add_note(_after_crash(run, checkpoints))
            raise
        finally:
            bar.close()
            if evaluation is not None:
                evaluation.close()
            model.logger.close()
            learner.bridge.close()
    return Outcome(run, model.num_timesteps, finished, leads=first, spent=spent.shares(), rate=spent.rate())


def _after_crash(run: Run, checkpoints: CheckpointCallback) -> str:
    """Save the progress before an error in the task's code; return what to do about it."""
    source = source_name(run.config.task)
    command = f"tumble train --resume {run.folder}{f' {source}' if source else ''}"
    try:
        step = checkpoints.save_after_crash()
    except CheckpointError as error:
        return f"{error}, after the mistake is mended: {command}"
    if not step:
        return f"Nothing had been learnt yet. When the mistake is mended, begin again: {command}"
    return f"What was learnt in {step:,} steps is saved. When the mistake is mended, go on: {command}"

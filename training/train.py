"""Train a policy: `train(config)` starts a run, `resume(folder)` goes on with one.

config = RunConfig.packaged("tumble/Ant-v0", "ppo").replace(seed=3)
run = train(config)
"""

from dataclasses import dataclass
from pathlib import Path

from gymnasium.vector import VectorEnv
from stable_baselines3.common.callbacks import BaseCallback, CallbackList

from .best import EvaluationCallback
from .callbacks import (
    CheckpointCallback,
    Progress,
    ProgressCallback,
    StopRequest,
    StopTraining,
    make_logger,
    require_loggers,
)
from .checkpoint import verify_checkpoint
from .config import RunConfig
from .learner import Learner, stagger
from .runs import Run
from .tasks import find_task

LOG_EVERY = {"ppo": 1, "recurrent_ppo": 1, "sac": 16, "td3": 16}  # in SB3's units: iterations and finished episodes


@dataclass(frozen=True)
class Outcome:
    """The result of a call of `train` or `resume`.

    Attributes:
        run: The run.
        step: Environment steps taken so far.
        finished: Whether all configured steps have been taken.
        changed: Whether anything was done; a resumed run may have had nothing left to do.
    """

    run: Run
    step: int
    finished: bool
    changed: bool = True


def train(
    config: RunConfig, out: Path | None = None, progress: Progress = True, envs: VectorEnv | None = None
) -> Outcome:
    """Train from scratch until `config.total_steps`, or until Ctrl-C, which saves.

    Args:
        config: What to train, see `RunConfig`.
        out: The run folder; by default `runs/<task>-<algorithm>-<seed>-<time>`.
        progress: Whether to show a progress bar; "lines" prints a line now and then instead.
        envs: Replaces the environments that the configuration describes (for tests).

    Raises:
        TaskError: The task is not there or cannot be made.
        SpaceError: The algorithm cannot learn from such observations or with such actions.
        DeviceError: The device is not there.
        CheckpointError: A checkpoint could not be written.
    """
    require_loggers(config)
    if envs is None:
        config = config.replace(task=find_task(config.task))
    learner = Learner(config, envs)
    if config.stagger and envs is None:
        stagger(learner.bridge)
    return _learn(learner, Run.create(config, out), resumed_at=None, progress=progress)


def resume(
    folder: Path,
    total_steps: int | None = None,
    threads: int | None = None,
    progress: Progress = True,
    envs: VectorEnv | None = None,
) -> Outcome:
    """Go on with a run from its newest intact checkpoint, as if it had never stopped.

    A run that has taken its steps already is left as it is. A task in a user's module or file is imported: that runs
    its code, so make sure that the run's `config.toml` is yours.

    Args:
        folder: The run folder.
        total_steps: A new total; schedules then stretch over it. By default the configured one.
        threads: Threads of the learner; more than one may change the last bits. By default the configured number.
        progress: As in `train`.
        envs: As in `train`.

    Raises:
        RunError: No such run.
        TaskError: The run's task is not there any more; the run's config.toml says where it was.
        CheckpointError: The run has no intact checkpoint, or the next one could not be written.
    """
    run = Run.find(folder)
    config = run.config.replace(total_steps=total_steps, threads=threads)
    step = verify_checkpoint(run.latest())
    if step >= config.total_steps:
        return Outcome(run, step, finished=True, changed=False)
    require_loggers(config)
    learner = Learner(config, envs)
    run.load_latest(learner.load)
    run.keep_config(config)
    return _learn(learner, run, resumed_at=learner.model.num_timesteps, progress=progress)


def _learn(learner: Learner, run: Run, resumed_at: int | None, progress: Progress) -> Outcome:
    """Run SB3's loop from the learner's present state to the configured total."""
    model, total = learner.model, learner.config.total_steps
    model.set_logger(make_logger(run, resumed_at))
    bar = ProgressCallback(total, progress, run.folder)
    finished, evaluation = True, None
    with StopRequest().listening() as request:
        callbacks: list[BaseCallback] = [bar, CheckpointCallback(learner, run, request)]
        if learner.config.evaluation.every_steps:
            evaluation = EvaluationCallback(learner, run, resumed_at)
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
        finally:
            bar.close()
            if evaluation is not None:
                evaluation.close()
            model.logger.close()
            learner.bridge.close()
    return Outcome(run, model.num_timesteps, finished)

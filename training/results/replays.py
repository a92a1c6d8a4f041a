"""Replays of policies, tasks and models: pages for browsers, recorded as `video.py` films them."""

from pathlib import Path
from typing import Any

from gymnasium.vector import AutoresetMode

from ...viewer import Recorder, Replay, record
from ..evaluate import FIRST_SEED
from ..runs import Run
from ..tasks import make_vec, short_name
from .playing import Playing
from .video import explained


def replay_policy(
    run: Run,
    simulator: str,
    seed: int = FIRST_SEED,
    seconds: float = 20.0,
    checkpoint: Path | None = None,
    num_envs: int = 1,
    options: dict[str, Any] | None = None,
    deterministic: bool = True,
) -> Replay:
    """Record a policy that plays one episode in each of some environments, or `seconds` of it.

    Options of the task replace the run's. MuJoCo's motion is shown, too, if `simulator` is one of its. Where not
    `deterministic`, actions are sampled.

    Raises:
        EvaluationError: The simulator or the task in it is not there.
        TaskError: A user's task cannot be made.
        CheckpointError: The run has no intact checkpoint.
    """
    played = Playing(run, simulator, checkpoint, num_envs, options, deterministic)
    config, canvas = run.config, played.canvas
    title = f"{short_name(config.task)}, {config.algo}, step {played.policy.step:,}"
    recorder, fps = Recorder(canvas, range(num_envs), title), float(canvas.metadata["render_fps"])
    for step, moment in enumerate(played.moments(1 + round(seconds * fps), seed)):
        recorder.add(moment.rewards, moment.infos, time=step / fps if played.is_twin else None)
    return recorder.replay()


def replay_task(task: str, num_envs: int, seed: int, seconds: float, **options: Any) -> Replay:
    """Record a task from its reset under random actions.

    Raises:
        TaskError: The task does not exist or cannot be made.
        FilmError: Its model has nothing to draw.
    """
    envs = make_vec(task, num_envs=num_envs, output="numpy", autoreset_mode=AutoresetMode.SAME_STEP, **options)
    with explained(task):
        replay = record(envs, max(seconds, 0.01), envs=range(num_envs), seed=seed, title=short_name(task))
    envs.close()
    return replay


def replay_model(path: Path, seconds: float, num_envs: int = 1) -> Replay:
    """Record an MJCF file: its reference state, then `seconds` of motion with the controls at zero.

    Raises:
        FilmError: The model cannot be loaded, is not supported, or has nothing to draw.
    """
    from ...physics import Model, RigidSolver

    with explained(str(path)):
        solver = RigidSolver(Model.from_mjcf(str(path)), num_envs=num_envs)
        solver.forward()
        return record(solver, max(seconds, 0.01), envs=range(num_envs), title=path.stem)

"""Replays of policies, tasks and models: pages for browsers, recorded as `video.py` films them."""

from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from ..viewer import Recorder, Replay, record
from .evaluate import FIRST_SEED, make_envs, twin_of
from .policy import Policy, newest_policy
from .runs import Run
from .tasks import make_vec, short_name
from .video import copy_state, explained


def replay_policy(
    run: Run,
    simulator: str,
    seed: int = FIRST_SEED,
    seconds: float = 20.0,
    checkpoint: Path | None = None,
    num_envs: int = 1,
    options: dict[str, Any] | None = None,
) -> Replay:
    """Record a policy that plays one episode in each of some environments, or `seconds` of it.

    Options of the task replace the run's. MuJoCo's motion is shown, too, if `simulator` is one of its.

    Raises:
        EvaluationError: The simulator or the task in it is not there.
        TaskError: A user's task cannot be made.
        CheckpointError: The run has no intact checkpoint.
    """
    config, checkpoint = run.config, checkpoint or newest_policy(run)
    config = config.replace(env=config.env | (options or {}))
    twin = twin_of(config, simulator)
    canvas = make_envs(config, "tumble" if twin else simulator, num_envs)
    stage = make_envs(config, simulator, num_envs) if twin else canvas
    policy = Policy(config, checkpoint, stage.single_observation_space, stage.single_action_space)
    canvas.reset(seed=seed)
    observations, _ = stage.reset(seed=seed)
    recorder = Recorder(canvas, range(num_envs), f"{short_name(config.task)}, {config.algo}, step {policy.step:,}")
    playing = starts = np.ones(num_envs, dtype=bool)
    told: tuple[Any, Any] = None, None
    fps = float(canvas.metadata["render_fps"])
    for step in range(1 + round(seconds * fps)):
        if stage is not canvas:
            copy_state(stage, canvas)
        recorder.add(*told, time=step / fps if stage is not canvas else None)
        observations, reward, terminated, truncated, infos = stage.step(policy.act(observations, starts=starts))
        told, starts = (reward, infos), terminated | truncated
        playing = playing & ~starts
        if not playing.any():
            break
    for envs in {stage, canvas}:
        envs.close()
    return recorder.replay()


def replay_task(task: str, num_envs: int, seed: int, seconds: float, **options: Any) -> Replay:
    """Record a task from its reset under random actions.

    Raises:
        TaskError: The task is not there or cannot be made.
        FilmError: Its model has nothing to draw.
    """
    envs = make_vec(task, num_envs=num_envs, output="numpy", autoreset_mode=AutoresetMode.SAME_STEP, **options)
    with explained(task):
        found = record(envs, max(seconds, 0.01), envs=range(num_envs), seed=seed, title=short_name(task))
    envs.close()
    return found


def replay_model(path: Path, seconds: float, num_envs: int = 1) -> Replay:
    """Record an MJCF file: its reference state, then `seconds` of motion with the controls at zero.

    Raises:
        FilmError: The model cannot be loaded, is not supported, or has nothing to draw.
    """
    from ..physics import Model, RigidSolver

    with explained(str(path)):
        solver = RigidSolver(Model.from_mjcf(str(path)), num_envs=num_envs)
        solver.forward()
        return record(solver, max(seconds, 0.01), envs=range(num_envs), title=path.stem)

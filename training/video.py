"""Films of policies, tasks and models, frame by frame, drawn by Tumble without OpenGL."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from ..viewer.errors import ViewerError
from .errors import TumbleUserError
from .evaluate import FIRST_SEED, make_envs, twin_of
from .policy import Policy, newest_policy
from .runs import Run
from .task_errors import is_the_tasks
from .tasks import make_vec

MODEL_FPS = 30.0


@dataclass(frozen=True)
class Film:
    """Frames that are drawn one by one, (height, width, 3) bytes each, and how many a second show real time."""

    frames: Iterator[np.ndarray]
    fps: float


class FilmError(TumbleUserError, ValueError):
    """A picture that cannot be drawn, such as from a camera that is not there; the message says why."""


def film_policy(
    run: Run,
    simulator: str,
    seed: int = FIRST_SEED,
    seconds: float = 20.0,
    checkpoint: Path | None = None,
    num_envs: int = 1,
    options: dict[str, Any] | None = None,
) -> Film:
    """Film a policy playing one episode in each of some environments, or `seconds` of it.

    Options of the task replace the run's. MuJoCo's motion is drawn by Tumble, too. An environment whose episode has
    ended keeps its last picture until all have.

    Raises:
        EvaluationError: The simulator or the task in it is not there.
        TaskError: A user's task cannot be made.
        CheckpointError: The run has no intact checkpoint.
    """
    config, checkpoint = run.config, checkpoint or newest_policy(run)
    config = config.replace(env=config.env | (options or {}))
    twin, drawn = twin_of(config, simulator), {"render_mode": "rgb_array", "render_envs": list(range(num_envs))}
    canvas = make_envs(config, "tumble" if twin else simulator, num_envs, **drawn)
    stage = make_envs(config, simulator, num_envs) if twin else canvas
    policy = Policy(config, checkpoint, stage.single_observation_space, stage.single_action_space)
    fps = _frames_per_second(canvas)

    def frames() -> Iterator[np.ndarray]:
        canvas.reset(seed=seed)
        observations, _ = stage.reset(seed=seed)
        playing = starts = np.ones(num_envs, dtype=bool)
        pictures = None
        for _ in range(round(seconds * fps)):
            if stage is not canvas:
                copy_state(stage, canvas)
            now = np.asarray(canvas.render())
            pictures = now if pictures is None else np.where(playing[:, None, None, None], now, pictures)
            yield tile(pictures)
            observations, _, terminated, truncated, _ = stage.step(policy.act(observations, starts=starts))
            starts = terminated | truncated
            playing = playing & ~starts
            if not playing.any():
                break
        stage.close()
        canvas.close()

    return Film(frames(), fps)


def film_task(task: str, num_envs: int, seed: int, seconds: float, **options: Any) -> Film:
    """Film a task from its reset under random actions; several environments are tiled into one frame.

    Args:
        task: A reference, see `tasks.find_task`.
        num_envs: How many environments.
        seed: Of the environments and of the actions.
        seconds: How long.
        options: Those of the environment and of the task.

    Raises:
        TaskError: The task is not there or cannot be made.
        FilmError: Its model has no such camera.
    """
    options |= {"num_envs": num_envs, "output": "numpy", "autoreset_mode": AutoresetMode.SAME_STEP}
    envs = make_vec(task, render_mode="rgb_array", render_envs=list(range(num_envs)), **options)
    fps = _frames_per_second(envs)

    def frames() -> Iterator[np.ndarray]:
        envs.reset(seed=seed)
        envs.action_space.seed(seed)
        with explained(task):
            first = picture(envs)
        yield first
        for _ in range(round(seconds * fps)):
            envs.step(envs.action_space.sample())
            yield picture(envs)
        envs.close()

    return Film(frames(), fps)


def film_model(
    path: Path,
    width: int,
    height: int,
    camera: str | None = None,
    seconds: float = 0.0,
    num_envs: int = 1,
    renderer: str | Mapping[str, Any] = "rays",
) -> Film:
    """Film an MJCF file: its reference state, then `seconds` of motion with the controls at zero.

    Raises:
        FilmError: The model cannot be loaded, is not supported, or has no such camera.
    """
    from ..physics import Model, RigidSolver
    from ..physics.rendering.choose import make_renderer

    with explained(str(path)):
        model = Model.from_mjcf(str(path))
        solver = RigidSolver(model, num_envs=num_envs)
        drawn = make_renderer(renderer, model, width, height, camera=camera)

    def frames() -> Iterator[np.ndarray]:
        solver.forward()
        yield tile(drawn.render(solver).cpu().numpy())
        for _ in range(round(seconds * MODEL_FPS)):
            solver.step(max(round(1.0 / (MODEL_FPS * model.mj.opt.timestep)), 1))
            yield tile(drawn.render(solver).cpu().numpy())

    return Film(frames(), MODEL_FPS)


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn errors of the solver and the renderer into a `FilmError`; errors of a user's own task stay as they are."""
    try:
        yield
    except (TypeError, ValueError, OSError, NotImplementedError, ViewerError) as error:
        if is_the_tasks(error) or isinstance(error, TumbleUserError):
            raise
        raise FilmError(f"{what}: {error}") from error


def copy_state(source: VectorEnv, target: VectorEnv) -> None:
    """Put the positions and velocities of Gymnasium's MuJoCo environments into Tumble's."""
    import torch

    data = [env.unwrapped.data for env in source.envs]  # type: ignore[attr-defined]
    solver = target.unwrapped.solver  # type: ignore[attr-defined]
    rows = {name: np.stack([getattr(one, name) for one in data]) for name in ("qpos", "qvel")}
    solver.set_state(**{name: torch.as_tensor(row, dtype=solver.dtype) for name, row in rows.items()})
    solver.forward()


def _frames_per_second(envs: VectorEnv) -> float:
    """Return the rate at which one frame an environment step shows real time."""
    return float(envs.metadata.get("render_fps", MODEL_FPS))


def picture(envs: VectorEnv) -> np.ndarray:
    """Return the rendered environments as one picture."""
    frames: Any = envs.render()
    return tile(frames)


def tile(frames: Any) -> np.ndarray:
    """Lay frames of one size out in a near-square grid, (rows * height, columns * width, 3), filled up with black."""
    pictures = np.asarray(frames)
    columns = int(np.ceil(np.sqrt(len(pictures))))
    rows = -(-len(pictures) // columns)
    height, width = pictures.shape[1:3]
    grid = np.zeros((rows * columns, height, width, 3), np.uint8)
    grid[: len(pictures)] = pictures
    return grid.reshape(rows, columns, height, width, 3).swapaxes(1, 2).reshape(rows * height, columns * width, 3)

"""Films of policies, tasks and models, frame by frame, drawn by Tumble without OpenGL."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from ...viewer.errors import ViewerError
from ..errors import TumbleUserError
from ..evaluate import FIRST_SEED
from ..runs import Run
from ..task_errors import is_the_tasks
from ..tasks import make_vec
from .film_style import FilmStyle, Scoreboard
from .playing import Playing

MODEL_FPS = 30.0


@dataclass(frozen=True)
class FilmFrames:
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
    style: FilmStyle | None = None,
    deterministic: bool = True,
) -> FilmFrames:
    """Film a policy playing one episode in each of some environments, or `seconds` of it.

    Options of the task replace the run's. MuJoCo's motion is drawn by Tumble, too. An environment whose episode has
    ended keeps its last picture until all have. Where not `deterministic`, actions are sampled.

    Raises:
        EvaluationError: The simulator or the task in it is not there.
        TaskError: A user's task cannot be made.
        CheckpointError: The run has no intact checkpoint.
    """
    drawn = {"render_mode": "rgb_array", "render_envs": list(range(num_envs))}
    played = Playing(run, simulator, checkpoint, num_envs, options, deterministic, **drawn)
    canvas = played.canvas
    fps, style = _frames_per_second(canvas), style or FilmStyle()
    dressed(canvas, style)

    def frames() -> Iterator[np.ndarray]:
        board = Scoreboard(style, num_envs)
        pictures = None
        for moment in played.moments(round(seconds * fps), seed):
            if moment.infos is not None:
                board.add(1.0 / fps, moment.rewards, moment.infos, ended=moment.begun)
            now = shoot(canvas, style, board)
            if style.spacing is None:
                now = now if pictures is None else np.where(moment.playing[:, None, None, None], now, pictures)
            pictures = now
            yield laid_out(pictures, style)

    return FilmFrames(frames(), style.fps(fps))


def film_task(
    task: str, num_envs: int, seed: int, seconds: float, style: FilmStyle | None = None, **options: Any
) -> FilmFrames:
    """Film a task from its reset under random actions; several environments are tiled into one frame.

    Args:
        task: A reference, see `tasks.find_task`.
        num_envs: How many environments.
        seed: Of the environments and of the actions.
        seconds: How long.
        style: How it looks.
        options: Of the environment and of the task.

    Raises:
        TaskError: The task does not exist or cannot be made.
        FilmError: Its model has no such camera.
    """
    options |= {"num_envs": num_envs, "output": "numpy", "autoreset_mode": AutoresetMode.SAME_STEP}
    envs = make_vec(task, render_mode="rgb_array", render_envs=list(range(num_envs)), **options)
    fps, style = _frames_per_second(envs), style or FilmStyle()
    dressed(envs, style)

    def frames() -> Iterator[np.ndarray]:
        board, ended = Scoreboard(style, num_envs), np.ones(num_envs, bool)
        envs.reset(seed=seed)
        envs.action_space.seed(seed)
        with explained(task):
            first = laid_out(shoot(envs, style, board), style)
        yield first
        for _ in range(round(seconds * fps)):
            _, rewards, terminated, truncated, infos = envs.step(envs.action_space.sample())
            board.add(1.0 / fps, rewards, infos, ended)
            ended = np.asarray(terminated) | np.asarray(truncated)
            yield laid_out(shoot(envs, style, board), style)
        envs.close()

    return FilmFrames(frames(), style.fps(fps))


def film_model(
    path: Path,
    width: int,
    height: int,
    camera: str | None = None,
    seconds: float = 0.0,
    num_envs: int = 1,
    style: FilmStyle | None = None,
    renderer: str | Mapping[str, Any] = "rays",
) -> FilmFrames:
    """Film an MJCF file: its reference state, then `seconds` of motion with the controls at zero.

    A slow film has pictures of as many moments more.

    Raises:
        FilmError: The model cannot be loaded, is not supported, or has no such camera.
    """
    from ...physics import Model, RigidSolver
    from ...physics.rendering.choose import make_renderer

    with explained(str(path)):
        model = Model.from_mjcf(str(path))
        solver = RigidSolver(model, num_envs=num_envs)
        style = style or FilmStyle()
        drawn = make_renderer(renderer, model, width, height, camera=camera, **style.rendering)
    steps = max(round(1.0 / (MODEL_FPS * style.slow * model.mj.opt.timestep)), 1)
    names, dt = [model.mj.body(i).name for i in range(1, model.mj.nbody)], steps * model.mj.opt.timestep

    def frames() -> Iterator[np.ndarray]:
        board = Scoreboard(style, num_envs)
        solver.forward()
        for number in range(1 + round(seconds / dt)):
            if number:
                solver.step(steps)
                board.add(dt)
            if style.spacing is not None:
                one = drawn.together(solver, spacing=2 * [style.spacing])["rgb"]
                yield board.write(one.cpu().numpy()[None])[0]
                continue
            pixels = drawn.pixels(solver, solver.get("xpos")[:, 1:]) if "names" in style.overlays else None
            pictures = drawn.render(solver).cpu().numpy()
            yield laid_out(board.write(pictures, None if pixels is None else pixels.cpu().numpy(), names), style)

    return FilmFrames(frames(), style.fps(1.0 / dt))


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn errors of the solver and the renderer into a `FilmError`; errors of a user's own task stay as they are."""
    try:
        yield
    except (TypeError, ValueError, OSError, NotImplementedError, ViewerError) as error:
        if is_the_tasks(error) or isinstance(error, TumbleUserError):
            raise
        raise FilmError(f"{what}: {error}") from error


def _frames_per_second(envs: VectorEnv) -> float:
    """Return the rate at which one frame an environment step shows real time."""
    return float(envs.metadata.get("render_fps", MODEL_FPS))


def dressed(envs: VectorEnv, style: FilmStyle) -> None:
    """Draw environments in a style while the context lasts."""
    if style.rendering:
        envs.unwrapped.dress_pictures(**style.rendering)  # type: ignore[attr-defined]


def shoot(envs: VectorEnv, style: FilmStyle, board: Scoreboard) -> np.ndarray:
    """Return pictures of the rendered environments with their text, (n, height, width, 3); one if they are together."""
    if style.spacing is not None:
        one = envs.unwrapped.render_together(spacing=2 * [style.spacing])  # type: ignore[attr-defined]
        return board.write(one.cpu().numpy()[None])
    frames: Any = envs.render()
    if "names" not in style.overlays:
        return board.write(frames)
    pixels, names = envs.unwrapped.body_pixels()  # type: ignore[attr-defined]
    return board.write(frames, pixels.cpu().numpy(), names)


def laid_out(pictures: np.ndarray, style: FilmStyle) -> np.ndarray:
    """Return pictures as one, in a style."""
    from ...physics.rendering import grid

    picture: np.ndarray = grid(pictures, style.columns, style.gap)
    return picture

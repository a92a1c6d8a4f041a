"""Films of policies, tasks and models, frame by frame, drawn by Tumble without OpenGL."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from .evaluate import FIRST_SEED, make_envs
from .policy import Policy
from .runs import Run
from .tasks import make_vec

MODEL_FPS = 30.0


@dataclass(frozen=True)
class Film:
    """Frames to come, (height, width, 3) bytes each, and how many a second show the motion in real time."""

    frames: Iterator[np.ndarray]
    fps: float


def film_policy(
    run: Run, simulator: str, seed: int = FIRST_SEED, seconds: float = 20.0, checkpoint: Path | None = None
) -> Film:
    """Film a policy playing one episode, or `seconds` of it.

    With `simulator="mujoco"` MuJoCo computes the motion, and Tumble draws the positions that it passes through.
    """
    config, checkpoint = run.config, checkpoint or run.latest()
    canvas = make_envs(config, "tumble", 1, render_mode="rgb_array")
    stage = canvas if simulator == "tumble" else make_envs(config, simulator, 1)
    policy = Policy(config, checkpoint, stage.single_observation_space, stage.single_action_space)
    fps = _frames_per_second(canvas)

    def frames() -> Iterator[np.ndarray]:
        canvas.reset(seed=seed)
        observations, _ = stage.reset(seed=seed)
        for _ in range(round(seconds * fps)):
            if stage is not canvas:
                copy_state(stage, canvas)
            yield picture(canvas)
            observations, _, terminated, truncated, _ = stage.step(policy.act(observations))
            if terminated[0] or truncated[0]:
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
    """
    options |= {"num_envs": num_envs, "output": "numpy", "autoreset_mode": AutoresetMode.SAME_STEP}
    envs = make_vec(task, render_mode="rgb_array", **options)
    fps = _frames_per_second(envs)

    def frames() -> Iterator[np.ndarray]:
        envs.reset(seed=seed)
        envs.action_space.seed(seed)
        yield picture(envs)
        for _ in range(round(seconds * fps)):
            envs.step(envs.action_space.sample())
            yield picture(envs)
        envs.close()

    return Film(frames(), fps)


def film_model(path: Path, width: int, height: int, camera: str | None = None, seconds: float = 0.0) -> Film:
    """Film an MJCF file: its reference state, then `seconds` of motion with the controls at zero."""
    from ..physics import Model, RigidSolver
    from ..physics.rendering import BatchRenderer

    model = Model.from_mjcf(str(path))
    solver = RigidSolver(model, num_envs=1)
    renderer = BatchRenderer(model, width, height, camera=camera)

    def frames() -> Iterator[np.ndarray]:
        solver.forward()
        yield renderer.render(solver)[0].cpu().numpy()
        for _ in range(round(seconds * MODEL_FPS)):
            solver.step(max(round(1.0 / (MODEL_FPS * model.mj.opt.timestep)), 1))
            yield renderer.render(solver)[0].cpu().numpy()

    return Film(frames(), MODEL_FPS)


def copy_state(source: VectorEnv, target: VectorEnv) -> None:
    """Put the positions and velocities of a Gymnasium MuJoCo environment into a Tumble one."""
    import torch

    data = source.envs[0].unwrapped.data  # type: ignore[attr-defined]
    solver = target.unwrapped.solver  # type: ignore[attr-defined]
    state = {name: torch.as_tensor(getattr(data, name), dtype=solver.dtype)[None] for name in ("qpos", "qvel")}
    solver.set_state(**state)
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

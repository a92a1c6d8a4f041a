"""Recording: the geoms' poses of chosen environments, frame by frame, with rewards and infos."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .drawn import StartCamera, drawn, start_camera
from .errors import ViewerError
from .particles import groups_of, places_of, recorded
from .replay import Replay
from .sources import as_vector, environments, geom_poses, is_environments, is_scene, model_of, numbers_of, solver_of

MOST_FRAMES = 100_000
"""Frames of a replay."""


class Recorder:
    """Collects frames of a batch that the caller moves.

        recorder = Recorder(envs)
        for _ in range(200):
            observations, rewards, *_, infos = envs.step(actions)
            recorder.add(rewards, infos)
        recorder.replay().save("ant.html")

    Args:
        source: environments of Tumble, a built scene, or a `RigidSolver`.
        envs: numbers of the environments to record; None: the first 16 at most.
        title: of the page.

    Raises:
        TypeError: `source` has no solver.
        IndexError: an environment does not exist.
        ViewerError: the model has nothing to draw.
    """

    def __init__(self, source: Any, envs: Sequence[int] | int | None = None, title: str = "") -> None:
        self._solver = solver_of(source)
        self._mj = model_of(self._solver)
        self._lags = is_scene(source)  # its poses belong to the present whenever they are read
        self.envs = environments(envs, self._solver.num_envs)
        self.title = title
        self._drawn = drawn(self._mj)
        self._camera: StartCamera | None = None
        self._frames: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._curves: list[dict[str, np.ndarray]] = []
        self._present, self._groups = groups_of(source), groups_of(source)()
        self._particles: list[list[np.ndarray]] = []

    def __len__(self) -> int:
        return len(self._frames)

    def add(self, reward: Any = None, infos: Mapping[str, Any] | None = None, time: float | None = None) -> None:
        """Record the environments as they are now.

        Args:
            reward: of the last step, (num_envs,).
            infos: the step's other numbers by name; numbers of shape (num_envs,) become curves.
            time: simulated seconds of all of them; None: the solver's.

        Raises:
            ViewerError: there are more frames than a page can play, or other groups of particles than before.
        """
        if len(self._frames) >= MOST_FRAMES:
            raise ViewerError(f"a replay has {MOST_FRAMES:,} frames at most")
        if self._lags:
            self._solver.forward_changed()
        pos, quat = geom_poses(self._solver, self.envs)
        if self._camera is None:
            self._camera = start_camera(self._mj, pos[0])
        times = self._solver.time.double().cpu().numpy()[self.envs] if time is None else np.full(len(self.envs), time)
        self._frames.append((times, pos, quat))
        groups = self._present()
        if [group.look for group in groups] != [group.look for group in self._groups]:
            raise ViewerError("a replay shows the same groups of particles in each frame")
        self._particles.append([places_of(group, self.envs) for group in groups])
        own = {"reward": reward} if reward is not None else {}
        numbers = numbers_of({**own, **(infos or {})}, int(self._solver.num_envs))
        self._curves.append({name: values[self.envs] for name, values in numbers.items()})

    def replay(self) -> Replay:
        """Return the recording.

        Raises:
            ViewerError: nothing was.
        """
        if not self._frames or self._camera is None:
            raise ViewerError("nothing was recorded: call add() after each step")
        time, pos, quat = (np.stack(parts) for parts in zip(*self._frames, strict=True))
        names = list(dict.fromkeys(name for info in self._curves for name in info))
        unknown = np.full(len(self.envs), np.nan)
        curves = {name: np.stack([info.get(name, unknown) for info in self._curves]) for name in names}
        particles = recorded(self._particles, self._groups, self.envs)
        return Replay(self._mj, self._drawn, self._camera, self.envs, time, pos, quat, curves, self.title, particles)


def record(
    source: Any,
    seconds: float = 10.0,
    act: Callable[[Any], Any] | None = None,
    envs: Sequence[int] | int | None = None,
    seed: int | None = 0,
    fps: float = 50.0,
    title: str = "",
) -> Replay:
    """Play a batch, and return its replay.

    Args:
        source: environments of Tumble, which are reset first; or a built scene or a `RigidSolver`, which go on from
            their state.
        seconds: simulated seconds.
        act: returns actions for observations; None: random ones. For a solver or a scene it is called with that before
            each frame, to set its controls; None: they stay as they are.
        envs: numbers of the environments to record; None: the first 16 at most.
        seed: of the environments' reset and of random actions; None: a new one.
        fps: frames a second of a solver's replay; environments and scenes have a frame each step.
        title: of the page.

    Raises:
        TypeError, IndexError, ViewerError: as in `Recorder`.
        ValueError: `seconds` or `fps` is not positive.
    """
    if not seconds > 0 or not fps > 0:
        raise ValueError(f"seconds={seconds}, fps={fps}: both must be positive")
    recorder = Recorder(source, envs, title)
    if is_environments(source):
        batch, act = as_vector(source, act)
        _play(batch, act, seed, seconds, recorder)
    elif is_scene(source):
        _run(recorder, seconds, float(source.dt), source, lambda: source.step(update_visualizer=False), act)
    else:
        solver = solver_of(source)
        step = float(solver.model.mj.opt.timestep)
        substeps = max(1, round(1 / (fps * step)))
        _run(recorder, seconds, substeps * step, solver, lambda: solver.step(substeps), act)
    return recorder.replay()


def _run(
    recorder: Recorder, seconds: float, dt: float, source: Any, step: Callable[[], None], act: Callable | None
) -> None:
    """Record a solver or a scene from where it is, a frame each `dt` seconds."""
    solver_of(source).forward_changed()
    for _ in range(max(1, round(seconds / dt))):
        recorder.add()
        if act is not None:
            act(source)
        step()
    recorder.add()


def _play(batch: Any, act: Callable | None, seed: int | None, seconds: float, recorder: Recorder) -> None:
    """Record environments from their reset, a frame each step."""
    observations, _ = batch.reset(seed=seed)
    if act is None:
        batch.action_space.seed(seed)
    recorder.add()
    for _ in range(max(1, round(seconds * float(batch.metadata["render_fps"])))):
        actions = batch.action_space.sample() if act is None else act(observations)
        observations, rewards, _, _, infos = batch.step(actions)
        recorder.add(rewards, infos)

"""The live view: it moves a batch in the time of the clock, or watches a program that does, and shows it in browsers.

All that touches the solver happens in the thread of the loop, or of the program that calls `sync`. Callbacks of
browsers come in other threads; they leave jobs, which are done between two frames.
"""

import contextlib
import logging
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from queue import Empty, SimpleQueue
from typing import Any

import mujoco
import numpy as np

from ..physics.machine.libraries import pip_install
from ..physics.rendering.particles.group import WithParticles
from .drawings import Drawings
from .errors import ViewerError
from .gate import Gate
from .overlays import LiveOverlays
from .panel import Panel
from .particles import ShownParticles
from .perturbation import Perturbation
from .session import Session
from .sources import environments, geom_poses, own_sizes
from .stage import Background, ShownBodies

logger = logging.getLogger("tumble.viewer")
FRAMES, READINGS = 30.0, 4.0
"""Times a second that bodies are drawn, and that numbers, curves and pictures are."""
LATE = 0.1
"""Seconds of a frame that the loop may lag behind the clock before it gives up catching up."""
MOST_ERRORS = 20
"""Different errors that are reported before the next reset."""
FAR = 1e6
"""Metres from the origin within which the mouse can drag."""


class Viewer:
    """A running view of a batch.

    Args:
        source: environments of Tumble, a built scene, or a `RigidSolver`. Environments begin with a reset, the others
            go on from their state.
        act: returns actions for observations, as a policy does; None: random actions. For a scene or a solver it is
            called with that before each frame.
        envs: numbers of the environments to show; None: the first 16 at most.
        port: of the server; None: the first free one from 8080 on.
        host: address to listen at; "0.0.0.0" lets other machines connect.
        play: False: paused at first.
        title: of the page.
        shadows: False spares browsers without a graphics card; None: of up to 4 environments.
        seed: of resets and random actions.
        driven: True: a program moves the batch, and calls `sync` after each step; there is no loop.
        places: where environments stand side by side, (num_envs, 3) m; None: in a grid.
        background: red, green and blue behind all, 0 to 1; None: a sky.
        ambient: red, green and blue of light from all sides, 0 to 1; None: that of a sky.

    Attributes:
        url: where a browser finds it.
        frames: how many times the bodies have been drawn.

    Raises:
        ViewerError: viser is missing or of an unknown version, the port is in use, or there is nothing to show.
        TypeError, IndexError: as in `Recorder`.
    """

    def __init__(
        self,
        source: Any,
        act: Callable[[Any], Any] | None = None,
        envs: Sequence[int] | int | None = None,
        *,
        port: int | None = None,
        host: str = "127.0.0.1",
        play: bool = True,
        title: str = "Tumble",
        shadows: bool | None = None,
        seed: int | None = 0,
        driven: bool = False,
        places: np.ndarray | None = None,
        background: Sequence[float] | None = None,
        ambient: Sequence[float] | None = None,
    ) -> None:
        viser = import_viser()
        session = self.session = Session(source, act, seed, driven)
        self._all_places = places
        self._envs = self._chosen = environments(envs, session.num_envs)
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self.frames = 0
        self._clock = self._drawn = self._was_read = time.perf_counter()
        self._synced = False
        self._reported: set[str] = set()
        number = free_port(host, port)
        self._server = Gate(host).start(viser, host=host, port=number, label=title, verbose=False)
        self.url = f"http://{'localhost' if host in ('0.0.0.0', '127.0.0.1') else host}:{number}"
        self._server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(31, 111, 120))
        self._spring = Perturbation(session.solver, session.mj, session.dt)
        backdrop = Background(background, ambient)
        self._stage = ShownBodies(self._server, session.mj, self._dragged, shadows, len(self._envs), backdrop)
        self.panel = Panel(self._server, session, self._jobs.put, self._arrange, play)
        self.panel.reset_wanted = self.reset
        self.panel.env = self._envs[0]
        self._drawings, self._particles = Drawings(self._server, source), ShownParticles(self._server, source)
        self._overlays = LiveOverlays(self._server, session.solver, session.mj)
        self._plots = Plots(self._server.gui, self.panel.plots_place)
        with self.panel.show_tab:
            self._choices()
        pos, quat = self._poses()
        self._stage.prepare(pos[self._envs[0]], quat[self._envs[0]])
        self._arrange()

    def _choices(self) -> None:
        gui, stage, overlays = self._server.gui, self._stage, self._overlays

        def toggle(label: str, start: bool, act: Callable[[bool], None]) -> Any:
            box = gui.add_checkbox(label, start)
            box.on_update(lambda event: self._jobs.put(lambda: act(event.target.value)))
            return box

        if stage.walker >= 0:
            toggle("follow", stage.follows, lambda on: setattr(stage, "follows", on))
        toggle("shadows", stage.shadows, stage.set_shadows)
        toggle("contacts", False, lambda on: setattr(overlays, "contacts", on))
        toggle("contact forces", False, lambda on: setattr(overlays, "forces", on))
        self._frames_box = toggle("frames of bodies", False, lambda on: setattr(overlays, "frames", on))
        if stage.has_collision_geoms:
            toggle("collision shapes", False, lambda on: stage.set_visible(True, on))
            toggle("visual shapes", True, lambda on: stage.set_visible(False, on))
        seen = WithParticles(self.session.solver, self._particles.groups)
        self._pictures = CameraPictures(gui, seen, self.session.mj)

    def show_frames(self, on: bool) -> None:
        """Show the frames of bodies, or not."""
        self._overlays.frames = self._frames_box.value = on

    # -- The loop -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Serve until `close`, or until Ctrl-C."""
        try:
            self._loop()
        except KeyboardInterrupt:
            pass
        finally:
            self._ended.set()
            self._server.stop()

    def start(self) -> "Viewer":
        """Serve in a new thread; the batch must not be used until `close`."""
        self._thread = threading.Thread(target=self.run, name="tumble viewer", daemon=True)
        self._thread.start()
        return self

    def do(self, job: Callable[[], Any]) -> Any:
        """Run a job with the batch between two frames of a started loop; return its result.

        Raises:
            ViewerError: the viewer has been closed.
            Exception: the exception of the job.
        """
        done: Future = Future()

        def work() -> None:
            try:
                done.set_result(job())
            except BaseException as error:
                done.set_exception(error)

        self._jobs.put(work)
        while not self._ended.is_set():
            with contextlib.suppress(FutureTimeout):
                return done.result(timeout=0.1)
        raise ViewerError("the viewer has been closed")

    def announce(self) -> None:
        """Print where a browser finds it, from another machine too."""
        port = self.url.rpartition(":")[2]
        print(f"{self.url} shows the simulation; over ssh, first: ssh -L {port}:localhost:{port} HOST", flush=True)

    def is_alive(self) -> bool:
        """Return True until it is closed."""
        return not self._ended.is_set()

    def close(self) -> None:
        """End the loop and the server."""
        closed = self._ended.is_set()
        self._ended.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        elif self._thread is None and not closed:
            self._server.stop()

    def _loop(self) -> None:
        self._clock = time.perf_counter()
        while not self._ended.is_set():
            self._do_jobs()
            now = time.perf_counter()
            panel = self.panel
            if panel.steps:
                panel.steps -= 1
                self._advance()
                self._clock = now
            elif not panel.playing:
                self._clock = now
            elif now >= self._clock:
                self._advance()
                self._clock = max(self._clock + self.session.dt / panel.speed, now - LATE)
            self._show(now)
            waits = [self._drawn + 1 / FRAMES, *([self._clock] if panel.playing else [])]
            time.sleep(max(0.0005, min(min(waits) - time.perf_counter(), 1 / FRAMES)))

    def sync(self, rewards: Any = None, infos: Mapping[str, Any] | None = None) -> None:
        """Show a batch that a program moves, after each of its steps; of a viewer that was made with `driven=True`.

        It returns when the next step is due: not while the page says pause, and no faster than its speed. Requests of
        the page are done here: resets, joints, keyframes, and forces of the mouse, which act in the next step.

        Args:
            rewards: of the step, (num_envs,), for the curves.
            infos: the step's other numbers by name.
        """
        if self._ended.is_set():
            return
        self.session.record_info({**({"reward": rewards} if rewards is not None else {}), **(infos or {})})
        self._note()
        panel, now = self.panel, time.perf_counter()
        begun = self._clock if self._synced else now
        self._clock, self._synced = max(begun + self.session.dt / panel.speed, now - LATE), True
        while not self._ended.is_set():
            self._do_jobs()
            now = time.perf_counter()
            self._show(now)
            if panel.steps:
                panel.steps -= 1
                break
            if panel.playing and now >= self._clock:
                break
            due = min(self._drawn + 1 / FRAMES, self._clock if panel.playing else np.inf)
            time.sleep(max(0.0005, min(due - now, 1 / FRAMES)))
        with self._going_on():
            self._spring.apply()

    @contextlib.contextmanager
    def _going_on(self) -> Iterator[None]:
        """Report an error in the log and on the page instead of raising it: a request of a page ends no program."""
        try:
            yield
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            if text not in self._reported and len(self._reported) < MOST_ERRORS:  # they may come with every frame
                self._reported.add(text)
                logger.exception("the viewer goes on after an error")
                self.panel.tell(error)

    def _show(self, now: float) -> None:
        """Draw and read, if it is time to."""
        if now - self._drawn >= 1 / FRAMES:
            self._drawn = now
            with self._going_on():
                self._draw()
        if now - self._was_read >= 1 / READINGS:
            self._was_read = now
            with self._going_on():
                self._read()

    def _do_jobs(self) -> None:
        with contextlib.suppress(Empty):
            while True:
                job = self._jobs.get_nowait()
                with self._going_on():
                    job()

    def _advance(self) -> None:
        with self._going_on():
            self._spring.apply()
        self.session.advance()
        self._note()

    def _note(self) -> None:
        session, env = self.session, self.panel.env
        with self._going_on():
            self._plots.note(float(session.solver.time[env]), session.info, env)

    def _poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Poses of all geoms, (num_envs, ngeom, ...); environments that are not shown have zeros."""
        self.session.refresh()
        found = geom_poses(self.session.solver, self._envs)
        every = [np.zeros((self.session.num_envs, *array.shape[1:])) for array in found]
        for array, shown in zip(every, found, strict=True):
            array[self._envs] = shown
        return every[0], every[1]

    def _draw(self) -> None:
        pos, quat = self._poses()
        sizes = own_sizes(self.session.solver, self._envs)
        with self._server.atomic():
            if not self._stage.has_sizes(sizes):
                self._stage.resize(sizes, pos, quat)
            self._stage.update(pos, quat)
            self._draw_besides()
            self._overlays.update(self._stage, self._spring)
        self.frames += 1

    def _draw_besides(self) -> None:
        """Show particles, and a program's drawings.

        Drawings are in the one world of environments whose places the program gave, else in each of them.
        """
        stage = self._stage
        several = len(stage.shown) > 1 and self._all_places is not None
        self._drawings.update(np.zeros((1, 3)) if several else stage.offsets)
        self._particles.update(stage.shown, stage.offsets)

    def _read(self) -> None:
        session, env = self.session, self.panel.env
        reward = session.info.get("reward")
        words = f"time {float(session.solver.time[env]):.2f} s"
        words += f", reward {reward[env]:.3f}" if reward is not None else ""
        self.panel.status.content = words
        self._plots.update()
        self._pictures.update(env)
        if self.panel.playing:
            self.panel.joints.update()

    # -- Wishes -------------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Reset all environments."""
        self._spring.release()
        self._plots.clear()
        self._reported.clear()
        self.panel.tell(None)
        self.session.reset()

    def _arrange(self) -> None:
        """Show the chosen environments, each at its place."""
        panel = self.panel
        shown = self._chosen if panel.side_by_side else [panel.env]
        self._envs = shown
        pos_quat = self._poses()
        places = np.zeros((1, 3))
        if len(shown) > 1 and self._all_places is not None:
            places = self._all_places[shown]
        elif len(shown) > 1:
            places = grid(len(shown), room(pos_quat[0][shown], self.session.mj))
        with self._server.atomic():
            self._stage.show(shown, places, *pos_quat, own_sizes(self.session.solver, shown))
            self._draw_besides()
        self._plots.clear()

    def _dragged(self, event: Any, place: int, body: int) -> None:
        """Take note of the mouse; called in the thread of the server."""
        ends = np.array([event.start_position, event.end_position], float)
        if ends.shape != (2, 3) or not (np.abs(ends) < FAR).all():
            return
        env, offset = self._stage.shown[place], self._stage.offsets[place]
        start, end = ends - offset
        if event.phase == "start":
            self._jobs.put(lambda: self._spring.grab(env, body, start))
        elif event.phase == "end":
            self._jobs.put(self._spring.release)
        if event.phase != "end":
            self._jobs.put(lambda: self._spring.pull(end))


def view(source: Any, act: Callable[[Any], Any] | None = None, *, block: bool = True, **options: Any) -> Viewer:
    """Show a batch in browsers, and move it.

    Args:
        source: environments of Tumble, a built scene, or a `RigidSolver`.
        act: returns actions for observations, as a policy does; None: random actions. For a scene or a solver it is
            called with that before each frame.
        block: True: return when Ctrl-C was pressed; False: at once, with the loop in a new thread, as for
            notebooks. The batch must not be used until the viewer is closed.
        options: further arguments of `Viewer`.

    Returns:
        The viewer.

    Raises:
        ViewerError, TypeError, IndexError: as in `Viewer`.
    """
    viewer = Viewer(source, act, **options)
    viewer.announce()
    if not block:
        return viewer.start()
    print("Ctrl-C ends it", flush=True)
    viewer.run()
    return viewer


def grid(count: int, spacing: float) -> np.ndarray:
    """Return places (count, 3) m of a near-square grid about the origin, row by row from the back."""
    columns = int(np.ceil(np.sqrt(count)))
    rows = -(-count // columns)
    places = [((i % columns) - (columns - 1) / 2, (rows - 1) / 2 - i // columns, 0.0) for i in range(count)]
    return spacing * np.array(places)


def room(pos: np.ndarray, mj: Any) -> float:
    """Return the metres between environments: the reach of the moving geoms at `pos` (n, ngeom, 3), and some room."""
    moving = np.flatnonzero((mj.body_weldid[mj.geom_bodyid] != 0) & (mj.geom_rbound > 0))
    if not len(moving):
        return 2.0 * float(mj.stat.extent)
    places, radius = pos[:, moving, :2], mj.geom_rbound[moving][None, :, None]
    wide = (places + radius).max(axis=(0, 1)) - (places - radius).min(axis=(0, 1))
    return 1.5 * float(wide.max())


SIZE = 320, 240
FOLLOWING = "following"


class CameraPictures:
    """The picture of the chosen camera, while it is asked for."""

    def __init__(self, gui: Any, solver: Any, mj: mujoco.MjModel) -> None:
        self._gui, self._solver = gui, solver
        self._renderers: dict[str, Any] = {}
        self._image: Any = None
        self.names = [FOLLOWING, *(mj.camera(i).name or str(i) for i in range(mj.ncam))]
        self._shown = gui.add_checkbox("camera picture", False)
        self._choice = gui.add_dropdown("camera", self.names, initial_value=self.names[0])

    def update(self, env: int) -> None:
        """Draw the environment."""
        if not self._shown.value:
            if self._image is not None:
                self._image.visible = False
            return
        picture = self._renderer(self._choice.value).render(self._solver, [env])[0].cpu().numpy()
        if self._image is None:
            self._image = self._gui.add_image(np.ascontiguousarray(picture), format="jpeg")
        self._image.visible = True
        self._image.image = np.ascontiguousarray(picture)

    def _renderer(self, name: str) -> Any:
        from ..physics.rendering import BatchRenderer

        if name not in self._renderers:
            place = self.names.index(name)
            camera = place - 1 if place else None
            self._renderers[name] = BatchRenderer(self._solver.model, *SIZE, camera=camera)
        return self._renderers[name]


KEPT = 400
"""Steps that the curves go back."""
MOST_CURVES = 6
INKS = ("#1f6f78", "#d1603d", "#5b6abf", "#c29b1b", "#8a4f9e", "#3f8f4f")


class Plots:
    """A chart in the panel: the reward and its terms first, else the other numbers."""

    def __init__(self, gui: Any, place: Any) -> None:
        self._gui, self._place = gui, place
        self._names: list[str] = []
        self._rows: deque[tuple[float, list[float]]] = deque(maxlen=KEPT)
        self._chart: Any = None

    def note(self, time: float, info: dict[str, np.ndarray], env: int) -> None:
        """Add the numbers of a step."""
        if not info:
            return
        if not self._names:
            rewards = [name for name in info if "reward" in name]
            self._names = (rewards or list(info))[:MOST_CURVES]
        if self._rows and time <= self._rows[-1][0]:
            self._rows.clear()  # time was reset
        before = self._rows[-1][1] if self._rows else [0.0] * len(self._names)
        now = [float(info[name][env]) if name in info else np.nan for name in self._names]
        kept = [new if np.isfinite(new) else old for new, old in zip(now, before, strict=True)]  # gaps break the chart
        self._rows.append((time, kept))

    def clear(self) -> None:
        """Forget all steps."""
        self._rows.clear()

    def update(self) -> None:
        """Draw the curves."""
        if len(self._rows) < 2:
            return
        data = (np.array([row[0] for row in self._rows]), *np.array([row[1] for row in self._rows]).T.copy())
        if self._chart is not None:
            self._chart.data = data
            return
        series: list[dict[str, object]] = [{}] + [
            {"label": name.replace("_", " "), "stroke": INKS[i % len(INKS)], "width": 2}
            for i, name in enumerate(self._names)
        ]
        scales = {"x": {"time": False}, "y": {"auto": True}}
        axes = ({"label": "s"}, {"size": 44})
        with self._place:
            self._chart = self._gui.add_uplot(data, tuple(series), scales=scales, axes=axes, height=230)


FIRST_PORT, PORTS = 8080, 50


def free_port(host: str, port: int | None) -> int:
    """Return the port if it is free; None: the first free one from 8080 on.

    Raises:
        ViewerError: it is in use, or all are.
    """
    for number in range(FIRST_PORT, FIRST_PORT + PORTS) if port is None else [port]:
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind((host, number))
            except OSError as error:
                reason = error.strerror
                continue
            return number
    if port is None:
        raise ViewerError(f"no port from {FIRST_PORT} to {FIRST_PORT + PORTS - 1} is free at {host}")
    raise ViewerError(f"port {port} cannot be had at {host} ({reason}); choose another, or none for the first free one")


def import_viser() -> Any:
    """Return viser.

    Raises:
        ViewerError: it is not installed.
    """
    try:
        import viser
    except ImportError as error:
        hint = f"{pip_install('viewer')}; replays (tumble render --out FILE.html) do without"
        raise ViewerError(f"the live view needs viser ({error}); {hint}") from None
    return viser

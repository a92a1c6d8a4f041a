"""The live view: a loop that moves a batch in the time of the clock, and shows it in browsers through viser.

All that touches the solver happens in the thread of the loop. Callbacks of browsers come in other threads; they leave
jobs, which the loop does between two frames.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from .errors import ViewerError
from .overlays import Overlays
from .panel import Panel
from .perturbation import Perturbation
from .pictures import CameraPictures
from .plots import Plots
from .session import Session
from .sources import environments, geom_poses
from .stage import Stage

FIRST_PORT, PORTS = 8080, 50
FRAMES, READINGS = 30.0, 4.0
"""How often a second bodies are drawn, and numbers, curves and pictures."""
LATE = 0.1
"""Seconds of a frame that the loop may lag behind the clock before it gives up catching up."""


class Viewer:
    """A running view of a batch.

    Args:
        source: vector environments of Tumble, or a `RigidSolver`.
        act: returns actions for observations, as a policy does; None: random actions.
        envs: numbers of the environments to show; None: the first 16 at most.
        port: of the server; None: the first free one from 8080 on.
        host: address to listen at; "0.0.0.0" lets other machines connect.
        play: False: paused at first.
        title: of the page.
        shadows: False spares browsers without a graphics card.
        seed: of resets and random actions.

    Attributes:
        url: where a browser finds it.
        frames: how many times the bodies have been drawn.

    Raises:
        ViewerError: viser is missing, the port is in use, or there is nothing to show.
        TypeError, IndexError: those of `Recorder`.
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
        shadows: bool = True,
        seed: int | None = 0,
    ) -> None:
        viser = _viser()
        session = self.session = Session(source, act, seed)
        self._envs = self._chosen = environments(envs, session.num_envs)
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self.frames = 0
        number = free_port(host, port)
        self._server = viser.ViserServer(host=host, port=number, label=title, verbose=False)
        self.url = f"http://{'localhost' if host in ('0.0.0.0', '127.0.0.1') else host}:{number}"
        self._server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(31, 111, 120))
        self._spring = Perturbation(session.solver, session.mj, session.dt)
        self._stage = Stage(self._server, session.mj, self._dragged, shadows)
        self.panel = Panel(self._server, session, self._jobs.put, self._arrange, play)
        self.panel.reset_wanted = self.reset
        self.panel.env = self._envs[0]
        self._overlays = Overlays(self._server, session.solver, session.mj)
        self._plots = Plots(self._server.gui, self.panel.plots_place)
        with self.panel.show_tab:
            self._choices()
        pos, quat = self._poses()
        self._stage.dress(pos[self._envs[0]], quat[self._envs[0]])
        self._arrange()

    def _choices(self) -> None:
        gui, stage, overlays = self._server.gui, self._stage, self._overlays

        def toggle(label: str, start: bool, act: Callable[[bool], None]) -> None:
            box = gui.add_checkbox(label, start)
            box.on_update(lambda event: self._jobs.put(lambda: act(event.target.value)))

        if stage.walker >= 0:
            toggle("follow", stage.follows, lambda on: setattr(stage, "follows", on))
        toggle("shadows", stage.shadows, stage.set_shadows)
        toggle("contacts", False, lambda on: setattr(overlays, "contacts", on))
        toggle("contact forces", False, lambda on: setattr(overlays, "forces", on))
        toggle("frames of bodies", False, lambda on: setattr(overlays, "frames", on))
        if stage.has_collision_geoms:
            toggle("collision shapes", False, lambda on: stage.set_visible(True, on))
            toggle("visual shapes", True, lambda on: stage.set_visible(False, on))
        self._pictures = CameraPictures(gui, self.session.solver, self.session.mj)

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
        """Serve in a thread of its own; the batch must be left alone until `close`."""
        self._thread = threading.Thread(target=self.run, name="tumble viewer", daemon=True)
        self._thread.start()
        return self

    def do(self, job: Callable[[], Any]) -> Any:
        """Have something done with the batch between two frames of a started loop; return what it returns.

        Raises:
            ViewerError: the viewer has been closed.
            Exception: what the job raises.
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

    def close(self) -> None:
        """End the loop and the server."""
        self._ended.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        elif self._thread is None:
            self._server.stop()

    def _loop(self) -> None:
        clock = drawn = read = time.perf_counter()
        while not self._ended.is_set():
            self._do_jobs()
            now = time.perf_counter()
            panel, dt = self.panel, self.session.dt
            if panel.steps:
                panel.steps -= 1
                self._advance()
                clock = now
            elif not panel.playing:
                clock = now
            elif now >= clock:
                self._advance()
                clock = max(clock + dt / panel.speed, now - LATE)
            if now - drawn >= 1 / FRAMES:
                drawn = now
                self._draw()
            if now - read >= 1 / READINGS:
                read = now
                self._read()
            waits = [drawn + 1 / FRAMES, *([clock] if panel.playing else [])]
            time.sleep(max(0.0005, min(min(waits) - time.perf_counter(), 1 / FRAMES)))

    def _do_jobs(self) -> None:
        with contextlib.suppress(Empty):
            while True:
                self._jobs.get_nowait()()

    def _advance(self) -> None:
        session, panel = self.session, self.panel
        self._spring.apply()
        session.advance()
        self._plots.note(float(session.solver.time[panel.env]), session.told, panel.env)

    def _poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Poses of all geoms, (num_envs, ngeom, ...); environments that are not shown have zeros."""
        found = geom_poses(self.session.solver, self._envs)
        every = [np.zeros((self.session.num_envs, *array.shape[1:])) for array in found]
        for array, shown in zip(every, found, strict=True):
            array[self._envs] = shown
        return every[0], every[1]

    def _draw(self) -> None:
        pos, quat = self._poses()
        with self._server.atomic():
            self._stage.update(pos, quat)
            self._overlays.update(self._stage, self._spring)
        self.frames += 1

    def _read(self) -> None:
        session, env = self.session, self.panel.env
        reward = session.told.get("reward")
        words = f"time {float(session.solver.time[env]):.2f} s"
        words += f", reward {reward[env]:.3f}" if reward is not None else ""
        self.panel.status.content = words
        self._plots.update()
        self._pictures.update(env)
        if self.panel.playing:
            self.panel.joints.update()

    # -- Wishes -------------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Begin anew in all environments."""
        self._spring.release()
        self._plots.clear()
        self.session.reset()

    def _arrange(self) -> None:
        """Show the chosen environments, each at its place."""
        panel = self.panel
        shown = self._chosen if panel.side_by_side else [panel.env]
        self._envs = shown
        pos_quat = self._poses()
        spacing = _spacing(pos_quat[0][shown], self.session.mj) if len(shown) > 1 else 0.0
        with self._server.atomic():
            self._stage.show(shown, spacing, *pos_quat)
        self._plots.clear()

    def _dragged(self, event: Any, place: int, body: int) -> None:
        """Take note of the mouse; called in the thread of the server."""
        env, offset = self._stage.shown[place], self._stage.offsets[place]
        start, end = (np.array(p, float) - offset for p in (event.start_position, event.end_position))
        if event.phase == "start":
            self._jobs.put(lambda: self._spring.grab(env, body, start))
        elif event.phase == "end":
            self._jobs.put(self._spring.release)
        if event.phase != "end":
            self._jobs.put(lambda: self._spring.pull(end))


def view(source: Any, act: Callable[[Any], Any] | None = None, *, block: bool = True, **options: Any) -> Viewer:
    """Show a batch in browsers, and move it.

    Args:
        source: vector environments of Tumble, or a `RigidSolver`.
        act: returns actions for observations, as a policy does; None: random actions.
        block: True: return when Ctrl-C was pressed; False: at once, with the loop in a thread of its own, as for
            notebooks. The batch must be left alone until the viewer is closed.
        options: further arguments of `Viewer`.

    Returns:
        The viewer.

    Raises:
        ViewerError, TypeError, IndexError: those of `Viewer`.
    """
    viewer = Viewer(source, act, **options)
    print(f"{viewer.url} shows the simulation", flush=True)
    if not block:
        return viewer.start()
    print("Ctrl-C ends it. From elsewhere: ssh -L PORT:localhost:PORT, with the port above", flush=True)
    viewer.run()
    return viewer


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


def _viser() -> Any:
    """Return viser.

    Raises:
        ViewerError: it is not installed.
    """
    try:
        import viser
    except ImportError as error:
        hint = 'install the extra: pip install ".[viewer]"; replays (tumble render --out FILE.html) do without'
        raise ViewerError(f"the live view needs viser ({error}); {hint}") from None
    return viser


def _spacing(pos: np.ndarray, mj: Any) -> float:
    """Return the metres between environments side by side: what their moving geoms reach, and some room."""
    moving = np.flatnonzero((mj.body_weldid[mj.geom_bodyid] != 0) & (mj.geom_rbound > 0))
    if not len(moving):
        return 2.0 * float(mj.stat.extent)
    places, radius = pos[:, moving, :2], mj.geom_rbound[moving][None, :, None]
    wide = (places + radius).max(axis=(0, 1)) - (places - radius).min(axis=(0, 1))
    return 1.5 * float(wide.max())

"""Whatever takes long is told by the logger `tumble`: what it is, for how long, again and again."""

import io
import logging
import os
import re
import sys
import threading
import time
import types

import mujoco
import numpy as np
import pytest

from tumble.physics import Model
from tumble.physics.files.geometry import decomposition
from tumble.physics.machine import waiting
from tumble.physics.machine.runtime import ensure_runtime
from tumble.physics.machine.waiting import Waiting
from tumble.physics.model import model as models
from tumble.physics.rendering import write_video
from tumble.physics.run import taichi_kernel

BALL = "<mujoco model='ball'><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>"


class Told:
    """What has been logged, without the seconds."""

    def __init__(self, caplog):
        self.caplog = caplog

    def __call__(self):
        return [re.sub(r"\d+ s so far", "N s so far", record.getMessage()) for record in self.caplog.records]

    def until(self, text, times=1):
        """Wait until something has been told so many times more; a busy machine takes its time."""
        wanted, end = self().count(text) + times, time.monotonic() + 60
        while self().count(text) < wanted:
            assert time.monotonic() < end, f"{text!r} is not among {self()}"
            time.sleep(0.01)

    def before(self, text, function):
        """The function, which begins when something is told."""

        def slowly(*arguments, **options):
            self.until(text)
            return function(*arguments, **options)

        return slowly


@pytest.fixture
def told(monkeypatch, caplog):
    """What has been logged, with a patience of 50 ms and an interval of 20."""
    monkeypatch.setattr(waiting, "PATIENCE", 0.05)
    monkeypatch.setattr(waiting, "INTERVAL", 0.02)
    monkeypatch.setattr(waiting.logger, "handlers", [])  # a command that ran before in this process leaves its own
    with caplog.at_level(logging.INFO, logger="tumble"):
        yield Told(caplog)


def test_a_wait_is_told_again_and_again_until_it_is_over(told):
    with Waiting("cooking", lambda: " (1 of 2 pots)"):
        told.until("cooking: N s so far (1 of 2 pots)", times=3)
    time.sleep(0.2)
    said = told()
    assert set(said) == {"cooking: N s so far (1 of 2 pots)"}
    time.sleep(0.2)
    assert told() == said


def test_what_is_quick_is_not_told(told, monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 5.0)
    for _ in range(100):
        with Waiting("blinking"):
            pass
    time.sleep(0.2)
    assert told() == []


def test_the_innermost_wait_that_takes_long_is_told(told):
    """Inside of it, those that are quick do not silence the one around them."""
    with Waiting("outside"):
        told.until("outside: N s so far")
        with Waiting("inside"):
            told.until("inside: N s so far", times=3)
        inside = told().index("inside: N s so far")
        assert "outside: N s so far" not in told()[inside:]
        count = len(told())
        while "outside: N s so far" not in told()[count:]:
            with Waiting("briefly", patience=60.0):
                time.sleep(0.01)


def test_threads_wait_for_themselves(told):
    def wait():
        with Waiting("elsewhere"):
            told.until("elsewhere: N s so far", times=2)

    thread = threading.Thread(target=wait)
    thread.start()
    with Waiting("here"):
        told.until("here: N s so far", times=2)
        thread.join()


def test_an_error_ends_a_wait(told):
    with pytest.raises(KeyError), Waiting("failing"):
        raise KeyError
    time.sleep(0.2)
    assert told() == []


def test_nobody_watches_when_there_is_nothing_to_wait_for(told, monkeypatch):
    monkeypatch.setattr(waiting, "IDLE", 0.05)
    with Waiting("something"):
        pass
    watcher = waiting._state.watcher
    watcher.join(timeout=5)
    assert not watcher.is_alive()
    with Waiting("something else"):
        told.until("something else: N s so far")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_has_waits_of_its_own(told):
    """Neither the thread nor the parent's waits are there; an end of such a wait is no error."""
    with Waiting("before the fork") as outer:
        child = os.fork()
        if not child:
            waits = list(waiting._state.waits)
            outer.end()
            with Waiting("in the child"):
                alive = waiting._state.watcher.is_alive()
            os._exit(0 if alive and not waits else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(
    ("make", "name", "function"),
    [
        (Model.from_mjcf, "XML string", "load_mjcf"),
        (lambda xml: Model.from_mjspec(mujoco.MjSpec.from_string(xml)), "MjSpec 'ball'", "load_mjspec"),
        (lambda xml: Model.from_mjmodel(mujoco.MjModel.from_xml_string(xml)), "MjModel 'ball'", "load_mjmodel"),
    ],
)
@pytest.mark.parametrize("where", ["load", "check_size"])
def test_loading_a_model_is_told(told, monkeypatch, make, name, function, where):
    """Its compilation by MuJoCo, and what Tumble makes of it afterwards, such as hulls."""
    slowed = function if where == "load" else where
    text = f"loading {name}: N s so far"
    monkeypatch.setattr(models, slowed, told.before(text, getattr(models, slowed)))
    make(BALL)
    assert text in told()


def test_taking_a_mesh_apart_is_told(told, monkeypatch):
    text = "taking mesh 'cup' apart into convex pieces, once: N s so far"
    monkeypatch.setattr(decomposition, "convex_pieces", told.before(text, lambda *_: []))
    spec = mujoco.MjSpec.from_string(
        "<mujoco><asset><mesh name='cup' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset>"
        "<worldbody><geom type='mesh' mesh='cup'/></worldbody></mujoco>"
    )
    assert decomposition._pieces_of(spec.compile(), "cup", {}) == []
    assert text in told()


@pytest.fixture
def printed(monkeypatch, capfd):
    """What is on standard error after a wait that has been reported once at least; nothing has configured logging."""
    monkeypatch.setattr(waiting, "PATIENCE", 0.05)
    monkeypatch.setattr(waiting, "INTERVAL", 0.02)
    monkeypatch.setattr(waiting.logger, "handlers", [])
    monkeypatch.setattr(waiting.logger, "level", logging.NOTSET)
    waiting.logger.manager._clear_cache()

    def of(wait):
        end = time.monotonic() + 60
        with wait:
            while wait.lines < 3:
                assert time.monotonic() < end
                time.sleep(0.01)
        return re.sub(r"\d+ s", "N s", capfd.readouterr().err).splitlines()

    yield of
    monkeypatch.undo()
    waiting.logger.manager._clear_cache()


def test_what_is_done_once_is_printed_at_its_first_line_and_end(printed):
    """In a program that says nothing of logging: minutes without a word look like a program that hangs."""
    line = "tumble: compiling, once: N s so far (1 of 2)"
    end = "tumble: compiling, once: done after N s"
    assert printed(Waiting("compiling", lambda: " (1 of 2)", once=True)) == [line, end]
    assert printed(Waiting("reading")) == [], "other waits are for the logger"


@pytest.mark.parametrize("how", ["handler", "level", "all off"])
def test_who_configured_the_logger_decides_what_is_printed(printed, monkeypatch, how):
    match how:
        case "handler":
            waiting.logger.addHandler(logging.NullHandler())
        case "level":
            waiting.logger.setLevel(logging.WARNING)
        case "all off":
            monkeypatch.setattr(waiting.logger.manager, "disable", logging.CRITICAL)
    assert printed(Waiting("compiling", once=True)) == []


def test_an_end_is_logged_of_what_is_done_once(told):
    with Waiting("compiling", once=True):
        told.until("compiling, once: N s so far")
    assert re.fullmatch(r"compiling, once: done after \d+ s", told()[-1])
    with pytest.raises(KeyError), Waiting("failing", once=True):
        told.until("failing, once: N s so far")
        raise KeyError
    assert "done" not in told()[-1]


def test_what_cannot_be_printed_ends_neither_the_thread_nor_the_program(printed, monkeypatch):
    """While another thread imports tqdm, its module lacks everything; `more` may fail; the terminal may be gone."""
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    waiting.show_what_is_waited_for()
    assert "cooking: N s so far" in printed(Waiting("cooking"))
    printed(Waiting("failing", lambda: f"{1 / 0}"))
    assert "cooking: N s so far" in printed(Waiting("cooking"))
    with monkeypatch.context() as closed:
        file = io.StringIO()
        file.close()
        closed.setattr(sys, "stderr", file)
        printed(Waiting("compiling", once=True))
    assert "cooking: N s so far" in printed(Waiting("cooking"))


def test_compilation_by_taichi_is_told(told, monkeypatch):
    """As on a GPU, and where nothing can be compiled apart."""
    once = "once: N s so far"
    for what in ("the solver for this model", "pictures"):
        monkeypatch.setattr(taichi_kernel, "compiled", told.before(f"compiling {what}, {once}", lambda *_: {}[0]))
        options = {} if what.startswith("the") else {"what": what}
        with pytest.raises(KeyError):
            taichi_kernel.TaichiKernel(ensure_runtime(), lambda: None, **options)._compile([])


def test_a_film_is_told(told, tmp_path):
    path = tmp_path / "film.mp4"

    def frames():
        for count in range(3):
            told.until(f"filming into {path}: N s so far ({count} frames)", times=0 if count < 1 else 1)
            yield np.zeros((16, 16, 3), np.uint8)

    write_video(path, frames(), fps=10)
    assert f"filming into {path}: N s so far (2 frames)" in told()

"""Long waits are reported by the logger `tumble`: what is waited for and for how long, repeatedly.

    with Waiting("loading the model ant.xml"):
        ...

logs "loading the model ant.xml: 2 s so far" when `PATIENCE` seconds have passed, and again every `INTERVAL` seconds.
Waits may be nested: of each thread, the innermost wait that has lasted for its patience is reported. One thread watches
all waits; it ends after `IDLE` seconds without any.

A thread cannot report a wait that holds Python's global interpreter lock, such as a compilation by Taichi: on the
command line a small process reports it.
"""

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from .children import plain_python_command
from .forking import on_fork
from .libraries import load_mujoco, load_torch

PATIENCE, INTERVAL = 2.0, 5.0
"""Seconds until a wait is reported, and from then on between two lines about it."""
POLL, IDLE = 0.5, 10.0
"""Seconds between two checks of the waits, and without any wait until the watching thread ends."""

_LINE = "{}: {:.0f} s so far"
_TELLER = f"""
import select, sys, time
what, patience, interval = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
begun, wait = time.monotonic(), patience
while not select.select([sys.stdin], [], [], wait)[0]:
    print({_LINE!r}.format(what, time.monotonic() - begun), file=sys.stderr, flush=True)
    wait = interval
"""
"""The program of the process that reports a wait until its standard input ends."""

logger = logging.getLogger("tumble")


class Waiting:
    """A wait, as a context or between `begin` and `end`; a short one costs two changes of a list.

    Args:
        what: what is waited for, such as "loading the model ant.xml".
        more: returns the end of the line, such as " (3 of 5 parts)"; called in the watching thread.
        patience: seconds until the wait is reported, and then between lines; `PATIENCE` and `INTERVAL` by default.
        holds_gil: True if other threads of Python stand still meanwhile. Then only the command line repeats the line.
    """

    def __init__(
        self,
        what: str,
        more: Callable[[], str] | None = None,
        patience: float | None = None,
        holds_gil: bool = False,
    ) -> None:
        self.what, self.more, self.patience, self.holds_gil = what, more, patience, holds_gil
        self._teller: subprocess.Popen[bytes] | None = None
        self.thread = 0
        self.begun = self.mature = self.due = 0.0  # times of the last `begin`, of the first report, of the next one

    def __enter__(self) -> "Waiting":
        """Begin."""
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self.end()

    def begin(self) -> None:
        """Start to wait, in this thread."""
        self.thread, self.begun = threading.get_ident(), time.monotonic()
        self.mature = self.due = self.begun + (PATIENCE if self.patience is None else self.patience)
        if self.holds_gil and _is_shown() and self._start_teller():
            return
        with _state.lock:
            _state.waits.append(self)
            if _state.watcher is None or not _state.watcher.is_alive():
                on_fork(_state.forget)
                _state.watcher = threading.Thread(target=_state.watch, name="tumble waiting", daemon=True)
                _state.watcher.start()

    def end(self) -> None:
        """End the wait, if it has not ended."""
        if self._teller is not None:
            with self._teller as teller:
                teller.kill()
            self._teller = None
        with _state.lock:
            if self in _state.waits:
                _state.waits.remove(self)

    def tell(self) -> None:
        """Log what is waited for."""
        more = self.more() if self.more is not None else ""
        if self.holds_gil:
            more += " (it may be that no other line comes until it is done)"
        logger.info("%s%s", _LINE.format(self.what, time.monotonic() - self.begun), more)

    def _start_teller(self) -> bool:
        """Start the process that reports this wait; return False if that is not possible."""
        command = plain_python_command(_TELLER, self.what, str(self.mature - self.begun), str(INTERVAL))
        try:
            self._teller = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        except (OSError, ValueError):  # Python is inside another program
            return False
        return True


class Importing(Waiting):
    """The wait for libraries, of which torch and MuJoCo are loaded first, as `libraries.py` does."""

    def begin(self) -> None:
        """Start to wait, and load them."""
        super().begin()
        load_mujoco()
        load_torch()


class _State:
    """All waits of the process, and the thread that watches them."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.waits: list[Waiting] = []  # of all threads, in the order in which they began
        self.watcher: threading.Thread | None = None

    def forget(self) -> None:
        """Start anew in a forked process, which lacks the thread, and may hold a lock that is never released."""
        self.__init__()  # type: ignore[misc]

    def watch(self) -> None:
        """Report waits that are due, until there have been none for a while."""
        busy = time.monotonic()
        while True:
            time.sleep(max(0.01, min(POLL, PATIENCE / 4)))
            now = time.monotonic()
            with self.lock:
                if self.waits:
                    busy = now
                elif now - busy > IDLE:
                    self.watcher = None
                    return
                due = self.due(now)
            for wait in due:
                wait.tell()

    def due(self, now: float) -> list[Waiting]:
        """Return the wait of each thread that is due for a report, and set when it and those around it are due next."""
        innermost = {wait.thread: wait for wait in self.waits if now >= wait.mature}  # later ones replace earlier ones
        due = [wait for wait in innermost.values() if now >= wait.due]
        threads = {wait.thread for wait in due}
        for wait in self.waits:
            if wait.thread in threads and wait.mature <= now:
                wait.due = now + (INTERVAL if wait.patience is None else wait.patience)
        return due


_state = _State()


class _Lines(logging.Handler):
    """The handler that writes each record as a line to the current standard error, above a progress bar if any."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        line, tqdm = self.format(record), sys.modules.get("tqdm")
        if tqdm is None:
            print(line, file=sys.stderr, flush=True)
        else:
            tqdm.tqdm.write(line, file=sys.stderr)


def show_what_is_waited_for() -> None:
    """Print the messages of the logger `tumble`, such as waits, to standard error; for programs, once."""
    if not _is_shown():
        logger.addHandler(_Lines())
        logger.setLevel(logging.INFO)


def _is_shown() -> bool:
    """Return True if the messages are printed."""
    return any(isinstance(handler, _Lines) for handler in logger.handlers)

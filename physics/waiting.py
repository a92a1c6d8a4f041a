"""Waits that take long are told by the logger `tumble`: what is waited for and for how long, again and again.

    with Waiting("loading the model ant.xml"):
        ...

logs "loading the model ant.xml: 2 s so far" when `PATIENCE` seconds have passed, and again every `INTERVAL` seconds.
Waits may be nested: of each thread, the innermost wait that has lasted for its patience is told. One thread watches all
waits; it ends after `IDLE` seconds without any.
"""

import logging
import sys
import threading
import time
from collections.abc import Callable

from .forking import on_fork

PATIENCE, INTERVAL = 2.0, 5.0
"""Seconds until a wait is told, and from then on between two lines about it."""
POLL, IDLE = 0.5, 10.0
"""Seconds between two looks at the waits, and without any wait until the watching thread ends."""

logger = logging.getLogger("tumble")


class Waiting:
    """A wait, as a context or between `begin` and `end`; a quick one costs two changes of a list.

    Args:
        what: what is waited for, such as "loading the model ant.xml".
        more: returns what else the line says, such as " (3 of 5 parts)"; called in the watching thread.
        patience: seconds until the wait is told, and then between lines; `PATIENCE` and `INTERVAL` by default.
    """

    def __init__(self, what: str, more: Callable[[], str] | None = None, patience: float | None = None) -> None:
        self.what, self.more, self.patience = what, more, patience
        self.thread = 0
        self.begun = self.mature = self.due = 0.0  # as of the last `begin`: its time, when to tell first, when next

    def __enter__(self) -> "Waiting":
        """Begin."""
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self.end()

    def begin(self) -> None:
        """Begin to wait, in this thread."""
        self.thread, self.begun = threading.get_ident(), time.monotonic()
        self.mature = self.due = self.begun + (PATIENCE if self.patience is None else self.patience)
        with _state.lock:
            _state.waits.append(self)
            if _state.watcher is None or not _state.watcher.is_alive():
                on_fork(_state.forget)
                _state.watcher = threading.Thread(target=_state.watch, name="tumble waiting", daemon=True)
                _state.watcher.start()

    def end(self) -> None:
        """End the wait, if it goes on."""
        with _state.lock:
            if self in _state.waits:
                _state.waits.remove(self)

    def tell(self) -> None:
        """Log what is waited for."""
        more = self.more() if self.more is not None else ""
        logger.info("%s: %.0f s so far%s", self.what, time.monotonic() - self.begun, more)


class _State:
    """All waits of the process, and the thread that watches them."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.waits: list[Waiting] = []  # of all threads, in the order in which they began
        self.watcher: threading.Thread | None = None

    def forget(self) -> None:
        """Begin anew in a forked process, which lacks the thread, and may hold a lock that is never released."""
        self.__init__()  # type: ignore[misc]

    def watch(self) -> None:
        """Tell waits that are due, until there have been none for a while."""
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
        """Return the wait of each thread that is to be told now; it and those around it wait before the next line."""
        innermost = {wait.thread: wait for wait in self.waits if now >= wait.mature}  # later ones replace earlier ones
        due = [wait for wait in innermost.values() if now >= wait.due]
        threads = {wait.thread for wait in due}
        for wait in self.waits:
            if wait.thread in threads and wait.mature <= now:
                wait.due = now + (INTERVAL if wait.patience is None else wait.patience)
        return due


_state = _State()


class _Lines(logging.Handler):
    """Writes each record as a line to what is standard error at that moment, above a progress bar if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        line, tqdm = self.format(record), sys.modules.get("tqdm")
        if tqdm is None:
            print(line, file=sys.stderr, flush=True)
        else:
            tqdm.tqdm.write(line, file=sys.stderr)


def show_what_is_waited_for() -> None:
    """Print what the logger `tumble` is told, such as waits, to standard error; for programs, once."""
    if not any(isinstance(handler, _Lines) for handler in logger.handlers):
        logger.addHandler(_Lines())
        logger.setLevel(logging.INFO)

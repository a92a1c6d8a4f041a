"""Long waits are reported by the logger `tumble`: their purpose and duration, repeatedly.

    with Waiting("loading the model ant.xml"):
        ...

logs "loading the model ant.xml: 2 s so far" when `PATIENCE` seconds have passed, and again every `INTERVAL` seconds.
Waits may be nested: of each thread, the innermost wait that has lasted for its patience is reported. One thread watches
all waits; it ends after `IDLE` seconds without any.

Work that is done once and then kept, such as a compilation, may take minutes. Its end is reported too; its first and
last line are printed to standard error if the program has not configured the logger.
"""

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator

from .forking import on_fork
from .libraries import load_mujoco, load_taichi, load_torch

PATIENCE, INTERVAL = 2.0, 5.0
"""Seconds until a wait is reported, and from then on between two lines about it."""
POLL, IDLE = 0.5, 10.0
"""Seconds between two checks of the waits, and without any wait until the watching thread ends."""

logger = logging.getLogger("tumble")


class Waiting:
    """A wait, as a context or between `begin` and `end`; a short one costs two changes of a list.

    Args:
        what: the purpose, such as "loading the model ant.xml".
        more: returns the end of the line, such as " (3 of 5 parts)"; called in the watching thread.
        patience: seconds until the wait is reported, and then between lines; `PATIENCE` and `INTERVAL` by default.
        once: True if the result is kept, so that this wait does not come again; the lines say so.
    """

    def __init__(
        self, what: str, more: Callable[[], str] | None = None, patience: float | None = None, once: bool = False
    ) -> None:
        self.what, self.more, self.patience, self.once = f"{what}, once" if once else what, more, patience, once
        self.thread = self.lines = 0  # of the last `begin`: its thread, and how many lines were reported since
        self.begun = self.mature = self.due = 0.0  # times of the last `begin`, of the first report, of the next one

    def __enter__(self) -> "Waiting":
        """Begin."""
        self.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End; the end is not reported after an error."""
        self.end()
        if self.once and self.lines and kind is None:
            _report(f"{self.what}: done after {time.monotonic() - self.begun:.0f} s", shown=True)

    def begin(self) -> None:
        """Start to wait, in this thread."""
        self.thread, self.begun, self.lines = threading.get_ident(), time.monotonic(), 0
        self.mature = self.due = self.begun + (PATIENCE if self.patience is None else self.patience)
        with _state.lock:
            _state.waits.append(self)
            if _state.watcher is None or not _state.watcher.is_alive():
                on_fork(_state.forget)
                _state.watcher = threading.Thread(target=_state.watch, name="tumble waiting", daemon=True)
                _state.watcher.start()

    def end(self) -> None:
        """End the wait, if it has not ended."""
        with _state.lock:
            if self in _state.waits:
                _state.waits.remove(self)

    def tell(self) -> None:
        """Report the wait."""
        self.lines += 1
        more = self.more() if self.more is not None else ""
        so_far = f"{self.what}: {time.monotonic() - self.begun:.0f} s so far{more}"
        _report(so_far, shown=self.once and self.lines == 1)


def _report(line: str, shown: bool) -> None:
    """Log a line; if the logger is not configured, print it if `shown`."""
    configured = logger.level or logger.handlers or logger.disabled or logger.manager.disable >= logging.INFO
    if configured or logger.isEnabledFor(logging.INFO):
        logger.info("%s", line)
    elif shown:
        _print(f"tumble: {line}")


def _print(line: str) -> None:
    """Print a line to the current standard error, above a progress bar if any."""
    bars = getattr(sys.modules.get("tqdm"), "tqdm", None)  # another thread may be importing the module
    with contextlib.suppress(OSError, ValueError):  # it is closed
        if bars is not None and sys.stderr is not None:
            bars.write(line, file=sys.stderr)
        elif sys.stderr is not None:
            print(line, file=sys.stderr, flush=True)


@contextlib.contextmanager
def importing(what: str) -> Iterator[None]:
    """Report the wait for libraries, which the block imports after MuJoCo, torch and Taichi (`libraries.py`)."""
    with Waiting(f"importing {what}"):
        load_mujoco()
        load_torch()
        load_taichi()
        yield


class _State:
    """All waits of the process, and the thread that watches them."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.waits: list[Waiting] = []  # of all threads, in the order in which they began
        self.watcher: threading.Thread | None = None

    def forget(self) -> None:
        """Restart in a forked process, which lacks the thread, and may hold a lock that is never released."""
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
                with contextlib.suppress(Exception):  # a line that cannot be made or written is left out
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
    """The handler that prints each record as a line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a line."""
        _print(self.format(record))


def show_what_is_waited_for() -> None:
    """Print the messages of the logger `tumble`, such as waits, to standard error; for programs, once."""
    if not any(isinstance(handler, _Lines) for handler in logger.handlers):
        logger.addHandler(_Lines())
        logger.setLevel(logging.INFO)

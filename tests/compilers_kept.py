"""Processes that compile live on from one solver of the tests to the next: each takes a second of a core to start.

A process of users compiles for one solver and ends. Here it goes on to the next one of the same lane width and
precision, which finds Taichi started. Tests of these processes themselves start their own (`physics/machine/codegen`).
"""

import atexit
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from tumble.physics.run.compile import compilers

MOST_IDLE, MOST_JOBS = 3, 200
"""The most processes that wait, and the most jobs of one, as the code of all that it compiled stays in its memory."""

_start, _module = compilers._started, compilers._MODULE
_idle: list["_Kept"] = []
"""The processes that wait; the one that has waited longest is first."""
_of_parents: list["_Kept"] = []
"""The processes of the parent after a fork: a reference keeps them, as they would end if they were collected."""


class _Kept:
    """A process, what it was started for, and what ends it."""

    def __init__(self, wanted: Any) -> None:
        self.wanted, self.jobs, self.whole = wanted, 0, True
        self._end = ExitStack()
        self._process = self._end.enter_context(_start())

    def answer(self, job: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """Let the process do a job, as `compilers._Process.answer`; it is not whole if that fails or is left."""
        self.jobs, self.whole = self.jobs + 1, False
        answer = self._process.answer(job)
        self.whole = True
        return answer

    def end(self) -> None:
        self._end.close()


def keep_compilers() -> None:
    """Keep processes that compile, in this process, until it ends; workers of pytest-xdist share the cores."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    cores = compilers.usable_cores
    compilers.usable_cores = lambda: max(1, cores() // workers)
    compilers.Compilation._process = _process  # type: ignore[method-assign, assignment]
    os.register_at_fork(after_in_child=_leave_to_parent)
    atexit.register(_end_all)


def _process(compilation: compilers.Compilation, number: int) -> Any:
    """Return a process of a compilation, as `Compilation._process` does."""
    while len(compilation._processes) <= number:
        real = (_start, _module) == (compilers._started, compilers._MODULE)
        context: Any = _taken(_wanted(compilation._job)) if real else compilers._started()
        compilation._processes.append(compilation._stack.enter_context(context))
    return compilation._processes[number]


def _wanted(job: dict[str, Any]) -> Any:
    """Return all that a process takes from its first job and from the process that starts it."""
    own = {name: value for name, value in os.environ.items() if name not in ("PYTEST_CURRENT_TEST", "TUMBLE_CACHE")}
    first = (job.get(entry) for entry in ("compiler", "literals", "width", "precision"))
    return *first, own, list(sys.path), sys.executable


@contextmanager
def _taken(wanted: Any) -> Iterator[_Kept]:
    """Take a process that waits, or start one; afterwards it waits again, unless it is in the middle of a job."""
    kept = next((kept for kept in reversed(_idle) if kept.wanted == wanted), None)
    if kept is None:
        kept = _Kept(wanted)
    else:
        _idle.remove(kept)
    try:
        yield kept
    finally:
        if kept.whole and kept.jobs < MOST_JOBS:
            _idle.append(kept)
        else:
            kept.end()
        while len(_idle) > MOST_IDLE:
            _idle.pop(0).end()


def _leave_to_parent() -> None:
    _of_parents.extend(_idle)
    _idle.clear()


def _end_all() -> None:
    while _idle:
        _idle.pop().end()

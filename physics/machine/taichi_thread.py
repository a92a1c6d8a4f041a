"""The one thread in which Taichi is started, makes its fields, traces kernels and is freed.

Taichi asserts that the thread that makes a field is the one that started it (`add_struct_module` in llvm_context.cpp),
and keeps the state of tracing in globals. Kernels that are compiled may be launched from any thread. So that
environments can be made in one thread and stepped in another, whichever lives longer, these jobs are done in a separate
thread. A launch holds Python's lock until it is done, so that no two solvers work in the scratch that they share at
once.

A job cannot be interrupted, only the thread that waits for it. A job that has not begun by then never begins; one that
has begun goes on to its end, after the interrupted thread has left. So jobs prepare (they compile, load, make fields),
and launches that move a batch run in the thread of the caller.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

from .forking import on_fork

NAME = "taichi"
"""The name of the thread."""


class _Worker:
    """A thread that does one job after the other, until the process ends."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[Future, Callable[[], Any]]] = SimpleQueue()
        self.thread = threading.Thread(target=self._work, name=NAME, daemon=True)
        self.thread.start()

    def do(self, job: Callable[[], Any]) -> Any:
        """Run a job, and wait for its result or its exception. Interrupted, it is not begun any more."""
        future: Future = Future()
        self._jobs.put((future, job))
        try:
            return future.result()
        finally:
            future.cancel()

    def _work(self) -> None:
        while True:
            future, job = self._jobs.get()
            result = None
            if future.set_running_or_notify_cancel():
                try:
                    result = job()
                    _lay_out_fields()
                    future.set_result(result)
                except BaseException as error:
                    future.set_exception(error)
            del future, job, result  # they hold objects that the caller may want to be freed


launching = threading.Lock()
"""Held by a thread while it launches compiled kernels, and by Taichi's thread while it frees all of them."""
_lock = threading.Lock()
_worker: _Worker | None = None
_start: Callable[[], None] | None = None


def start_before_next(start: Callable[[], None] | None) -> None:
    """Set the function that starts Taichi before the next job, in its thread; None: do not start it."""
    global _start
    _start = start


def in_taichis_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in the thread that Taichi lives in, and wait for its result or exception.

    A program with Taichi fields of its own in the same process makes them by such a call, after `tumble.init`; its
    kernels may be compiled and run in any thread.
    """
    global _worker
    if _worker is not None and threading.current_thread() is _worker.thread:
        return function(*arguments)

    def job() -> Any:
        global _start
        start = _start
        if start is not None:
            start()
            if _start is start:  # not while it failed: then the next job tries again
                _start = None
        return function(*arguments)

    with _lock:
        if _worker is None:
            _worker = _Worker()
            on_fork(_forget)
        worker = _worker
    return worker.do(job)


def _forget() -> None:
    """In a forked process: the thread stayed in the other one, and perhaps a thread that held the lock."""
    global _worker, _lock, launching
    _worker, _lock, launching = None, threading.Lock(), threading.Lock()


def _lay_out_fields() -> None:
    """Prepare fields as Taichi would do before the next kernel, in whichever thread asks for one."""
    from taichi.lang import impl

    if impl.get_runtime().prog is not None:
        impl.get_runtime().materialize()

"""Forked processes. A child has a copy of Taichi's memory and none of its threads, so it must restart Taichi.

It cannot free the copy either, as Taichi does before it starts: that would wait for ever for threads that the child
does not have. So the child leaves the copy where it is, and lets Taichi forget that it counted it.
"""

import ctypes
import os
import threading
from collections.abc import Callable
from functools import cache

_COUNT = "_ZN6taichi4lang7Program14num_instances_E"
"""Taichi's number of programs, an int; it starts none where there is one (program.cpp)."""


def forks_wait_for(lock: threading.Lock) -> None:
    """Make every fork of this process wait until a lock is free: no thread of the child would release it."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


@cache
def on_fork(action: Callable[[], None]) -> None:
    """Call a function in every process that is forked from this one, before anything else happens there; once each."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=action)


def leave_taichi_behind() -> None:
    """Forget the program that Taichi runs, without freeing it.

    Raises:
        RuntimeError: with this version of Taichi, or on this system, that cannot be done.
    """
    from taichi.lang import impl

    from .compiler import address_of

    runtime = impl.get_runtime()
    if runtime.prog is None:
        return
    count = address_of(_COUNT)
    if count is None:
        raise RuntimeError(
            "this process was forked from one in which Tumble is at work, and Taichi cannot be started a second time "
            "here: start processes by 'spawn' or 'forkserver', or before Tumble is used"
        )
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(runtime.prog))  # its reference count never falls to zero
    runtime.prog = None
    ctypes.c_int.from_address(count).value = 0

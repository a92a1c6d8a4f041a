"""Threads that run the tasks of a launch. `pool_ir.py` is the code they run; this file starts and ends them.

Helpers are threads that run no Python: they never take the global interpreter lock (GIL), and sleep between launches.
A launch releases the GIL; Python handles a signal such as Ctrl-C when the launch ends.

No thread is pinned to a core. On two cores, pinning the helper gained nothing, and pinning the caller, which is the
user's thread, made launches slower when other processes used the cores. On a quiet machine only a prototype was
measured.
"""

import atexit
import contextlib
import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from ..forking import on_fork
from .keys import key_of
from .llvm import keep_for_ever, load, machine_code
from .pool_ir import source
from .store import shared_store

_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # calls release the GIL
_FAULTS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGTRAP", "SIGSYS")
_LAST_TASKS = 1.0
"""Seconds to wait, when the process ends, for helpers that still run a task."""


class _Apart(ctypes.Structure):
    """The structure `%Apart` of pool_ir.py: a number alone in its cache lines."""

    _fields_ = (("value", ctypes.c_int64), ("_rest", ctypes.c_char * 120))


class _Slot(ctypes.Structure):
    """The structure `%Slot` of pool_ir.py: the place where one thread sleeps."""

    _fields_ = (
        ("asleep", ctypes.c_int64),
        ("lock", ctypes.c_void_p),
        ("pool", ctypes.c_void_p),
        ("_rest", ctypes.c_char * 104),
    )


class _Shared(ctypes.Structure):
    """The structure `%Pool` of pool_ir.py; the slots of the helpers follow it in memory."""

    _fields_ = (
        ("word", _Apart),
        ("unfinished", _Apart),
        ("busy", _Apart),
        ("launch", ctypes.c_void_p),
        ("helpers", ctypes.c_int64),
        ("stopping", ctypes.c_int64),
        ("alive", ctypes.c_int64),
        ("_rest", ctypes.c_char * 96),
        ("caller", _Slot),
    )


class _Launch(ctypes.Structure):
    """The structure `%Launch` of pool_ir.py."""

    _fields_ = (
        ("pool", ctypes.c_void_p),
        ("function", ctypes.c_void_p),
        ("contexts", ctypes.POINTER(ctypes.c_void_p)),
        ("count", ctypes.c_int64),
    )


class PreparedLaunch(NamedTuple):
    """A launch for compiled code: the pool's function, its argument, and what lies there, which must be kept."""

    function: int
    address: int
    kept: Any


class Pool:
    """The threads of a launch: the calling thread and the helpers. A pool lives as long as the process.

    After a fork the child's pool has no helpers.

    Attributes:
        threads: the most threads of a launch, the caller and `threads - 1` helpers.
    """

    threads: int

    def __init__(self, threads: int) -> None:
        self.threads = threads
        helpers = threads - 1
        size, line = ctypes.sizeof(_Shared) + helpers * ctypes.sizeof(_Slot), ctypes.sizeof(_Apart)
        self._room = ctypes.create_string_buffer(size + line)
        self._at = -(-ctypes.addressof(self._room) // line) * line
        self._shared = _Shared.from_address(self._at)
        self._slots = (_Slot * helpers).from_address(self._at + ctypes.sizeof(_Shared))
        for slot in (self._shared.caller, *self._slots):
            slot.lock, slot.pool = _held_lock(), self._at
        keep_for_ever(self)
        started = _start_threads([ctypes.addressof(slot) for slot in self._slots])
        self._shared.alive = self._shared.helpers = started
        _state.made.append(self)
        on_fork(_state.begin_in_child)

    def bind(self, function: int, contexts: Sequence[int]) -> Callable[[], None]:
        """Prepare a launch: one call of a compiled function per context, made by the caller and the helpers.

        A launch returns when all calls have returned. While another thread uses the pool, the caller makes all calls.

        Args:
            function: address of `void function(void *context)`, in code that is never unloaded.
            contexts: one address per call; the pool does not read the memory there.

        Returns:
            A function that launches. With a single context it calls the compiled function without the pool.

        Raises:
            ValueError: there are no contexts.
        """
        if len(contexts) == 1:
            return partial(_FUNCTION(function), ctypes.c_void_p(contexts[0]))
        if not contexts:
            raise ValueError("a launch without contexts: there is nothing to call the function with")
        launch = self._launch(function, contexts)
        return partial(_code().launch, ctypes.byref(launch))  # holds a reference to the launch

    def launch(self, function: int, contexts: Sequence[int]) -> "PreparedLaunch":
        """Prepare a launch, as `bind` does, that compiled code makes: it calls `function` with `address`."""
        launch = self._launch(function, contexts)
        return PreparedLaunch(_code().address, ctypes.addressof(launch), launch)

    def _launch(self, function: int, contexts: Sequence[int]) -> _Launch:
        addresses = (ctypes.c_void_p * len(contexts))(*contexts)
        return _Launch(self._at, function, addresses, len(contexts))  # holds a reference to the addresses

    def stop(self) -> None:
        """End the helpers; later launches run only on the caller."""
        if not self._shared.helpers:
            return
        _code().stop(self._at)
        until = time.monotonic() + _LAST_TASKS
        while self._shared.alive and time.monotonic() < until:
            time.sleep(0.0002)

    def lose_helpers(self) -> None:
        """Drop the helpers and running launches, which a forked child does not inherit."""
        self._shared.helpers = self._shared.alive = self._shared.busy.value = 0


class _State:
    """The pools of this process."""

    def __init__(self) -> None:
        self.made: list[Pool] = []
        self.begin()

    def begin(self) -> None:
        self.shared: dict[int, Pool] = {}
        self.lock = threading.Lock()

    def begin_in_child(self) -> None:
        """Forget the parent's pools; make a new lock, as another thread of the parent may have held the old one."""
        for pool in self.made:
            pool.lose_helpers()
        self.begin()

    def stop(self) -> None:
        for pool in self.made:
            pool.stop()


_state = _State()
atexit.register(_state.stop)


def shared_pool(threads: int) -> Pool:
    """Return this process's pool with a number of threads; the first call makes it."""
    with _state.lock:
        if threads not in _state.shared:
            _state.shared[threads] = Pool(threads)
        return _state.shared[threads]


class _Code(NamedTuple):
    """The compiled functions of pool_ir.py: `launch` and `stop`, and the addresses of `helper` and of `launch`."""

    launch: Callable[[Any], None]
    stop: Callable[[Any], None]
    helper: int
    address: int


@cache
def _code() -> _Code:
    """Load the pool's code, for this process and its forks; compile it if the store does not have it."""
    store, key = shared_store(), key_of("pool")
    code = store.load(key)
    if code is None:
        store.save(key, code := machine_code(source()))
    launch, stop, helper = load(code, "launch", "stop", "helper")
    return _Code(_FUNCTION(launch), _FUNCTION(stop), helper, launch)


def _held_lock() -> int:
    """Make one of Python's locks, which can be used without the GIL, and acquire it; return its address.

    Raises:
        MemoryError: Python cannot make the lock.
    """
    make, acquire = ctypes.pythonapi.PyThread_allocate_lock, ctypes.pythonapi.PyThread_acquire_lock
    make.restype, acquire.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_int)
    lock = make()
    if not lock:
        raise MemoryError("no room for a lock of a pool's thread")
    acquire(lock, 1)
    return lock


def _start_threads(slots: Sequence[int]) -> int:
    """Start one helper per slot; return how many the system granted. Fewer helpers give the same results, slower."""
    start, failed = ctypes.pythonapi.PyThread_start_new_thread, ctypes.c_ulong(-1).value
    start.argtypes, start.restype = (ctypes.c_void_p, ctypes.c_void_p), ctypes.c_ulong
    helper = _code().helper if slots else 0
    with _signals_for_others():
        for started, slot in enumerate(slots):
            if start(helper, slot) == failed:
                return started
    return len(slots)


@contextlib.contextmanager
def _signals_for_others() -> Iterator[None]:
    """Block all signals but faults in threads started here: a helper's signal would not interrupt Python's sleep."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    faults = {getattr(signal, name) for name in _FAULTS if hasattr(signal, name)}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - faults)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

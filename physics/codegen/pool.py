"""Threads that share the work of a launch of compiled code; `pool_ir.py` says how, this file starts and ends them.

Helpers are threads without Python: they never take Python's global lock, and sleep while there is no work. A launch
releases the global lock; Python sees a signal such as Ctrl-C when the launch ends.

No thread is pinned to a core. On two cores, pinning the helper gained nothing; pinning the caller too, which is the
user's thread, made launches slower where other processes had the cores. On a quiet machine only the prototype was
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

from ..process.forking import on_fork
from .llvm import keep_for_ever, llvm, target_machine
from .pool_ir import source

_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # its calls release Python's lock
_FAULTS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGTRAP", "SIGSYS")
_LAST_TASKS = 1.0
"""Seconds that the end of the process waits for helpers that are still at work."""


class _Apart(ctypes.Structure):
    """`%Apart` of pool_ir.py."""

    _fields_ = (("value", ctypes.c_int64), ("_rest", ctypes.c_char * 120))


class _Slot(ctypes.Structure):
    """`%Slot` of pool_ir.py."""

    _fields_ = (
        ("asleep", ctypes.c_int64),
        ("lock", ctypes.c_void_p),
        ("pool", ctypes.c_void_p),
        ("_rest", ctypes.c_char * 104),
    )


class _Shared(ctypes.Structure):
    """`%Pool` of pool_ir.py; the slots of the helpers follow it."""

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
    """`%Launch` of pool_ir.py."""

    _fields_ = (
        ("pool", ctypes.c_void_p),
        ("function", ctypes.c_void_p),
        ("contexts", ctypes.POINTER(ctypes.c_void_p)),
        ("count", ctypes.c_int64),
    )


class Pool:
    """The threads of a launch: whoever calls, and helpers. It lives as long as the process; forks have no helpers.

    Attributes:
        threads: how many work on a launch at most: the caller and `threads - 1` helpers.
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
        """Prepare a launch: calls of a compiled function with every context, by the caller and the helpers.

        A launch returns when all calls have. While another thread has the pool, the caller makes all of them.

        Args:
            function: address of `void function(void *context)`, in code that is never unloaded.
            contexts: an address for each call. What is there is the business of whoever launches.

        Returns:
            What launches. With one context it calls the function, and the pool has no part in it.
        """
        if len(contexts) == 1:
            return partial(_FUNCTION(function), ctypes.c_void_p(contexts[0]))
        if not contexts:
            raise ValueError("a launch without contexts: there is nothing to call the function with")
        addresses = (ctypes.c_void_p * len(contexts))(*contexts)
        launch = _Launch(self._at, function, addresses, len(contexts))  # keeps the addresses
        return partial(_code().launch, ctypes.byref(launch))  # keeps the launch

    def stop(self) -> None:
        """End the helpers; from now on the caller does all."""
        if not self._shared.helpers:
            return
        _code().stop(self._at)
        until = time.monotonic() + _LAST_TASKS
        while self._shared.alive and time.monotonic() < until:
            time.sleep(0.0002)

    def lose_helpers(self) -> None:
        """Go on without the helpers and launches under way that stayed in another process."""
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
        """Forget the parent's pools, and its lock, which another of its threads may have held."""
        for pool in self.made:
            pool.lose_helpers()
        self.begin()

    def stop(self) -> None:
        for pool in self.made:
            pool.stop()


_state = _State()
atexit.register(_state.stop)


def shared_pool(threads: int) -> Pool:
    """Return this process's pool of so many threads; the first to ask makes it."""
    with _state.lock:
        if threads not in _state.shared:
            _state.shared[threads] = Pool(threads)
        return _state.shared[threads]


class _Code(NamedTuple):
    """The functions of pool_ir.py: two to call, and the address of what helpers do."""

    launch: Callable[[Any], None]
    stop: Callable[[Any], None]
    helper: int


@cache
def _code() -> _Code:
    """Compile the pool, for this process and those forked from it."""
    binding = llvm()
    for name in ("PyThread_acquire_lock", "PyThread_release_lock"):
        address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        binding.add_symbol(name, address)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(source()), target_machine())
    keep_for_ever(engine)
    engine.finalize_object()
    find = engine.get_function_address
    return _Code(_FUNCTION(find("launch")), _FUNCTION(find("stop")), find("helper"))


def _held_lock() -> int:
    """Make one of Python's locks, which need no Python to be used, and acquire it."""
    make, acquire = ctypes.pythonapi.PyThread_allocate_lock, ctypes.pythonapi.PyThread_acquire_lock
    make.restype, acquire.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_int)
    lock = make()
    if not lock:
        raise MemoryError("no room for a lock of a pool's thread")
    acquire(lock, 1)
    return lock


def _start_threads(slots: Sequence[int]) -> int:
    """Start a helper for every slot; return how many the system grants. A pool of fewer is slower, and right."""
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
    """Start threads that take no signals, except faults: a signal to a helper would not interrupt Python's sleep."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    faults = {getattr(signal, name) for name in _FAULTS if hasattr(signal, name)}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - faults)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

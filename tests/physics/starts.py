"""Taichi for tests that share it: a start makes every kernel load anew, for seconds each."""

from typing import Any

from taichi.lang import impl

import tumble
from tumble.physics.machine import runtime
from tumble.physics.machine.machine import default_threads
from tumble.physics.machine.runtime import Runtime, ensure_runtime, init_columns
from tumble.physics.machine.taichi_thread import in_taichis_thread, start_before_next

from ..widths import WIDTH

_columns: dict[str, Runtime] = {}
"""Precision -> the settings of the GPU driver; its kernels belong to Taichi's run time in `_started`."""
_started: list[Any] = []


def run_with(precision: str, lanes: int = WIDTH) -> None:
    """Have Taichi run with this precision and width, and one thread for each core; start it only where it does not."""
    wanted, current = (precision, lanes, default_threads(), False), ensure_runtime()
    if (current.precision, current.lanes, current.threads, current.columns) != wanted:
        tumble.init(precision=precision, lanes=lanes)


def run_in_columns(precision: str = "32", device: str = "cpu") -> None:
    """Have the GPU driver on the processor, beside a device; Taichi is started only if it has not gone on since.

    The CPU driver needs no Taichi in this process. So after tests with it, Taichi still has the kernels of the GPU
    driver, each of which it takes about ten seconds to trace: the settings of before are put in force again.
    """
    if _started != [impl.get_runtime()]:
        _columns.clear()
        _columns[precision] = init_columns(device=device, precision=precision)
        _started[:] = [impl.get_runtime()]
        return
    state = runtime._state
    with state.lock:
        runtime._leave(state.current)
        start_before_next(None)
        state.generation += 1
        settings = _columns.setdefault(
            precision, Runtime(device, precision, 1, default_threads(), state.generation, "cpu")
        )
        object.__setattr__(settings, "device", device)
        state.current, state.by_default = settings, False
    in_taichis_thread(_take_literals, settings.dtype)


def _take_literals(dtype: Any) -> None:
    """Let Taichi take numbers that are written in kernels in a precision, as if it were started with it."""
    impl.get_runtime().set_default_fp(dtype)
    impl.get_runtime().prog.config().default_fp = dtype

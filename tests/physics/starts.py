"""Taichi for tests that share it: a start makes every kernel load anew, for seconds each."""

from typing import Any

from taichi.lang import impl

import tumble
from tumble.physics import runtime
from tumble.physics.machine import default_threads
from tumble.physics.runtime import Runtime, ensure_runtime, init_columns
from tumble.physics.taichi_thread import start_before_next

from ..widths import WIDTH

_kept: dict[str, tuple[Runtime, Any]] = {}
"""Precision -> the settings of the GPU driver that Taichi was started for, and Taichi's own run time since then."""


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
    settings, started = _kept.get(precision, (None, None))
    if settings is None or started is not impl.get_runtime():
        settings = init_columns(device=device, precision=precision)
        _kept[precision] = settings, impl.get_runtime()
        return
    state = runtime._state
    with state.lock:
        runtime._leave(state.current)
        start_before_next(None)
        object.__setattr__(settings, "device", device)
        state.current, state.by_default = settings, False

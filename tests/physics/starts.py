"""Taichi for tests that share it: a start makes every kernel load anew, for seconds each."""

import tumble
from tumble.physics.process.machine import default_threads
from tumble.physics.process.runtime import ensure_runtime

from ..widths import WIDTH


def run_with(precision: str, lanes: int = WIDTH) -> None:
    """Have Taichi run with this precision and width, and one thread for each core; start it only where it does not."""
    wanted, runtime = (precision, lanes, default_threads(), False), ensure_runtime()
    if (runtime.precision, runtime.lanes, runtime.threads, runtime.columns) != wanted:
        tumble.init(precision=precision, lanes=lanes)

"""Taichi for tests that share it: a start makes every kernel load anew, for seconds each."""

import tumble
from tumble.physics.runtime import default_threads, ensure_runtime

from ..warm_up import WIDTH


def run_with(precision: str) -> None:
    """Have Taichi run with this precision and the settings that tests have by default; start it only if it does not."""
    runtime = ensure_runtime()
    if (runtime.precision, runtime.lanes, runtime.threads, runtime.columns) != (
        precision,
        WIDTH,
        default_threads(),
        False,
    ):
        tumble.init(precision=precision)

"""Interrupts from the keyboard that wait for the end of a few statements, which must all be executed or none.

Python handles a signal between two instructions of the main thread; one that comes during a launch, as soon as that is
over. So code that moves a batch and then notes that it has moved could leave the first without the second.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Handle a Ctrl-C that comes inside of this context at its end, by the handler that was there before.

    Only the main thread is ever interrupted, so elsewhere nothing is done. A program that ignores the signal, or leaves
    it to the system, keeps its handler.
    """
    handler = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if not callable(handler):
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            handler(*came[-1])

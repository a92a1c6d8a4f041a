"""Interrupts from the keyboard for tests: after a while, or the moment a launch is over."""

import contextlib
import signal
import threading

import pytest


@contextlib.contextmanager
def interrupted(seconds):
    """What is inside is interrupted after so many seconds, and ends with that."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("only the main thread is interrupted")
    main = threading.main_thread().ident
    timer = threading.Timer(seconds, lambda: signal.pthread_kill(main, signal.SIGINT))
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def interrupted_after_launch(monkeypatch, kind, method, number=1):
    """The interrupt comes during a launch: it is handled as soon as that is over, before anything else.

    Args:
        monkeypatch: pytest's.
        kind: the class that launches.
        method: its method that does.
        number: which launch.
    """
    launch, count = getattr(kind, method), [0]

    def launch_and_interrupt(*arguments, **options):
        launch(*arguments, **options)
        count[0] += 1
        if count[0] == number:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patched:
        patched.setattr(kind, method, launch_and_interrupt)
        with pytest.raises(KeyboardInterrupt):
            yield
    assert count[0] >= number

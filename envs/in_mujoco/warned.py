"""MuJoCo's warnings: silent if they are reported as faults, else shown once."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import mujoco

_FAULTS = ("Nan, Inf or huge value", "Too many contacts", "arena memory")
"""Parts of the messages that `MujocoWorld.faults` reports."""
_shown: set[str] = set()


@contextmanager
def heard() -> Iterator[None]:
    """Keep MuJoCo from printing and logging its warnings; pass on the ones that are not reported as faults."""
    messages: dict[str, None] = {}
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: messages.setdefault(message.partition(" Time = ")[0]))
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)
    for message in messages:
        if message not in _shown and not any(part in message for part in _FAULTS):
            _shown.add(message)
            warnings.warn(f"MuJoCo: {message}", RuntimeWarning, stacklevel=4)

"""The lock of a run folder: one process at a time trains there.

The operating system holds the lock (`flock`; on Windows `msvcrt.locking`) on the run's file `lock` and releases it
when the process ends, however it ends: a lock that a killed process leaves does not block. The file says who holds it,
for the message to others, and stays when it is released. Where the file system has no locks, as some network file
systems, a warning says so and training goes on without.
"""

import errno
import json
import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..physics.machine.disk import open_own
from ..physics.machine.forking import on_fork
from .errors import TumbleUserError

NAME = "lock"
HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
_FAR = 1 << 30  # the byte that is locked on Windows, where no process can read one that is locked

logger = logging.getLogger("tumble")
_held: list[BinaryIO] = []  # files of the locks that this process holds


class LockedError(TumbleUserError, RuntimeError):
    """A run folder in which another process trains; the message names the process and what to do."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a run folder, which must exist, inside the block.

    Raises:
        LockedError: Another process, or another thread of this one, holds it.
        OSError: The file cannot be written, or is a link.
    """
    path = folder / NAME
    with os.fdopen(open_own(path, os.O_RDWR), "r+b", buffering=0) as file:
        try:
            _take(file)
        except OSError as error:
            if error.errno in HELD:
                raise LockedError(_refusal(folder, file)) from None
            if error.errno not in NO_LOCKS:
                raise
            logger.warning(
                "%s: the file system has no locks (%s); start no second training there", path, error.strerror
            )
        on_fork(_close_all)
        _held.append(file)
        try:
            file.truncate()
            file.write(json.dumps(_myself()).encode() + b"\n")
            yield
        finally:
            _held.remove(file)


def _take(file: BinaryIO) -> None:
    """Lock a file, without waiting; OSError if another has locked it."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        file.seek(_FAR)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        file.seek(0)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _close_all() -> None:
    """Close the files in a forked process: it would hold the locks, even after the process that took them has died."""
    for file in _held:
        with suppress(OSError):
            file.close()


def _myself() -> dict[str, str | int]:
    return {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}


def _refusal(folder: Path, file: BinaryIO) -> str:
    """Return who holds the lock of a folder, and what to do."""
    try:
        holder = json.loads(file.read(1000))
        pid, host, since = int(holder["pid"]), str(holder["host"]), str(holder["since"])
    except (OSError, ValueError, KeyError, TypeError):  # between the lock and the words
        return f"{folder}: another process is training in this folder: wait until it ends, or choose another --out"
    here = host == socket.gethostname()
    place = "this process" if here and pid == os.getpid() else f"process {pid} on {'this machine' if here else host}"
    stop = f"stop it, which saves ({f'kill {pid}' if here else 'Ctrl-C there'})"
    remedy = f"wait until it ends, {stop}, or choose another --out"
    return f"{folder}: {place} is training in this folder since {since}: {remedy}"

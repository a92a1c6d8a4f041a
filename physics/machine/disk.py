"""Files in folders of unknown origin: no pipe or device is read, and writing follows no link out of a folder.

Files whose contents this process executes must be its user's, and writable by no other user.

Headers of archives say how large their contents are. That is compared with the file before memory is allocated.
"""

import contextlib
import errno
import math
import os
import shutil
import stat
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .memory import available_memory

if TYPE_CHECKING:
    import numpy as np

LARGEST_TEXT = 256 << 20
"""Bytes of a file of text; a learning curve of a million lines has about as many."""
UNPACKED = 1 << 30
"""Bytes that a packed archive may unpack to, whatever its size."""
PACKED_BY = 100
"""A multiple of its size that a packed archive may unpack to beyond that; arrays seldom reach ten."""
UNFINISHED = ".writing"
"""The part of a name by which `replacing` marks unfinished files."""

_NO_LINK, _NO_WAIT = getattr(os, "O_NOFOLLOW", 0), getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_WORK, _UNLOCKED = "tumble-work-", 60.0
"""The names of work folders, and seconds for which one may be without a lock."""


def read_regular(path: str | os.PathLike, largest: int = LARGEST_TEXT) -> bytes:
    """Return the bytes of a regular file.

    Raises:
        OSError: it is missing, no regular file, or larger than `largest` bytes.
    """
    descriptor = os.open(path, os.O_RDONLY | _NO_WAIT | _BINARY)
    try:
        status = _require_regular(path, descriptor)
        if status.st_size > largest:
            raise OSError(errno.EFBIG, f"it has {status.st_size:,} bytes, and {largest:,} are the most", str(path))
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(largest)
    finally:
        os.close(descriptor)


def require_regular(path: str | os.PathLike) -> int:
    """Return the bytes of a regular file; OSError for a pipe or a device, which is not waited for."""
    descriptor = os.open(path, os.O_RDONLY | _NO_WAIT | _BINARY)
    try:
        return _require_regular(path, descriptor).st_size
    finally:
        os.close(descriptor)


def open_own(path: str | os.PathLike, flags: int) -> int:
    """Open a file for writing, make it if it is absent, and return its descriptor; a link is refused.

    Args:
        path: of the file.
        flags: such as `os.O_RDWR`.

    Raises:
        OSError: it cannot be written; it is a link, a pipe or a device; or it has a second name.
    """
    try:
        descriptor = os.open(path, flags | os.O_CREAT | _NO_LINK | _NO_WAIT | _BINARY, 0o666)
    except OSError as error:
        raise (_link(path) if os.path.islink(path) else error) from None
    try:
        if _require_regular(path, descriptor).st_nlink > 1:
            raise OSError(errno.EMLINK, "it has another name, in another place perhaps; remove it", str(path))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def own_folder(path: Path) -> Path:
    """Make a folder, if it is absent, and return it; OSError if it is a link, which may lead to another place."""
    path.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        raise _link(path)
    return path


@contextlib.contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """Yield a new, empty file beside `path`, which takes its place if the block succeeds, and is removed if not.

    Its name is random, and making it fails if there is anything of that name, such as a link. A link at `path` is
    replaced, not followed.
    """
    path = Path(path)
    unfinished = path.with_name(f".{os.urandom(8).hex()}{UNFINISHED}{path.suffix}")
    try:
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o666))
        yield unfinished
        os.replace(unfinished, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)


@contextlib.contextmanager
def work_folder() -> Iterator[Path]:
    """Yield a new folder for temporary files, which is removed afterwards.

    Folders that killed processes left are removed first: this user's folders that no process has locked.
    """
    _remove_left()
    with tempfile.TemporaryDirectory(prefix=_WORK, ignore_cleanup_errors=True) as name:
        lock = _lock_of(name)
        try:
            yield Path(name)
        finally:
            if lock is not None:
                os.close(lock)


def _remove_left() -> None:
    """Remove work folders that no process uses; one that was made just now may wait for its lock."""
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(_WORK) and entry.is_dir(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                if not other_owner(status) and time.time() - status.st_mtime > _UNLOCKED:
                    lock = _lock_of(entry.path)
                    if lock is not None:
                        shutil.rmtree(entry.path, ignore_errors=True)
                        os.close(lock)


def _lock_of(folder: str) -> int | None:
    """Lock a folder and return the descriptor; None if another process has, or where folders cannot be locked."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    descriptor = os.open(folder, os.O_RDONLY | _NO_LINK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def check_archive(file: str | os.PathLike | IO[bytes], packed: bool = False) -> None:
    """Refuse a zip archive whose header declares more than its file can hold; nothing is unpacked.

    Args:
        file: of the archive.
        packed: whether its entries may be compressed; torch's and SB3's are not.

    Raises:
        ValueError: it declares too much.
        OSError, zipfile.BadZipFile: it cannot be read, or is no archive.
    """
    if not hasattr(file, "read"):
        require_regular(file)
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        declared = sum(entry.file_size for entry in entries)
        there = archive.fp.seek(0, os.SEEK_END)  # type: ignore[union-attr]
    most = min(max(UNPACKED, PACKED_BY * there), available_memory()) if packed else there
    if declared > most:
        raise ValueError(f"its header declares {declared:,} bytes in {there:,}, and {most:,.0f} are the most")


def check_arrays(path: str | os.PathLike, packed: bool = False) -> None:
    """Refuse an .npz file if an array's header declares another size than its entry has; errors: `check_archive`'s."""
    check_archive(path, packed)
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            with archive.open(entry) as file:
                shape, dtype = _header(file)
                there = entry.file_size - file.tell()
            if math.prod(shape) * dtype.itemsize != there:
                raise ValueError(f"{entry.filename}: its header declares {shape} {dtype}, and {there:,} bytes follow")


def _header(file: IO[bytes]) -> "tuple[tuple[int, ...], np.dtype]":
    """Return shape and dtype of an array in numpy's format; ValueError if it is another file."""
    from numpy.lib import format as npy

    stream: Any = file
    version = npy.read_magic(stream)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"arrays of format {version} are not read")
    shape, _, dtype = readers[version](stream)
    return shape, dtype


def _require_regular(path: str | os.PathLike, descriptor: int) -> os.stat_result:
    status = os.fstat(descriptor)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "this is a device or a pipe, not a file", str(path))
    return status


def _link(path: str | os.PathLike) -> OSError:
    return OSError(errno.ELOOP, "this is a link, and nothing is written to other places; remove it", str(path))


def other_owner(status: os.stat_result) -> str:
    """Return the owner of a file, if that is not the effective user; "" also on systems without such users."""
    if not hasattr(os, "geteuid") or status.st_uid == os.geteuid():
        return ""
    return f"another user (number {status.st_uid})"


def others_may_write(status: os.stat_result) -> bool:
    """True if the group or all may write to a file, as far as modes mean anything on this system."""
    return hasattr(os, "geteuid") and bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))

"""Files on disk that one process computes and later ones use: machine code here, fields of meshes in `geometry.baked`.

A file is named by its key and consists of a head (magic word, format version, length, SHA-256 of key and contents) and
the contents. It appears by a rename, so a killed process leaves a temporary file at worst, and a reader finds a
complete file or none. The file is not synced to disk; a power failure may leave holes in it, which the hash detects.

This process executes the machine code that it reads here. So a file is read only if it belongs to the effective user
and no other user can write to it. The opened descriptor is checked, as a path could be replaced between check and read.
The folder must meet the same conditions, so that no other user can remove or rename files. The hash detects damage, not
malice: anyone who can write a file can compute it.

The time of the last use of a file is its modification time, as many systems do not record reads.
"""

import contextlib
import functools
import hashlib
import os
import re
import stat
import struct
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..disk import other_owner, others_may_write

VARIABLE = "TUMBLE_CACHE"
"""Environment variable that names the folder; 0 switches the cache off."""
LARGEST = 1 << 30
"""Bytes of all files together. The stages of a whole test suite are some hundreds of files of 5 to 300 kB."""
KEPT_OF_FULL = 0.75
"""The share of LARGEST that remains after a removal; below 1, so that removals are rare."""
MANY = 1000
"""The number of files up to which their sizes are not added up: they cannot exceed 0.3 GB."""
STALE_AFTER = 3600.0
"""The age in seconds from which a temporary file counts as abandoned; writing one takes milliseconds."""
DAY = 86400.0

_HEAD = struct.Struct("<8sIQ32s")
_WORD, _VERSION = b"TUMBLEMC", 1
_KEY = re.compile(r"[0-9a-f]{1,128}")
_TEMPORARY = re.compile(_KEY.pattern + r"\.[0-9a-f]{16}\.part")
_BINARY, _NO_LINK = getattr(os, "O_BINARY", 0), getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | _BINARY | _NO_LINK | getattr(os, "O_NONBLOCK", 0)  # a named pipe would wait for its writer
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY | _NO_LINK


class DamagedError(Exception):
    """A cache file whose contents differ from the saved ones; the message says why."""


class ForeignError(Exception):
    """A cache file that belongs to another user; the message says to whom."""


def default_folder() -> Path | None:
    """Return the folder of machine code; None if the environment switches the cache off or names no folder."""
    named = os.environ.get(VARIABLE)
    if named:
        return None if named == "0" else Path(named)
    for variable, below in (("XDG_CACHE_HOME", "tumble/objects"), ("HOME", ".cache/tumble/objects")):
        base = os.environ.get(variable, "")
        if os.path.isabs(base):  # XDG says so: a relative one would be another folder in every working directory
            return Path(base, below)
    return None


def shared_store() -> "Store":
    """Return the store of this process, in the default folder."""
    return _store_in(default_folder())


@functools.cache
def _store_in(folder: Path | None) -> "Store":
    store = Store(folder)
    if folder is None and os.environ.get(VARIABLE) != "0":
        store.warn_not_kept("neither XDG_CACHE_HOME nor HOME names a folder")
    return store


@dataclass(frozen=True)
class Kind:
    """The kind of files in a store.

    Attributes:
        suffix: of its files.
        name: the name of its files, in a warning.
        again: the consequence at every start if nothing can be kept, in a warning.
        repair: the consequence if a file is damaged, in a warning.
        many: the number of files up to which their sizes are not added up, at most MANY.
    """

    suffix: str
    name: str
    again: str
    repair: str
    many: int = sys.maxsize


MACHINE_CODE = Kind("code", "machine code", "every start compiles again", "machine code is compiled again, once")


class Store:
    """Files of one kind in a folder, each named by its key (hexadecimal digits).

    No method raises for the state of a disk: a file that cannot be read is made again, one that cannot be written is
    not kept, and one warning says so.
    """

    def __init__(self, folder: Path | None, kind: Kind = MACHINE_CODE) -> None:
        """Make a store without touching the disk; a folder of None means no cache."""
        self.folder = None if folder is None else os.path.abspath(folder)
        self.kind = kind
        self._file = re.compile(_KEY.pattern + rf"\.{kind.suffix}")
        self._opened = self._crowded = False
        self._warned: set[str] = set()

    def load(self, key: str) -> bytes | None:
        """Return the verified contents of a key's file; None if there is no file, or none to trust."""
        path = self._path(key)
        if path is None or not self._open():
            return None
        try:
            return unpack(key, read_trusted(path))
        except ForeignError as error:
            self._warn_foreign(path, error)
        except DamagedError as error:
            with contextlib.suppress(OSError):
                os.unlink(path)
            self._warn("damaged", f"{path} is not used: it {error}; {self.kind.repair}")
        except OSError:
            pass
        return None

    def has(self, key: str) -> bool:
        """Return True if there is a file of a key; whether it can be trusted, `load` finds out."""
        path = self._path(key)
        return path is not None and os.path.isfile(path)

    def save(self, key: str, contents: bytes) -> None:
        """Write a key's file, atomically; if that fails, warn once and go on."""
        path = self._path(key)
        if path is None or self.folder is None:
            return
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            if not self._open():
                return
            with contextlib.suppress(FileNotFoundError):
                _require_own(os.lstat(path))  # another user's file is not replaced
            write_at_once(path, pack(key, contents))
            if self._crowded:
                self._crowded = False
                with contextlib.suppress(OSError):  # the saved file stays even if removing others fails
                    self._make_room()
        except ForeignError as error:
            self._warn_foreign(path, error)
        except OSError as error:
            self.warn_not_kept(f"{self.folder}: {error.strerror or error}")

    def warn_not_kept(self, reason: str, remedy: str = f"let {VARIABLE} name a folder that can be written to") -> None:
        """Warn once that nothing is cached, why, and what helps."""
        self._warn("kept", f"{self.kind.name} is not kept ({reason}), so {self.kind.again}; {remedy}")

    def _path(self, key: str) -> str | None:
        if not _KEY.fullmatch(key):
            raise ValueError(f"the key {key!r} is not 1 to 128 of the digits 0-9 and a-f")
        return None if self.folder is None else os.path.join(self.folder, f"{key}.{self.kind.suffix}")

    def _open(self) -> bool:
        """Return True if the folder exists and can be trusted; checked at every use. At the first, tidy the folder."""
        assert self.folder is not None
        try:
            status = os.stat(self.folder)
        except OSError:
            return False  # not made yet; if it cannot be made, `save` says so
        if owner := other_owner(status):
            self.warn_not_kept(f"{self.folder} belongs to {owner}", f"let {VARIABLE} name a folder of yours")
            return False
        if others_may_write(status):
            reason = f"users other than you can write to {self.folder}"
            self.warn_not_kept(reason, f"chmod go-w {self.folder}, or let {VARIABLE} name another folder")
            return False
        if not self._opened:
            self._opened = True
            with contextlib.suppress(OSError):
                self._tidy()
        return True

    def _tidy(self) -> None:
        """Remove temporary files of killed processes; note if there are so many files that sizes must be added up."""
        now = time.time()
        for path, status in self._ours(_TEMPORARY):
            if now - status.st_mtime > STALE_AFTER:
                with contextlib.suppress(OSError):
                    os.unlink(path)
        self._crowded = len(os.listdir(self.folder)) > min(MANY, self.kind.many)

    def _make_room(self) -> None:
        """Remove the least recently used files if all together exceed LARGEST."""
        files = sorted(self._ours(self._file), key=lambda file: file[1].st_mtime)
        size = sum(status.st_size for _, status in files)
        if size <= LARGEST:
            return
        for path, status in files:
            if size <= LARGEST * KEPT_OF_FULL:
                break
            size -= status.st_size
            with contextlib.suppress(OSError):  # another process may remove it first
                os.unlink(path)

    def _ours(self, name: re.Pattern[str]) -> Iterator[tuple[str, os.stat_result]]:
        """Yield path and status of this user's files whose names match; a folder named by the user may hold others."""
        assert self.folder is not None
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if name.fullmatch(entry.name):
                    with contextlib.suppress(FileNotFoundError):  # another process has just removed it
                        status = entry.stat(follow_symlinks=False)
                        if not other_owner(status):
                            yield entry.path, status

    def _warn_foreign(self, path: str, error: ForeignError) -> None:
        self._warn("foreign", f"{path} is not used: it {error}; remove it, and {self.kind.name} is kept there again")

    def _warn(self, what: str, text: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            warnings.warn(f"Tumble: {text}", RuntimeWarning, stacklevel=3)


def pack(key: str, contents: bytes) -> bytes:
    """Return the contents of a file: the head and the contents."""
    return _HEAD.pack(_WORD, _VERSION, len(contents), _hash(key, contents)) + contents


def unpack(key: str, data: bytes) -> bytes:
    """Return the contents of a file that was saved under this key.

    Raises:
        DamagedError: the file is not as it was saved.
    """
    if len(data) < _HEAD.size:
        raise DamagedError("ends before its head does")
    word, version, length, found = _HEAD.unpack_from(data)
    if (word, version) != (_WORD, _VERSION):
        raise DamagedError("has the head of another format")
    if len(data) != _HEAD.size + length:
        raise DamagedError("is not as long as its head says")
    contents = data[_HEAD.size :]
    if _hash(key, contents) != found:
        raise DamagedError("has not the hash that it was saved with")
    return contents


def _hash(key: str, contents: bytes) -> bytes:
    """Return the SHA-256 of key and contents, so that a file renamed to another key is detected."""
    summed = hashlib.sha256(key.encode() + b"\0")
    summed.update(contents)
    return summed.digest()


def read_trusted(path: str) -> bytes:
    """Read a file that only this user can have written; record its use, at most once a day.

    Raises:
        ForeignError: the file belongs to another user.
        DamagedError: it is no regular file (a link, for example), others can write to it, or it is too large.
        OSError: it does not exist, or cannot be read.
    """
    try:
        descriptor = os.open(path, _READ)
    except OSError:
        _require_trust(os.lstat(path))  # raises for a link, which O_NOFOLLOW refuses to open
        raise
    try:
        status = os.fstat(descriptor)
        _require_trust(status)
        if status.st_size > LARGEST:
            raise DamagedError("is larger than all files together may be")  # a length that no memory would hold
        now = time.time()
        if abs(now - status.st_mtime) > DAY:
            with contextlib.suppress(OSError):  # a read-only disk can still be read
                os.utime(descriptor if os.utime in os.supports_fd else path, (now, now))
        with open(descriptor, "rb", buffering=0, closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def write_at_once(path: str, data: bytes) -> None:
    """Write a file atomically: readers see the complete file, or none.

    Raises:
        OSError: it cannot be written; no part of it is left.
    """
    temporary = f"{os.path.splitext(path)[0]}.{os.urandom(8).hex()}.part"
    descriptor = os.open(temporary, _MAKE, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:  # also an interrupt from the keyboard
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _require_own(status: os.stat_result) -> None:
    """Raise ForeignError if a file belongs to another user."""
    if owner := other_owner(status):
        raise ForeignError(f"belongs to {owner}")


def _require_trust(status: os.stat_result) -> None:
    """Raise ForeignError or DamagedError unless this is a regular file that only this user can write to."""
    _require_own(status)
    if not stat.S_ISREG(status.st_mode):
        raise DamagedError("is no regular file")
    if others_may_write(status):
        raise DamagedError("could be written to by users other than you")

"""Taichi's cache of compiled kernels: whether it can be used, said before Taichi opens it.

Taichi trusts it. A folder that cannot be made ends the process as it leaves, a wrong number in the head of a file ends
it as it starts, and the lock of a process that was killed stays for ever. So the folder is tried out, the files are
looked over, and what is damaged is removed; where there can be no cache, kernels are compiled anew in every process.

Layout of the files: taichi/compilation_manager and taichi/codegen/compiled_kernel_data.cpp of Taichi 1.7.4.
"""

import contextlib
import hashlib
import os
import struct
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VARIABLE = "TI_OFFLINE_CACHE_FILE_PATH"
_INDEX, _LOCK, _CHECKED = "ticache.tcb", "ticache.lock", "tumble.checked"
_HEAD = struct.Struct("<4siQQ")  # "TIC", architecture, length of the description, length of the code
_HASH_LENGTH = 64
_ARCHITECTURES = (0, 1, 3)  # x64, arm64, cuda
_KEY_LENGTH = 65
_STALE_AFTER = 30.0
"""Seconds after which nobody can still be writing: a kernel takes a hundredth."""
LARGEST_CACHE = 1 << 30
"""Bytes, for some three hundred kernels. Taichi's own limit is thirty: whoever uses both precisions, both solvers and
several widths would find kernels removed that he needs again."""


@contextlib.contextmanager
def a_home_for_taichi() -> Iterator[None]:
    """While Taichi is loaded or started: it asserts that HOME or XDG_CACHE_HOME is set, and ends the process if not."""
    needed = os.name == "posix" and not {"HOME", "XDG_CACHE_HOME"} & set(os.environ)
    if needed:
        os.environ["XDG_CACHE_HOME"] = tempfile.gettempdir()
    try:
        yield
    finally:
        if needed:
            os.environ.pop("XDG_CACHE_HOME", None)


def prepare() -> None:
    """Once per process, before Taichi is loaded: no question to its server for newer versions, and a home."""
    os.environ.setdefault("TI_SKIP_VERSION_CHECK", "ON")
    os.environ.setdefault("ENABLE_TAICHI_HEADER_PRINT", "0")
    if os.name == "posix" and not {"HOME", "XDG_CACHE_HOME"} & set(os.environ):
        with a_home_for_taichi():
            import taichi  # noqa: F401  (heavy, but later nobody could import it)


def folder() -> Path | None:
    """Where the cache lies, apart from other programs', who tidy up in theirs; None where there is no place for it."""
    for variable, below in ((VARIABLE, ""), ("XDG_CACHE_HOME", "tumble/kernels"), ("HOME", ".cache/tumble/kernels")):
        if os.environ.get(variable):
            return Path(os.environ[variable], below)
    return None


def problem(place: Path | None) -> str:
    """Why there can be no cache at a place; "" where there can. Removes what is damaged there, and stale locks."""
    if place is None:
        return "neither HOME nor XDG_CACHE_HOME is set"
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            pass
        _release_stale_lock(place)
        begun = time.time()
        bad = damaged(place)
        if bad and _lock(place):
            try:
                bad = damaged(place)  # nobody is writing now
                for path in [*bad, place / _INDEX] if bad else []:  # Taichi writes no kernel again that is in its index
                    path.unlink(missing_ok=True)
            finally:
                (place / _LOCK).unlink(missing_ok=True)
            if bad:
                _warn(f"{bad[0]} is damaged and was removed; kernels are compiled anew, once")
        (place / _CHECKED).touch()
        os.utime(place / _CHECKED, (begun, begun))
    except OSError as error:
        return f"{place}: {error.strerror or error}"
    return ""


def settings() -> dict[str, Any]:
    """Arguments of `ti.init`: that there is a cache and where, or none (TI_OFFLINE_CACHE=0, or no place for it)."""
    unwanted, place = os.environ.get("TI_OFFLINE_CACHE") == "0", folder()
    unusable = "" if unwanted else problem(place)
    if unusable:
        _warn(
            f"there is no cache of compiled kernels ({unusable}), so that every start compiles them anew, for some "
            f"15 seconds; let {VARIABLE} name a folder that can be written to"
        )
    if not (unwanted or unusable):
        return {
            "offline_cache": True,
            "offline_cache_file_path": str(place),
            "offline_cache_max_size_of_files": LARGEST_CACHE,
        }
    import taichi

    # Taichi makes the folder all the same, when the process ends; this one is there, and holds no cache
    return {"offline_cache": False, "offline_cache_file_path": str(Path(taichi.__file__).parent)}


def damaged(place: Path) -> list[Path]:
    """Files of a cache that Taichi must not read, by their heads and, where new since the last look, their contents."""
    try:
        since = (place / _CHECKED).stat().st_mtime
    except OSError:
        since = 0.0
    bad = [path for path in sorted(place.glob("*.tic")) if not sound_kernel(path, since)]
    index = place / _INDEX
    return bad + ([index] if index.exists() and not sound_index(index.read_bytes()) else [])


def sound_kernel(path: Path, since: float = 0.0) -> bool:
    """Whether a file is as long as its head says and, written after `since`, has the hash that it ends with."""
    try:
        status = path.stat()
        with path.open("rb") as file:
            head = file.read(_HEAD.size)
            if len(head) < _HEAD.size:
                return False
            word, architecture, *lengths = _HEAD.unpack(head)
            if word != b"TIC\0" or architecture not in _ARCHITECTURES:
                return False
            if _HEAD.size + sum(lengths) + _HASH_LENGTH != status.st_size:
                return False
            if status.st_mtime <= since:
                return True
            return hashlib.sha256(file.read(sum(lengths))).hexdigest().encode() == file.read()
    except FileNotFoundError:  # another process has just removed it
        return True


def sound_index(data: bytes) -> bool:
    """Whether the list of kernels can be read: its length, and for each kernel its key twice and three numbers."""
    if len(data) < 32 or struct.unpack_from("<Q", data)[0] != len(data):
        return False
    (count,) = struct.unpack_from("<Q", data, 22)
    entry = 2 * (8 + _KEY_LENGTH) + 24
    if len(data) != 30 + count * entry:
        return False
    starts = range(30, len(data), entry)
    return all(
        struct.unpack_from("<Q", data, at + k * (8 + _KEY_LENGTH))[0] == _KEY_LENGTH for at in starts for k in (0, 1)
    )


def _lock(place: Path, patience: float = 2.0) -> bool:
    """Take the lock that Taichi takes while it writes."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        try:
            os.close(os.open(place / _LOCK, os.O_CREAT | os.O_EXCL))
            return True
        except FileExistsError:
            time.sleep(0.02)
    return False


def _release_stale_lock(place: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        if time.time() - (place / _LOCK).stat().st_mtime > _STALE_AFTER:
            (place / _LOCK).unlink()


_warned: set[str] = set()


def _warn(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        warnings.warn(f"Tumble: {text}", RuntimeWarning, stacklevel=2)

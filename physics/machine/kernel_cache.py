"""Taichi's cache of compiled kernels: where it lies, and if it can be trusted.

It serves Taichi in the user's own process: on a GPU, and where nothing can be compiled apart. Kernels of a CPU are kept
elsewhere (`codegen.store`).

Taichi executes the files in it, and does not check their owner. So a folder is used only if it belongs to the
effective user, no other user can write to it, and all files in it are that user's. Taichi writes kernels when it is
freed or restarted, not when they are compiled, and ends the process if it cannot write; so nothing is kept of a
process that is killed, and a folder that can only be read is not used.
"""

import contextlib
import os
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from .disk import other_owner, others_may_write

VARIABLE = "TI_OFFLINE_CACHE_FILE_PATH"
_LOCK, _STALE_AFTER = "ticache.lock", 30.0
"""Taichi's lock, and seconds after which no process can still be writing: a kernel takes a hundredth."""
LARGEST_CACHE = 1 << 30
"""Bytes, for some three hundred kernels. Taichi's own limit is thirty: with both precisions, both solvers and several
widths, kernels would be removed that are needed again."""


def folder() -> Path | None:
    """Return the folder of the cache, apart from other programs', who tidy up in theirs; None if there is no place."""
    for variable, below in ((VARIABLE, ""), ("XDG_CACHE_HOME", "tumble/kernels"), ("HOME", ".cache/tumble/kernels")):
        if os.environ.get(variable):
            return Path(os.environ[variable], below)
    return None


def problem(place: Path | None) -> str:
    """Return why there can be no cache at a place; "" if there can.

    Makes the folder, readable only by this user. Removes the lock of a process that was killed, for which all later
    ones would have no cache.
    """
    if place is None:
        return "neither HOME nor XDG_CACHE_HOME is set"
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if reason := _distrusted(place):
            return reason
        with tempfile.TemporaryFile(dir=place):
            pass
        with contextlib.suppress(FileNotFoundError):
            if time.time() - (place / _LOCK).stat().st_mtime > _STALE_AFTER:
                (place / _LOCK).unlink()
    except OSError as error:
        return f"{place}: {error.strerror or error}"
    return ""


def _distrusted(place: Path) -> str:
    """Return why code from a folder must not be executed; "" if it may."""
    status = place.stat()
    if owner := other_owner(status):
        return f"{place} belongs to {owner}"
    if others_may_write(status):
        return f"users other than you can write to {place}: remove its contents, and chmod go-w {place}"
    with os.scandir(place) as entries:
        for entry in entries:
            if owner := other_owner(entry.stat(follow_symlinks=False)):
                return f"{entry.path} belongs to {owner}: remove it"
    return ""


def settings() -> dict[str, Any]:
    """Arguments of `ti.init`: the folder of the cache, or no cache (TI_OFFLINE_CACHE=0, or no folder for it)."""
    unwanted, place = os.environ.get("TI_OFFLINE_CACHE") == "0", folder()
    unusable = "" if unwanted else problem(place)
    if unusable:
        _warn(
            f"there is no cache of compiled kernels ({unusable}), so that every start compiles them again, for some "
            f"15 seconds; let {VARIABLE} name a folder that only you can write to"
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


_warned: set[str] = set()


def _warn(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        warnings.warn(f"Tumble: {text}", RuntimeWarning, stacklevel=2)

"""Opening files of unknown origin: regular files of a bounded size, and nothing else.

A path may lead to a folder, to a pipe without a writer, to a device without an end, or round in circles. Each is
an error that says so, before a byte is read.
"""

import os
import stat
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

LARGEST_FILE = 128 << 20
"""Bytes of a mesh file; a triangle takes some fifty, and readers need several times the room of the file."""


class MeshFileError(ValueError):
    """A file of a mesh that is missing, broken, too large, or no file at all."""


def read_file(path: str | os.PathLike, largest: int = LARGEST_FILE) -> bytes:
    """The bytes of a regular file.

    Raises:
        MeshFileError: with the reason; the path is for the caller to name.
    """
    size_of_file(path, largest)
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            _require_regular(os.fstat(handle), largest)  # the file may have been replaced since it was checked
            return file.read(largest)
    except OSError as error:
        raise MeshFileError(f"it cannot be read: {error.strerror or error}") from error


def size_of_file(path: str | os.PathLike, largest: int = LARGEST_FILE) -> int:
    """Bytes of a regular file, which is not opened.

    Raises:
        MeshFileError: it is missing, no regular file, or larger than `largest`.
    """
    try:
        status = os.stat(path)
    except FileNotFoundError as error:
        raise MeshFileError("there is no such file") from error
    except OSError as error:
        raise MeshFileError(f"it cannot be opened: {error.strerror or error}") from error
    except ValueError as error:
        raise MeshFileError(f"this is no path: {error}") from error
    return _require_regular(status, largest)


def _require_regular(status: os.stat_result, largest: int) -> int:
    if stat.S_ISDIR(status.st_mode):
        raise MeshFileError("this is a folder, not a file")
    if not stat.S_ISREG(status.st_mode):
        raise MeshFileError("this is a device or a pipe, not a file")
    if status.st_size > largest:
        raise MeshFileError(f"it has {status.st_size:,} bytes, and {largest:,} are the most")
    return status.st_size


def read_beside(folder: Path | None, name: str) -> bytes:
    """A file that a mesh file names: in the folder of the mesh file or below, nowhere else.

    Raises:
        MeshFileError: with the name.
    """
    for candidate in dict.fromkeys((name, unquote(name))):
        parts = PurePosixPath(candidate.replace("\\", "/"))
        if folder is None or ":" in candidate or parts.is_absolute() or ".." in parts.parts:
            break
        if not os.path.lexists(folder / parts) and candidate != unquote(name):
            continue
        if not (folder / parts).resolve().is_relative_to(folder.resolve()):
            break
        try:
            return read_file(folder / parts)
        except MeshFileError as error:
            raise MeshFileError(f"it refers to {name!r}: {error}") from error
    raise MeshFileError(
        f"it refers to {name[:200]!r}, which is not in its own folder; a mesh and the files it needs lie together"
    )

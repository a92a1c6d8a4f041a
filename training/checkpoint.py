"""Checkpoints that survive a kill at any moment.

A checkpoint is a folder `step-000012345600/` of files and a `manifest.json` with their sizes and SHA-256 sums. It is
written under a temporary name, flushed to the disk file by file, and renamed: a folder with a final name is complete.
Reading verifies the sums and falls back to the checkpoint before if the newest is damaged or cannot be loaded.
"""

import hashlib
import json
import os
import re
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from ..physics.machine.disk import own_folder, read_regular, replacing, require_regular
from .errors import TumbleUserError, explain

T = TypeVar("T")

MANIFEST = "manifest.json"
LARGEST_MANIFEST = 1 << 20  # bytes
PREFIX = "step-"
TEMPORARY = ".writing-"
FORMAT = 1
PASSING = "passing"  # the manifest's word for a checkpoint that gives way to newer ones
TORCH_CANNOT_WRITE = "PytorchStreamWriter|unexpected pos|iostream"  # torch's errors where a file cannot be written


class CheckpointError(TumbleUserError, RuntimeError):
    """A checkpoint that cannot be used or written; the message names the folder and each one's error."""


def save_checkpoint(
    folder: Path, step: int, write: Callable[[Path], None], keep: int = 2, passing: bool = False
) -> Path:
    """Write a checkpoint atomically, and remove older ones that it makes superfluous.

    Kept are the newest one and the newest `keep` of the periodic ones (not `passing`), `keep` at least in all and
    `keep` + 1 at most.

    Args:
        folder: The run's checkpoint folder; made if absent.
        step: Environment steps taken so far; names and orders the checkpoints. An intact one of this step stays.
        write: Puts the files into the empty folder that it is given.
        keep: How many checkpoints stay.
        passing: Whether it gives way as soon as there is a newer one and `keep` others.

    Returns:
        The finished checkpoint's folder.

    Raises:
        CheckpointError: The disk is full or may not be written to; the checkpoints before are untouched.
    """
    try:
        return _save(folder, step, write, keep, passing)
    except (OSError, RuntimeError) as error:
        shutil.rmtree(folder / f"{TEMPORARY}{step:012d}", ignore_errors=True)
        if not (isinstance(error, OSError) or re.search(TORCH_CANNOT_WRITE, str(error))):
            raise
        reason = explain(error) if isinstance(error, OSError) else f"{str(error).splitlines()[0]}; is the disk full?"
        raise CheckpointError(
            f"{folder}: the checkpoint of step {step:,} could not be written: {reason}. The checkpoints before it are "
            "intact: go on from them with --resume"
        ) from error


def _save(folder: Path, step: int, write: Callable[[Path], None], keep: int, passing: bool) -> Path:
    """Write under a temporary name, flush, rename, and remove checkpoints that are too old."""
    own_folder(folder)
    for leftover in folder.glob(f"{TEMPORARY}*"):  # of a process that was killed
        _remove(leftover)
    final = folder / f"{PREFIX}{step:012d}"
    if final.exists():  # as after a resume that had nothing left to do, or that went back past a damaged one
        if _is_intact(final):
            return final
        _remove(final)
    temporary = folder / f"{TEMPORARY}{step:012d}"
    temporary.mkdir()
    write(temporary)
    files = sorted(path for path in temporary.rglob("*") if path.is_file())
    described = {str(path.relative_to(temporary)): _describe(path) for path in files}
    manifest = {"format": FORMAT, "step": step, PASSING: passing, "files": described}
    (temporary / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    for path in (*files, temporary / MANIFEST, temporary):
        _flush(path)
    os.replace(temporary, final)
    _flush(folder)
    for old in superfluous(folder, keep):
        shutil.rmtree(old)
    return final


def _remove(path: Path) -> None:
    """Remove a folder, a file or a link, but not a link's target."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def superfluous(folder: Path, keep: int) -> list[Path]:
    """Return the checkpoints that newer ones replace, see `save_checkpoint`."""
    checkpoints = list_checkpoints(folder)
    kept = [*checkpoints[:1], *[checkpoint for checkpoint in checkpoints if not _is_passing(checkpoint)][:keep]]
    others = [checkpoint for checkpoint in checkpoints if checkpoint not in kept]
    return others[max(keep - len(dict.fromkeys(kept)), 0) :]


def _is_passing(checkpoint: Path) -> bool:
    """Return whether a checkpoint was a `passing` one; False if its manifest is damaged."""
    with suppress(OSError, ValueError, RecursionError):
        manifest = json.loads(read_regular(checkpoint / MANIFEST, LARGEST_MANIFEST))
        return isinstance(manifest, dict) and manifest.get(PASSING) is True
    return False


def list_checkpoints(folder: Path) -> list[Path]:
    """Return the checkpoint folders, newest first."""
    return sorted((path for path in folder.glob(f"{PREFIX}*") if path.is_dir() and not path.is_symlink()), reverse=True)


def verify_checkpoint(checkpoint: Path) -> int:
    """Check every file against the manifest and return the step.

    Raises:
        CheckpointError: The manifest or a file is missing, or a file is not the one that was written.
    """
    with unusable(checkpoint, "incomplete or damaged"):
        manifest = json.loads(read_regular(checkpoint / MANIFEST, LARGEST_MANIFEST))
        if manifest["format"] != FORMAT:
            raise CheckpointError(f"{checkpoint}: written in format {manifest['format']}, this version reads {FORMAT}")
        for name, digest in manifest["files"].items():
            if Path(name).is_absolute() or ".." in Path(name).parts:
                raise CheckpointError(f"{checkpoint}: its manifest names {name}, which is in another place")
            if require_regular(checkpoint / name) != digest["bytes"] or _describe(checkpoint / name) != digest:
                raise CheckpointError(f"{checkpoint / name}: damaged (size or SHA-256 differs from the manifest)")
        step = int(manifest["step"])
    return step


@contextmanager
def unusable(checkpoint: Path, what: str) -> Iterator[None]:
    """Turn whatever goes wrong while a checkpoint is read into a `CheckpointError`; its files may hold anything.

    Raises:
        CheckpointError: The block failed; the message says `what` it was doing, and the first line of the error.
    """
    try:
        yield
    except TumbleUserError:
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0]
        raise CheckpointError(f"{checkpoint}: {what} ({type(error).__name__}: {reason})") from error


def _is_intact(checkpoint: Path) -> bool:
    try:
        verify_checkpoint(checkpoint)
    except CheckpointError:
        return False
    return True


def load_latest(folder: Path, load: Callable[[Path], T]) -> T:
    """Load the newest checkpoint that is intact and that `load` can read, with a warning for each newer one.

    Args:
        folder: The run's checkpoint folder.
        load: Reads a checkpoint; raises `CheckpointError` where its files cannot be loaded.

    Raises:
        CheckpointError: No checkpoint exists.
    """
    problems: list[str] = []
    tried: list[Path] = []
    while tried != (candidates := list_checkpoints(folder)):  # again, if training has replaced them meanwhile
        tried, problems = candidates, []
        for candidate in candidates:
            try:
                verify_checkpoint(candidate)
                loaded = load(candidate)
            except CheckpointError as error:
                problems.append(str(error))
                continue
            for problem in problems:
                warnings.warn(f"{problem}; going back to {candidate.name}", stacklevel=2)
            return loaded
    raise CheckpointError("; ".join([f"{folder}: no usable checkpoint", *problems]))


def write_text_atomically(path: Path, text: str) -> None:
    """Replace a small file in one step: a reader sees the old text or the new, never a part."""
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
        _flush(unfinished)


def _describe(path: Path) -> dict[str, int | str]:
    """Return size and SHA-256 of a file."""
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _flush(path: Path) -> None:
    """Wait until a file or folder is on the disk; Windows has no such call for folders and needs none to rename."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

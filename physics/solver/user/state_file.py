"""Files with the whole state of a solver, which go on to the last bit in any process."""

import hashlib
import os
import pickle
import struct
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from ...machine.disk import check_archive, replacing
from ...model.model import Model

State = dict[str, torch.Tensor]
DAMAGED = (
    *(RuntimeError, EOFError, LookupError, TypeError, ValueError, AttributeError, AssertionError, MemoryError),
    *(OverflowError, pickle.UnpicklingError, struct.error, zipfile.BadZipFile),
)
"""The errors that `torch.load` may raise for a file that it has not written, or a damaged one."""


def save(path: str | os.PathLike, model: Model, state: State) -> None:
    """Write a state and its model's digest into a file. One that exists is replaced at once, when the new is whole."""
    with replacing(path) as unfinished:
        torch.save({"model": model_digest(model), "state": state}, unfinished)


def read_tensors(path: str | os.PathLike, device: str = "cpu") -> Any:
    """Return what `torch.save` wrote: numbers, words and tensors, none larger than its share of the file.

    Raises:
        OSError: the file cannot be read, or is a pipe or a device.
        Exception: one of `DAMAGED`: it is another file, or declares more than it holds.
    """
    check_archive(path)
    content = torch.load(path, weights_only=True, map_location=device)
    _require_stored(content)
    return content


def _require_stored(content: Any) -> None:
    """Refuse tensors that name the same numbers over and over: copied, they would take any amount of memory."""
    if isinstance(content, torch.Tensor):
        if content.numel() * content.element_size() > content.untyped_storage().nbytes():
            raise ValueError(f"a tensor of shape {tuple(content.shape)} is not stored as a whole")
    elif isinstance(content, Mapping | list | tuple):
        for part in content.values() if isinstance(content, Mapping) else content:
            _require_stored(part)


def load(path: str | os.PathLike, model: Model) -> State:
    """Return the state that `save` wrote.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: it is no saved state, or of another model.
    """
    try:
        content = read_tensors(path)
        digest, state = content["model"], content["state"]
    except DAMAGED as error:
        raise ValueError(f"{path}: not a file that RigidSolver.save wrote, or a damaged one") from error
    if digest != model_digest(model):
        raise ValueError(f"{path}: saved from another model; load it into a solver of the model it was saved from")
    return state


def model_digest(model: Model) -> str:
    """Return a digest of all numbers of the model that kernels read."""
    digest = hashlib.sha256()
    for name in sorted(model.values):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(model.values[name], np.float64).tobytes())
    return digest.hexdigest()

"""Files with the whole state of a solver, which go on to the last bit in any process."""

import hashlib
import os
import pickle
import struct
from pathlib import Path

import numpy as np
import torch

from ..model.model import Model

State = dict[str, torch.Tensor]
DAMAGED = (
    *(RuntimeError, EOFError, LookupError, TypeError, ValueError, AttributeError, AssertionError, MemoryError),
    *(OverflowError, pickle.UnpicklingError, struct.error),
)
"""The errors that `torch.load` may raise for a file that it has not written, or a damaged one."""


def save(path: str | os.PathLike, model: Model, state: State) -> None:
    """Write a state and its model's digest into a file. One that exists is replaced at once, when the new is whole."""
    path = Path(path)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    try:
        torch.save({"model": model_digest(model), "state": state}, unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def load(path: str | os.PathLike, model: Model) -> State:
    """Return the state that `save` wrote.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no such file, or of another model.
    """
    try:
        content = torch.load(path, weights_only=True, map_location="cpu")
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

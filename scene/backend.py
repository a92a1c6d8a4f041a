"""The machine that scenes run on: `init` chooses it, before the first scene is built."""

import random
import warnings
from typing import Any

import numpy as np
import torch

from ..physics.process import runtime
from ..physics.scalars import as_whole
from .records import nearest

cpu = "cpu"
gpu = "gpu"
cuda = "cuda"
_chosen = {"seed": 0}
_IGNORED = (
    *("logging_level", "debug", "eps", "theme", "logger_verbose_time", "performance_mode"),
    "use_deterministic_algorithms",
)
"""Arguments of scripts that have no meaning here: what they ask for is so, or is nothing that physics knows."""


def init(backend: str | None = None, precision: str = "32", seed: int | None = None, **others: Any) -> None:
    """Choose the device and the precision of all scenes that are built from now on; earlier ones end.

    Args:
        backend: `cpu`, `cuda`, or `gpu`: the GPU if there is one, else the CPU with a warning; None: the CPU.
        precision: "32" or "64" bits.
        seed: of the random numbers of Python, numpy and torch, and of sensors; physics has none. None: those of Python,
            numpy and torch stay as they are, and sensors draw with 0.
        others: `logging_level`, `theme` and the like, which change nothing.

    Raises:
        ValueError: for an unknown backend or precision, and `cuda` without a GPU.
        TypeError: for an unknown argument.
    """
    for name in others:
        if name not in _IGNORED:
            known = ("backend", "precision", "seed", *_IGNORED)
            raise TypeError(f"init has no argument {name!r}{nearest(name, known)}")
    if backend not in (None, cpu, gpu, cuda):
        raise ValueError(f"backend={backend!r}: it is gs.cpu, gs.gpu or gs.cuda")
    device = {None: "cpu", cpu: "cpu", cuda: "cuda"}.get(backend, "")
    if not device:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        if device == "cpu":
            warnings.warn("gs.gpu: torch finds no GPU; scenes run on the CPU", RuntimeWarning, stacklevel=2)
    global _seed
    runtime.init(device, precision)
    _chosen["seed"] = 0 if seed is None else as_whole("seed", seed)
    if seed is not None:
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)


def seed() -> int:
    """Return the seed from which sensors of scenes draw, as `init` was given; 0 by default."""
    return _chosen["seed"]


def device() -> torch.device:
    """Return where the tensors of scenes are."""
    return runtime.ensure_runtime().torch_device


def tc_float() -> torch.dtype:
    """Return the precision of the tensors of scenes."""
    return runtime.ensure_runtime().torch_dtype

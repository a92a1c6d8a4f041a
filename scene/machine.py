"""The machine that scenes run on: `init` chooses it, before the first scene is built."""

import logging
import random
import warnings
from typing import Any

import numpy as np
import torch

from ..physics.machine import runtime
from ..physics.machine.scalars import as_whole
from .compat.ignored import ignore, names_of
from .records import nearest

cpu = "cpu"
gpu = "gpu"
cuda = "cuda"
_chosen = {"seed": 0}


logger = logging.getLogger("tumble.scene")
"""Shows the messages of scripts: `gs.logger.info("...")`."""


def init(
    backend: str | None = None,
    precision: str = "32",
    seed: int | None = None,
    logging_level: str | int | None = None,
    **others: Any,
) -> None:
    """Choose the device and the precision of all scenes that are built from now on; earlier ones end.

    Args:
        backend: `cpu`, `cuda`, or `gpu`: the GPU if there is one, else the CPU with a warning; None: the CPU.
        precision: "32" or "64" bits.
        seed: of the random numbers of Python, numpy and torch, and of sensors; physics draws none. None: Python's,
            numpy's and torch's stay as they are, and sensors draw with 0.
        logging_level: from which `gs.logger` shows: "debug", "info", "warning", "error" or a number; None: "info".
        others: `theme` and the like, which change nothing, with a warning.

    Raises:
        ValueError: for an unknown backend, precision or level, and `cuda` without a GPU.
        TypeError: for an unknown argument.
    """
    for name in others:
        if name not in names_of("init"):
            known = ("backend", "precision", "seed", "logging_level", *names_of("init"))
            raise TypeError(f"init has no argument {name!r}{nearest(name, known)}")
    ignore("init", others)
    if backend not in (None, cpu, gpu, cuda):
        raise ValueError(f"backend={backend!r}: it is gs.cpu, gs.gpu or gs.cuda")
    device = {None: "cpu", cpu: "cpu", cuda: "cuda"}.get(backend, "")
    if not device:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        if device == "cpu":
            warnings.warn("gs.gpu: torch finds no GPU; scenes run on the CPU", RuntimeWarning, stacklevel=2)
    _let_talk(logging_level)
    runtime.init(device, precision)
    _chosen["seed"] = 0 if seed is None else as_whole("seed", seed)
    if seed is not None:
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)


def seed() -> int:
    """Return the seed from which sensors of scenes draw, as `init` was given; 0 by default."""
    return _chosen["seed"]


def _let_talk(level: str | int | None) -> None:
    """Show messages of `logger` from a level on."""
    name = "INFO" if level is None else level.upper() if isinstance(level, str) else level
    try:
        logger.setLevel(name)
    except (ValueError, TypeError) as error:
        raise ValueError(f"logging_level={level!r}: it is debug, info, warning, error, or a number") from error
    if not logger.hasHandlers():
        shown = logging.StreamHandler()
        shown.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
        logger.addHandler(shown)


def constants() -> dict[str, Any]:
    """Return the names that depend on the machine and the precision chosen, as scripts use them."""
    settings = runtime.ensure_runtime()
    single = settings.precision == "32"
    of_numpy = np.float32 if single else np.float64
    return {
        "device": settings.torch_device,  # of the tensors of scenes
        "backend": cuda if settings.torch_device.type == "cuda" else cpu,
        "tc_float": settings.torch_dtype,
        "tc_int": torch.int32,
        "tc_bool": torch.bool,
        "np_float": of_numpy,
        "np_int": np.int32,
        "np_bool": np.bool_,
        "EPS": float(np.finfo(of_numpy).eps),  # the least number that changes 1 when it is added
    }


CONSTANTS = ("EPS", "backend", "device", "np_bool", "np_float", "np_int", "tc_bool", "tc_float", "tc_int")

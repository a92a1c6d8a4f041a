"""Keys of machine code: whatever could make it another one is in them."""

import hashlib
import json
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .llvm import llvm

_FORMAT = 1
_ROOT = Path(__file__).resolve().parents[1]
_KERNELS = (
    "math",
    "mjmodel",
    "parts",
    "model",
    "state",
    "kinematics",
    "dynamics",
    "collision",
    "constraint",
    "sensed",
    "rays",
)
_ROOMS = (*_KERNELS, "drivers", "codegen")
_FILES = ("fields.py", "hooks.py", "stage.py", "integrate.py", "step.py", "process/compiler.py", "process/tracing.py")
"""Sources of the package `physics` that machine code is made of, or by."""


def key_of(*parts: Any) -> str:
    """A key, in hexadecimal digits, of things that JSON can write, for this version of the sources and this machine."""
    text = json.dumps([*_circumstances(), *parts], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _circumstances() -> list[Any]:
    binding = llvm()
    return [
        _FORMAT,
        hash_of(_ROOMS, _FILES),
        version("taichi"),
        version("llvmlite"),
        binding.get_process_triple(),
        binding.get_host_cpu_name(),
        binding.get_host_cpu_features().flatten(),
    ]


@cache
def hash_of(rooms: tuple[str, ...], files: tuple[str, ...] = ()) -> str:
    """Hash of sources of the package `physics`: all of some rooms, and some files."""
    paths = [path for room in rooms for path in (_ROOT / room).rglob("*.py")]
    found = hashlib.sha256()
    for path in sorted([*paths, *(_ROOT / name for name in files)]):
        found.update(f"{path.relative_to(_ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()

"""Cache keys of machine code: hashes of everything that the code depends on."""

import hashlib
import json
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .llvm import llvm

_FORMAT = 1
_ROOT = Path(__file__).resolve().parents[2]
_ROOMS = ("base", "files/mjmodel", "model", "mechanics", "rendering/rays", "run", "machine/codegen")
_FILES = ("machine/compiler.py",)
"""Sources of the package `physics` that are compiled into machine code, or that compile it."""


def key_of(*parts: Any) -> str:
    """Return the cache key (64 hexadecimal digits) of JSON-serialisable parts, these sources and this machine."""
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
    """Return the SHA-256, in hexadecimal digits, of all sources in some rooms of `physics`, and of single files."""
    paths = [path for room in rooms for path in (_ROOT / room).rglob("*.py")]
    found = hashlib.sha256()
    for path in sorted([*paths, *(_ROOT / name for name in files)]):
        found.update(f"{path.relative_to(_ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()

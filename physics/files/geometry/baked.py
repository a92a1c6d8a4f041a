"""Arrays that are computed once and kept on disk by the content of their inputs: convex pieces, fields.

A file is named by a hash of the recipe (its name and version), its options, and the arrays that it starts from, so it
is never out of date. It holds only numbers: a table of names, types and shapes in JSON, then the bytes of the arrays.
Nothing in it is executed. How files are written, checked and thrown away is the store's (`codegen.store`): a unique
temporary file and a rename, a head with version, length and hash, no file that another user could have written. If
nothing can be read or kept, the arrays are computed.
"""

import functools
import hashlib
import json
import os
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...machine.codegen.store import VARIABLE, Kind, Store

Arrays = dict[str, np.ndarray]
FORMAT = 1
"""The version of the encoding of arrays; a part of every key."""
_TYPES = ("<f4", "<f8", "<i4", "<i8")
_LENGTH = struct.Struct("<I")
_ALIGNED = 8
_GEOMETRY = Kind(
    suffix="arrays",
    name="geometry",
    again="every start computes it again",
    repair="it is computed again, once",
    many=30,  # a field has up to some tens of MB
)


def folder() -> Path | None:
    """Return the folder of arrays, next to the folder of machine code; None if nothing is to be kept."""
    named = os.environ.get(VARIABLE)
    if named:
        return None if named == "0" else Path(named, "geometry")
    for variable, below in (("XDG_CACHE_HOME", "tumble/geometry"), ("HOME", ".cache/tumble/geometry")):
        base = os.environ.get(variable, "")
        if os.path.isabs(base):
            return Path(base, below)
    return None


def baked(
    recipe: str,
    inputs: Mapping[str, np.ndarray],
    options: Mapping[str, Any],
    compute: Callable[[], Arrays],
    sound: Callable[[Arrays], bool] = lambda arrays: True,
) -> Arrays:
    """Return arrays from the disk, or compute and keep them.

    Args:
        recipe: name and version of the computation: another version, other files.
        inputs: the arrays that the result depends on, by name.
        options: everything else that it depends on, in JSON's types.
        compute: makes the arrays; its exceptions are passed on.
        sound: whether arrays from a file make sense; a hash detects damage, not malice.
    """
    key, store = key_of(recipe, inputs, options), _store_in(folder())
    found = store.load(key)
    arrays = None if found is None else decoded(found)
    if arrays is not None and sound(arrays):
        return arrays
    arrays = compute()
    store.save(key, encoded(arrays))
    return arrays


@functools.cache
def _store_in(place: Path | None) -> Store:
    return Store(place, _GEOMETRY)


def key_of(recipe: str, inputs: Mapping[str, np.ndarray], options: Mapping[str, Any]) -> str:
    """Return the hash of all that a result depends on."""
    head = [FORMAT, recipe, sorted(options.items()), [[k, a.dtype.str, a.shape] for k, a in sorted(inputs.items())]]
    summed = hashlib.sha256(json.dumps(head).encode() + b"\0")
    for _, array in sorted(inputs.items()):
        summed.update(np.ascontiguousarray(array).tobytes())
    return summed.hexdigest()


def encoded(arrays: Arrays) -> bytes:
    """Return arrays as bytes: the length of the table, the table, and each array from a multiple of 8 bytes on.

    Raises:
        ValueError: an array has another type than float32, float64, int32 or int64.
    """
    parts = {name: np.ascontiguousarray(a, a.dtype.newbyteorder("<")) for name, a in arrays.items()}
    for name, part in parts.items():
        if part.dtype.str not in _TYPES:
            raise ValueError(f"array {name} is of type {part.dtype}: one of {', '.join(_TYPES)} can be kept")
    table = json.dumps([[name, part.dtype.str, list(arrays[name].shape)] for name, part in parts.items()]).encode()
    blocks = [_LENGTH.pack(len(table)) + table, *(part.tobytes() for part in parts.values())]
    return b"".join(block + bytes(-len(block) % _ALIGNED) for block in blocks)


def decoded(data: bytes) -> Arrays | None:
    """Return the arrays that bytes hold; None for bytes that `encoded` has not made."""
    try:
        (length,) = _LENGTH.unpack_from(data)
        table = json.loads(data[_LENGTH.size : _LENGTH.size + length])
        at = _rounded(_LENGTH.size + length)
        arrays: Arrays = {}
        for name, kind, shape in table:
            if kind not in _TYPES or not all(type(n) is int and n >= 0 for n in shape):
                return None
            count = int(np.prod(shape, dtype=object))
            arrays[str(name)] = np.frombuffer(data, kind, count, at).reshape(shape).copy()
            at = _rounded(at + count * np.dtype(kind).itemsize)
    except (struct.error, ValueError, TypeError, OverflowError, RecursionError):
        return None
    return arrays if at == len(data) else None


def _rounded(place: int) -> int:
    return -(-place // _ALIGNED) * _ALIGNED

"""Arrays as text: one block of bytes, compressed, in base64, with a table of the arrays in it."""

import base64
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

_ALIGNMENT = 8
KINDS = ("float32", "float16", "uint32", "uint16", "uint8", "int8")
"""Types that the page can read (`page/unpack.js`)."""


def pack(arrays: Mapping[str, np.ndarray]) -> tuple[dict[str, Any], str]:
    """Return the table {name: [type, shape, first byte]} and the text of arrays of the types `KINDS`."""
    table: dict[str, Any] = {}
    block = bytearray()
    for name, array in arrays.items():
        kind = array.dtype.name
        if kind not in KINDS:
            raise TypeError(f"{name}: the page reads {', '.join(KINDS)}, not {kind}")
        block += bytes(-len(block) % _ALIGNMENT)
        table[name] = [kind, list(array.shape), len(block)]
        block += np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"))).tobytes()
    return table, base64.b64encode(zlib.compress(bytes(block), 7)).decode("ascii")


def unpack(table: Mapping[str, Any], text: str) -> dict[str, np.ndarray]:
    """Return the arrays that `pack` has packed."""
    block = zlib.decompress(base64.b64decode(text))
    found = {}
    for name, (kind, shape, first) in table.items():
        dtype = np.dtype(kind).newbyteorder("<")
        count = int(np.prod(shape))
        found[name] = np.frombuffer(block, dtype, count, first).reshape(shape).astype(kind)
    return found

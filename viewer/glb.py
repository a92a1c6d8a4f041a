"""GLB files (binary glTF 2.0) of surfaces in plain colors that no light falls on: viser has no such material itself."""

import json
import struct
from typing import Any

import numpy as np

_GLB, _JSON, _BYTES = 0x46546C67, 0x4E4F534A, 0x004E4942  # a file's first word; kinds of chunks
_FLOAT32, _UINT32 = 5126, 5125  # glTF's numbers of them
UNLIT = "KHR_materials_unlit"


def painted_glb(parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> bytes:
    """Return a GLB file of surfaces that no light falls on: vertices (v, 3), faces (f, 3) and linear colors (3,)."""
    blocks: list[bytes] = []
    views: list[dict[str, Any]] = []
    numbers: list[dict[str, Any]] = []
    for vertices, faces, _ in parts:
        for array, kind, shape in (
            (vertices.astype("<f4"), _FLOAT32, "VEC3"),
            (faces.astype("<u4"), _UINT32, "SCALAR"),
        ):
            first, block = sum(map(len, blocks)), array.tobytes()
            views.append({"buffer": 0, "byteOffset": first, "byteLength": len(block)})
            about = {"bufferView": len(views) - 1, "componentType": kind, "type": shape}
            about["count"] = len(array) if shape == "VEC3" else array.size
            bounds = {"min": array.min(0).tolist(), "max": array.max(0).tolist()} if shape == "VEC3" else {}
            numbers.append(about | bounds)
            blocks.append(block)
    materials = [
        {
            "pbrMetallicRoughness": {"baseColorFactor": [*np.clip(color, 0, 1).tolist(), 1.0]},
            "extensions": {UNLIT: {}},
            "doubleSided": True,
        }
        for *_, color in parts
    ]
    primitives = [{"attributes": {"POSITION": 2 * k}, "indices": 2 * k + 1, "material": k} for k in range(len(parts))]
    about = {
        "asset": {"version": "2.0"},
        "extensionsUsed": [UNLIT],
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": primitives}],
        "materials": materials,
        "accessors": numbers,
        "bufferViews": views,
        "buffers": [{"byteLength": sum(map(len, blocks))}],
    }
    words, data = json.dumps(about).encode(), b"".join(blocks)
    words += b" " * (-len(words) % 4)
    data += b"\0" * (-len(data) % 4)
    head = struct.pack("<III", _GLB, 2, 12 + 8 + len(words) + 8 + len(data))
    return head + struct.pack("<II", len(words), _JSON) + words + struct.pack("<II", len(data), _BYTES) + data

"""The declarations in the head of a mesh file, compared with the bytes that are there before memory is allocated."""

import io
import json
import re
import struct
from typing import Any

import numpy as np

from .files import LARGEST_FILE, MeshFileError
from .mesh import MOST_FACES, require_near

_PLY_BYTES = {
    **dict.fromkeys(("char", "uchar", "int8", "uint8"), 1),
    **dict.fromkeys(("short", "ushort", "int16", "uint16"), 2),
    **dict.fromkeys(("int", "uint", "int32", "uint32", "float", "float32"), 4),
    **dict.fromkeys(("double", "float64", "int64", "uint64"), 8),
}
_GLTF_BYTES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_GLTF_COUNT = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_STL_HEAD, _STL_FACE = 84, 50
_FEW = re.compile(rb"[vf](?:[ \t]+[^\s#]+){0,2}\s*(?:#.*)?", re.DOTALL)  # of a vertex or face two numbers or fewer
_ODD = re.compile(
    rb"v[ \t][^#]*(?:nan|inf|e\+?[1-9]\d)"  # no number, or one of 1e10 and more
    rb"|[vf][ \t](?:[^#]*[ \t/-])?\d{10}",  # more vertices than an int counts, or a vertex as far
    re.IGNORECASE,
)
_OLD_MATERIAL = "KHR_materials_pbrSpecularGlossiness"
_NUMBERED = (b"v ", b"v\t", b"f ", b"f\t")
_ODD_WORDS = (b"nan", b"inf", b"e+", *(b"e%d" % digit for digit in range(1, 10)))
_ODD_INDEX = re.compile(rb"[ \t/-]\d{10}")
MOST_ROWS = 2_000_000
"""Lines of a file of text: as objects of Python's each takes a hundred bytes and more."""
MOST_NODES = 20_000
"""Nodes of a glTF file; trimesh takes a second for as many."""
MOST_STL_FACES = 200_000
"""MuJoCo reads no more from an STL file."""


def is_binary_stl(data: bytes) -> bool:
    """Return True if an STL file is binary; raises MeshFileError if it is neither that nor text."""
    if not data:
        raise MeshFileError("it is empty")
    faces = struct.unpack_from("<I", data, 80)[0] if len(data) >= _STL_HEAD else 0
    if faces and len(data) == _STL_HEAD + _STL_FACE * faces:
        return True
    if re.match(rb"\s*solid\b[^\n]*\n\s*(facet|endsolid)", data[:4096]):
        if not re.search(rb"\bendsolid\b", data[-4096:]):
            raise MeshFileError("it is truncated: no 'endsolid' at its end")
        return False
    if len(data) < _STL_HEAD:
        raise MeshFileError(f"it is truncated: {len(data)} bytes, and the head of an STL file has {_STL_HEAD}")
    needed = _STL_HEAD + _STL_FACE * faces
    raise MeshFileError(
        "it has no faces"
        if not faces
        else f"its header declares {faces:,} faces, which take {needed:,} bytes; it has {len(data):,}"
    )


def check_obj(data: bytes) -> None:
    """Refuse lines of an OBJ file that MuJoCo reads as something else, or passes over."""
    if b"\0" in data:
        raise MeshFileError("it is no text")
    small = data.lower()
    odd = _ODD_INDEX.search(data) or any(word in small for word in _ODD_WORDS)  # a quick look, that most files pass
    for number, line in enumerate(io.BytesIO(data), 1):
        if line[:2] in _NUMBERED and (
            ((line.count(b" ") < 3 or b"#" in line) and _FEW.fullmatch(line)) or (odd and _ODD.match(line))
        ):
            raise MeshFileError(f"line {number} is no vertex and no face: {line[:60].decode('latin1').strip()!r}")


def check_msh(data: bytes) -> None:
    """Refuse an MSH file of another length than its head says, and vertices that are nowhere."""
    if len(data) < 16:
        raise MeshFileError(f"it is truncated: {len(data)} bytes, and the head of an MSH file has 16")
    counts = struct.unpack_from("<4i", data)
    vertices, normals, uvs, faces = counts
    needed = 16 + 12 * vertices + 12 * normals + 8 * uvs + 12 * faces
    if min(counts) < 0 or needed != len(data):
        raise MeshFileError(
            f"its header declares {faces:,} faces and {vertices:,} vertices; it has {len(data):,} bytes"
        )
    require_near(np.frombuffer(data, "<f4", 3 * vertices, 16).reshape(-1, 3))


def check_ply(data: bytes) -> None:
    """Refuse a PLY file whose elements cannot all be there."""
    end = re.search(rb"^end_header[ \t\r]*\n", data[: 1 << 20], re.MULTILINE)
    if not data.startswith(b"ply") or not end:
        raise MeshFileError("it is no PLY file, or its head is truncated")
    lines = [line.split() for line in data[: end.start()].decode("latin1").splitlines()]
    text = any(line[:2] == ["format", "ascii"] for line in lines)
    counts: list[list[Any]] = []  # element, rows, least bytes of a row
    for line in lines:
        if line[:1] == ["element"]:
            if len(line) != 3 or not line[2].isdecimal():
                raise MeshFileError(f"its head has the line {' '.join(line)[:80]!r}")
            counts.append([line[1], int(line[2]), 0])
        elif line[:1] == ["property"]:
            known = len(line) >= 3 and (line[2] if line[1] == "list" else line[1]) in _PLY_BYTES
            if not counts or not known:
                raise MeshFileError(f"its head has the line {' '.join(line)[:80]!r}")
            counts[-1][2] += _PLY_BYTES[line[2] if line[1] == "list" else line[1]]
    there = _lines(data[end.end() :]) if text else len(data) - end.end()
    needed = sum(rows * (1 if text else least) for _, rows, least in counts)
    if needed > there:
        declared = ", ".join(f"{rows:,} x {name}" for name, rows, _ in counts)
        raise MeshFileError(f"its header declares {declared}, at least {needed:,} {_unit(text)}; it has {there:,}")
    if not any(name == "face" and rows for name, rows, _ in counts):
        raise MeshFileError("it has no faces")
    properties = [line[1] for line in lines[lines.index(_element(lines, "face")) :] if line[:1] == ["property"]]
    if text and counts[-1][0] == "face" and properties == ["list"]:
        rows = [row for row in data[end.end() :].splitlines() if row.strip()]
        _check_faces(rows[needed - counts[-1][1] : needed])


def _element(lines: list[list[str]], name: str) -> list[str]:
    return next(line for line in lines if line[:2] == ["element", name])


def _check_faces(rows: list[bytes]) -> None:
    """Refuse rows that do not have as many numbers as their first one says."""
    for row in rows:
        numbers = row.split()
        if not numbers[0].isdigit() or len(numbers) <= int(numbers[0]):
            raise MeshFileError(f"a face is cut short: {row[:60].decode('latin1')!r}")


def _lines(data: bytes) -> int:
    """Lines with something in them; raises MeshFileError for too many."""
    count = data.count(b"\n") + data.count(b"\r")
    if count > MOST_ROWS:
        raise MeshFileError(f"it has {count:,} lines of text, and {MOST_ROWS:,} are the most; save it as a binary file")
    return sum(1 for line in data.splitlines() if line.strip())


def check_off(data: bytes) -> None:
    """Refuse an OFF file with fewer lines than it declares."""
    _lines(data)
    lines = [line for line in re.sub(rb"#[^\n]*", b"", data).splitlines() if line.strip()]
    head = re.match(rb"\s*(C?OFF)\b", lines[0]) if lines else None
    if head is None:
        raise MeshFileError("it is no OFF file: it does not start with OFF")
    rest = lines[0][head.end() :].split()
    numbers, there = (rest, len(lines) - 1) if rest else (lines[1].split() if len(lines) > 1 else [], len(lines) - 2)
    if len(numbers) < 2 or not all(number.isdigit() for number in numbers[:2]):
        raise MeshFileError("it has no line with the numbers of its vertices and faces")
    vertices, faces = int(numbers[0]), int(numbers[1])
    if not faces or not vertices:
        raise MeshFileError("it has no faces")
    if vertices + faces > there:
        raise MeshFileError(f"it declares {vertices:,} vertices and {faces:,} faces; {there:,} lines follow")
    first = len(lines) - there + vertices
    _check_faces(lines[first : first + faces])


def check_glb(data: bytes) -> bool:
    """Refuse a GLB file whose chunks are missing, or that `check_gltf` refuses; return the result of `check_gltf`."""
    if len(data) < 20 or data[:4] != b"glTF":
        raise MeshFileError("it is no GLB file, or its head is truncated")
    _, length, first, kind = struct.unpack_from("<4I", data, 4)
    if length != len(data) or 20 + first > length or kind != 0x4E4F534A:
        raise MeshFileError(f"its header declares {length:,} bytes, {first:,} of them JSON; it has {len(data):,}")
    return check_gltf(data[20 : 20 + first])


def check_gltf(data: bytes) -> bool:
    """Refuse a glTF head that asks for more than its file can hold, or for features that Tumble does not read.

    Returns:
        Whether its materials can be read: trimesh unpacks all images to convert those of one old extension.
    """
    if data.count(b",") + data.count(b"[") + data.count(b"{") > MOST_ROWS:
        raise MeshFileError(f"its JSON has more than {MOST_ROWS:,} entries")
    try:
        head = json.loads(data)
        required = head.get("extensionsRequired", [])
    except (ValueError, AttributeError, RecursionError) as error:
        raise MeshFileError(f"its JSON cannot be read: {str(error)[:200]}") from error
    unread = [name for name in required if "draco" in name or "meshopt" in name or "quantization" in name]
    if unread:
        raise MeshFileError(f"it is compressed ({', '.join(unread)}); save it without")
    try:
        _check_numbers(head)
        _check_nodes(head)
        return not any(_OLD_MATERIAL in material.get("extensions", {}) for material in head.get("materials", []))
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise MeshFileError(f"its JSON is not valid glTF: {type(error).__name__} {str(error)[:80]}") from error


def _check_numbers(head: dict) -> None:
    """Check that views lie within buffers, numbers within views, and that their sum is below a limit."""
    views = head.get("bufferViews", [])
    total = 0
    for k, view in enumerate(views):
        first, length = view.get("byteOffset", 0), view["byteLength"]
        whole = head["buffers"][view["buffer"]]["byteLength"]
        if first < 0 or length < 0 or first + length > whole:
            raise MeshFileError(f"bufferView {k} has bytes {first:,} to {first + length:,} of {whole:,}")
        total += length
    for k, accessor in enumerate(head.get("accessors", [])):
        if "bufferView" not in accessor or "sparse" in accessor:
            raise MeshFileError(f"accessor {k} is sparse or has no bufferView; save the file with plain numbers")
        width = _GLTF_BYTES[accessor["componentType"]] * _GLTF_COUNT[accessor["type"]]
        count, view = accessor["count"], views[accessor["bufferView"]]
        needed = accessor.get("byteOffset", 0) + (count - 1) * view.get("byteStride", width) + width
        if count < 1 or accessor.get("byteOffset", 0) < 0 or needed > view["byteLength"]:
            raise MeshFileError(f"accessor {k} declares {count:,} x {width} bytes; its view has {view['byteLength']:,}")
        total += count * width
    if total > 2 * LARGEST_FILE:
        raise MeshFileError(f"its parts overlap, and take {total:,} bytes together; {2 * LARGEST_FILE:,} are the most")


def _check_nodes(head: dict) -> None:
    """A forest, as glTF asks for, with a bearable number of triangles in all its copies of meshes."""
    nodes, faces = head.get("nodes", []), []
    accessors = head.get("accessors", [])
    if len(nodes) > MOST_NODES:
        raise MeshFileError(f"it has {len(nodes):,} nodes, and {MOST_NODES:,} are the most")
    for mesh in head.get("meshes", []):
        sources = [p.get("indices", p["attributes"].get("POSITION")) for p in mesh["primitives"]]
        faces.append(sum(accessors[k]["count"] for k in sources if k is not None) // 3)
    parents = [0] * len(nodes)
    total = 0
    for node in nodes:
        for child in node.get("children", ()):
            parents[child] += 1
        total += faces[node["mesh"]] if "mesh" in node else 0
    roots = [root for scene in head.get("scenes", []) for root in scene.get("nodes", ())]
    if any(count > 1 for count in parents) or any(parents[root] for root in roots):
        raise MeshFileError("its nodes are no trees: one has two parents, or is its own parent")
    if total > MOST_FACES:
        raise MeshFileError(f"its nodes have {total:,} faces in all, and {MOST_FACES:,} are the most")


def _unit(text: bool) -> str:
    return "lines" if text else "bytes"

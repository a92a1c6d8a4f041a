"""Small writers of mesh files, so that a test can make any mistake in them."""

import json
import struct

import numpy as np

CORNERS = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.3, 0.3)])
"""Of a box of 0.2 x 0.4 x 0.6 m, 0.048 m3."""
TRIANGLES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)
VOLUME = 0.048


def stl(vertices, faces, declared=None) -> bytes:
    rows = b"".join(bytes(12) + vertices[face].astype("<f4").tobytes() + bytes(2) for face in faces)
    return bytes(80) + struct.pack("<I", len(faces) if declared is None else declared) + rows


def stl_text(vertices, faces, declared=None) -> bytes:
    lines = ["solid m"]
    for face in faces:
        lines += ["facet normal 0 0 0", "outer loop", *(f"vertex {_words(vertices[v])}" for v in face)]
        lines += ["endloop", "endfacet"]
    return "\n".join([*lines, "endsolid m", ""]).encode()


def obj(vertices, faces, declared=None) -> bytes:
    lines = [f"v {_words(v)}" for v in vertices] + [f"f {' '.join(str(v + 1) for v in face)}" for face in faces]
    return ("\n".join(lines) + (f"\nf 1 2 {declared}" if declared else "") + "\n").encode()


def msh(vertices, faces, declared=None) -> bytes:
    head = struct.pack("<4i", len(vertices), 0, 0, len(faces) if declared is None else declared)
    return head + vertices.astype("<f4").tobytes() + faces.astype("<i4").tobytes()


def ply(vertices, faces, declared=None) -> bytes:
    rows = b"".join(b"\3" + face.astype("<i4").tobytes() for face in faces)
    return _ply_head("binary_little_endian", vertices, faces, declared) + vertices.astype("<f4").tobytes() + rows


def ply_text(vertices, faces, declared=None) -> bytes:
    lines = [_words(v) for v in vertices] + [f"3 {_words(face)}" for face in faces]
    return _ply_head("ascii", vertices, faces, declared) + "\n".join([*lines, ""]).encode()


def _ply_head(form, vertices, faces, declared) -> bytes:
    lines = ["ply", f"format {form} 1.0", f"element vertex {len(vertices)}"]
    lines += [f"property float {axis}" for axis in "xyz"]
    lines += [f"element face {len(faces) if declared is None else declared}"]
    return "\n".join([*lines, "property list uchar int vertex_indices", "end_header", ""]).encode()


def off(vertices, faces, declared=None) -> bytes:
    lines = ["OFF", f"{len(vertices)} {len(faces) if declared is None else declared} 0"]
    return "\n".join([*lines, *map(_words, vertices), *(f"3 {_words(face)}" for face in faces), ""]).encode()


def glb(vertices, faces, declared=None, change=None) -> bytes:
    """`change` edits the JSON head."""
    body = vertices.astype("<f4").tobytes() + faces.astype("<u4").tobytes()
    first = 12 * len(vertices)
    views = [{"buffer": 0, "byteLength": first}, {"buffer": 0, "byteOffset": first, "byteLength": len(body) - first}]
    count = faces.size if declared is None else 3 * declared
    accessors = [{"bufferView": 0, "componentType": 5126, "count": len(vertices), "type": "VEC3"}]
    accessors += [{"bufferView": 1, "componentType": 5125, "count": count, "type": "SCALAR"}]
    head = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": len(body)}],
        "bufferViews": views,
        "accessors": accessors,
    }
    if change is not None:
        change(head)
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 4)
    body += bytes(-len(body) % 4)
    chunks = struct.pack("<2I", len(text), 0x4E4F534A) + text + struct.pack("<2I", len(body), 0x004E4942) + body
    return struct.pack("<4s2I", b"glTF", 2, 12 + len(chunks)) + chunks


def dae(
    vertices,
    faces,
    declared=None,
    unit=1.0,
    nodes='<node><instance_geometry url="#g"/></node>',
    before="",
    encoding="utf-8",
) -> bytes:
    numbers, indices = " ".join(map(_words, vertices)), " ".join(map(_words, faces))
    return f"""<?xml version="1.0" encoding="{encoding}"?>{before}
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
 <asset><unit name="u" meter="{unit}"/><up_axis>Z_UP</up_axis></asset>
 <library_geometries><geometry id="g"><mesh>
  <source id="p"><float_array id="a" count="{3 * len(vertices)}">{numbers}</float_array><technique_common>
   <accessor source="#a" count="{len(vertices)}" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
   <param name="Z" type="float"/></accessor></technique_common></source>
  <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
  <triangles count="{len(faces) if declared is None else declared}"><input semantic="VERTEX" source="#v" offset="0"/>
   <p>{indices}</p></triangles>
 </mesh></geometry></library_geometries>
 <library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>
 <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>""".encode()


def _words(numbers) -> str:
    return " ".join(repr(number) for number in np.asarray(numbers).tolist())


WRITERS = {
    "stl": stl,
    "text.stl": stl_text,
    "obj": obj,
    "msh": msh,
    "ply": ply,
    "text.ply": ply_text,
    "off": off,
    "glb": glb,
    "dae": dae,
}
"""By the ending of the file."""

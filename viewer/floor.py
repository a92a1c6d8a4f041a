"""The floors of a model: checkers, lit by the scene's lights, or painted as bright as they would be lit.

A floor fills most of a picture. Painted, it costs a browser that draws in software half of what a lit one costs; but no
shadow falls on it.
"""

import json
import struct
from typing import Any

import mujoco
import numpy as np

from .drawn import Drawn

SUN_COLOR, SUN_STRENGTH, SUN = (255, 244, 226), 2.2, (-36.0, -48.0, 80.0)  # m
SKY_COLOR, GROUND_COLOR, SKY_STRENGTH = (214, 232, 255), (150, 146, 140), 1.5
FIELDS = 40
"""Fields of a floor's checker to each side; half as many, each twice as wide, of a crowd, which is seen from afar."""


class Floor:
    """The planes of a model in a scene of viser.

    Attributes:
        cell: side of a field of the checkers, m.
    """

    def __init__(self, server: Any, drawn: Drawn, crowd: bool = False) -> None:
        self._server, self._drawn = server, drawn
        self.cell, self._count = (2 * drawn.cell, FIELDS // 2) if crowd else (drawn.cell, FIELDS)
        self._handles: list[list[Any]] = []

    def lay(self, pos: np.ndarray, quat: np.ndarray, lit: bool, light: "SceneLight") -> None:
        """Replace all floors, at poses (ngeom, ...); only lit floors show shadows."""
        for handle in (one for floor in self._handles for one in floor):
            handle.remove()
        self._handles = []
        for number, g in enumerate(self._drawn.planes):
            colors = 0.93 * self._drawn.plane_colors[number]
            pose = {"position": pos[g], "wxyz": quat[g], "cast_shadow": False}
            parts = [_fields(self.cell, self._count, kind) for kind in (0, 1)]
            if lit:
                self._handles.append([self._mesh(f"/floor/{number}/{k}", *parts[k], colors[k], pose) for k in (0, 1)])
                continue
            up = np.zeros(3)
            mujoco.mju_rotVecQuat(up, np.array([0.0, 0.0, 1.0]), np.asarray(quat[g], float))
            shine = linear(colors) * light.on(up)
            painted = [(*part, color) for part, color in zip(parts, shine, strict=True)]
            scene = self._server.scene
            self._handles.append([scene.add_glb(f"/floor/{number}/painted", painted_glb(painted), **pose)])

    def _mesh(self, name: str, vertices: np.ndarray, faces: np.ndarray, color: np.ndarray, pose: dict) -> Any:
        rgb = tuple(int(255 * part) for part in color)
        return self._server.scene.add_mesh_simple(name, vertices, faces, color=rgb, side="double", **pose)

    def move(self, pos: np.ndarray, shift: np.ndarray) -> None:
        """Shift the floors of one environment, at poses (ngeom, 3), but for whole fields."""
        step = 2 * self.cell
        for g, floor in zip(self._drawn.planes, self._handles, strict=True):
            place = pos[g] + shift - step * np.round(shift / step)
            for handle in floor:
                if not np.allclose(handle.position, place, atol=1e-6):
                    handle.position = place


class SceneLight:
    """The light of a scene: a sun, and a sky whose lower half is the ground; no environment map, which is slow.

    Args:
        ambient: red, green and blue of light from all sides, 0 to 1, in place of the sky's; None: the sky's.
    """

    def __init__(self, ambient: Any = None) -> None:
        self.ambient = None if ambient is None else np.asarray(ambient, float)

    def shine(self, scene: Any, shadows: bool) -> Any:
        """Add the lights to a scene of viser; return the sun."""
        # Both shine from where they are to the origin, whatever their rotation.
        sun = scene.add_light_directional("/light/sun", color=SUN_COLOR, intensity=SUN_STRENGTH, position=SUN)
        sun.cast_shadow = shadows
        above, below = (SKY_COLOR, GROUND_COLOR) if self.ambient is None else (_bytes(self.ambient),) * 2
        strength = SKY_STRENGTH if self.ambient is None else np.pi
        sky = {"sky_color": above, "ground_color": below, "intensity": strength}
        scene.add_light_hemisphere("/light/sky", **sky, position=(0.0, 0.0, 1.0))
        return sun

    def on(self, normal: np.ndarray) -> np.ndarray:
        """Return the share of light (3,) that a matt white surface with this unit normal (3,) sends back, linear."""
        facing = max(float(normal @ np.array(SUN)) / float(np.linalg.norm(SUN)), 0.0)
        sun = SUN_STRENGTH * facing * linear(np.array(SUN_COLOR) / 255)
        if self.ambient is not None:
            return sun / np.pi + linear(self.ambient)
        above, below = (linear(np.array(color) / 255) for color in (SKY_COLOR, GROUND_COLOR))
        share = 0.5 + 0.5 * float(normal[2])
        return (sun + SKY_STRENGTH * (share * above + (1 - share) * below)) / np.pi


def linear(color: np.ndarray) -> np.ndarray:
    """Return linear light for numbers of a screen, 0 to 1 (sRGB)."""
    color = np.asarray(color, float)
    return np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)


def _bytes(color: np.ndarray) -> tuple[int, int, int]:
    red, green, blue = (round(255 * float(part)) for part in np.clip(color, 0, 1))
    return red, green, blue


def _fields(cell: float, count: int, kind: int) -> tuple[np.ndarray, np.ndarray]:
    """Return every second field of a checker about the origin, as vertices and faces; `kind` 0 or 1 says which."""
    column, row = np.meshgrid(np.arange(-count, count), np.arange(-count, count))
    corner = np.stack([column, row], axis=-1)[(column + row) % 2 == kind]
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    flat = (cell * (corner[:, None] + square)).reshape(-1, 2)
    first = 4 * np.arange(len(corner))[:, None]
    faces = np.concatenate([first + np.array(corners) for corners in ((0, 1, 2), (0, 2, 3))])
    return np.column_stack([flat, np.zeros(len(flat))]).astype(np.float32), faces.astype(np.uint32)


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

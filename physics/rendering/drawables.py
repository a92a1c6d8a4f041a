"""The visible geoms of a model, as tables for the kernel.

`geometry/visual.py` says which geoms are drawn, and in what colour. A material with a flat 2D texture on a plane
becomes a two-coloured checker; an untextured plane gets a faint one, so that motion over it can be seen. Meshes and
height fields have more to show (`dress.py`, `ground.py`). Signed-distance geoms are not drawn yet: they are named in
`Drawables.left_out`.
"""

from dataclasses import dataclass

import mujoco
import numpy as np

from ..geometry.names import label
from ..geometry.visual import MESH_TYPES, colour_of, drawn_geoms, flat_texture_of, pixels_of, seen_types
from ..shapes import HFIELD, PLANE, SEEN, of_kinds
from .dress import Dress, bulk, dress
from .look import Look

# columns of `Drawables.shape`, metres
SIZE = 0  # 3 columns, as in MuJoCo
BOUND = 3  # radius of the bounding sphere about the geom's centre; 0: a plane
CORE = 4  # half length and radius of the z-aligned capsule that stands for the geom where the sky's light is dimmed
SHAPE_COLUMNS = 6

# columns of `Drawables.paint`, all colours in linear light
ALBEDO = 0  # 3 columns
ALPHA = 3
SPECULAR = 4
SHININESS = 5
REFLECTANCE = 6
EMISSION = 7
CELL = 8  # 2 columns: checker cell along x and y, metres; 0: plain
SECOND = 10  # 3 columns: the checker's other colour, or the mean colour of a height field's texture
REPEAT = 13  # 3 columns, of a mesh's or field's texture: how often it is repeated along both coordinates, and its shift
PAINT_COLUMNS = 16

_LIGHT_GREY = 0.85


@dataclass(frozen=True, eq=False)
class Drawables:
    """The visible geoms of one model, one row each in geom order.

    A model without solids gets a last row that nothing can hit (kind and geom -1), so that no table is empty.
    """

    geom: np.ndarray  # (n,) int32: MuJoCo geom id
    kind: np.ndarray  # (n,) int32: MuJoCo geom type
    shape: np.ndarray  # (n, SHAPE_COLUMNS) float32, metres
    paint: np.ndarray  # (n, PAINT_COLUMNS) float32
    solids: np.ndarray  # (k,) int32: rows that are not planes
    dress: Dress  # how the meshes and height fields look
    left_out: tuple[str, ...]  # visible geoms of a type that is not drawn yet, by name


def drawables(mj: mujoco.MjModel, look: Look) -> Drawables:
    """Collect the visible geoms of `mj`."""
    visible = drawn_geoms(mj)
    kinds = seen_types(mj)
    rows = [g for g in visible if kinds[g] in SEEN]
    dressed = dress(mj, rows)
    kind = [int(kinds[g]) for g in rows]
    shape = [_shape(mj, g, look, dressed) for g in rows]
    paint = [_paint(mj, g, look) for g in rows]
    for row, repeat in zip(paint, dressed.repeat, strict=True):
        row[REPEAT : REPEAT + 3] = repeat
    geom = list(rows)
    if all(k == PLANE for k in kind):
        geom, kind = [*geom, -1], [*kind, -1]
        shape, paint = [*shape, [0.0] * SHAPE_COLUMNS], [*paint, np.zeros(PAINT_COLUMNS)]
    return Drawables(
        geom=np.array(geom, dtype=np.int32),
        kind=np.array(kind, dtype=np.int32),
        shape=np.array(shape, dtype=np.float32),
        paint=np.array(paint, dtype=np.float32),
        solids=np.flatnonzero(np.array(kind) != PLANE).astype(np.int32),
        dress=dressed,
        left_out=tuple(label(mj, g) for g in visible if g not in rows),
    )


def _shape(mj: mujoco.MjModel, g: int, look: Look, dressed: Dress) -> list[float]:
    size = mj.geom_size[g].copy()
    if mj.geom_type[g] == PLANE and look.endless_planes:
        size[:2] = 0
    if int(mj.geom_type[g]) in MESH_TYPES:
        mesh = int(mj.geom_dataid[g])
        reach = dressed.trees.reach[dressed.trees.meshes.index(mesh)]
        return [*size, 1.00001 * reach, *bulk(mj, mesh, float(size[2]))]  # not less than what rounding leaves of it
    bulk_of = of_kinds("bulk").get(int(mj.geom_type[g]), lambda size: (0.0, 0.0))
    return [*size, mj.geom_rbound[g], *bulk_of(size)]


def _paint(mj: mujoco.MjModel, g: int, look: Look) -> np.ndarray:
    material = mj.geom_matid[g]
    rgba = colour_of(mj, g)
    row = np.zeros(PAINT_COLUMNS)
    row[ALPHA] = rgba[3]
    row[SPECULAR] = mj.mat_specular[material] if material >= 0 else 0.5
    row[SHININESS] = mj.mat_shininess[material] if material >= 0 else 0.5
    row[EMISSION] = mj.mat_emission[material] if material >= 0 else 0.0
    first = second = rgba[:3]
    if mj.geom_type[g] == PLANE:
        row[REFLECTANCE] = mj.mat_reflectance[material] if material >= 0 else look.plain_reflectance
        first, second, row[CELL : CELL + 2] = _checker(mj, g, look)
        tint = rgba[:3] + (rgba[:3].mean() - rgba[:3]) * look.floor_paleness
        first, second = first * tint, second * tint
    row[ALBEDO : ALBEDO + 3] = look.to_linear(first)
    row[SECOND : SECOND + 3] = look.to_linear(second)
    if mj.geom_type[g] == HFIELD:
        texture = flat_texture_of(mj, g)
        if texture < 0:
            tints = np.array(look.plain_floor)
            tints = 1.0 + 0.5 * (tints - tints.mean())
            row[CELL : CELL + 2] = 0.5 * look.cell(mj.stat.extent)
            row[ALBEDO : ALBEDO + 3] = look.to_linear(tints[0] * rgba[:3])
            row[SECOND : SECOND + 3] = look.to_linear(tints[1] * rgba[:3])
        else:
            row[SECOND : SECOND + 3] = look.to_linear(pixels_of(mj, texture) / 255.0).mean(axis=(0, 1))
    return row


def _checker(mj: mujoco.MjModel, g: int, look: Look) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two tints (3,) and the cell (2,) in metres of a plane's pattern.

    MuJoCo lays a 2D texture so that its centre falls on the plane's: texrepeat times over a finite plane, or texrepeat
    times per two metres if it is uniform or endless. A checker texture has two cells a side.
    """
    material, texture = mj.geom_matid[g], flat_texture_of(mj, g)
    if texture < 0:
        return np.full(3, look.plain_floor[0]), np.full(3, look.plain_floor[1]), np.full(2, look.cell(mj.stat.extent))
    repeat = np.maximum(mj.mat_texrepeat[material], 1e-6)
    size = mj.geom_size[g, :2]
    per_metre = mj.mat_texuniform[material] or np.any(size <= 0)
    cell = np.where(per_metre | (size <= 0), 1 / repeat, size / repeat)
    first, second = _texture_tints(mj, texture)
    middle, swing = (first + second) / 2, (first - second) / 2 * look.checker_contrast
    middle = middle + (_LIGHT_GREY - middle) * look.floor_paleness
    return middle + swing, middle - swing, cell


def _texture_tints(mj: mujoco.MjModel, texture: int) -> tuple[np.ndarray, np.ndarray]:
    """Median colours in [0, 1] of the quadrants at (+x, +y) and (-x, +y) of the plane: one of each of a checker."""
    pixels = pixels_of(mj, texture)
    height, width = pixels.shape[:2]
    upper = pixels[: (height + 1) // 2]
    halves = upper[:, width // 2 :], upper[:, : (width + 1) // 2]
    tints = [np.median(half.reshape(-1, 3), axis=0) / 255 for half in halves]
    return tints[0], tints[1]

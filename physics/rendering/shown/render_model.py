"""All that is drawn of a model: one plain description, from which the ray caster and other renderers work.

`RenderModel` lists the drawn geoms and the overlays, a row each: kind and size (`shape`), material
(`paint`), the mesh, height field and texture that it shows (`appearance`), and the source of its pose
(`overlays.py`).
`geometry/visual.py` decides which geoms are drawn, and their colours. A checker on a plane is drawn by its formula, and
a plane without texture gets a faint one, so that motion over it can be seen.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from ...base.shapes import HFIELD, PLANE, SEEN, of_kinds
from ...files.geometry.names import label
from ...files.geometry.visual import (
    MESH_TYPES,
    colour_of,
    drawn_geoms,
    pixels_of,
    refraction_of,
    seen_types,
    texture_of,
)
from ..look import Look
from .appearance import DrawnAppearance, bulk, drawn_appearance

if TYPE_CHECKING:
    from .overlays import Overlays, Show

# columns of `RenderModel.shape`, metres
SIZE = 0  # 3 columns, as in MuJoCo
BOUND = 3  # radius of the bounding sphere about the geom's centre; NEVER: not there, ALWAYS: a plane
CORE = 4  # half length and radius of the z-aligned capsule that stands for the geom where the sky's light is dimmed
SHAPE_COLUMNS = 6
NEVER, ALWAYS = -1.0e30, 1.0e30

SPHERES = 1100
"""The kind of a row that is a group of spheres (`particles/placed.py`); mjtGeom has other numbers."""

# columns of `RenderModel.paint`, all colours in linear light
ALBEDO = 0  # 3 columns
ALPHA = 3
SPECULAR = 4
SHININESS = 5
REFLECTANCE = 6
EMISSION = 7
CELL = 8  # 2 columns: checker cell along x and y, metres; 0: plain
SECOND = 10  # 3 columns: the checker's other colour
ROUGHNESS = 13
METALLIC = 14
IOR = 15  # index of refraction, 0: it is no glass
LINE = 16  # 3 columns: colour of the lines between a checker's cells
LINE_WIDTH = 19  # cells; 0: no lines
PAINT_COLUMNS = 20

_LINE_TINT = 0.35  # share by which they are moved towards white
_PURE = 0.9  # share of a quadrant's texels in its median colour, from which on a texture is a checker


@dataclass(frozen=True, eq=False)
class RenderModel:
    """The visible geoms of one model, one row each in geom order, and then the rows of overlays.

    A model without solids gets a last row that nothing can hit (kind and geom -1), so that no table is empty.
    """

    geom: np.ndarray  # (n,) int32: MuJoCo geom id, -1 in rows of overlays
    kind: np.ndarray  # (n,) int32: MuJoCo geom type
    shape: np.ndarray  # (n, SHAPE_COLUMNS) float32, metres
    paint: np.ndarray  # (n, PAINT_COLUMNS) float32
    solids: np.ndarray  # (k,) int32: rows of geoms that are not planes, which cast shadows and are mirrored
    appearance: DrawnAppearance  # meshes, height fields and textures
    overlays: "Overlays"  # the rows that are no geoms
    left_out: tuple[str, ...]  # visible geoms of a type that is not drawn yet, by name


def render_model(mj: mujoco.MjModel, look: Look, show: "Show | None" = None) -> RenderModel:
    """Collect the drawn parts of `mj`."""
    if show is None:
        from .overlays import Show  # it needs torch, which the process that compiles pictures does without

        show = Show()
    visible = drawn_geoms(mj, show.geom_groups)
    kinds = seen_types(mj)
    rows = [g for g in visible if kinds[g] in SEEN]
    overlays = show.overlays(mj)
    checkers = {g: tints for g in rows if kinds[g] == PLANE and (tints := _checker(mj, g, look)) is not None}
    dressed = drawn_appearance(mj, rows, set(checkers), len(overlays.kind), look)
    kind = [int(kinds[g]) for g in rows]
    shape = [_shape(mj, g, look, dressed) for g in rows]
    paint = [_paint(mj, g, look, checkers.get(g)) for g in rows]
    geom, solids = list(rows), [row for row, k in enumerate(kind) if k != PLANE]
    geom, kind = [*geom, *[-1] * len(overlays.kind)], [*kind, *overlays.kind.tolist()]
    shape += [[0.0, 0.0, 0.0, NEVER, 0.0, 0.0] for _ in overlays.kind]
    paint += [_plain(rgba, look) for rgba in overlays.rgba]
    if not solids:
        solids = [len(geom)]
        geom, kind = [*geom, -1], [*kind, -1]
        shape, paint = [*shape, [0.0] * SHAPE_COLUMNS], [*paint, np.zeros(PAINT_COLUMNS)]
    return RenderModel(
        geom=np.array(geom, dtype=np.int32),
        kind=np.array(kind, dtype=np.int32),
        shape=np.array(shape, dtype=np.float32),
        paint=np.array(paint, dtype=np.float32),
        solids=np.array(solids, dtype=np.int32),
        appearance=dressed,
        overlays=overlays,
        left_out=tuple(label(mj, g) for g in visible if g not in rows),
    )


def _shape(mj: mujoco.MjModel, g: int, look: Look, dressed: DrawnAppearance) -> list[float]:
    size = mj.geom_size[g].copy()
    if mj.geom_type[g] == PLANE:
        if look.endless_planes:
            size[:2] = 0
        return [*size, ALWAYS, 0.0, 0.0]
    if int(mj.geom_type[g]) in MESH_TYPES:
        mesh = int(mj.geom_dataid[g])
        reach = dressed.trees.reach[dressed.trees.meshes.index(mesh)]
        return [*size, 1.00001 * reach, *bulk(mj, mesh, float(size[2]))]  # more than rounding takes away
    bulk_of = of_kinds("bulk").get(int(mj.geom_type[g]), lambda size: (0.0, 0.0))
    return [*size, mj.geom_rbound[g], *bulk_of(size)]


def _plain(rgba: np.ndarray, look: Look) -> np.ndarray:
    """The paint of an overlay: it shines, so that it can be seen in the dark."""
    row = np.zeros(PAINT_COLUMNS)
    row[ALBEDO : ALBEDO + 3], row[ALPHA], row[EMISSION] = look.to_linear(rgba[:3]), rgba[3], 0.6
    return row


def _paint(mj: mujoco.MjModel, g: int, look: Look, checker: tuple | None) -> np.ndarray:
    """The row of a geom; `checker` are the tints and cells of a plane that has one."""
    material = mj.geom_matid[g]
    rgba = colour_of(mj, g)
    row = np.zeros(PAINT_COLUMNS)
    row[ALPHA] = rgba[3]
    row[SPECULAR] = mj.mat_specular[material] if material >= 0 else 0.5
    row[SHININESS] = mj.mat_shininess[material] if material >= 0 else 0.5
    row[ROUGHNESS] = 1.0 - row[SHININESS]
    if material >= 0:
        row[EMISSION] = mj.mat_emission[material]
        row[METALLIC] = max(0.0, mj.mat_metallic[material])
        if mj.mat_roughness[material] >= 0:
            row[ROUGHNESS] = mj.mat_roughness[material]
            row[SHININESS] = 1.0 - row[ROUGHNESS]
        row[IOR] = refraction_of(mj, int(material))
    first = second = rgba[:3]
    if mj.geom_type[g] == PLANE:
        row[REFLECTANCE] = mj.mat_reflectance[material] if material >= 0 else look.plain_reflectance
        row[REFLECTANCE] = row[REFLECTANCE] if look.floor_mirror is None else look.floor_mirror
        if checker is not None:
            first, second, row[CELL : CELL + 2] = checker
            mean = 0.5 * (first + second)
            swing = 0.5 * (first - second) / np.where(mean > 0, mean, 1.0)
            middle = mean * rgba[:3] + (np.array(look.floor_rgb) - mean * rgba[:3]) * look.floor_tint
            first, second = middle * (1.0 + swing), middle * (1.0 - swing)
            row[LINE : LINE + 3] = look.to_linear(middle + _LINE_TINT * (1.0 - middle))
            row[LINE_WIDTH] = look.floor_lines
    if mj.geom_type[g] == HFIELD and texture_of(mj, g) < 0:
        tints = np.array(look.plain_floor)
        tints = 1.0 + 0.5 * (tints - tints.mean())
        row[CELL : CELL + 2] = 0.5 * look.cell(mj.stat.extent)
        first, second = tints[0] * rgba[:3], tints[1] * rgba[:3]
    if np.array_equal(first, second):
        row[CELL : CELL + 2] = 0.0  # it cannot be seen
    row[ALBEDO : ALBEDO + 3] = look.to_linear(first)
    row[SECOND : SECOND + 3] = look.to_linear(second)
    return row


def _checker(mj: mujoco.MjModel, g: int, look: Look) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Two tints (3,) and the cell (2,) in metres of a plane's pattern; None if it shows an image.

    MuJoCo lays a 2D texture so that its centre falls on the plane's: texrepeat times over a finite plane, or texrepeat
    times per two metres if it is uniform or endless. A checker texture has two cells a side.
    """
    material, texture = mj.geom_matid[g], texture_of(mj, g)
    if texture < 0:
        return np.full(3, look.plain_floor[0]), np.full(3, look.plain_floor[1]), np.full(2, look.cell(mj.stat.extent))
    tints = _texture_tints(mj, texture, 1.0 if look.checker_contrast == 1 else _PURE)
    if tints is None:
        return None
    repeat = np.maximum(mj.mat_texrepeat[material], 1e-6)
    size = mj.geom_size[g, :2]
    per_metre = mj.mat_texuniform[material] or np.any(size <= 0)
    cell = np.where(per_metre | (size <= 0), 1 / repeat, size / repeat)
    middle, swing = (tints[0] + tints[1]) / 2, (tints[0] - tints[1]) / 2 * look.checker_contrast
    return middle + swing, middle - swing, cell


def _texture_tints(mj: mujoco.MjModel, texture: int, purity: float) -> tuple[np.ndarray, np.ndarray] | None:
    """Colours in [0, 1] of a checker: of the quadrants at (+x, +y) and (-x, +y) of the plane; None for others.

    At least a share `purity` of a quadrant's texels has its colour: 1 for a checker without marks.
    """
    if mj.tex_type[texture] != mujoco.mjtTexture.mjTEXTURE_2D:
        return None
    pixels = pixels_of(mj, texture)
    height, width = pixels.shape[:2]
    if height < 2 or width < 2:
        return None
    quarters = [part for half in np.array_split(pixels, 2, axis=0) for part in np.array_split(half, 2, axis=1)]
    tints = [np.median(part.reshape(-1, 3), axis=0) for part in quarters]
    pure = [np.mean(np.abs(part - tint).max(-1) < 3) for part, tint in zip(quarters, tints, strict=True)]
    if min(pure) < purity or abs(tints[0] - tints[3]).max() > 2 or abs(tints[1] - tints[2]).max() > 2:
        return None
    return tints[1] / 255, tints[0] / 255

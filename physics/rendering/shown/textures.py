"""Images on surfaces and in the sky, each with smaller and smaller copies of it, between which a kernel samples.

Colours are looked up over the area that a pixel covers, so that nothing flickers in the distance. A flat image goes on
at its edges; a cube has six square ones, which a direction finds as in OpenGL (its specification, section 8.13).
"""

from dataclasses import dataclass

import mujoco
import numpy as np
import taichi as ti

from ...files.geometry.visual import pixels_of
from ..rays.field_walk import within
from ..rays.traced import Traced
from ..shading import mix, vec3

# columns of `Textures.table`
FIRST_LEVEL, LEVELS, CUBE = range(3)
# columns of `Textures.levels`; a cube's faces are FACE_STRIDE texels apart: 0 if one image is on all of them
FIRST_TEXEL, WIDTH, HEIGHT, FACE_STRIDE = range(4)

_TAPS = 4.0  # samples along the longer side of a pixel's footprint on a surface
vec2 = ti.types.vector(2, ti.f32)


@dataclass(frozen=True, eq=False)
class Textures:
    """The textures that a picture of a model needs; without any each table has one row, which is not read.

    Attributes:
        ids: MuJoCo's ids, in the order of the rows of `table`.
        table: (n, 3) int32: first row in `levels`, their number, 1 for cubes.
        levels: (l, 4) int32: first texel, width, height, texels from a cube's face to the next one's.
        texels: (k, 3) uint8, as displayed, row by row.
    """

    ids: tuple[int, ...]
    table: np.ndarray
    levels: np.ndarray
    texels: np.ndarray

    def row(self, texture: int) -> int:
        """Return the row of a texture of MuJoCo's, -1 for none."""
        return self.ids.index(texture) if texture in self.ids else -1


def textures(mj: mujoco.MjModel, ids: list[int]) -> Textures:
    """Collect the images of some textures, and their smaller copies."""
    table: list[list[int]] = []
    levels: list[list[int]] = []
    texels: list[np.ndarray] = []
    count = 0
    wanted = tuple(dict.fromkeys(i for i in ids if i >= 0))
    for texture in wanted:
        cube = int(mj.tex_type[texture] != mujoco.mjtTexture.mjTEXTURE_2D)
        faces = _faces(pixels_of(mj, texture), cube)
        first = len(levels)
        while True:
            height, width = faces.shape[1:3]
            levels.append([count, width, height, 0 if len(faces) == 1 else width * height])
            texels.append(np.round(255 * np.sqrt(faces)).astype(np.uint8).reshape(-1, 3))
            count += len(texels[-1])
            if width == height == 1:
                break
            faces = _halved(faces)
        table.append([first, len(levels) - first, cube])
    if not wanted:
        return Textures((), np.zeros((1, 3), np.int32), np.ones((1, 4), np.int32), np.zeros((1, 3), np.uint8))
    return Textures(wanted, np.array(table, np.int32), np.array(levels, np.int32), np.concatenate(texels))


def _faces(pixels: np.ndarray, cube: int) -> np.ndarray:
    """The images (faces, height, width, 3) of a texture in linear light; a cube may have one for all its faces."""
    height, width = pixels.shape[:2]
    count = 6 if cube and height == 6 * width else 1
    return (pixels.astype(np.float32) / 255.0).reshape(count, height // count, width, 3) ** 2


def _halved(faces: np.ndarray) -> np.ndarray:
    """Images of half the size, of means over two by two texels; a last odd row or column is a mean with itself."""
    for axis in (1, 2):
        if faces.shape[axis] > 1:
            if faces.shape[axis] % 2:
                faces = np.concatenate([faces, np.take(faces, [-1], axis)], axis=axis)
            even = np.arange(0, faces.shape[axis], 2)
            faces = 0.5 * (np.take(faces, even, axis) + np.take(faces, even + 1, axis))
    return faces


@ti.func
def cube_face(way):
    """Return the face of a cube that a direction goes through: +x, -x, +y, ..."""
    size = abs(way)
    face = 4 + ti.cast(way.z < 0.0, ti.i32)
    if size.x >= size.y and size.x >= size.z:
        face = ti.cast(way.x < 0.0, ti.i32)
    elif size.y >= size.z:
        face = 2 + ti.cast(way.y < 0.0, ti.i32)
    return face


@ti.func
def on_face(face, way):
    """Place in [0, 1]^2 on a cube's face where a direction goes through it."""
    s, t, depth = way.x, -way.y, way.z
    if face == 5:
        s = -way.x
    elif face == 0:
        s, depth = -way.z, way.x
    elif face == 1:
        s, depth = way.z, way.x
    elif face == 2:
        t, depth = way.z, way.y
    elif face == 3:
        t, depth = -way.z, way.y
    scale = 0.5 / ti.max(ti.abs(depth), 1.0e-12)
    return vec2(0.5 + scale * s, 0.5 + scale * t)


class Painter(Traced):
    """`Textures` in a kernel."""

    def __init__(self, table, levels, texels):
        self.table, self.levels, self.texels = table, levels, texels

    @ti.func
    def mean(self, texture):
        """Mean colour of a texture, in linear light: its smallest copy."""
        last = self.table[texture, FIRST_LEVEL] + self.table[texture, LEVELS] - 1
        shown = self.texel(self.levels[last, FIRST_TEXEL])
        return shown * shown

    @ti.func
    def texel(self, i):
        """A texel as displayed, from 0 to 1."""
        shown = vec3(0.0, 0.0, 0.0)
        for c in ti.static(range(3)):
            shown[c] = ti.cast(self.texels[i, c], ti.f32) / 255.0
        return shown

    @ti.func
    def sample(self, texture, face, place, along, across):
        """Mean colour in linear light over a parallelogram about a place, by its sides; all in images, [0, 1]^2.

        `face` is a cube's, 0 for a flat image, which is there again and again beyond its edges.
        """
        first, last = self.table[texture, FIRST_LEVEL], self.table[texture, LEVELS] - 1
        is_cube = self.table[texture, CUBE] == 1
        width, height = ti.cast(self.levels[first, WIDTH], ti.f32), ti.cast(self.levels[first, HEIGHT], ti.f32)
        long = ti.sqrt((along.x * width) ** 2 + (along.y * height) ** 2)  # texels
        short = ti.sqrt((across.x * width) ** 2 + (across.y * height) ** 2)
        way = along
        if short > long:
            way = across
        longer = ti.max(long, short)
        shorter = ti.max(ti.min(long, short), longer / _TAPS)
        level = within(ti.log(ti.max(shorter, 1.0)) / ti.log(2.0), ti.f32(0.0), ti.cast(last, ti.f32))
        taps = ti.cast(within(ti.ceil(longer / ti.max(shorter, 1.0)), ti.f32(1.0), ti.f32(_TAPS)), ti.i32)
        colour = vec3(0.0, 0.0, 0.0)
        for tap in range(2 * taps):
            share = (ti.cast(tap // 2, ti.f32) + 0.5) / ti.cast(taps, ti.f32) - 0.5
            lower = ti.floor(level)
            weight = ti.select(tap % 2 == 0, 1.0 - (level - lower), level - lower)
            if weight > 0.0:
                row = first + ti.min(ti.cast(lower, ti.i32) + tap % 2, last)
                colour += weight / ti.cast(taps, ti.f32) * self.between(row, face, place + share * way, is_cube)
        return colour

    @ti.func
    def between(self, level, face, place, is_cube):
        """Colour between the four texels around a place of one copy: between displayed values, as OpenGL has it."""
        width, height = self.levels[level, WIDTH], self.levels[level, HEIGHT]
        base = self.levels[level, FIRST_TEXEL] + face * self.levels[level, FACE_STRIDE]
        u, v = place.x, place.y
        if not is_cube:
            u, v = u - ti.floor(u), v - ti.floor(v)
        x, y = u * ti.cast(width, ti.f32) - 0.5, v * ti.cast(height, ti.f32) - 0.5
        left, top = ti.cast(ti.floor(x), ti.i32), ti.cast(ti.floor(y), ti.i32)
        right, down = x - ti.floor(x), y - ti.floor(y)
        shown = vec3(0.0, 0.0, 0.0)
        for corner in range(4):
            i, j = left + corner % 2, top + corner // 2
            if is_cube:
                i, j = ti.max(0, ti.min(width - 1, i)), ti.max(0, ti.min(height - 1, j))
            else:
                i, j = (i + width) % width, (j + height) % height
            share = mix(1.0 - right, right, ti.cast(corner % 2, ti.f32))
            share *= mix(1.0 - down, down, ti.cast(corner // 2, ti.f32))
            shown += share * self.texel(base + j * width + i)
        return shown * shown

    @ti.func
    def towards(self, texture, way):
        """Colour of a cube in a direction."""
        face = cube_face(way)
        still = vec2(0.0, 0.0)
        return self.sample(texture, face, on_face(face, way), still, still)

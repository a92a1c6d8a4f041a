"""The looks of meshes: their triangles, the normals and texture coordinates at the corners, and the textures.

Normals are the model's, which MuJoCo makes smooth or flat as the file asks. A 2D texture lies as in MuJoCo's viewer: by
the mesh's own texture coordinates, else projected along the mesh's z axis; texrepeat times, with its first row at 0.
Materials with a cube texture have their plain colour. Textures of height fields are here, too (`ground.py`).
"""

from dataclasses import dataclass

import mujoco
import numpy as np
import taichi as ti

from ..geometry.compiled_mesh import triangles_of, volume_of
from ..geometry.visual import flat_texture_of, pixels_of, seen_types
from ..rays.field_tables import FieldTables, field_tables
from ..rays.mesh_tree import TRIANGLES, MeshTrees, mesh_trees
from ..rays.traced import Traced
from ..shapes import HFIELD, MESH
from ..shapes.ray import MISS
from .relief import openness
from .shading import vec3

# columns of `Dress.skin`
NORMALS = 0  # 9 columns: unit vectors at the corners, in the mesh's frame
COORDINATES = 9  # 6 columns: texture coordinates at the corners
SKIN_COLUMNS = 15

# columns of `Dress.rows`
TREE, FIRST_TEXEL, WIDTH, HEIGHT = range(4)  # which tree or field; where its texture begins and its size, 0 without one


@dataclass(frozen=True, eq=False)
class Dress:
    """The meshes and height fields among the drawn geoms; without any each table but `repeat` has one row, not read.

    Attributes:
        trees: triangles of the meshes.
        fields: the height fields.
        skin: (t, SKIN_COLUMNS) float32, for each of the triangles.
        rows: (n, 4) int32, for each of the drawn geoms; 0 where it is neither a mesh nor a height field.
        repeat: (n, 3) float32: how often the texture is repeated along both coordinates, and its shift.
        texels: (k, 3) uint8: colours of all textures, row by row.
        openness: (h,) float32: of the fields' vertices, see `relief.py`.
    """

    trees: MeshTrees
    fields: FieldTables
    skin: np.ndarray
    rows: np.ndarray
    repeat: np.ndarray
    texels: np.ndarray
    openness: np.ndarray


def dress(mj: mujoco.MjModel, geoms: list[int]) -> Dress:
    """Collect how the meshes and height fields among the geoms look."""
    kinds = seen_types(mj)
    meshes, grounds = (
        {row: int(mj.geom_dataid[g]) for row, g in enumerate(geoms) if kinds[g] == kind} for kind in (MESH, HFIELD)
    )
    trees, fields = mesh_trees(mj, list(meshes.values())), field_tables(mj, list(grounds.values()))
    rows, repeat = np.zeros((max(1, len(geoms)), 4), np.int32), np.zeros((len(geoms), 3), np.float32)
    texels, placed, count = [np.zeros((1, 3), np.uint8)], {}, 1
    for row, asset in sorted((meshes | grounds).items()):
        rows[row, TREE] = trees.meshes.index(asset) if row in meshes else fields.fields.index(asset)
        texture = flat_texture_of(mj, geoms[row])
        if texture < 0:
            continue
        if texture not in placed:
            colours = pixels_of(mj, texture).reshape(-1, 3)
            placed[texture], count = count, count + len(colours)
            texels.append(colours)
        rows[row, FIRST_TEXEL:] = placed[texture], mj.tex_width[texture], mj.tex_height[texture]
        repeat[row] = _repeat(mj, geoms[row], row in meshes and mj.mesh_texcoordadr[asset] >= 0)
    return Dress(trees, fields, _skin(mj, trees), rows, repeat, np.concatenate(texels), openness(fields))


def bulk(mj: mujoco.MjModel, mesh: int, half_length: float) -> tuple[float, float]:
    """Half length and radius of a capsule about z that is as long as a mesh, and takes no more room than it."""
    volume = max(0.0, volume_of(triangles_of(mj, mesh)))
    radius = min(np.cbrt(3 * volume / (4 * np.pi)), np.sqrt(volume / (2 * np.pi * max(half_length, 1e-9))))
    return max(0.0, half_length - radius), float(radius)


def _repeat(mj: mujoco.MjModel, geom: int, has_coordinates: bool) -> tuple[float, float, float]:
    """Return the repetitions of a texture along both coordinates, and its shift; projected ones run over the size."""
    material, size = mj.geom_matid[geom], np.maximum(mj.geom_size[geom, :2], mujoco.mjMINVAL)
    repeat = mj.mat_texrepeat[material].astype(np.float64)
    if has_coordinates:
        repeat = np.where(repeat > 0, repeat, 1.0) * (size if mj.mat_texuniform[material] else 1.0)
        return float(repeat[0]), float(repeat[1]), 0.0
    repeat = repeat / (1.0 if mj.mat_texuniform[material] else size)
    return float(repeat[0]), float(repeat[1]), -0.5


def _skin(mj: mujoco.MjModel, trees: MeshTrees) -> np.ndarray:
    """`Dress.skin`."""
    skin = np.zeros((len(trees.faces), SKIN_COLUMNS), np.float32)
    skin[:, COORDINATES::2] = 0.5 * trees.corners[:, 0::3]  # projected, unless the mesh has coordinates of its own
    skin[:, COORDINATES + 1 :: 2] = -0.5 * trees.corners[:, 1::3]
    if not trees.meshes:
        return skin
    mesh = np.repeat(trees.meshes, trees.trees[:, TRIANGLES])
    normals = mj.mesh_facenormal[trees.faces] + mj.mesh_normaladr[mesh][:, None]
    skin[:, :COORDINATES] = mj.mesh_normal[normals].reshape(-1, 9)
    own = mj.mesh_texcoordadr[mesh] >= 0
    if own.any():
        corners = mj.mesh_facetexcoord[trees.faces[own]] + mj.mesh_texcoordadr[mesh[own]][:, None]
        skin[own, COORDINATES:] = mj.mesh_texcoord[corners].reshape(-1, 6)
    return skin


class Dressed(Traced):
    """Meshes in a kernel: where rays enter them, and how they look. Rays and points are in the geom's frame."""

    def __init__(self, meshes, skin, rows, texels):
        self.meshes, self.skin, self.rows, self.texels = meshes, skin, rows, texels

    @ti.func
    def entry(self, row, origin, direction, start):
        """Distance to the nearest triangle from `start` on and its number; (MISS, -1) if there is none.

        A ray that begins within the box around a mesh sees its outer sides alone, and looks out of it. Others see both,
        so that they do not look through a robot by the gaps between the parts of its meshes.
        """
        tree = self.rows[row, TREE]
        both_sides = not self.meshes.holds(tree, origin + start * direction)
        return self.meshes.nearest(tree, origin, direction, start, ti.f32(MISS), both_sides)

    @ti.func
    def normal(self, triangle, point):
        """Outward direction, of any length, at a point of a triangle, between those of its corners."""
        shares = self.meshes.shares(triangle, point)
        blend = vec3(0.0, 0.0, 0.0)
        for c in ti.static(range(3)):
            for i in ti.static(range(3)):
                blend[c] += shares[i] * self.skin[triangle, NORMALS + 3 * i + c]
        if blend.dot(blend) < 1.0e-6:
            blend = self.meshes.outward(triangle)
        return blend

    @ti.func
    def tint(self, row, triangle, point, repeat):
        """Colour of the texture at a point of a triangle, in linear light; white without a texture."""
        colour = vec3(1.0, 1.0, 1.0)
        if self.rows[row, HEIGHT] > 0:
            shares = self.meshes.shares(triangle, point)
            u, v = repeat.z, repeat.z
            for i in ti.static(range(3)):
                u += shares[i] * repeat.x * self.skin[triangle, COORDINATES + 2 * i]
                v += shares[i] * repeat.y * self.skin[triangle, COORDINATES + 2 * i + 1]
            shown = self.sample(row, u - ti.floor(u), v - ti.floor(v))
            colour = shown * shown
        return colour

    @ti.func
    def sample(self, row, u, v):
        """Colour of a texture as displayed, between the texels around a place in [0, 1]^2; it goes on at its edges."""
        width, height = self.rows[row, WIDTH], self.rows[row, HEIGHT]
        x, y = u * ti.cast(width, ti.f32) - 0.5, v * ti.cast(height, ti.f32) - 0.5
        left, top = ti.cast(ti.floor(x), ti.i32), ti.cast(ti.floor(y), ti.i32)
        right, down = x - ti.floor(x), y - ti.floor(y)
        colour = vec3(0.0, 0.0, 0.0)
        for corner in range(4):
            i, j = corner % 2, corner // 2
            share = ti.select(i == 1, right, 1.0 - right) * ti.select(j == 1, down, 1.0 - down)
            texel = (top + j + height) % height * width + (left + i + width) % width + self.rows[row, FIRST_TEXEL]
            for c in ti.static(range(3)):
                colour[c] += share * ti.cast(self.texels[texel, c], ti.f32) / 255.0
        return colour

"""The looks of geoms beyond their paint: meshes, height fields, and where textures lie on all kinds.

Normals of meshes are the model's, which MuJoCo makes smooth or flat as the file asks. Textures lie as in MuJoCo's
viewer (`textures.py` has their images): flat ones by a mesh's own texture coordinates, by its kind's
(`shapes/`), or else projected along z; cubes in the direction from the geom's centre. They are there texrepeat times.
"""

from dataclasses import dataclass

import mujoco
import numpy as np
import taichi as ti

from ...base.shapes import CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, PLANE, SPHERE, UNWRAPPED
from ...base.shapes.by_kind import by_kind, is_one_of
from ...base.shapes.ray import MISS, unit
from ...files.geometry.compiled_mesh import triangles_of, volume_of
from ...files.geometry.visual import seen_types, texture_of
from ..look import Look
from ..rays.field_tables import COLUMNS, ELEVATION, FIRST_HEIGHT, PER_X, PER_Y, ROWS, FieldTables, field_tables
from ..rays.mesh_tree import TRIANGLES, MeshTrees, mesh_trees
from ..rays.traced import Traced
from ..shading import vec3
from .textures import CUBE, Textures, cube_face, on_face, textures, vec2

# columns of `DrawnAppearance.skin`
NORMALS = 0  # 9 columns: unit vectors at the corners, in the mesh's frame
COORDINATES = 9  # 6 columns: texture coordinates at the corners
SKIN_COLUMNS = 15

ROUND = (SPHERE, ELLIPSOID, CYLINDER, CAPSULE)

# columns of `DrawnAppearance.rows`
TREE, TEXTURE, BY_ENV = range(3)  # which tree or field; which texture, -1: none; trees to that of the next environment

# columns of `DrawnAppearance.lie`
SCALE = 0  # 2 columns: repetitions of a flat image; 3 of a cube: from the geom's frame to the cube's
SHIFT = 3  # 2 columns
LIE_COLUMNS = 5


_NEAR = (1, 3, 9)  # cells: half the sides of the squares whose mean height a vertex is compared with
_DARKER = 1.2  # how strongly a hollow as steep as its square is wide loses light, at each of them


def openness(fields: FieldTables) -> np.ndarray:
    """Share of the sky's light at every vertex of all fields, (h,) float32, as `FieldTables.heights` has them."""
    found = np.ones(len(fields.heights), np.float32)
    for row in range(len(fields.fields)):
        first, nrow, ncol = (int(fields.shapes[row, column]) for column in (FIRST_HEIGHT, ROWS, COLUMNS))
        own = slice(first, first + nrow * ncol)
        heights = fields.heights[own].reshape(nrow, ncol) * np.float32(fields.measures[row, ELEVATION])
        per_metre = np.sqrt(fields.measures[row, PER_X] * fields.measures[row, PER_Y])
        found[own] = _openness(heights, float(per_metre)).reshape(-1)
    return found


def _openness(heights: np.ndarray, per_metre: float) -> np.ndarray:
    dimmed = np.ones_like(heights)
    for near in _NEAR:
        above = _mean_around(heights, near) - heights
        dimmed += np.float32(_DARKER * per_metre / near) * np.maximum(above, 0.0)
    return 1.0 / dimmed


def _mean_around(heights: np.ndarray, near: int) -> np.ndarray:
    """Mean over rectangles about the vertices, up to 2 near + 1 a side: as many as the border leaves on both sides."""
    for axis in (0, 1):
        count = heights.shape[axis]
        place = np.arange(count)
        reach = np.minimum(near, np.minimum(place, place[::-1]))
        first, last = place - reach, place + reach + 1
        sums = np.insert(np.cumsum(heights, axis=axis, dtype=np.float64), 0, 0.0, axis=axis)
        wide = np.expand_dims(last - first, 1 - axis)
        heights = ((np.take(sums, last, axis) - np.take(sums, first, axis)) / wide).astype(np.float32)
    return heights


@dataclass(frozen=True, eq=False)
class DrawnAppearance:
    """The looks of the drawn geoms; without meshes, fields or textures their tables have one row, not read.

    Attributes:
        trees: triangles of the meshes.
        fields: the height fields.
        skin: (t, SKIN_COLUMNS) float32, for each of the triangles.
        rows: (n, 3) int32, for each of the drawn geoms and overlays.
        lie: (n, LIE_COLUMNS) float32: how its texture lies on a geom.
        images: the textures.
        sky: row of the skybox's texture, -1 for none.
        openness: (h,) float32: of the fields' vertices, see `openness`.
    """

    trees: MeshTrees
    fields: FieldTables
    skin: np.ndarray
    rows: np.ndarray
    lie: np.ndarray
    images: Textures
    sky: int
    openness: np.ndarray


def drawn_appearance(
    mj: mujoco.MjModel, geoms: list[int], plain: set[int], more_rows: int, look: Look
) -> DrawnAppearance:
    """Return the appearance of geoms; geoms in `plain` show no texture, and `more_rows` rows of overlays follow."""
    kinds = seen_types(mj)
    meshes, grounds = (
        {row: int(mj.geom_dataid[g]) for row, g in enumerate(geoms) if kinds[g] == kind} for kind in (MESH, HFIELD)
    )
    trees, fields = mesh_trees(mj, list(meshes.values())), field_tables(mj, list(grounds.values()))
    count = len(geoms) + more_rows + 1
    rows, lie = np.tile(np.array([0, -1, 0], np.int32), (count, 1)), np.zeros((count, LIE_COLUMNS), np.float32)
    shown = {row: texture_of(mj, g) for row, g in enumerate(geoms) if g not in plain and texture_of(mj, g) >= 0}
    sky = _skybox(mj) if look.skybox else -1
    images = textures(mj, [*shown.values(), sky])
    for row, asset in (meshes | grounds).items():
        rows[row, TREE] = trees.meshes.index(asset) if row in meshes else fields.fields.index(asset)
    for row, texture in shown.items():
        rows[row, TEXTURE] = images.row(texture)
        is_flat = mj.tex_type[texture] == mujoco.mjtTexture.mjTEXTURE_2D
        lie[row] = (_flat_lie if is_flat else _cube_lie)(mj, geoms[row], int(kinds[geoms[row]]))
    return DrawnAppearance(trees, fields, _skin(mj, trees), rows, lie, images, images.row(sky), openness(fields))


def _skybox(mj: mujoco.MjModel) -> int:
    """Id of the texture that is the sky, -1 for none."""
    found = np.flatnonzero(mj.tex_type == mujoco.mjtTexture.mjTEXTURE_SKYBOX)
    return int(found[0]) if len(found) else -1


def haze_of(mj: mujoco.MjModel) -> tuple[np.ndarray, float, float]:
    """Return colour (3,), width as a share and distance (m) of the haze before the skybox: see `Look.table`.

    MuJoCo's skybox is 0.7 of the way to the far plane of its cameras (its render_gl3.c, mjr_render).
    """
    return mj.vis.rgba.haze[:3], float(mj.vis.map.haze), float(0.7 * mj.vis.map.zfar * mj.stat.extent)


def bulk(mj: mujoco.MjModel, mesh: int, half_length: float) -> tuple[float, float]:
    """Half length and radius of a capsule about z that is as long as a mesh, and takes no more room than it."""
    volume = max(0.0, volume_of(triangles_of(mj, mesh)))
    radius = min(np.cbrt(3 * volume / (4 * np.pi)), np.sqrt(volume / (2 * np.pi * max(half_length, 1e-9))))
    return max(0.0, half_length - radius), float(radius)


def _flat_lie(mj: mujoco.MjModel, geom: int, kind: int) -> tuple[float, ...]:
    """Return the row of `lie` of a flat image: MuJoCo's own scales by kind (its render_gl3.c, settexture)."""
    material, size = mj.geom_matid[geom], np.array(mj.geom_size[geom, :2], np.float64)
    repeat, uniform = mj.mat_texrepeat[material].astype(np.float64), bool(mj.mat_texuniform[material])
    own = kind == MESH and mj.mesh_texcoordadr[mj.geom_dataid[geom]] >= 0
    if kind in (MESH, HFIELD) and not own:  # projected
        scale = repeat / (1.0 if uniform else np.maximum(size, mujoco.mjMINVAL))
        return *scale, 0.0, -0.5, -0.5
    repeat = np.where(repeat > 0, repeat, 1.0)
    if kind == PLANE:
        ends = size > 0
        whole = np.where(ends & uniform, repeat * size, repeat)  # repetitions over the plane
        shift = 0.5 * whole * ends - 0.5 * (not ends.all())
        return *(whole / np.where(ends, size, 1.0)), 0.0, *shift
    if kind != MESH:
        size = _drawn_size(mj, geom, kind)[:2]
    return *(repeat * (size if uniform else 1.0)), 0.0, 0.0, 0.0


def _cube_lie(mj: mujoco.MjModel, geom: int, kind: int) -> tuple[float, ...]:
    """Return the row of `lie` of a cube: directions are as in a geom of unit size, unless it is uniform."""
    size, uniform = _drawn_size(mj, geom, kind), bool(mj.mat_texuniform[mj.geom_matid[geom]])
    if kind in (MESH, HFIELD):
        return *(size if uniform else np.ones(3)), 0.0, 0.0
    return *(np.ones(3) if uniform else 1.0 / np.where(size > 0, size, 1.0)), 0.0, 0.0


def _drawn_size(mj: mujoco.MjModel, geom: int, kind: int) -> np.ndarray:
    """Return the scale (3,) that MuJoCo gives to the unit shape of a kind."""
    x, y, z = mj.geom_size[geom]
    if kind in (CAPSULE, CYLINDER):
        return np.array([x, x, y])
    return np.array([x, x, x] if kind == SPHERE else [x, y, z])


def _skin(mj: mujoco.MjModel, trees: MeshTrees) -> np.ndarray:
    """`DrawnAppearance.skin`."""
    skin = np.zeros((len(trees.faces), SKIN_COLUMNS), np.float32)
    skin[:, COORDINATES::2] = 0.5 * trees.corners[:, 0::3]  # projected, unless the mesh has texture coordinates
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


class TracedAppearance(Traced):
    """`DrawnAppearance` in a kernel: where rays enter meshes, and how geoms look, in the frame of the geom."""

    def __init__(self, meshes, skin, rows, lie, painter, has_meshes):
        self.meshes, self.skin, self.rows, self.lie = meshes, skin, rows, lie
        self.painter, self.has_meshes = painter, has_meshes

    @ti.func
    def entry(self, tree, origin, direction, start):
        """Distance to the nearest triangle of a tree from `start` on, and its number; (MISS, -1) without a hit.

        A ray that begins within the box around a mesh sees only its outer sides, and looks out of it. Others see both,
        so that they do not look through a robot by the gaps between the parts of its meshes.
        """
        both_sides = not self.meshes.holds(tree, origin + start * direction)
        return self.meshes.nearest(tree, origin, direction, start, ti.f32(MISS), both_sides)

    @ti.func
    def normal(self, triangle, point):
        """Outward direction, of any length, at a point of a triangle, between its corners' normals."""
        shares = self.meshes.shares(triangle, point)
        blend = vec3(0.0, 0.0, 0.0)
        for c in ti.static(range(3)):
            for i in ti.static(range(3)):
                blend[c] += shares[i] * self.skin[triangle, NORMALS + 3 * i + c]
        if blend.dot(blend) < 1.0e-6:
            blend = self.meshes.outward(triangle)
        return blend

    @ti.func
    def tint(self, row, kind, size, triangle, point, normal, along, footprint):
        """Colour of a geom's texture and its mean colour, in linear light, around a point of its surface.

        All are in the geom's frame; the ray comes `along` and the pixel is `footprint` (m) wide across it.
        """
        texture = self.rows[row, TEXTURE]
        is_cube = self.painter.table[texture, CUBE] == 1
        # the footprint on the surface: stretched the way that the ray slants
        facing = -along.dot(normal)
        slant = along + facing * normal
        if slant.dot(slant) < 1.0e-12:
            slant = normal.cross(vec3(normal.z, normal.x, normal.y)) + vec3(0.0, 0.0, 1.0e-20)
        slant = unit(slant)
        place, wide, high, face = vec2(0.0, 0.0), vec2(0.0, 0.0), vec2(0.0, 0.0), 0
        for k in range(3):
            p = point
            if k == 1:
                p += footprint / ti.max(facing, 0.05) * slant
            elif k == 2:
                p += footprint * normal.cross(slant)
            found = vec2(0.0, 0.0)
            if is_cube:
                way = self.way(row, kind, size, p)
                if k == 0:
                    face = cube_face(way)
                found = on_face(face, way)
            else:
                found = self.place(row, kind, size, triangle, p)
            if k == 0:
                place = found
            elif k == 1:
                wide = found - place
            else:
                high = found - place
        if not is_cube and is_one_of(kind, ROUND):  # where a texture has gone once around
            around = ti.max(self.lie[row, SCALE], 1.0e-6)
            wide.x -= around * ti.round(wide.x / around)
            high.x -= around * ti.round(high.x / around)
        return self.painter.sample(texture, face, place, wide, high), self.painter.mean(texture)

    @ti.func
    def place(self, row, kind, size, triangle, point):
        """Return where a flat texture lies at a point of a surface."""
        u, v = 0.5 * point.x, -0.5 * point.y
        u, v = by_kind(kind, UNWRAPPED, (u, v), size, point)
        if ti.static(self.has_meshes):
            if kind == MESH:
                u, v = 0.0, 0.0
                shares = self.meshes.shares(triangle, point)
                for i in ti.static(range(3)):
                    u += shares[i] * self.skin[triangle, COORDINATES + 2 * i]
                    v += shares[i] * self.skin[triangle, COORDINATES + 2 * i + 1]
        scale, shift = (
            vec2(self.lie[row, SCALE], self.lie[row, SCALE + 1]),
            vec2(self.lie[row, SHIFT], self.lie[row, SHIFT + 1]),
        )
        return scale * vec2(u, v) + shift

    @ti.func
    def way(self, row, kind, size, point):
        """Direction in which a cube is looked up at a point of a surface; MuJoCo stretches the caps of a capsule."""
        up = point.z
        beyond = ti.abs(point.z) - size.y
        if kind == CAPSULE and beyond > 0.0:
            up = ti.select(up > 0.0, 1.0, -1.0) * (1.0 + beyond / size.x) * size.y
        return vec3(self.lie[row, SCALE] * point.x, self.lie[row, SCALE + 1] * point.y, self.lie[row, SCALE + 2] * up)

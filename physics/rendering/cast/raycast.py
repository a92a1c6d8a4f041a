"""The ray caster: two kernels.

`cull_tiles` lists, for each square tile of a picture, the geoms whose bounding sphere its pixels may see.
`cast_rays` follows one ray a pixel through the tile's list, and gives depth, geom and colour; called again to refine,
it looks at the colours around each pixel and spends more rays where they differ (silhouettes, shadow edges).

Positions are relative to the camera, axes are the world's. Everything is float32, whatever the solver's precision: the
caller sees to it that literals are traced as float32 (`renderer.py`). Pictures run from the top row to the bottom.
"""

from typing import Any, NamedTuple

import taichi as ti

from ...base.math import func
from ...base.shapes import PLANE
from ...base.shapes.ray import MISS
from ...machine.codegen.items import in_lanes, in_turn, lane, lanes, rank
from .. import look as rows
from ..cameras.lens import Lens
from ..rays.field_walk import TracedHeightFields, within
from ..rays.traced import Traced, for_gpu
from ..rays.traverse import TracedMeshes
from ..shading import (
    displayed,
    fading,
    fresnel,
    haze_ring,
    highlight,
    look_row,
    mix,
    sky,
    sky_light,
    towards_eye,
    turn_of,
    vec3,
)
from ..shown import lights as lamps
from ..shown import render_model as columns
from ..shown.appearance import TracedAppearance
from ..shown.ground import ShadedHeightFields
from ..shown.textures import Painter
from .scene import SURFACE_GAP, DrawnScene

TILE = 8  # pixels along a tile's side
LAYERS = 5  # a ray is taken to have reached the sky when it has passed through or bounced off four surfaces
_CLEARLY = 1.00001  # how much nearer a later geom must be to be seen: joints of equal radius would speckle at 1
_CONTRAST = 0.025  # displayed difference between neighbouring pixels above which they are refined
_FAINTEST_MIRROR = 0.01  # reflections weaker than this are not followed
_BRIGHTNESS = vec3(0.3, 0.5, 0.2)  # weights of red, green and blue
# columns of the notes on pixels, for colours, for guides or for both
FIRST_LOOK = 1  # brightness of the plain colour
GUIDES = 6  # the last ones: the true normal (world), the albedo in linear light

F1, F2, F3, F4 = (ti.types.ndarray(dtype=ti.f32, ndim=n) for n in (1, 2, 3, 4))
I1, I2, I3 = (ti.types.ndarray(dtype=ti.i32, ndim=n) for n in (1, 2, 3))
D2 = ti.types.ndarray(dtype=ti.f64, ndim=2)
U2, U4 = (ti.types.ndarray(dtype=ti.u8, ndim=n) for n in (2, 4))


class Has(NamedTuple):
    """The things that the code of `cast_rays` is made for; a model that lacks it has a kernel that is smaller."""

    meshes: bool = False
    fields: bool = False
    textures: bool = False  # on geoms, or the sky
    lights: bool = False  # of the file, instead of the sun and the sky
    colours: bool = True  # False: only depth, rows and guides, for which a ray ends at its first surface
    particles: bool = False  # groups of spheres, or surfaces that are another mesh in each environment


@ti.kernel
def cull_tiles(shape: F3, pose: F3, views: F2, width: ti.i32, height: ti.i32, tiles: I3):
    """Fill tiles (n, number of tiles, 1 + number of rows + pixels): a count, then the rows that the tile may see."""
    across = (width + TILE - 1) // TILE
    for env, tile in ti.ndrange(tiles.shape[0], tiles.shape[1]):
        lens = Lens(views, width, height, env)
        x = ti.cast(tile % across * TILE, ti.f32)
        y = ti.cast(tile // across * TILE, ti.f32)
        origin, direction = lens.ray(x + 0.5 * TILE, y + 0.5 * TILE)
        # the tile's rays lie in a cone about the central one, or in a tube if they are parallel
        cosine, tube = ti.f32(1.0), ti.f32(0.0)
        for corner in range(4):
            corner_x, corner_y = ti.cast(corner % 2 * TILE, ti.f32), ti.cast(corner // 2 * TILE, ti.f32)
            o, d = lens.ray(x + corner_x, y + corner_y)
            cosine = ti.min(cosine, d.dot(direction))
            tube = ti.max(tube, (o - origin).norm())
        cosine -= 1.0e-6  # rounding of the cosine of a small angle
        sine = ti.sqrt(1.0 - cosine * cosine)
        count = 0
        own = ti.min(env, shape.shape[0] - 1)
        for row in range(shape.shape[1]):
            bound = shape[own, row, columns.BOUND]
            away = vec3(pose[env, row, 0], pose[env, row, 1], pose[env, row, 2]) - origin
            along = away.dot(direction)
            beside = (away - along * direction).norm()
            if beside * cosine - along * sine <= bound + tube:
                count += 1
                tiles[env, tile, count] = row
        tiles[env, tile, 0] = count


@ti.func
def first_hit(scene: ti.template(), tiles: ti.template(), tile, mirrored, origin, direction, start):
    """Nearest front beyond `start` (m): distance, row and triangle (see `DrawnScene`), (MISS, -1, -1) if none.

    Rays from the camera look through their tile's list, mirrored ones through the solids.
    """
    nearest, hit, hit_triangle = ti.f32(MISS), -1, -1
    listed = tiles[scene.env, tile, 0]
    solids = mirrored and scene.may_hit(origin, direction)
    for k in range(listed + scene.solids.shape[0]):
        if k == listed and not solids:
            break
        row = 0
        if k < listed:
            row = tiles[scene.env, tile, k + 1]
        else:
            row = scene.solids[k - listed]
        if mirrored == (k >= listed):
            t, triangle = scene.entry(row, origin, direction, start, nearest, False)
            if t > start and t * _CLEARLY < nearest:
                nearest, hit, hit_triangle = t, row, triangle
    return nearest, hit, hit_triangle


@func
def background(scene, look, direction):
    """Colour of the sky, or of the file's skybox."""
    colour = sky(look, direction)
    if ti.static(scene.has.textures):
        box = ti.cast(look[rows.SHADOWS, 2], ti.i32) - 1
        if box >= 0:
            colour = scene.dressed.painter.towards(box, vec3(direction.x, direction.z, -direction.y))
    return colour


@func
def look_of(scene, row: ti.i32, point, triangle: ti.i32, direction, footprint: ti.f32):
    """Normals of a geom where a ray meets it, lit and true; whether that is the inside of a mesh; albedo and its mean.

    Pixels in lanes look at one geom after the other.
    """
    normal, flat, inside = vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0), False
    albedo, mean_albedo = vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0)
    waiting = row
    for turn in range(ti.static(lanes() + 1)):
        one, mine = in_turn(waiting, turn)
        if one < 0:
            break
        if mine:
            waiting = -1
            normal, flat = scene.normals(one, point, triangle)
            inside = scene.is_of_mesh(one, triangle) and flat.dot(direction) > 0.0
            if inside:
                normal, flat = -normal, -flat
            normal = towards_eye(normal, direction)
            albedo, mean_albedo = scene.albedo(one, point, triangle, flat, direction, footprint)
    return normal, flat, inside, albedo, mean_albedo


@func
def follow(scene, lens, look, lights, tiles, tile: ti.i32, x: ti.f32, y: ti.f32, limits):
    """Follow the ray at (x, y): depth along the optical axis (m), row of the first front, colour, plain one, guides.

    Clear surfaces let the ray through, mirroring planes send it on, once. The plain colour has every checker and
    texture replaced by its mean. The guides are the first front's true normal and albedo. Limits: nearest distance (m),
    reach of occlusion (m), and 1 if guides are wanted.
    """
    origin, direction = lens.ray(x, y)
    cosine = -direction.dot(lens.axis(2))
    depth, first_row = ti.f32(MISS), -1
    start, travelled, weight, mirrored = limits[0] / cosine, ti.f32(0.0), ti.f32(1.0), False
    colour, plain = vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0)
    first_normal, first_albedo = vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0)
    angle = turn_of(x, y)
    for layer in range(LAYERS):
        if weight <= 0.0:
            break
        t, row, triangle = first_hit(scene, tiles, tile, mirrored, origin, direction, start)
        if layer == 0:
            depth, first_row = t * cosine, scene.number(row, triangle)
        if row < 0 or layer == LAYERS - 1:
            behind = weight * background(scene, look, direction)
            colour, plain, weight = colour + behind, plain + behind, 0.0
        else:
            point = origin + t * direction
            far = travelled + t
            footprint = lens.footprint(far * cosine)
            normal, flat, inside, albedo, mean_albedo = look_of(scene, row, point, triangle, direction, footprint)
            if layer == 0:
                first_normal, first_albedo = flat, albedo
            place = SurfacePoint(row, triangle, point, normal, flat, inside, angle)
            body, plain_body, mirror = surface(
                scene, look, lights, place, albedo, mean_albedo, direction, far, limits[1]
            )
            opaque = scene.paint[row, columns.ALPHA]
            if mirrored or opaque < 1.0 or mirror < _FAINTEST_MIRROR:
                mirror = 0.0
            colour += weight * opaque * (1.0 - mirror) * body
            plain += weight * opaque * (1.0 - mirror) * plain_body
            if mirror > 0.0:
                origin, travelled = point + SURFACE_GAP * normal, far
                direction -= 2.0 * direction.dot(normal) * normal
                weight, start, mirrored = weight * mirror, 0.0, True
            else:
                weight, start = weight * (1.0 - opaque), t + SURFACE_GAP
    return depth, first_row, colour, plain, first_normal, first_albedo


@func
def look_once(scene, lens, tiles, tile: ti.i32, x: ti.f32, y: ti.f32, limits):
    """Return the results of `follow` without colours: depth (m), row, and normal and albedo if guides are wanted."""
    origin, direction = lens.ray(x, y)
    cosine = -direction.dot(lens.axis(2))
    t, row, triangle = first_hit(scene, tiles, tile, False, origin, direction, limits[0] / cosine)
    flat, albedo = vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0)
    if row >= 0 and limits[2] > 0.5:
        point = origin + t * direction
        _, flat = scene.normals(row, point, triangle)
        if scene.is_of_mesh(row, triangle) and flat.dot(direction) > 0.0:
            flat = -flat
        albedo, _ = scene.albedo(row, point, triangle, flat, direction, lens.footprint(t * cosine))
    return t * cosine, scene.number(row, triangle), flat, albedo


@ti.func
def stands_out(notes: ti.template(), env, y, x, size: ti.template()):
    """Return True if the plain colours of a square of pixels and of those around it differ visibly."""
    height, width = notes.shape[1], notes.shape[2]
    low, high = ti.f32(1.0), ti.f32(0.0)
    for j in range(ti.max(0, y - 1), ti.min(height, y + size + 1)):
        for i in range(ti.max(0, x - 1), ti.min(width, x + size + 1)):
            value = notes[env, j, i, 0]
            low, high = ti.min(low, value), ti.max(high, value)
    return high - low > _CONTRAST


@ti.func
def spot(ray, side):
    """Place within the pixel, in [0, 1)^2, of one of side * side rays: a grid, sheared so that none share a line."""
    i, j, n = ti.cast(ray % side, ti.f32), ti.cast(ray // side, ti.f32), ti.cast(side, ti.f32)
    return (i + (j + 0.5) / n) / n, (j + (n - 0.5 - i) / n) / n


@func
def note_guides(notes, env: ti.i32, y: ti.i32, x: ti.i32, normal, albedo):
    """Write the guides of a pixel."""
    first = notes.shape[3] - GUIDES
    for c in ti.static(range(3)):
        notes[env, y, x, first + c], notes[env, y, x, first + 3 + c] = normal[c], albedo[c]


@func
def measure_pixel(scene, lens, tiles, tile: ti.i32, y: ti.i32, x: ti.i32, limits, depth, seen, notes):
    """Follow the ray of a pixel of environment `scene.env` whose colour is not asked for; see `make_cast_rays`."""
    at_x, at_y = ti.cast(x, ti.f32) + 0.5, ti.cast(y, ti.f32) + 0.5
    far, row, normal, albedo = look_once(scene, lens, tiles, tile, at_x, at_y, limits)
    depth[scene.env, y, x], seen[scene.env, y, x] = far, row
    if limits[2] > 0.5:
        note_guides(notes, scene.env, y, x, normal, albedo)


@func
def colour_pixel(
    scene,
    lens,
    look,
    lights,
    tiles,
    tile: ti.i32,
    y: ti.i32,
    x: ti.i32,
    limits,
    side: ti.i32,
    depth,
    seen,
    notes,
    image,
):
    """Follow the rays of a pixel of environment `scene.env`; see `make_cast_rays`."""
    env, n_rays = scene.env, ti.max(1, side * side)
    mean, mean_plain = vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0)
    for ray in range(n_rays):
        right, down = spot(ray, ti.max(side, 1))
        at_x, at_y = ti.cast(x, ti.f32) + right, ti.cast(y, ti.f32) + down
        far, row, colour, plain, normal, albedo = follow(scene, lens, look, lights, tiles, tile, at_x, at_y, limits)
        mean += colour / ti.cast(n_rays, ti.f32)
        mean_plain += plain
        if side == 0:
            depth[env, y, x] = far
            seen[env, y, x] = row
            if limits[2] > 0.5:
                note_guides(notes, env, y, x, normal, albedo)
    shown = displayed(look, mean)
    for c in ti.static(range(3)):
        image[env, y, x, c] = ti.cast(255.0 * shown[c] + 0.5, ti.u8)
    if side == 0:
        notes[env, y, x, 0] = displayed(look, mean_plain).dot(_BRIGHTNESS)


def shares() -> int:
    """The number of shares of a tile's pixels: on a GPU each pixel is a thread's.

    A core has all of them, one after another, with the numbers of their environment at its side.
    """
    return TILE * TILE if for_gpu() else 1


@ti.func
def place_of(pixel):
    """Place (row, column) in a tile of one of its pixels, which are counted in blocks of two rows and four columns."""
    return pixel // 16 * 2 + pixel // 4 % 2, pixel // 8 % 2 * 4 + pixel % 4


@func
def list_edges(lens, tiles, tile: ti.i32, top: ti.i32, left: ti.i32, notes):
    """Write the pixels of a tile that stand out into the last columns of `tiles`; return their number."""
    count = 0
    if stands_out(notes, lens.env, top, left, TILE):
        for k in range(TILE * TILE // ti.static(lanes())):
            pixel, number = k * ti.static(lanes()) + lane(k), count
            y, x = place_of(pixel)
            if top + y < lens.height and left + x < lens.width:
                if stands_out(notes, lens.env, top + y, left + x, 1):
                    number += rank(k) + 1
                    tiles[lens.env, tile, tiles.shape[2] - TILE * TILE - 1 + number] = pixel
            count, _ = in_turn(number, k)
    return count


@func
def cast_share(scene, lens, look, lights, tiles, tile: ti.i32, share: ti.i32, limits, side, depth, seen, notes, image):
    """Follow the rays of a share of a tile's pixels."""
    across = (lens.width + TILE - 1) // TILE
    top, left = tile // across * TILE, tile % across * TILE
    count = TILE * TILE // ti.static(shares())
    if ti.static(scene.has.colours and not for_gpu()):
        if side > 0:
            count = list_edges(lens, tiles, tile, top, left, notes)
    for k in range((count + ti.static(lanes() - 1)) // ti.static(lanes())):
        pixel = share + k * ti.static(lanes()) + lane(k)
        if ti.static(shares() > 1) or pixel < count:
            if ti.static(scene.has.colours and not for_gpu()):
                if side > 0:
                    pixel = tiles[scene.env, tile, tiles.shape[2] - TILE * TILE + pixel]
            down, right = place_of(pixel)
            y, x = top + down, left + right
            if y < lens.height and x < lens.width:
                if ti.static(not scene.has.colours):
                    measure_pixel(scene, lens, tiles, tile, y, x, limits, depth, seen, notes)
                elif ti.static(not for_gpu()) or side == 0 or stands_out(notes, scene.env, y, x, 1):
                    colour_pixel(scene, lens, look, lights, tiles, tile, y, x, limits, side, depth, seen, notes, image)


@in_lanes(lambda *features: not (Has(*features).meshes or Has(*features).fields or Has(*features).particles))
def make_cast_rays(*features: bool) -> Any:
    """The kernel for models that have or lack some features (the fields of `Has`); it reads no table of a missing one.

    It follows the rays of every pixel.
    side = 0: one ray through each pixel's middle, for `image`, `depth`, `seen` (`DrawnScene.number`, -1: sky), and
    `notes`: a first look if it has colours, then the guides if there are columns for them.
    side > 0: pixels that stand out at the first look take the mean of side * side rays in `image`.

    On a CPU neighbouring pixels are side by side in a register, unless there are meshes, height fields or particles:
    each ray takes its own way through these, and little would be gained for a longer compilation.

    The addresses and shapes of all arrays must fit the few bytes that a GPU is handed at a launch
    (`tests/cuda/test_pictures.py`), so that numbers that belong together lie in one array: `views`, `look`, `notes`.
    """
    has = Has(*features)

    @ti.kernel
    def cast_rays(
        kind: I1,
        shape: F3,
        paint: F2,
        solids: I1,
        pose: F3,
        views: F2,
        look: F2,
        lights: F3,
        tiles: I3,
        side: ti.i32,
        depth: F3,
        seen: I3,
        notes: F4,
        image: U4,
        trees: I2,
        nodes: F2,
        corners: F2,
        skin: F2,
        dressed_rows: I2,
        lie: F2,
        images: I2,
        levels: I2,
        texels: U2,
        shapes: I2,
        measures: D2,
        heights: F1,
        blocks: F2,
        openness: F1,
    ):
        guided = side == 0 and notes.shape[3] >= GUIDES
        limits = vec3(look[rows.LIMITS, 0], look[rows.LIMITS, 1], ti.cast(guided, ti.f32))
        for env, tile, share in ti.ndrange(seen.shape[0], tiles.shape[1], ti.static(shares())):
            meshes, painter = TracedMeshes(trees, nodes, corners, ti.f32), Painter(images, levels, texels)
            dressed = TracedAppearance(meshes, skin, dressed_rows, lie, painter, has.meshes)
            fields = TracedHeightFields(shapes, measures, heights, blocks, ti.f32)
            ground = ShadedHeightFields(fields, dressed, openness)
            scene = DrawnScene(kind, shape, paint, solids, pose, views, env, dressed, ground, has)
            lens = Lens(views, seen.shape[2], seen.shape[1], env)
            cast_share(scene, lens, look, lights, tiles, tile, share, limits, side, depth, seen, notes, image)

    return cast_rays


def cull_kernel() -> Any:
    """`cull_tiles`, for `drivers.tensor_kernels`."""
    return cull_tiles


class SurfacePoint(Traced):
    """A point of a surface: its row and triangle as in `Scene`, its normals, whether it is the inside of a mesh.

    `turn` (rad) is the pixel's own, for soft shadows.
    """

    def __init__(self, row, triangle, point, normal, flat, inside, turn):
        self.row, self.triangle, self.point = row, triangle, point
        self.normal, self.flat, self.inside, self.turn = normal, flat, inside, turn


@func
def lighting(scene, look, lights, place, eye, reach):
    """Light on a surface, its highlight towards the eye, and how open it is to the sky.

    A light lights a surface that faces it by the blended normal, unless it lies behind the true one, as on the far
    sides of edges that a mesh smooths, or the surface is the inside of a mesh, seen through a gap.
    """
    row, normal = place.row, place.normal
    rays = ti.cast(look[rows.SHADOWS, 1], ti.i32)
    open_sky = scene.openness(row, place.triangle, place.point, normal, look[rows.SETTINGS, 1], reach)
    light = vec3(0.0, 0.0, 0.0) + scene.paint[row, columns.EMISSION]
    shine = vec3(0.0, 0.0, 0.0)
    gloss, shininess = 0.05 * scene.paint[row, columns.SPECULAR], scene.paint[row, columns.SHININESS]
    start = place.point + SURFACE_GAP * normal
    if ti.static(scene.has.lights):
        for k in range(lights.shape[1]):
            towards, far, share = lamps.shining(lights, scene.env, k, place.point)
            if share > 0.0:
                light += share * open_sky * lamps.three_of(lights, scene.env, k, lamps.AMBIENT)
            facing = share * facing_light(normal, place.flat, towards)
            if facing > 0.0 and not place.inside:
                if lights[scene.env, k, lamps.SHADOW] > 0.5:
                    facing *= scene.unshaded(
                        start, towards, far, lights[scene.env, k, lamps.RADIUS] / far, rays, place.turn
                    )
                direct = facing * lamps.three_of(lights, scene.env, k, lamps.DIFFUSE)
                light += direct
                shine += gloss * highlight(normal, eye, towards, shininess) * facing * lights[scene.env, k, lamps.SHINE]
    else:
        sun = look_row(look, rows.SUN_DIRECTION)
        light += open_sky * sky_light(look, normal)
        facing = facing_light(normal, place.flat, sun)
        if facing > 0.0 and not place.inside:
            share = scene.unshaded(start, sun, ti.f32(MISS), look[rows.SHADOWS, 0], rays, place.turn)
            direct = facing * share * look_row(look, rows.SUN_RGB)
            light += direct
            shine = gloss * highlight(normal, eye, sun, shininess) * direct
    return light, shine, open_sky


@ti.func
def facing_light(normal, flat, towards):
    """Cosine between a normal and a light, less where the light comes near the true surface or is behind it."""
    return normal.dot(towards) * within(0.5 + 5.0 * flat.dot(towards), ti.f32(0.0), ti.f32(1.0))


@func
def surface(scene, look, lights, place, albedo, mean_albedo, direction, far: ti.f32, reach):
    """Colour of an opaque surface, the same with its mean albedo, and how much of a mirror it is.

    `far` (m) is how far the ray has come.
    """
    row, normal, flat = place.row, place.normal, place.flat
    light, shine, open_sky = lighting(scene, look, lights, place, -direction, reach)
    facing = -normal.dot(direction)
    veil, veiled, mirror = vec3(0.0, 0.0, 0.0), ti.f32(0.0), ti.f32(0.0)
    metal = scene.paint[row, columns.METALLIC]
    reflected = open_sky * sky(look, direction + 2.0 * facing * normal)
    if scene.kind[row] == PLANE:
        veil, veiled = sky(look, direction), fading(far, look[rows.SETTINGS, 0])
        size = scene.size(row)
        if size.x <= 0.0 and size.y <= 0.0 and look[rows.HAZE_RING, 1] > 0.0:
            veil, veiled = look_row(look, rows.HAZE_RGB), haze_ring(look, place.point, normal)
        mirror = (1.0 - veiled) * scene.paint[row, columns.REFLECTANCE] * mix(0.2, 1.0, fresnel(facing))
    else:
        veil = reflected
        # blended normals beside an edge would shine as if the surface were seen at a grazing angle
        veiled = 0.4 * scene.paint[row, columns.SPECULAR] * fresnel(ti.max(facing, -0.5 * flat.dot(direction)))
    diffuse, mean_diffuse = albedo * light + shine, mean_albedo * light + shine
    if metal > 0.0:
        around = mix(reflected, light, scene.paint[row, columns.ROUGHNESS])
        diffuse, mean_diffuse = (
            mix(diffuse, albedo * (around + 8.0 * shine), metal),
            mix(mean_diffuse, mean_albedo * around, metal),
        )
    return mix(diffuse, veil, veiled), mix(mean_diffuse, veil, veiled), mirror

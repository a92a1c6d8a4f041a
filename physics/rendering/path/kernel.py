"""The kernel that adds samples to films, over (environment, pixel); the process that compiles it does without torch."""

from typing import Any

import taichi as ti

from ...base.math import func
from ...base.shapes.ray import unit
from ..cameras.lens import Lens
from ..cast.raycast import D2, F1, F2, F3, I1, I2, U2, Has
from ..rays.field_walk import TracedHeightFields
from ..rays.traverse import TracedMeshes
from ..shown.appearance import TracedAppearance
from ..shown.ground import ShadedHeightFields
from ..shown.textures import Painter
from . import settings as at
from .cast import PathWorld
from .emitters import EmitterKernels
from .integrator import PathScene, follow_path
from .packets_of_eight import Placed
from .sampling import in_disc
from .surroundings import Surroundings

D4 = ti.types.ndarray(dtype=ti.f64, ndim=4)

# columns of a film: sums over samples
RGB, GLOW, ALBEDO, NORMAL, SQUARE, DEPTH, HIT = 0, 3, 6, 9, 12, 13, 14
FILM_COLUMNS = 15
BRIGHTNESS = 0.3, 0.5, 0.2
"""Weights of red, green and blue in the brightness of light without the glow, whose square is added up."""


@func
def expose(stage, x: ti.i32, y: ti.i32, first: ti.i32, count: ti.i32, seed: ti.i32, film):
    """Add samples to a pixel of a film."""
    env = stage.world.env
    sums = ti.Vector([film[env, y, x, c] for c in ti.static(range(FILM_COLUMNS))])
    for k in range(count):
        light, glow, albedo, normal, depth, hit = follow_path(stage, x, y, first + k, seed)
        bright = ti.f32(0.0)
        for c in ti.static(range(3)):
            bright += BRIGHTNESS[c] * (light[c] - glow[c])
            sums[RGB + c] += ti.cast(light[c], ti.f64)
            sums[GLOW + c] += ti.cast(glow[c], ti.f64)
            sums[ALBEDO + c] += ti.cast(albedo[c], ti.f64)
            sums[NORMAL + c] += ti.cast(normal[c], ti.f64)
        sums[SQUARE] += ti.cast(bright * bright, ti.f64)
        sums[DEPTH] += ti.cast(depth, ti.f64)
        sums[HIT] += ti.cast(hit, ti.f64)
    for c in ti.static(range(FILM_COLUMNS)):
        film[env, y, x, c] = sums[c]


def make_trace_paths(*features: bool) -> Any:
    """The kernel for models that have something or lack it (the fields of `Has`).

    It adds the samples `first` to `first + count - 1` to `film` (n, height, width, FILM_COLUMNS), one after the other
    in double precision: how they are divided among launches changes no bit.
    """
    has = Has(*features)

    @ti.kernel
    def trace_paths(
        kind: I1,
        shape: F3,
        paint: F2,
        pose: F3,
        placed: F1,
        views: F2,
        settings: F1,
        look: F2,
        lights: F3,
        emitters: F2,
        areas: F1,
        around: F2,
        first: ti.i32,
        count: ti.i32,
        seed: ti.i32,
        film: D4,
        trees: I2,
        nodes: F2,
        corners: F2,
        skin: F2,
        rows: I2,
        lie: F2,
        images: I2,
        levels: I2,
        texels: U2,
        shapes: I2,
        measures: D2,
        heights: F1,
        blocks: F2,
    ):
        height, width = film.shape[1], film.shape[2]
        for env, y, x in ti.ndrange(film.shape[0], height, width):
            meshes, painter = TracedMeshes(trees, nodes, corners, ti.f32), Painter(images, levels, texels)
            dressed = TracedAppearance(meshes, skin, rows, lie, painter, has.meshes)
            ground = ShadedHeightFields(TracedHeightFields(shapes, measures, heights, blocks, ti.f32), dressed, heights)
            ends = ti.Vector([ti.cast(settings[at.ENDS + k], ti.i32) for k in ti.static(range(4))])
            world = PathWorld(kind, shape, paint, pose, views, env, dressed, ground, has, Placed(placed, env, ends))
            lens = ThinLens(views, width, height, env, settings)
            surroundings = Surroundings(world, look, settings, around)
            stage = PathScene(world, lens, surroundings, EmitterKernels(world, emitters, areas), lights, look, settings)
            expose(stage, x, y, first, count, seed, film)

    return trace_paths


class ThinLens(Lens):
    """Rays through a lens of some aperture (M. Pharr et al., "Physically Based Rendering", 4th edition, 5.2.3).

    A point d metres in front of a camera that is sharp at f is a disc of radius aperture |d - f| / f at a distance d.
    """

    def __init__(self, views, width, height, env, settings):
        super().__init__(views, width, height, env)
        self.settings = settings

    @ti.func
    def of_sample(self, x, y, numbers):
        """Origin and unit direction of a ray at a random place of a pixel, by four numbers."""
        return self.through(ti.cast(x, ti.f32) + numbers[0], ti.cast(y, ti.f32) + numbers[1], numbers[2], numbers[3])

    @ti.func
    def through(self, x, y, u, v):
        """Origin and unit direction of a ray at (x, y) in pixels, from a random point of the lens."""
        origin, direction = self.ray(x, y)
        aperture, focus = self.settings[at.APERTURE], self.settings[at.FOCUS]
        if aperture > 0.0:
            right, up = in_disc(u, v)
            sharp = origin + direction * (focus / ti.max(-direction.dot(self.axis(2)), 1.0e-6))
            origin += aperture * (right * self.axis(0) + up * self.axis(1))
            direction = unit(sharp - origin)
        return origin, direction

"""A kernel that follows rays in eights and one geom after the other; the process that compiles imports this file."""

from typing import Any

import taichi as ti

from tumble.physics.base.shapes.ray import MISS
from tumble.physics.rendering.cast.raycast import D2, F1, F2, F3, I1, I2, U2, Has
from tumble.physics.rendering.path.cast import PathWorld
from tumble.physics.rendering.path.packets_of_eight import CLEARLY, Placed
from tumble.physics.rendering.rays.field_walk import TracedHeightFields
from tumble.physics.rendering.rays.traverse import TracedMeshes
from tumble.physics.rendering.shading import vec3
from tumble.physics.rendering.shown.appearance import TracedAppearance
from tumble.physics.rendering.shown.ground import ShadedHeightFields
from tumble.physics.rendering.shown.textures import Painter


def make_ray_probe() -> Any:
    """For rays (origin, direction): distance, row, light to `limit` in eights; the same as the ray caster has them."""
    has = Has(True, True, False, True)

    @ti.kernel
    def probe(
        kind: I1,
        shape: F3,
        paint: F2,
        pose: F3,
        placed: F1,
        ends: I1,
        limit: ti.f32,
        rays: F3,
        found: F3,
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
        for env, i in ti.ndrange(found.shape[0], found.shape[1]):
            dressed = TracedAppearance(
                TracedMeshes(trees, nodes, corners, ti.f32), skin, rows, lie, Painter(images, levels, texels), True
            )
            ground = ShadedHeightFields(TracedHeightFields(shapes, measures, heights, blocks, ti.f32), dressed, heights)
            last = ti.Vector([ends[0], ends[1], ends[2], ends[3]])
            eights = Placed(placed, env, last)
            world = PathWorld(kind, shape, paint, pose, paint, env, dressed, ground, has, eights)
            origin = vec3(rays[env, i, 0], rays[env, i, 1], rays[env, i, 2])
            direction = vec3(rays[env, i, 3], rays[env, i, 4], rays[env, i, 5])
            start = ti.f32(1.0e-3)
            for to_light in range(2):
                far = ti.select(to_light == 1, limit, ti.f32(MISS))
                t, row, _, light = world.trace(
                    origin, direction, start, far, last[2 + 1 - to_light], -1, False, to_light == 1, -1
                )
                if to_light == 1:
                    found[env, i, 2] = light
                else:
                    found[env, i, 0], found[env, i, 1] = t, ti.cast(row, ti.f32)
            nearest, hit, light = ti.f32(MISS), -1, ti.f32(1.0)
            for row in range(kind.shape[0]):
                t, _ = world.entry(row, origin, direction, start, MISS, False)
                if t > start and t * CLEARLY < nearest:
                    nearest, hit = t, row
                if start < t < limit:
                    light *= 1.0 - paint[row, 3]
            found[env, i, 3], found[env, i, 4], found[env, i, 5] = nearest, ti.cast(hit, ti.f32), light

    return probe

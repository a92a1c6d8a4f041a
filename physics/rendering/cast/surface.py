"""Light on a point of a surface, and its colour."""

import taichi as ti

from ...base.math import func
from ...base.shapes import PLANE
from ...base.shapes.ray import MISS
from .. import look as rows
from ..rays.field_walk import within
from ..rays.traced import Traced
from ..shading import fading, fresnel, haze_ring, highlight, look_row, mix, sky, sky_light, vec3
from ..shown import lights as lamps
from ..shown import render_model as columns
from .scene import SURFACE_GAP


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

    A light lights what faces it by the blended normal, unless it lies behind the true one, as on the far sides of edges
    that a mesh smooths, or the surface is the inside of a mesh, seen through a gap.
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

"""One path: from the lens from surface to surface, with the light that it finds on the way.

At each surface it looks for one light, chosen at random (next-event estimation), and goes on in a direction in which the
surface scatters much. Light that both ways may find is weighted between them (`sampling.preferred`). Paths that carry
little are ended at random (Russian roulette). J. Kajiya, "The rendering equation", SIGGRAPH 1986; M. Pharr, W. Jakob
and G. Humphreys, "Physically Based Rendering", 4th edition, chapter 13.
"""

import taichi as ti

from ...math import func
from ...rays.traced import Traced
from ...shapes import PLANE
from ...shapes.ray import PI
from .. import lights as lamps
from .. import look as rows
from .. import render_model as columns
from ..raycast import background
from ..shading import fading, mix, towards_eye, vec3
from . import settings as at
from .draws import PER_STEP, draw
from .glass import pass_glass
from .microfacet import LEAST_WIDTH
from .opaque import Finish
from .sampling import cone_density, in_cone, in_disc, preferred, to_frame, to_world
from .surroundings import MAP

_GAP, _RELATIVE_GAP = 1.0e-4, 2.0e-5  # m, and a share of the distance, by which a ray starts above a surface
_SURE = 3  # scatterings before a path may be ended at random
_LONGEST_LIFE = 0.95
_CLEAR_LAYERS = 16  # clear surfaces that a path may pass besides its scatterings
_FAR = 1.0e29


class Stage(Traced):
    """All that a path needs: the world, its light, and the camera."""

    def __init__(self, world, lens, surroundings, shining, lights, look, settings):
        self.world, self.lens, self.surroundings, self.shining = world, lens, surroundings, shining
        self.lights, self.look, self.settings = lights, look, settings

    @ti.func
    def whole(self, place: ti.template()):
        """A whole number among the settings."""
        return ti.cast(self.settings[place], ti.i32)

    @ti.func
    def groups(self):
        """Number of the lights among which one is chosen: lamps, all geoms that shine, and a map or the sun."""
        found = self.whole(at.LAMPS) + ti.cast(self.settings[at.EMITTERS] > 0.0, ti.i32)
        return found + ti.cast(self.whole(at.KIND) == MAP or self.surroundings.has_sun(), ti.i32)

    @ti.func
    def finish(self, row, albedo):
        """The surface of a geom, as `Finish` wants it: ground, mirror, edge, coat, coat's edge, width."""
        metal = self.world.paint[row, columns.METALLIC]
        coat = 0.08 * self.world.paint[row, columns.SPECULAR]
        edge = ti.min(1.0, 50.0 * coat)
        rough = self.world.paint[row, columns.ROUGHNESS]
        polish = self.world.paint[row, columns.REFLECTANCE]
        if self.world.kind[row] == PLANE and polish > 0.0:
            coat, edge, rough = 0.23 * polish, polish, ti.min(rough, 0.1)  # mirrors, as the ray caster has them
        width = ti.max(rough * rough, LEAST_WIDTH)
        white = vec3(1.0, 1.0, 1.0)
        mirror, rim = mix(coat * white, albedo, metal), mix(edge * white, white, metal)
        return (1.0 - metal) * albedo, mirror, rim, coat, edge, width


@func
def look_for_light(stage, point, numbers, again: ti.f32):
    """Choose a light: the direction to it, its distance (m), radiance (3,) over density, density (0: one point), row.

    The density is per solid angle, and includes the choice; radiance over density is 0 if nothing was found. The row is
    that of a geom that shines, -1 for other lights.
    """
    towards, far, light, density = vec3(0.0, 0.0, 1.0), ti.f32(_FAR), vec3(0.0, 0.0, 0.0), ti.f32(0.0)
    target = -1
    groups, count = stage.groups(), stage.whole(at.LAMPS)
    pick = numbers[0] * ti.cast(groups, ti.f32)
    group = ti.min(ti.cast(pick, ti.i32), groups - 1)
    rest = ti.min(pick - ti.cast(group, ti.f32), 0.9999999)
    share = 1.0 / ti.cast(ti.max(groups, 1), ti.f32)
    if groups > 0 and group < count:
        if ti.static(stage.world.has.lights):
            towards, far, arriving = lamps.shining(stage.lights, stage.world.env, group, point)
            light = lamps.three_of(stage.lights, stage.world.env, group, lamps.DIFFUSE) * (arriving * PI / share)
            right, up = in_disc(numbers[1], numbers[2])
            spread = stage.lights[stage.world.env, group, lamps.RADIUS] / far
            towards = to_world(towards, vec3(spread * right, spread * up, 1.0))
            towards = towards / towards.norm()
            if stage.lights[stage.world.env, group, lamps.SHADOW] < 0.5:
                far = 0.0
    elif groups > 0 and group == count and stage.settings[at.EMITTERS] > 0.0:
        row, way, distance, chance = stage.shining.choose(point, rest, numbers[1], numbers[2])
        if chance > 0.0:
            towards, far, density, target = way, distance, chance * share, row
            light = stage.world.colour(row, columns.ALBEDO) * (stage.world.paint[row, columns.EMISSION] / density)
    elif groups > 0 and stage.whole(at.KIND) == MAP:
        towards, radiance, chance = stage.surroundings.choose(rest, again, numbers[1], numbers[2])
        density = chance * share
        light = radiance / ti.max(density, 1.0e-20)
    elif groups > 0:
        sun = vec3(stage.look[rows.SUN_DIRECTION, 0], stage.look[rows.SUN_DIRECTION, 1], stage.look[rows.SUN_DIRECTION, 2])
        spread = stage.settings[at.SUN_SPREAD]
        towards = in_cone(sun, spread, numbers[1], numbers[2])
        density = cone_density(spread) * share
        light = stage.surroundings.sun_radiance() / density
    return towards, far, light, density, target


@func
def light_from_beyond(stage, direction, density: ti.f32, plainly):
    """Radiance (3,) from beyond all geoms, for a ray whose direction was sampled with a density (0: no other way)."""
    share = 1.0 / ti.cast(ti.max(stage.groups(), 1), ti.f32)
    light, sun = stage.surroundings.seen(direction, plainly), stage.surroundings.sun(direction)
    if density > 0.0:
        if stage.whole(at.KIND) == MAP:
            light *= preferred(density, share * stage.surroundings.map_chance(direction))
        sun *= preferred(density, share * cone_density(stage.settings[at.SUN_SPREAD]))
    return light + sun


@func
def light_of_surface(stage, row: ti.i32, albedo, point, normal, vertex, density: ti.f32):
    """Radiance (3,) that a geom sends out itself; as above, from a vertex from where its direction was sampled."""
    light = albedo * stage.world.paint[row, columns.EMISSION]
    if stage.shining.table[row, 0] > 0.0:
        light = stage.world.colour(row, columns.ALBEDO) * stage.world.paint[row, columns.EMISSION]
        if density > 0.0:
            share = 1.0 / ti.cast(ti.max(stage.groups(), 1), ti.f32)
            light *= preferred(density, share * stage.shining.chance(row, point, normal, vertex))
    return light


@ti.func
def limited(light, scatterings, most):
    """Return light that a path adds, not more than `most` (if that is not 0) after two scatterings."""
    brightest = light.max()
    scale = ti.f32(1.0)
    if scatterings > 1 and most > 0.0 and brightest > most:
        scale = most / brightest
    return light * scale


@func
def follow_path(stage, x: ti.i32, y: ti.i32, sample: ti.i32, seed: ti.i32):
    """Follow a path: its light (3,); glow (3,); of the first surface albedo (3,), normal (3,), depth (m) and 1.

    The glow is the part of the light that comes straight from where it is sent out. Of a path to the sky the guides are
    0. In them glass is white, so that a denoiser keeps what is seen in it.
    """
    world = stage.world
    pixel, most = y * stage.lens.width + x, stage.settings[at.CLAMP]
    numbers = draw(seed, pixel, sample, 0)
    origin, direction = stage.lens.through(
        ti.cast(x, ti.f32) + numbers[0], ti.cast(y, ti.f32) + numbers[1], numbers[2], numbers[3]
    )
    cosine = -direction.dot(stage.lens.axis(2))
    start, travelled = stage.settings[at.NEAR] / cosine, ti.f32(0.0)
    carried, light = vec3(1.0, 1.0, 1.0), vec3(0.0, 0.0, 0.0)
    first_albedo, first_normal, depth, hit = vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0), ti.f32(0.0), ti.f32(0.0)
    glow = vec3(0.0, 0.0, 0.0)
    vertex, density, plainly = origin, ti.f32(0.0), True
    inside, bounce, step, alive = -1, 0, 0, True
    bounces, solid_rows = stage.whole(at.BOUNCES), stage.whole(at.SOLID_ROWS)
    while alive:
        step += 1
        visible = solid_rows
        if bounce == 0:
            visible = world.kind.shape[0]
        t, row, triangle = world.first(origin, direction, start, visible, inside, bounce == 0)
        if row < 0:
            light += limited(carried * light_from_beyond(stage, direction, density, plainly), bounce, most)
            alive = False
            if bounce == 0:
                glow = light
        else:
            point = origin + t * direction
            travelled += t
            normal, flat = world.normals(row, point, triangle)
            outside = flat.dot(direction) < 0.0
            if not outside:
                normal, flat = -normal, -flat
            normal = towards_eye(normal, direction)
            footprint = stage.lens.footprint(travelled * cosine)
            albedo, _ = world.albedo(row, point, triangle, flat, direction, footprint)
            glass = world.paint[row, columns.IOR]
            if hit == 0.0 and bounce == 0:
                hit, depth, first_normal, first_albedo = 1.0, travelled * cosine, normal, albedo
                if glass > 0.0:
                    first_albedo = vec3(1.0, 1.0, 1.0)
            numbers = draw(seed, pixel, sample, PER_STEP * step)
            others = draw(seed, pixel, sample, PER_STEP * step + 1)
            gap = ti.max(_GAP, _RELATIVE_GAP * point.norm())
            veil = ti.f32(0.0)
            if bounce == 0 and world.kind[row] == PLANE:
                veil = fading(travelled, stage.look[rows.SETTINGS, 0])
            if others[0] < veil:  # a floor ends in the haze of the sky
                light += carried * background(world, stage.look, direction)
                alive = False
                glow = light
            elif glass <= 0.0 and others[1] >= world.paint[row, columns.ALPHA]:  # clear: straight on
                origin, start = point + gap * direction, gap
            else:
                if world.paint[row, columns.EMISSION] > 0.0 and outside:
                    own = light_of_surface(stage, row, albedo, point, flat, vertex, density)
                    light += limited(carried * own, bounce, most)
                    if bounce == 0:
                        glow = light
                alive = bounce < bounces
                out = to_frame(normal, -direction)
                vertex, start = point, gap
                which = draw(seed, pixel, sample, PER_STEP * step + 2)
                if not alive:
                    density = 0.0
                elif glass > 0.0:
                    rough = world.paint[row, columns.ROUGHNESS]
                    ratio = ti.select(outside, glass, 1.0 / glass)
                    way, weight, through = pass_glass(out, rough * rough, ratio, which[0], which[1], which[2])
                    direction, density = to_world(normal, way), 0.0
                    carried *= weight
                    origin = point + gap * flat
                    if through:
                        carried *= ti.sqrt(albedo)
                        origin = point - gap * flat
                        inside = ti.select(outside, row, -1)
                    alive = weight > 0.0 and (flat.dot(direction) > 0.0) != through
                else:
                    ground, mirror, edge, coat, coat_edge, width = stage.finish(row, albedo)
                    finish = Finish(ground, mirror, edge, coat, coat_edge, width)
                    origin = point + gap * flat
                    if inside < 0:
                        towards, far, found, chance, target = look_for_light(stage, point, numbers, others[2])
                        if found.max() > 0.0 and flat.dot(towards) > 0.0:
                            scattered, other = finish.scattered(out, to_frame(normal, towards))
                            found *= carried * scattered
                            if chance > 0.0:
                                found *= preferred(chance, other)
                            if found.max() > 0.0:
                                found *= world.passing(origin, towards, gap, far - 3.0 * gap, solid_rows, target)
                                light += limited(found, bounce + 1, most)
                    way = finish.sample(out, which[0], which[1], which[2])
                    scattered, density = finish.scattered(out, way)
                    direction, plainly = to_world(normal, way), False
                    alive = density > 0.0 and flat.dot(direction) > 0.0
                    carried *= scattered / ti.max(density, 1.0e-20)
                    if inside >= 0:
                        density = 0.0
                bounce += 1
                if bounce > _SURE:
                    life = ti.min(_LONGEST_LIFE, carried.max())
                    alive = alive and which[3] < life
                    carried /= ti.max(life, 1.0e-6)
            alive = alive and step < bounces + _CLEAR_LAYERS
    return light, glow, first_albedo, first_normal, depth, hit

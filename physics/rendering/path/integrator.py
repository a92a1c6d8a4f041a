"""One path: from the lens from surface to surface, with the light that it finds on the way.

At each surface it looks for one light, chosen at random (next-event estimation), and goes on in a direction in which
the surface scatters much. Light that both ways may find is weighted between them (`sampling.preferred`). Paths that
carry little are ended at random (Russian roulette). J. Kajiya, "The rendering equation", SIGGRAPH 1986; M. Pharr,
W. Jakob and G. Humphreys, "Physically Based Rendering", 4th edition, chapter 13.
"""

import taichi as ti

from ...base.math import func
from ...base.shapes import PLANE
from ...base.shapes.ray import MISS, PI
from .. import look as rows
from ..rays.traced import Traced
from ..shading import fading, mix, towards_eye, vec3
from ..shown import lights as lamps
from ..shown import render_model as columns
from . import settings as at
from .sampling import PER_STEP, cone_density, draw, in_cone, in_disc, preferred, to_frame, to_world, vec4
from .scattering import LEAST_WIDTH, Finish, pass_glass
from .surroundings import MAP

_GAP, _RELATIVE_GAP = 1.0e-4, 2.0e-5  # m, and a share of the distance, by which a ray starts above a surface
_SURE = 3  # scatterings before a path may be ended at random
_LONGEST_LIFE = 0.95
_CLEAR_LAYERS = 16  # clear surfaces that a path may pass besides its scatterings
_FAR = 1.0e29


class PathScene(Traced):
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
    def needs_more(self, row):
        """Return True if more random numbers are needed: for clear surfaces, or for a map."""
        return self.world.paint[row, columns.ALPHA] < 1.0 or self.whole(at.KIND) == MAP

    @ti.func
    def veil(self, row, far):
        """Share of a plane's colour that the sky's haze replaces at a distance."""
        found = ti.f32(0.0)
        if self.world.kind[row] == PLANE:
            found = fading(far, self.look[rows.SETTINGS, 0])
        return found

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
        sun = vec3(
            stage.look[rows.SUN_DIRECTION, 0], stage.look[rows.SUN_DIRECTION, 1], stage.look[rows.SUN_DIRECTION, 2]
        )
        spread = stage.settings[at.SUN_SPREAD]
        towards = in_cone(sun, spread, numbers[1], numbers[2])
        density = cone_density(spread) * share
        light = stage.surroundings.sun_radiance() / density
    return towards, far, light, density, target


@func
def light_from_beyond(stage, seen, direction, density: ti.f32):
    """Radiance (3,) from beyond all geoms, for a ray whose direction was sampled with a density (0: no other way).

    Without the sun it is as `seen`, unless it may be found by looking for it, too.
    """
    share = 1.0 / ti.cast(ti.max(stage.groups(), 1), ti.f32)
    light, sun = seen, stage.surroundings.sun(direction)
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


class PathPoint(Traced):
    """A point of a surface, its normals (as it is lit, and the true one), the gap (m) by which rays start above it."""

    def __init__(self, point, normal, flat, gap):
        self.point, self.normal, self.flat, self.gap = point, normal, flat, gap


@ti.func
def chance_to_live(carried, scatterings):
    """Probability with which a path goes on that carries so much."""
    brightest = carried.max()
    life = ti.min(_LONGEST_LIFE, brightest)
    if scatterings <= _SURE:
        life = ti.select(brightest > 0.0, 1.0, 0.0)
    return life


@func
def arrive(world, row: ti.i32, triangle: ti.i32, point, direction, footprint: ti.f32):
    """Look at a point of a surface: its normal as it is lit, the true one, if the ray comes from outside, its albedo.

    Both normals are to the side of the ray.
    """
    normal, flat = world.facing(row, point, triangle)
    outside = flat.dot(direction) < 0.0
    if not outside:
        normal, flat = -normal, -flat
    albedo, _ = world.albedo(row, point, triangle, flat, direction, footprint)
    return towards_eye(normal, direction), flat, outside, albedo


@func
def scatter(stage, row: ti.i32, place, out, albedo, chosen, numbers, again: ti.f32, look_around):
    """Scatter light at an opaque surface: the way on, its density, its weight (3,), and the share of a light.

    `place` has the point, the normals and the gap above the surface; `out` is the way back in the frame of the normal.
    A light is sampled if `look_around`: its contribution (3,) if nothing is in the way, its direction, the distance
    (m) up to which something may be, and its row (-1: no geom).
    """
    ground, mirror, edge, coat, coat_edge, width = stage.finish(row, albedo)
    finish, hoped = Finish(ground, mirror, edge, coat, coat_edge, width), vec3(0.0, 0.0, 0.0)
    towards, far, target = vec3(0.0, 0.0, 1.0), ti.f32(0.0), -1
    if look_around:
        towards, far, found, chance, target = look_for_light(stage, place.point, numbers, again)
        if found.max() > 0.0 and place.flat.dot(towards) > 0.0:
            scattered, other = finish.scattered(out, to_frame(place.normal, towards))
            hoped = found * scattered
            if chance > 0.0:
                hoped *= preferred(chance, other)
    way = finish.sample(out, chosen[0], chosen[1], chosen[2])
    scattered, density = finish.scattered(out, way)
    carried = scattered / ti.max(density, 1.0e-20)
    direction = to_world(place.normal, way)
    if place.flat.dot(direction) <= 0.0:
        carried = vec3(0.0, 0.0, 0.0)
    return direction, density, carried, hoped, towards, far - 3.0 * place.gap, target


@func
def cross(stage, row: ti.i32, place, out, albedo, chosen, outside):
    """Reflect or refract light at a surface of glass: the way on, its weight (3,), and whether it comes through."""
    rough, index = stage.world.paint[row, columns.ROUGHNESS], stage.world.paint[row, columns.IOR]
    way, weight, through = pass_glass(
        out, rough * rough, ti.select(outside, index, 1.0 / index), chosen[0], chosen[1], chosen[2]
    )
    direction, carried = to_world(place.normal, way), weight * vec3(1.0, 1.0, 1.0)
    if through:
        carried = weight * ti.sqrt(albedo)
    if (place.flat.dot(direction) > 0.0) == through:
        carried = vec3(0.0, 0.0, 0.0)
    return direction, carried, through


@func
def go_on(stage, row: ti.i32, place, direction, albedo, numbers, again: ti.f32, chosen, outside, inside: ti.i32):
    """Scatter light at a surface, and return where it goes on.

    Returned are origin, direction and density of the way on, its weight (3,), and the geom of glass that it is
    then in, -1: none; then a light's contribution, as in `scatter`. In glass no light is sampled, so that
    densities are 0 there.
    """
    out, density, hoped = to_frame(place.normal, -direction), ti.f32(0.0), vec3(0.0, 0.0, 0.0)
    origin, way, carried, within = place.point + place.gap * place.flat, direction, vec3(0.0, 0.0, 0.0), inside
    towards, far, target = direction, ti.f32(0.0), -1
    if stage.world.paint[row, columns.IOR] > 0.0:
        way, carried, through = cross(stage, row, place, out, albedo, chosen, outside)
        if through:
            origin, within = place.point - place.gap * place.flat, ti.select(outside, row, -1)
    else:
        way, density, carried, hoped, towards, far, target = scatter(
            stage, row, place, out, albedo, chosen, numbers, again, inside < 0
        )
        if inside >= 0:
            density = 0.0
    return origin, way, density, carried, within, hoped, towards, far, target


@func
def first_guides(stage, row: ti.i32, normal, albedo, depth: ti.f32):
    """Guides of the first surface: albedo, normal, depth and 1; glass is white, so that the view in it is kept."""
    colour = albedo
    if stage.world.paint[row, columns.IOR] > 0.0:
        colour = vec3(1.0, 1.0, 1.0)
    return colour, normal, depth, ti.f32(1.0)


@func
def sky_ahead(stage, alive, row: ti.i32, direction, plainly, bounce: ti.i32, far: ti.f32):
    """Share of sky in the view along a ray, and the radiance (3,) of the sky there.

    It is all if the ray meets nothing (row -1), and a floor that the camera sees ends in its haze at a distance (m).
    """
    veil, sky = ti.f32(0.0), vec3(0.0, 0.0, 0.0)
    if alive:
        if row < 0:
            veil = 1.0
        elif bounce == 0:
            veil = stage.veil(row, far)
        if veil > 0.0:
            sky = stage.surroundings.seen(direction, plainly)
    return veil, sky


@func
def next_rays(
    stage,
    origin,
    direction,
    start: ti.f32,
    inside: ti.i32,
    is_first,
    alive,
    hoped,
    towards,
    far: ti.f32,
    target: ti.i32,
):
    """Follow a path's ray to the nearest surface, if it is alive, and before it one to a light that may add something.

    A light would add `hoped` (3,) from a direction `towards`, if nothing is in its way up to a distance `far` (m) but
    except the geom of row `target`. Returned are distance (m), row and triangle of the surface, and the light's
    contribution (3,). There is one place from which rays are followed, so that the code for it is compiled once.
    """
    t, hit, triangle, light = ti.f32(MISS), -1, -1, vec3(0.0, 0.0, 0.0)
    for turn in range(2):
        to_light = turn == 0
        if ti.select(to_light, hoped.max() > 0.0, alive):
            t, hit, triangle, share = stage.world.trace(
                origin,
                ti.select(to_light, towards, direction),
                start,
                ti.select(to_light, far, ti.f32(MISS)),
                ti.select(is_first, stage.world.placed.ends[3], stage.world.placed.ends[2]),
                inside,
                is_first,
                to_light,
                target,
            )
            if to_light:
                light, hit = share * hoped, -1
    return t, hit, triangle, light


@func
def follow_path(stage, x: ti.i32, y: ti.i32, sample: ti.i32, seed: ti.i32):
    """Follow a path: its light (3,); glow (3,); of the first surface albedo (3,), normal (3,), depth (m) and 1.

    The glow is the part of the light that comes straight from where it is sent out. Guides of the sky are 0.
    """
    world, pixel, most = stage.world, y * stage.lens.width + x, stage.settings[at.CLAMP]
    origin, direction = stage.lens.of_sample(x, y, draw(seed, pixel, sample, 0))
    cosine = -direction.dot(stage.lens.axis(2))
    start, travelled = stage.settings[at.NEAR] / cosine, ti.f32(0.0)
    carried, light, glow = vec3(1.0, 1.0, 1.0), vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0)
    first_albedo, first_normal, depth, hit = vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0), ti.f32(0.0), ti.f32(0.0)
    vertex, density, plainly, inside, bounce, step, alive = origin, ti.f32(0.0), True, -1, 0, 0, True
    hoped, towards, far, target = vec3(0.0, 0.0, 0.0), direction, ti.f32(0.0), -1
    while alive or hoped.max() > 0.0:
        step += 1
        t, row, triangle, added = next_rays(
            stage, origin, direction, start, inside, bounce == 0, alive, hoped, towards, far, target
        )
        light, hoped = light + limited(added, bounce, most), vec3(0.0, 0.0, 0.0)
        veil, sky = sky_ahead(stage, alive, row, direction, plainly, bounce, travelled + t)
        if not alive:
            pass
        elif row < 0:
            light += limited(carried * light_from_beyond(stage, sky, direction, density), bounce, most)
            glow, alive = ti.select(step == 1, light, glow), False
        else:
            point, travelled = origin + t * direction, travelled + t
            footprint = stage.lens.footprint(travelled * cosine)
            normal, flat, outside, albedo = arrive(world, row, triangle, point, direction, footprint)
            if hit == 0.0 and bounce == 0:
                first_albedo, first_normal, depth, hit = first_guides(stage, row, normal, albedo, travelled * cosine)
            numbers, others = draw(seed, pixel, sample, PER_STEP * step), vec4(0.0, 0.0, 0.0, 0.0)
            if stage.needs_more(row):
                others = draw(seed, pixel, sample, PER_STEP * step + 1)
            chosen = draw(seed, pixel, sample, PER_STEP * step + 2)
            gap, is_glass = ti.max(_GAP, _RELATIVE_GAP * point.norm()), world.paint[row, columns.IOR] > 0.0
            light += carried * veil * sky
            glow, carried = ti.select(step == 1, light, glow), carried * (1.0 - veil)
            if not is_glass and others[1] >= world.paint[row, columns.ALPHA]:  # clear: straight on
                origin, start = point + gap * direction, gap
            else:
                if world.paint[row, columns.EMISSION] > 0.0 and outside:
                    own = light_of_surface(stage, row, albedo, point, flat, vertex, density)
                    light += limited(carried * own, bounce, most)
                    glow = ti.select(step == 1, light, glow)
                if bounce >= stage.whole(at.BOUNCES):
                    alive = False
                else:
                    place, vertex, start = PathPoint(point, normal, flat, gap), point, gap
                    origin, direction, density, share, inside, hoped, towards, far, target = go_on(
                        stage, row, place, direction, albedo, numbers, others[2], chosen, outside, inside
                    )
                    plainly, hoped = plainly and is_glass, carried * hoped
                    carried, bounce = carried * share, bounce + 1
                    life = chance_to_live(carried, bounce)
                    alive, carried = chosen[3] < life, carried / ti.max(life, 1.0e-20)
            alive = alive and step < stage.whole(at.BOUNCES) + _CLEAR_LAYERS
    return light, glow, first_albedo, first_normal, depth, hit

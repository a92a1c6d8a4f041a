"""The colour of a surface point and of the sky: pure functions of vectors, float32, linear light."""

import taichi as ti

from ..base.math import func
from ..base.shapes.ray import unit
from . import look as rows
from .look import CURVE

vec3 = ti.types.vector(3, ti.f32)

LEAST_FACING = 0.02  # cosine to the eye that a blended normal has at least


@func
def look_row(look, row):
    """One row of `Look.table` as a vector."""
    return vec3(look[row, 0], look[row, 1], look[row, 2])


@ti.func
def mix(a, b, share):
    """Straight-line blend from a (share 0) to b (share 1)."""
    return a + (b - a) * share


@ti.func
def sky(look: ti.template(), direction):
    """Sky seen along a unit direction: bright at the horizon, blue above; below it the horizon's haze, a bit darker."""
    up = ti.max(direction.z, 0.0)
    down = ti.max(-direction.z, 0.0)
    horizon = look_row(look, rows.HORIZON_RGB)
    above = mix(horizon, look_row(look, rows.ZENITH_RGB), 1.0 - (1.0 - up) * (1.0 - up) * (1.0 - up))
    return above * (1.0 - look[rows.LIMITS, 2] * ti.min(1.0, 2.0 * down))


@ti.func
def sky_light(look: ti.template(), normal):
    """Soft light on a surface: from the sky above and from the ground below, by how much of each it faces."""
    from_above = mix(look_row(look, rows.LIT_HORIZON_RGB), look_row(look, rows.LIT_ZENITH_RGB), 0.35)
    return mix(look_row(look, rows.GROUND_RGB), from_above, 0.5 + 0.5 * normal.z)


@ti.func
def fresnel(facing):
    """Schlick's reflectance of a dielectric (4 % head on) relative to a mirror; `facing` is the cosine to the eye."""
    grazing = 1.0 - ti.max(0.0, ti.min(1.0, facing))
    square = grazing * grazing
    return 0.04 + 0.96 * square * square * grazing


@ti.func
def highlight(normal, to_eye, to_sun, shininess):
    """Blinn-Phong highlight, normalised so that a sharper one is a brighter one; shininess in [0, 1] as in MJCF."""
    half = unit(to_eye + to_sun)
    power = 8.0 + 88.0 * shininess
    cosine = normal.dot(half)
    brightness = ti.f32(0.0)
    if cosine > 0.7:  # below that the power is nothing, and the costliest thing in the picture
        brightness = (power + 8.0) / 25.0 * ti.pow(cosine, power)
    return brightness


@ti.func
def stripes(position, width):
    """Mean over `width` of the square wave that is +1 on even unit cells and -1 on odd ones."""
    a = 0.5 * (position - 0.5 * width)
    b = 0.5 * (position + 0.5 * width)
    # the wave's integral is a triangle of period 2; its slope over the width is the mean
    up_to_a = ti.abs(a - ti.floor(a) - 0.5)
    up_to_b = ti.abs(b - ti.floor(b) - 0.5)
    return 2.0 * (up_to_a - up_to_b) / width


@ti.func
def checker(x, y, width_x, width_y):
    """Share of the second colour in a unit checker, averaged over the pixel's footprint: sharp near, grey far away.

    The box filter follows Quilez, "Filtering the checkerboard pattern" (iquilezles.org/articles/checkerfiltering).
    """
    narrowest = 1.0e-3
    return 0.5 - 0.5 * stripes(x, ti.max(width_x, narrowest)) * stripes(y, ti.max(width_y, narrowest))


@ti.func
def line_share(position, footprint, width):
    """Share of a footprint that lies on lines of a width around the whole numbers."""
    share = ti.f32(0.0)
    for end in ti.static(range(2)):
        x = position + (end - 0.5) * footprint + 0.5
        whole = ti.floor(x)
        share += (2.0 * end - 1.0) * (whole * width + ti.max(0.0, ti.min(width, x - whole - 0.5 * (1.0 - width))))
    return ti.max(0.0, ti.min(1.0, share / footprint))


@ti.func
def grid_lines(x, y, width_x, width_y, width):
    """Share of a pixel's footprint, as in `checker`, that lies on the lines of a width between a checker's cells."""
    narrowest = 1.0e-3
    across = line_share(x, ti.max(width_x, narrowest), width)
    along = line_share(y, ti.max(width_y, narrowest), width)
    return across + along - across * along


@ti.func
def haze_ring(look: ti.template(), point, normal):
    """Share of the file's haze over a point of an endless plane, which is relative to the eye (m).

    MuJoCo draws a truncated cone from a height above the plane down to it: clear at both rims, and opaque between
    (its render_context.c, haze). `down` is where on it the ray is, 0 at the upper rim and 1 on the plane.
    """
    share, width = ti.f32(0.0), look[rows.HAZE_RING, 0]
    height = -point.dot(normal)
    if look[rows.HAZE_RING, 1] > 0.0 and height > 0.0:
        level = point + height * normal
        slope = height / ti.max(level.norm(), 1.0e-9)
        down = slope / (height / look[rows.HAZE_RING, 1] + width * slope)
        full = 1.0 - width / (1.0 + width)  # opaque here: MuJoCo's r / (1 + r) of the way up
        share = ti.min(ti.max(down, 0.0) / full, (1.0 - down) / (1.0 - full))
    return ti.max(0.0, share)


@ti.func
def turn_of(x, y):
    """An angle (rad) for a place in a picture, evenly spread over neighbouring pixels: interleaved gradient noise.

    Jimenez, Next generation post processing in Call of Duty (SIGGRAPH 2014).
    """
    share = 0.06711056 * x + 0.00583715 * y
    noise = 52.9829189 * (share - ti.floor(share))
    return 6.2831853 * (noise - ti.floor(noise))


@ti.func
def fading(distance, length):
    """Return the share of a surface's colour that haze replaces at a distance."""
    ratio = distance / length
    return 1.0 - ti.exp(-ratio * ratio)


@ti.func
def shown(light):
    """Linear light -> picture value in [0, 1): nearly in proportion up to a half, and never quite white; gamma 2.

    The curve is x (x + a) / (x^2 + b x + c), the form of Hable's and Narkowicz's filmic curves without their toe, which
    would drown black robots. Exposed light of 0.15, 0.48 and 1.32 is shown as 0.47, 0.77 and 0.93.
    """
    x = ti.max(light, 0.0)
    return ti.sqrt(x * (x + CURVE[0]) / (x * x + CURVE[1] * x + CURVE[2]))


@ti.func
def displayed(look: ti.template(), light):
    """Linear light -> picture value in [0, 1], by the look's exposure."""
    return shown(light * look[rows.SETTINGS, 2])


@ti.func
def towards_eye(normal, direction):
    """Return a unit normal turned so far that a ray along a unit direction comes to its front.

    Normals blended between corners may look away from the eye, if a mesh smooths a sharp edge.
    """
    away = normal.dot(direction)
    turned = normal
    if away > -LEAST_FACING:
        turned = unit(normal - (away + LEAST_FACING) * direction)
    return turned

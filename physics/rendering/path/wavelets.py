"""The kernels of the filter of `denoise.py`: one level of wavelets with holes, and its guides.

Two pixels are alike by their guides, and by brightness that is smoothed a little first: a pixel that is too dark or too
bright by chance would find similar outliers. How far brightness is off is known from the samples of a pixel, or
from the pixels around it, if that is more; so one sample a pixel will do.
"""

from typing import Any

import taichi as ti

from ..cast.raycast import F4
from ..shading import vec3

# columns of the guides
NORMAL, ALBEDO, DEPTH, HIT = 0, 3, 6, 7
VARIANCE = 3  # column of the light, after its colour; the variance of the mean brightness
# columns of the guides
BRIGHT, SPREAD, MORE_VARIANCE = range(3)
MEASURED = 3

_WEIGHTS = vec3(0.3, 0.5, 0.2)  # of red, green and blue in brightness
_BRIGHT, _NORMAL, _DEPTH, _ALBEDO, _LEAST_SPREAD = 3.0, 0.4, 0.05, 0.6, 1.0e-3
"""Differences that make two pixels unlike: standard deviations of brightness, square of the difference of normals,
difference of depth as a share of it besides that of the slope, difference of albedo; the least standard deviation."""
_REACH = 2  # steps to each side
_NEAR, _AROUND = 1, 3  # pixels to each side: for smoothed brightness, and for the variance among pixels


@ti.func
def three(picture: ti.template(), env, y, x, first: ti.template()):
    """Three columns of a pixel."""
    return vec3(picture[env, y, x, first], picture[env, y, x, first + 1], picture[env, y, x, first + 2])


@ti.func
def unlike_in_guides(guides: ti.template(), env, y, x, j, i):
    """Return the difference of two pixels in normal and albedo."""
    turned = three(guides, env, j, i, NORMAL) - three(guides, env, y, x, NORMAL)
    tinted = ti.abs(three(guides, env, j, i, ALBEDO) - three(guides, env, y, x, ALBEDO)).sum()
    return turned.dot(turned) / _NORMAL + tinted / _ALBEDO


@ti.func
def slope(guides: ti.template(), env, y, x, down: ti.template(), right: ti.template()):
    """Change of depth from pixel to pixel: of the two neighbours along a way the one that is less far off."""
    height, width, depth = guides.shape[1], guides.shape[2], guides[env, y, x, DEPTH]
    ahead = guides[env, ti.min(height - 1, y + down), ti.min(width - 1, x + right), DEPTH] - depth
    behind = depth - guides[env, ti.max(0, y - down), ti.max(0, x - right), DEPTH]
    return ti.select(ti.abs(ahead) < ti.abs(behind), ahead, behind)


def make_measure() -> Any:
    """The kernel that measures: smoothed brightness, how far it may be off, and the variance of brightness."""

    @ti.kernel
    def measure(light: F4, guides: F4, is_first: ti.i32, found: F4):
        height, width = light.shape[1], light.shape[2]
        for env, y, x in ti.ndrange(light.shape[0], height, width):
            bright, variance, near = ti.f32(0.0), ti.f32(0.0), ti.f32(0.0)
            mean, square, around = ti.f32(0.0), ti.f32(0.0), ti.f32(0.0)
            reach = ti.select(is_first == 1, _AROUND, _NEAR)
            for j in range(ti.max(0, y - reach), ti.min(height, y + reach + 1)):
                for i in range(ti.max(0, x - reach), ti.min(width, x + reach + 1)):
                    weight = ti.exp(-unlike_in_guides(guides, env, y, x, j, i))
                    other = three(light, env, j, i, 0).dot(_WEIGHTS)
                    mean, square, around = mean + weight * other, square + weight * other * other, around + weight
                    if ti.abs(j - y) <= _NEAR and ti.abs(i - x) <= _NEAR:
                        weight *= ti.cast((_NEAR + 1 - ti.abs(j - y)) * (_NEAR + 1 - ti.abs(i - x)), ti.f32)
                        bright, near = bright + weight * other, near + weight
                        variance += weight * light[env, j, i, VARIANCE]
            own, among = light[env, y, x, VARIANCE], ti.max(0.0, square / around - (mean / around) ** 2)
            if is_first == 0:
                among = 0.0
            found[env, y, x, BRIGHT] = bright / near
            found[env, y, x, SPREAD] = _BRIGHT * ti.sqrt(ti.max(variance / near, among)) + _LEAST_SPREAD
            found[env, y, x, MORE_VARIANCE] = ti.max(own, among)

    return measure


def make_smooth() -> Any:
    """The kernel: means over 5 x 5 pixels, `step` apart, of similar pixels; and their variance."""

    @ti.kernel
    def smooth(light: F4, guides: F4, measured: F4, step: ti.i32, found: F4):
        height, width = light.shape[1], light.shape[2]
        for env, y, x in ti.ndrange(light.shape[0], height, width):
            bright, spread = measured[env, y, x, BRIGHT], measured[env, y, x, SPREAD]
            depth = guides[env, y, x, DEPTH]
            slope_y, slope_x = slope(guides, env, y, x, 1, 0), slope(guides, env, y, x, 0, 1)
            colour, variance, total = vec3(0.0, 0.0, 0.0), ti.f32(0.0), ti.f32(0.0)
            for k in range((2 * _REACH + 1) ** 2):
                down, right = k // 5 - _REACH, k % 5 - _REACH
                j, i = y + step * down, x + step * right
                if 0 <= j < height and 0 <= i < width:
                    # a cubic B-spline
                    weight = ti.select(down == 0, 0.375, ti.select(ti.abs(down) == 1, 0.25, 0.0625))
                    weight *= ti.select(right == 0, 0.375, ti.select(ti.abs(right) == 1, 0.25, 0.0625))
                    if down != 0 or right != 0:
                        off = ti.abs(guides[env, j, i, DEPTH] - depth)
                        rise = ti.abs(step * (down * slope_y + right * slope_x))
                        unlike = off / (rise + _DEPTH * depth + 1.0e-6) + unlike_in_guides(guides, env, y, x, j, i)
                        unlike += ti.abs(measured[env, j, i, BRIGHT] - bright) / spread
                        weight *= ti.exp(-unlike)
                    colour += weight * three(light, env, j, i, 0)
                    variance += weight * weight * measured[env, j, i, MORE_VARIANCE]
                    total += weight
            for c in ti.static(range(3)):
                found[env, y, x, c] = colour[c] / total
            found[env, y, x, VARIANCE] = variance / (total * total)

    return smooth

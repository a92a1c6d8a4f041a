"""The kernel of the filter of `denoise.py`: one level of wavelets with holes."""

from typing import Any

import taichi as ti

from ...drivers.tensor_kernels import Launch, Recipe, shared_kernels
from ...process.runtime import Runtime
from ..raycast import F4
from ..shading import vec3

# columns of the guides
NORMAL, ALBEDO, DEPTH, HIT = 0, 3, 6, 7
GUIDE_COLUMNS = 8
VARIANCE = 3  # column of the light, after its colour; it is that of the mean brightness
_WEIGHTS = vec3(0.3, 0.5, 0.2)  # of red, green and blue in brightness
_BRIGHT, _NORMAL, _DEPTH, _ALBEDO, _LEAST_SPREAD = 4.0, 0.2, 0.02, 0.3, 1.0e-3
"""Differences that make two pixels unlike: standard deviations of brightness, square of the difference of normals,
difference of depth as a share of it besides that of the slope, difference of albedo; the least standard deviation."""
_REACH = 2  # steps to each side


@ti.func
def three(picture: ti.template(), env, y, x, first: ti.template()):
    """Three columns of a pixel."""
    return vec3(picture[env, y, x, first], picture[env, y, x, first + 1], picture[env, y, x, first + 2])


@ti.func
def spread_around(light: ti.template(), env, y, x):
    """Standard deviation of brightness: of the mean variance over 3 x 3 pixels, which is itself less noisy."""
    height, width, found = light.shape[1], light.shape[2], ti.f32(0.0)
    for k in range(9):
        down, right = k // 3 - 1, k % 3 - 1
        j, i = ti.max(0, ti.min(height - 1, y + down)), ti.max(0, ti.min(width - 1, x + right))
        weight = ti.select(down == 0, 0.5, 0.25) * ti.select(right == 0, 0.5, 0.25)
        found += weight * light[env, j, i, VARIANCE]
    return _BRIGHT * ti.sqrt(ti.max(found, 0.0)) + _LEAST_SPREAD


@ti.func
def slope(guides: ti.template(), env, y, x, down: ti.template(), right: ti.template()):
    """Change of depth from pixel to pixel: of the two neighbours along a way the one that is less far off."""
    height, width, depth = guides.shape[1], guides.shape[2], guides[env, y, x, DEPTH]
    ahead = guides[env, ti.min(height - 1, y + down), ti.min(width - 1, x + right), DEPTH] - depth
    behind = depth - guides[env, ti.max(0, y - down), ti.max(0, x - right), DEPTH]
    return ti.select(ti.abs(ahead) < ti.abs(behind), ahead, behind)


def make_smooth() -> Any:
    """The kernel: means over 5 x 5 pixels, `step` apart, of those that are alike; and their variance."""

    @ti.kernel
    def smooth(light: F4, guides: F4, step: ti.i32, found: F4):
        height, width = light.shape[1], light.shape[2]
        for env, y, x in ti.ndrange(light.shape[0], height, width):
            bright = three(light, env, y, x, 0).dot(_WEIGHTS)
            normal, albedo = three(guides, env, y, x, NORMAL), three(guides, env, y, x, ALBEDO)
            depth = guides[env, y, x, DEPTH]
            spread = spread_around(light, env, y, x)
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
                        turned = three(guides, env, j, i, NORMAL) - normal
                        other = three(light, env, j, i, 0).dot(_WEIGHTS)
                        off = ti.abs(guides[env, j, i, DEPTH] - depth)
                        rise = ti.abs(step * (down * slope_y + right * slope_x))
                        unlike = off / (rise + _DEPTH * depth + 1.0e-6) + ti.abs(other - bright) / spread
                        unlike += ti.abs(three(guides, env, j, i, ALBEDO) - albedo).sum() / _ALBEDO
                        unlike += turned.dot(turned) / _NORMAL
                        weight *= ti.exp(-unlike)
                    colour += weight * three(light, env, j, i, 0)
                    variance += weight * weight * light[env, j, i, VARIANCE]
                    total += weight
            for c in ti.static(range(3)):
                found[env, y, x, c] = colour[c] / total
            found[env, y, x, VARIANCE] = variance / (total * total)

    return smooth


def shared_smooth_kernel(runtime: Runtime) -> Launch:
    """The kernel, made once, then shared; it computes in single precision."""
    (smooth,) = shared_kernels(runtime, "f32", (Recipe(make_smooth),), "denoising")
    return smooth

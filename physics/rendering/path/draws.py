"""Random numbers by counters: what a number is depends on what it is for, and on nothing drawn before.

So a pixel's sample is the same whatever else is drawn, and in which order, and samples can be added to a film later.
The hash is pcg4d: Jarzynski and Olano, "Hash functions for GPU rendering", JCGT 9(3), 2020.
"""

import taichi as ti

PER_STEP = 3
"""Draws of four numbers each that a step of a path may use."""
vec4 = ti.types.vector(4, ti.f32)
_FACTOR, _TERM = 1664525, 1013904223


@ti.func
def draw(seed, pixel, sample, purpose):
    """Return four numbers in [0, 1) for a purpose of a sample of a pixel; all arguments are whole numbers."""
    x, y = ti.cast(pixel, ti.u32), ti.cast(sample, ti.u32)
    z, w = ti.cast(purpose, ti.u32), ti.cast(seed, ti.u32)
    x, y = x * ti.u32(_FACTOR) + ti.u32(_TERM), y * ti.u32(_FACTOR) + ti.u32(_TERM)
    z, w = z * ti.u32(_FACTOR) + ti.u32(_TERM), w * ti.u32(_FACTOR) + ti.u32(_TERM)
    for turn in ti.static(range(2)):
        x += y * w
        y += z * x
        z += x * y
        w += y * z
        if ti.static(turn == 0):
            x, y, z, w = x ^ (x >> 16), y ^ (y >> 16), z ^ (z >> 16), w ^ (w >> 16)
    return vec4(fraction(x), fraction(y), fraction(z), fraction(w))


@ti.func
def fraction(bits):
    """Return a number in [0, 1) from the upper 24 bits of a word, which single precision holds exactly."""
    return ti.cast(ti.cast(bits >> 8, ti.i32), ti.f32) * (1.0 / 16777216.0)

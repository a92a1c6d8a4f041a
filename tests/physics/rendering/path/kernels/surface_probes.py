"""Kernels that ask surfaces for their scattering; the process that compiles imports this file by itself."""

from typing import Any

import taichi as ti

from tumble.physics.rendering.path.scattering import Finish, pass_glass
from tumble.physics.rendering.shading import vec3

F2 = ti.types.ndarray(dtype=ti.f32, ndim=2)
OUT, WAY, RANDOM, GROUND, MIRROR, EDGE, COAT, WIDTH, RATIO = 0, 3, 6, 9, 12, 15, 18, 20, 21
COLUMNS = 22


@ti.func
def three(table: ti.template(), i, first: ti.template()):
    return vec3(table[i, first], table[i, first + 1], table[i, first + 2])


def make_opaque_probe() -> Any:
    """For each row: BSDF times cosine (3) and density of a direction, and a sampled direction (3)."""

    @ti.kernel
    def probe(asked: F2, found: F2):
        for i in range(asked.shape[0]):
            coat, edge, width = asked[i, COAT], asked[i, COAT + 1], asked[i, WIDTH]
            finish = Finish(three(asked, i, GROUND), three(asked, i, MIRROR), three(asked, i, EDGE), coat, edge, width)
            out, way = three(asked, i, OUT), three(asked, i, WAY)
            value, density = finish.scattered(out, way)
            sampled = finish.sample(out, asked[i, RANDOM], asked[i, RANDOM + 1], asked[i, RANDOM + 2])
            for c in ti.static(range(3)):
                found[i, c], found[i, 4 + c] = value[c], sampled[c]
            found[i, 3] = density

    return probe


def make_glass_probe() -> Any:
    """For each row: a sampled direction (3), its weight, and 1 if it comes through."""

    @ti.kernel
    def probe(asked: F2, found: F2):
        for i in range(asked.shape[0]):
            out, numbers = three(asked, i, OUT), three(asked, i, RANDOM)
            way, weight, through = pass_glass(out, asked[i, WIDTH], asked[i, RATIO], numbers[0], numbers[1], numbers[2])
            for c in ti.static(range(3)):
                found[i, c] = way[c]
            found[i, 3], found[i, 4] = weight, ti.cast(through, ti.f32)

    return probe

"""Transfers between particles and grid: affine particles in cells, with quadratic B-splines, for a block of particles.

Arithmetic on particles is on vectors of a block; a node is a vector of four: momentum and mass, then velocity and mass.
A particle at (i + f) cells from the origin, f in [0.5, 1.5), reaches the nodes i, i + 1 and i + 2 along each axis.

Sources: Jiang et al., "The affine particle-in-cell method", 2015; Hu et al., "A moving least squares material point
method with displacement discontinuity and two-way rigid body coupling", 2018.
"""

from collections.abc import Sequence
from typing import Any

from ....physics.machine.codegen.words import FLOAT, FLOATS, INT, INT32, INTS, Function, Module, Record
from .layout import LANES, POS

REACH = Record(
    "Reach",
    grid=FLOATS,
    weights=FLOATS,  # (3 axes, 3 nodes, LANES)
    inside=FLOATS,  # (3 axes, LANES): f, in cells
    node=INTS,  # (LANES,): the first node of each particle
    moments=FLOATS,  # (LANES, 4, 4): what goes to the nodes, or comes from them
    along_x=INT,  # nodes from one plane of nodes to the next
    along_y=INT,
)
"""The nodes that the particles of a block reach, and their weights."""


def weigh(f: Function, reach: Any, block: Any, origin: Any, cells: Any) -> list[Any]:
    """Compute nodes and weights of a block's particles.

    Args:
        f: the function that is written.
        reach: of `REACH`.
        block: the address of the block.
        origin: of the grid, m.
        cells: 1 / dx.

    Returns:
        The places of the particles in their cells, along each axis, in cells.
    """
    inside, bases = [], []
    for axis in range(3):
        at = (block.vector((POS + axis) * LANES, LANES) - origin[axis]) * cells
        base = f.floor(at - 0.5)
        w = at - base
        inside.append(w)
        bases.append(f.convert(f.convert(base, INT32), INT))
        left, middle, right = 1.5 - w, w - 1.0, w - 0.5
        weights = reach.weights + 3 * LANES * axis
        for k, weight in enumerate((left * left * 0.5, 0.75 - middle * middle, right * right * 0.5)):
            f.store(weights + k * LANES, weight)
        f.store(reach.inside + axis * LANES, w)
    node = bases[0] * reach.along_x + bases[1] * reach.along_y + bases[2]
    f.store(reach.node, node)
    return inside


def put_moments(f: Function, reach: Any, columns: Sequence[Sequence[Any]]) -> None:
    """Store four columns of four vectors of a block as (LANES, 4 columns, 4)."""
    for k, (x, y, z, w) in enumerate(columns):
        both = [f.shuffle(a, b, [LANES * (j % 2) + j // 2 for j in range(2 * LANES)]) for a, b in ((x, y), (z, w))]
        for lane in range(LANES):
            two, other = 2 * lane, 2 * LANES + 2 * lane
            f.store(reach.moments + (16 * lane + 4 * k), f.shuffle(both[0], both[1], [two, two + 1, other, other + 1]))


def take_moments(f: Function, reach: Any, column: int) -> list[Any]:
    """Return what a column of `moments` has for each particle: three vectors of a block."""
    quads = [reach.moments.vector(16 * lane + 4 * column, 4) for lane in range(LANES)]
    eights = [f.shuffle(quads[k], quads[k + 1], range(8)) for k in range(0, LANES, 2)]
    halves = [f.shuffle(eights[k], eights[k + 1], range(16)) for k in (0, 2)]
    return [f.shuffle(halves[0], halves[1], [4 * lane + c for lane in range(LANES)]) for c in range(3)]


def node_columns(f: Function, line: Any) -> tuple[list[Any], Any]:
    """Return velocities (3) and masses of the eight nodes at an address, as vectors."""
    halves = [line.vector(4 * k * LANES // 2, 4 * LANES // 2) for k in (0, 1)]
    x, y, z, mass = (f.shuffle(halves[0], halves[1], [4 * lane + c for lane in range(LANES)]) for c in range(4))
    return [x, y, z], mass


def put_node_columns(f: Function, line: Any, velocity: Sequence[Any], mass: Any) -> None:
    """Store velocities and masses of the eight nodes at an address."""
    halves = [f.shuffle(a, b, range(2 * LANES)) for a, b in (velocity[:2], (velocity[2], mass))]
    for k in (0, 1):
        lanes = [LANES * c + 4 * k + lane for lane in range(LANES // 2) for c in range(4)]
        f.store(line + 16 * k, f.shuffle(halves[0], halves[1], lanes))


class Transfers:
    """The compiled functions, of a REACH.

    Attributes:
        scatter: add the moments of a block's particles to their nodes.
        gather: collect moments of the velocities at their nodes.
    """

    def __init__(self, module: Module) -> None:
        self.scatter = _scatter(module)
        self.gather = _gather(module)


def _scatter(module: Module) -> Function:
    """Write the sum into nodes: (q + i a0 + j a1 + k a2) w for node i, j, k, where moments are q, a0, a1, a2."""
    with module.function("scatter", reach=REACH) as (f, reach):
        grid, weights = reach.grid, reach.weights
        nodes = reach.node
        moments, along_x, along_y = reach.moments, reach.along_x, reach.along_y
        with f.loop(0, LANES) as lane:
            q, a0, a1, a2 = (moments.vector(lane * 16 + 4 * k, 4) for k in range(4))
            first = nodes[lane]
            wx, wy, wz = ([weights[lane + LANES * (3 * axis + k)] for k in range(3)] for axis in range(3))
            wz = [f.splat(w, 4) for w in wz]
            for i in range(3):
                along = q
                for j in range(3):
                    w = f.splat(wx[i] * wy[j], 4)
                    u, t = along * w, a2 * w
                    along = along + a1
                    line = grid + (first + along_x * i + along_y * j) * 4
                    for k in range(3):
                        at = line + 4 * k
                        f.store(at, f.fma(u, wz[k], at.vector(0, 4)))
                        u = u + t
                q = q + a0
    return f


def _gather(module: Module) -> Function:
    """Write the moments of velocities: sum of w v, and of w v (i - f) along each axis."""
    with module.function("gather", reach=REACH) as (f, reach):
        grid, weights, inside = reach.grid, reach.weights, reach.inside
        nodes = reach.node
        moments, along_x, along_y = reach.moments, reach.along_x, reach.along_y
        zero = f.constant(0.0, FLOAT.vector(4))
        with f.loop(0, LANES) as lane:
            first = nodes[lane]
            wx, wy, wz = ([weights[lane + LANES * (3 * axis + k)] for k in range(3)] for axis in range(3))
            fx, fy, fz = (inside[lane + LANES * axis] for axis in range(3))
            far = [f.splat((float(k) - fz) * wz[k], 4) for k in range(3)]
            wz = [f.splat(w, 4) for w in wz]
            total, bx, by, bz = zero, zero, zero, zero
            for i in range(3):
                t0, t1, tz = zero, zero, zero
                for j in range(3):
                    line = grid + (first + along_x * i + along_y * j) * 4
                    v = [line.vector(4 * k, 4) for k in range(3)]
                    s0 = f.fma(v[2], wz[2], f.fma(v[1], wz[1], v[0] * wz[0]))
                    sz = f.fma(v[2], far[2], f.fma(v[1], far[1], v[0] * far[0]))
                    w = f.splat(wy[j], 4)
                    t0, tz = f.fma(s0, w, t0), f.fma(sz, w, tz)
                    t1 = f.fma(s0, f.splat(wy[j] * (float(j) - fy), 4), t1)
                w = f.splat(wx[i], 4)
                total, by, bz = f.fma(t0, w, total), f.fma(t1, w, by), f.fma(tz, w, bz)
                bx = f.fma(t0, f.splat(wx[i] * (float(i) - fx), 4), bx)
            for k, moment in enumerate((total, bx, by, bz)):
                f.store(moments + (lane * 16 + 4 * k), moment)
    return f

"""The grid of a worker, in compiled code: cleared, and moved, in the box of nodes that particles reach."""

from typing import Any

from ....physics.machine.codegen.words import FLOAT, FLOATS, INT, INTS, Function, Module
from .layout import BATCH, LANES

INFINITE = 3e38


class NodeGrid:
    """The compiled functions.

    Attributes:
        nodes_of: the box of nodes, from that of particles.
        clear: nothing is at the nodes of a box.
        move: velocities of momenta, which no wall lets pass.
    """

    def __init__(self, module: Module) -> None:
        self.nodes_of = _nodes_of(module)
        self.clear = _clear(module)
        self.move = _move(module)


def _nodes_of(module: Module) -> Function:
    """Write first and end of the nodes (3, 2) that particles reach."""
    with module.function("nodes_of", batch=BATCH, low=FLOATS, high=FLOATS, box=INTS) as (f, batch, low, high, box):
        cells = 1.0 / f.convert(batch.dx, FLOAT)
        for axis in range(3):
            least, most = low[axis * LANES], high[axis * LANES]
            for lane in range(1, LANES):
                least = f.minimum(low[axis * LANES + lane], least)
                most = f.maximum(high[axis * LANES + lane], most)
            for k, (x, more) in enumerate(((least, 0), (most, 3))):
                base = f.convert(f.floor((x - batch.origin[axis]) * cells - 0.5), INT)
                box[2 * axis + k] = base + more
            empty = least > most
            box[2 * axis] = f.select(empty, f.constant(0, INT), box[2 * axis])
            box[2 * axis + 1] = f.select(empty, f.constant(0, INT), box[2 * axis + 1])
    return f


def _clear(module: Module) -> Function:
    with module.function("clear", batch=BATCH, grid=FLOATS, box=INTS) as (f, batch, grid, box):
        ny, nz = batch.nodes[1], batch.nodes[2]
        zero = f.constant(0.0, FLOAT.vector(4))
        with f.loop(box[0], box[1]) as i, f.loop(box[2], box[3]) as j:
            line = grid + (i * ny + j) * nz * 4
            with f.loop(box[4], box[5]) as k:
                f.store(line + k * 4, zero)
    return f


def _move(module: Module) -> Function:
    with module.function("move", batch=BATCH, grid=FLOATS, box=INTS) as (f, batch, grid, box):
        ny, nz, Q = batch.nodes[1], batch.nodes[2], FLOAT.vector(4)
        dx = f.convert(batch.dx, FLOAT)

        def limits(axis: int, k: Any) -> tuple[Any, Any]:
            """Return the least and largest velocity of nodes k along an axis: none leaves through a wall."""
            at = f.convert(k, FLOAT) * dx + batch.origin[axis]
            low = f.select(at < batch.walls[axis] + dx * 0.5, f.constant(0.0, FLOAT), -INFINITE)
            high = f.select(at > batch.walls[3 + axis] - dx * 0.5, f.constant(0.0, FLOAT), INFINITE)
            return low, high

        none_low, none_high = f.constant(-INFINITE, Q), f.constant(INFINITE, Q)
        with f.loop(box[0], box[1]) as i:
            lx, hx = limits(0, i)
            lows, highs = f.replaced(none_low, 0, lx), f.replaced(none_high, 0, hx)
            with f.loop(box[2], box[3]) as j:
                ly, hy = limits(1, j)
                lows2, highs2 = f.replaced(lows, 1, ly), f.replaced(highs, 1, hy)
                line = grid + (i * ny + j) * nz * 4
                with f.loop(box[4], box[5]) as k:
                    node = (line + k * 4).vector(0, 4)
                    mass = node.lane(3)
                    with f.when(mass > 0.0):
                        lz, hz = limits(2, k)
                        v = node * f.splat(1.0 / mass, 4)
                        v = f.minimum(f.maximum(v, f.replaced(lows2, 2, lz)), f.replaced(highs2, 2, hz))
                        f.store(line + k * 4, f.replaced(v, 3, mass))
    return f

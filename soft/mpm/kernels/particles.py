"""Functions of particles, in compiled code: stress to the grid, velocities from it, and the box of particles."""

from typing import Any

from ....physics.machine.codegen.words import BOOL, FLOAT, FLOATS, INT, INTS, Function, Module
from ..contact.touching import Contact
from ..laws.arithmetic import Compiled
from ..laws.laws import LAWS, LawKind
from ..laws.tensors import PLACES, advanced
from .layout import ACTIVE, AFFINE, BATCH, LANES, NUMBERS, POS, REST, ROWS, STRAIN, VEL, VOLUME, WORKER
from .transfer import REACH, Transfers, put_moments, take_moments, weigh

BLOCK = LANES * ROWS
"""Numbers of a block."""
FAR = 1e9


def row(block: Any, k: int) -> Any:
    """Return a row of a block."""
    return block.vector(k * LANES, LANES)


def rows(block: Any, first: int, count: int) -> list[Any]:
    """Return some rows of a block."""
    return [row(block, first + k) for k in range(count)]


def put(f: Function, block: Any, first: int, values: Any) -> None:
    """Store rows of a block."""
    for k, value in enumerate(values):
        f.store(block + (first + k) * LANES, value)


def lanes_of(f: Function, number: Any) -> Any:
    """Return a number as a vector of a block."""
    return f.splat(number, LANES)


class Particles:
    """The compiled functions.

    Attributes:
        to_grid: by law: advance strains of some blocks, and add masses and momenta to the grid.
        from_grid: take velocities from the grid, and move the particles of an environment.
        find_box: the nodes that an environment's particles reach.
    """

    def __init__(self, module: Module, contact: Contact) -> None:
        transfers = Transfers(module)
        self.to_grid = [_to_grid(module, transfers, name, kind) for name, kind in LAWS.items()]
        self.from_grid = _from_grid(module, transfers, contact)
        self.find_box = _find_box(module)


def _to_grid(module: Module, transfers: Transfers, name: str, kind: LawKind) -> Function:
    """Write the way of blocks of a material to the grid."""
    args: dict[str, Any] = {
        "batch": BATCH,
        "reach": REACH,
        "memory": FLOATS,
        "first": INT,
        "end": INT,
        "numbers": FLOATS,
    }
    args |= {"gravity": FLOATS}
    with module.function(f"to_grid_{name}", **args) as (f, batch, reach, memory, first, end, numbers, gravity):
        m, V = Compiled(f), FLOAT.vector(LANES)
        dt, dx = f.convert(batch.dt, FLOAT), f.convert(batch.dx, FLOAT)
        cells, origin = 1.0 / dx, [batch.origin[axis] for axis in range(3)]
        mass, size = numbers[0], numbers[1]
        law_numbers = [lanes_of(f, numbers[2 + k]) for k in range(NUMBERS - 2)]
        factor = size * dt * (-4.0) * cells  # of the stress, in moments of a cell
        with f.loop(first, end) as b:
            block = memory + b * BLOCK
            active = row(block, ACTIVE)
            with f.when(f.any(active > 0.0)):
                exists = active > 0.0
                rates = [f.select(exists, rate, f.constant(0.0, V)) for rate in rows(block, AFFINE, 9)]
                step = [[rates[3 * i + j] * dt for j in range(3)] for i in range(3)]
                trace = step[0][0] + step[1][1] + step[2][2]
                sym = [step[0][0], step[1][1], step[2][2]]
                sym += [(step[i][j] + step[j][i]) * 0.5 for i, j in ((0, 1), (0, 2), (1, 2))]
                volume, strain = row(block, VOLUME), []
                if kind.strains:
                    strain = advanced(rows(block, STRAIN, 6), step)
                else:
                    volume = volume + (volume + 1.0) * trace
                strain, volume, stress = kind.law(m, strain, volume, law_numbers, sym)
                put(f, block, STRAIN, strain)
                put(f, block, VOLUME, [volume])
                weight = active * mass
                per_cell, of_stress = weight * dx, f.minimum(active, 1.0) * factor
                A = [
                    [rates[3 * i + j] * per_cell + stress[PLACES[i][j]] * of_stress for j in range(3)] for i in range(3)
                ]
                inside = weigh(f, reach, block, origin, cells)
                free = f.select(active > 1.0, f.constant(0.0, V), 1.0)
                velocity = [f.fma(free, gravity[i] * dt, v) for i, v in enumerate(rows(block, VEL, 3))]
                q = [
                    velocity[i] * weight - (A[i][0] * inside[0] + A[i][1] * inside[1] + A[i][2] * inside[2])
                    for i in range(3)
                ]
                zero = f.constant(0.0, V)
                columns = [(*q, weight)] + [(A[0][j], A[1][j], A[2][j], zero) for j in range(3)]
                put_moments(f, reach, columns)
                f.call(transfers.scatter, reach)
    return f


def _from_grid(module: Module, transfers: Transfers, contact: Contact) -> Function:
    """Write the way back; it returns 1 if a particle moves more than a cell in a step, or nowhere (not a number)."""
    args: dict[str, Any] = {"batch": BATCH, "worker": WORKER, "reach": REACH, "memory": FLOATS}
    args |= {"held": INTS, "low": FLOATS, "high": FLOATS}
    with module.function("from_grid", INT, **args) as (f, batch, worker, reach, memory, held, low, high):
        V = FLOAT.vector(LANES)
        dt, dx = f.convert(batch.dt, FLOAT), f.convert(batch.dx, FLOAT)
        cells, origin = 1.0 / dx, [batch.origin[axis] for axis in range(3)]
        walls = [[lanes_of(f, batch.walls[3 * side + axis]) for axis in range(3)] for side in range(2)]
        bad = f.variable(BOOL.vector(LANES), 0)
        count = f.variable(V, 0.0)
        lows, highs = ([f.variable(V, x) for _ in range(3)] for x in (FAR, -FAR))
        with f.loop(0, batch.blocks) as b:
            block = memory + b * BLOCK
            active = row(block, ACTIVE)
            exists, moves = active > 0.0, (active > 0.0) & (active <= 1.0)
            with f.when(f.any(exists)):
                weigh(f, reach, block, origin, cells)
                f.call(transfers.gather, reach)
                velocity = take_moments(f, reach, 0)
                moments = [take_moments(f, reach, 1 + j) for j in range(3)]
                rate = 4.0 * cells
                for i in range(3):
                    f.store(
                        block + (VEL + i) * LANES,
                        f.select(exists, f.select(moves, velocity[i], 0.0), row(block, VEL + i)),
                    )
                    for j in range(3):
                        at = AFFINE + 3 * i + j
                        new = f.select(moves, moments[j][i] * rate, f.constant(0.0, V))
                        f.store(block + at * LANES, f.select(exists, new, row(block, at)))
                for axis in range(3):
                    way = velocity[axis] * dt
                    slow = f.abs(way) < dx
                    bad.set(bad.value | (moves & f.no(slow)))
                    # What the sum loses to rounding is added in the next step: at 1 m it is more than slow steps.
                    before, change = row(block, POS + axis), way + row(block, REST + axis)
                    after = before + change
                    rest = f.select(moves, change - (after - before), f.constant(0.0, V))
                    f.store(block + (REST + axis) * LANES, rest)
                    f.store(block + (POS + axis) * LANES, f.select(moves, after, before))
                with f.when(batch.geoms > 0):
                    f.call(contact.put_back, batch, worker, block)
                outside = f.constant(0, BOOL.vector(LANES))
                for axis in range(3):
                    x = row(block, POS + axis)
                    at = f.minimum(f.maximum(x, walls[0][axis]), walls[1][axis])
                    outside = outside | (x < walls[0][axis]) | (x > walls[1][axis])
                    at = f.select(moves, at, x)
                    f.store(block + (POS + axis) * LANES, at)
                    lows[axis].set(f.select(exists & (at < lows[axis].value), at, lows[axis].value))
                    highs[axis].set(f.select(exists & (at > highs[axis].value), at, highs[axis].value))
                count.set(count.value + f.select(outside & exists, f.constant(1.0, V), 0.0))
        held[0] = f.convert(f.total(count.value), INT)
        for axis in range(3):
            f.store(low + LANES * axis, lows[axis].value)
            f.store(high + LANES * axis, highs[axis].value)
        f.give(f.select(f.any(bad.value), f.constant(1, INT), 0))
    return f


def _find_box(module: Module) -> Function:
    """Write the box of an environment's particles, (3, LANES) each."""
    with module.function("find_box", blocks=INT, memory=FLOATS, low=FLOATS, high=FLOATS) as (f, n, memory, low, high):
        V = FLOAT.vector(LANES)
        lows, highs = ([f.variable(V, x) for _ in range(3)] for x in (FAR, -FAR))
        with f.loop(0, n) as b:
            block = memory + b * BLOCK
            exists = row(block, ACTIVE) > 0.0
            for axis in range(3):
                at = row(block, POS + axis)
                lows[axis].set(f.select(exists & (at < lows[axis].value), at, lows[axis].value))
                highs[axis].set(f.select(exists & (at > highs[axis].value), at, highs[axis].value))
        for axis in range(3):
            f.store(low + LANES * axis, lows[axis].value)
            f.store(high + LANES * axis, highs[axis].value)
    return f

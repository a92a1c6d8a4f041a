"""Products of matrices in panels: the three of a linear layer, forward, backward, and of its weights' gradient.

A matrix of activations, a row for each transition, lies in panels of 16 columns, [columns / 16][rows][16]. A matrix of
weights, a row for each input and a column for each output, lies in panels too; its last panel has 8 columns if those
suffice. A tile of the result is some rows of one panel: its numbers are in registers while the inner index runs, and
each step loads one vector and as many single numbers as the tile has rows. So nothing is packed and no vector is summed
across.

Each number of a result is one chain of fused multiply-adds in the order of the inner index. So its bits depend neither
on the tiles, nor on the chunks of rows, nor on the width of registers.
"""

from collections.abc import Callable
from typing import Any

from ...physics.machine.codegen.words import FLOAT, FLOATS, INT, Function, Module
from .functions import ACTIVATIONS

PANEL, NARROW = 16, 8
"""Columns of a panel, and of a last panel of weights that needs no more."""
UNROLLED = 16
"""Steps of the inner index that are written out: a divisor of 16."""
NARROW_ROWS = 8
"""Rows of a tile of a narrow panel: a sum must be kept for each of them, or the processor waits for the last one."""
CHUNK = 64
"""Rows of activations that go through the networks at a time, so that these stay in the cache: a multiple of 8."""


def padded(n: Any) -> Any:
    """Return the columns of n columns' panels of weights, for a number of Python or of a compiled function."""
    return (n + (NARROW - 1)) // NARROW * NARROW


class Products:
    """The compiled functions.

    Attributes:
        forward: y = sigma(x w + b) and the slope sigma'(x w + b), one function for each of `ACTIVATIONS`; and last
            y = x w + b.
        backward: slopes of the layer's inputs: z <- (z' w^T) z.
        gradient: gw += x^T z, gb += the sum of the rows of z.
        transpose: w^T in panels, for `backward`.
    """

    def __init__(self, module: Module, tile_rows: int) -> None:
        """Write them, with tiles of so many rows (a divisor of 8)."""
        self.forward = [_product(module, tile_rows, name, _activated(name)) for name in ACTIVATIONS]
        self.forward.append(_product(module, tile_rows, "linear", _linear))
        self.backward = _product(module, tile_rows, "backward", _times_slope, biased=False)
        self.gradient = _gradient(module, tile_rows)
        self.transpose = _transpose(module)


def _linear(f: Function, x: Any, y: Any, slope: Any) -> None:
    f.store(y, x)


def _activated(name: str) -> Callable[[Function, Any, Any, Any], None]:
    def end(f: Function, x: Any, y: Any, slope: Any) -> None:
        value, derivative = ACTIVATIONS[name](f, x)
        f.store(y, value)
        f.store(slope, derivative)

    return end


def _times_slope(f: Function, x: Any, y: Any, slope: Any) -> None:
    f.store(slope, x * f.load(slope, x.type))


def _tile(
    module: Module, rows: int, lanes: int, name: str, end: Callable[[Function, Any, Any, Any], None], biased: bool
) -> Function:
    """Write the product of one tile: some rows of one panel.

    Arguments of the function: a, the rows of the left matrix, with `stride` numbers from one panel to the next; the
    `inner` index's length; b, a panel of the right matrix; what the sums begin with; the result, and its slopes.
    """
    arguments: dict[str, Any] = {
        "a": FLOATS,
        "stride": INT,
        "inner": INT,
        "b": FLOATS,
        "bias": FLOATS,
        "y": FLOATS,
        "slope": FLOATS,
    }
    write = module.function(f"tile_{name}_{lanes}", **arguments)
    with write as (f, a, stride, inner, b, bias, y, slope):
        start = bias.vector(0, lanes) if biased else f.constant(0.0, FLOAT.vector(lanes))
        sums = [f.variable(start.type, start) for _ in range(rows)]

        def multiply(left: Any, right: Any) -> None:  # one number of the inner index
            row = right.vector(0, lanes)
            for r, sum in enumerate(sums):
                sum.set(f.fma(f.splat(left[r * PANEL], lanes), row, sum.value))

        whole = inner // PANEL
        with f.loop(0, whole) as panel, f.loop(0, PANEL, UNROLLED) as k:
            left, right = a + (panel * stride + k), b + (panel * PANEL + k) * lanes
            for i in range(UNROLLED):
                multiply(left + i, right + i * lanes)
        left, right = a + whole * stride, b + whole * (PANEL * lanes)
        with f.loop(0, inner % PANEL) as k:
            multiply(left + k, right + k * lanes)
        for r, sum in enumerate(sums):
            end(f, sum.value, y + r * PANEL, slope + r * PANEL)
    return f


def _product(
    module: Module, rows: int, name: str, end: Callable[[Function, Any, Any, Any], None], biased: bool = True
) -> Function:
    """Write the product of all tiles.

    Arguments of the function: the left matrix x (n, inner), in panels of `capacity` rows; the right one w (inner,
    columns); its bias; the result y and its slopes, both (n, columns).
    """
    sizes = {PANEL: rows, NARROW: NARROW_ROWS}
    tiles = {lanes: _tile(module, size, lanes, name, end, biased) for lanes, size in sizes.items()}
    arguments: dict[str, Any] = {
        "x": FLOATS,
        "capacity": INT,
        "n": INT,
        "inner": INT,
        "w": FLOATS,
        "columns": INT,
        "bias": FLOATS,
    }
    write = module.function(f"product_{name}", **arguments, y=FLOATS, slope=FLOATS)
    with write as (f, x, capacity, n, inner, w, columns, bias, y, slope):
        for lanes, j in _panels(f, columns):
            with f.loop(0, n, sizes[lanes]) as r:
                at = j * capacity + r * PANEL
                f.call(
                    tiles[lanes], x + r * PANEL, capacity * PANEL, inner, w + j * inner, bias + j, y + at, slope + at
                )
    return f


def _panels(f: Function, columns: Any) -> Any:
    """Yield (lanes, first column) of panels of weights: inside a loop over the wide ones, then for a narrow one."""
    wide = padded(columns) // PANEL * PANEL
    with f.loop(0, wide, PANEL) as j:
        yield PANEL, j
    with f.when(wide < padded(columns)):
        yield NARROW, wide


def _gradient(module: Module, tile_inputs: int) -> Function:
    """Write gw += x^T z, tiles of some inputs by one panel of outputs, and gb += the sum of the rows of z.

    Arguments of the function: x (n, inputs) and z (n, outputs), in panels of `capacity` rows; gw and gb.
    """
    sizes = {PANEL: tile_inputs, NARROW: NARROW_ROWS}
    tiles = {(lanes, k): _gradient_tile(module, k, lanes) for lanes, size in sizes.items() for k in (size, 1)}
    arguments: dict[str, Any] = {"x": FLOATS, "z": FLOATS, "capacity": INT, "n": INT, "inputs": INT, "outputs": INT}
    write = module.function("weights_gradient", **arguments, gw=FLOATS, gb=FLOATS)
    with write as (f, x, z, capacity, n, inputs, outputs, gw, gb):
        for lanes, j in _panels(f, outputs):
            panel, out, whole = z + j * capacity, gw + j * inputs, sizes[lanes]
            with f.loop(0, inputs, PANEL) as i:
                many = f.minimum(inputs - i, PANEL)
                tiled = many // whole * whole
                for size, start, stop in ((whole, 0, tiled), (1, tiled, many)):
                    with f.loop(start, stop, size) as k:
                        f.call(tiles[lanes, size], x + (i * capacity + k), panel, n, out + (i + k) * lanes)
            total = f.variable(FLOAT.vector(lanes), gb.vector(j, lanes))
            with f.loop(0, n) as r:
                total.add(panel.vector(r * PANEL, lanes))
            f.store(gb + j, total.value)
    return f


def _gradient_tile(module: Module, inputs: int, lanes: int) -> Function:
    """Write the sums of some inputs by one panel over n rows, an even number."""
    write = module.function(f"gradient_tile_{lanes}_{inputs}", x=FLOATS, z=FLOATS, n=INT, gw=FLOATS)
    with write as (f, x, z, n, gw):
        sums = [f.variable(FLOAT.vector(lanes), gw.vector(k * lanes, lanes)) for k in range(inputs)]
        with f.loop(0, n, 2) as r:
            for row in (r, r + 1):
                slopes, left = z.vector(row * PANEL, lanes), x + row * PANEL
                for k, sum in enumerate(sums):
                    sum.set(f.fma(f.splat(left[k], lanes), slopes, sum.value))
        for k, sum in enumerate(sums):
            f.store(gw + k * lanes, sum.value)
    return f


def _transpose(module: Module) -> Function:
    """Write w (inputs, outputs) to t (outputs, inputs), both in panels of weights: blocks of 8 by 8, and the rest."""
    with module.function("transpose", w=FLOATS, t=FLOATS, inputs=INT, outputs=INT) as (f, w, t, inputs, outputs):
        columns = outputs // NARROW * NARROW
        for lanes, i in _panels(f, inputs):
            many = f.minimum(inputs - i, lanes)
            rows = many // NARROW * NARROW
            with f.loop(0, outputs) as j:
                source, width = _weights_of(f, w, inputs, outputs, i, j)
                target = t + (i * outputs + j * lanes)
                with f.loop(f.select(j < columns, rows, 0), many) as k:
                    target[k] = source[k * width]
            with f.loop(0, rows, NARROW) as k, f.loop(0, columns, NARROW) as j:
                source, width = _weights_of(f, w, inputs, outputs, i + k, j)
                target = t + (i * outputs + j * lanes + k)
                block = _transposed(f, [source.vector(r * width, NARROW) for r in range(NARROW)])
                for r, row in enumerate(block):
                    f.store(target + r * lanes, row)
    return f


def _weights_of(f: Function, w: Any, inputs: Any, outputs: Any, i: Any, j: Any) -> tuple[Any, Any]:
    """Return where the weight of input i and output j is, and the columns of its panel."""
    panel = j // PANEL * PANEL
    width = f.minimum(padded(outputs) - panel, PANEL)
    return w + (panel * inputs + (j - panel) + i * width), width


def _transposed(f: Function, rows: list[Any]) -> list[Any]:
    """Return a transposed square: its halves, their halves and so on change places across the diagonal."""
    n, half = len(rows), len(rows) // 2
    while half:
        for k in (k for k in range(n) if not k & half):
            a, b = rows[k], rows[k + half]
            rows[k] = f.shuffle(a, b, [n + i - half if i & half else i for i in range(n)])
            rows[k + half] = f.shuffle(a, b, [n + i if i & half else i + half for i in range(n)])
        half //= 2
    return rows

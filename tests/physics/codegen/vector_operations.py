"""Operations on lane numbers, computed in a process of their own: as vectors or as the numbers in them.

    python -m tests.physics.codegen.vector_operations (vectors|numbers) (32|64) FILE WIDTH...

writes an array for each width and operation. The kernels are compiled as the solver's units are.
"""

import os
import sys
import tempfile

import numpy as np
import taichi as ti
import torch
from taichi.lang.impl import expr_init, subscript

from tumble.physics.base.fields import Field, FieldView, flat_array
from tumble.physics.base.math import Lanes
from tumble.physics.base.math.lanes import traced
from tumble.physics.run.compile import compile_process
from tumble.physics.run.kernel import number_array
from tumble.physics.run.tiles.scratch import place

COUNT = 512  # inputs, in so many lane numbers as they fill
ROWS, FIRST, SECOND = 8, 0, 8  # of each of the two views of an array that the actions work on


def inputs(precision):
    """Special numbers, each beside each, and numbers of all sizes; tame ones, which fit an integer."""
    dtype = np.float32 if precision == "32" else np.float64
    info, rng = np.finfo(dtype), np.random.default_rng(34)
    special = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1.5, np.pi, -1e-3, 7e3, np.inf, -np.inf, np.nan, -np.nan]
    special += [info.tiny, -info.tiny, info.smallest_subnormal, -info.tiny / 3, info.max, info.min]
    pairs = np.meshgrid(special, special, indexing="ij")
    more = COUNT - len(special) ** 2
    x, y = (np.concatenate([p.ravel(), rng.normal(size=more) * 10.0 ** rng.integers(-8, 8, more)]) for p in pairs)
    tame = np.where(np.abs(x) < 1e6, x, 0.25)
    tame[::7] = np.arange(len(tame[::7])) - 30.5
    return [numbers.astype(dtype) for numbers in (x, y, tame)]


def _other(lanes):
    """The other precision."""
    return ti.f32 if lanes.double else ti.f64


# Of two lane numbers, a tame one, and the lanes. Those named `any` mix lanes, so their results depend on the width.
OPERATIONS = {
    "add": lambda x, y, t, lanes: x + y,
    "subtract": lambda x, y, t, lanes: x - y,
    "multiply": lambda x, y, t, lanes: x * y,
    "divide": lambda x, y, t, lanes: x / y,
    "minus": lambda x, y, t, lanes: -x,
    "minus of a sum": lambda x, y, t, lanes: -(x + y),
    "one by minus": lambda x, y, t, lanes: 1.0 / -x,
    "abs": lambda x, y, t, lanes: ti.abs(x),
    "one by abs": lambda x, y, t, lanes: 1.0 / ti.abs(x),
    "abs of a difference": lambda x, y, t, lanes: ti.abs(x - y),
    "sqrt": lambda x, y, t, lanes: ti.sqrt(x),
    "rsqrt": lambda x, y, t, lanes: ti.rsqrt(x),
    "floor": lambda x, y, t, lanes: ti.floor(x),
    "ceil": lambda x, y, t, lanes: ti.ceil(x),
    "round": lambda x, y, t, lanes: ti.round(x),
    "min": lambda x, y, t, lanes: ti.min(x, y),
    "max": lambda x, y, t, lanes: ti.max(x, y),
    "min of three": lambda x, y, t, lanes: ti.min(x, y, 0.5),
    "max with a literal": lambda x, y, t, lanes: ti.max(0.0, x),
    "clamp": lambda x, y, t, lanes: ti.min(ti.max(x, -1.0), 1.0),
    "less": lambda x, y, t, lanes: ti.select(x < y, x, y),
    "at most": lambda x, y, t, lanes: ti.select(x <= y, x, 3.0),
    "greater": lambda x, y, t, lanes: ti.select(x > y, 1.0, y),
    "at least": lambda x, y, t, lanes: ti.select(x >= y, x, y),
    "equal": lambda x, y, t, lanes: ti.select(x == y, x, y + 1.0),
    "unequal": lambda x, y, t, lanes: ti.select(x != y, x, y - 1.0),
    "both": lambda x, y, t, lanes: ti.select((x > 0.0) & (y > 0.0), x, y),
    "either": lambda x, y, t, lanes: ti.select((x > 0.0) | (y < 1.0), x, y),
    "mask": lambda x, y, t, lanes: lanes.mask(x > y),
    "product of masks": lambda x, y, t, lanes: lanes.mask(x > 0.0) * (1.0 - lanes.mask(y > 0.0)),
    "select by a mask": lambda x, y, t, lanes: ti.select(lanes.mask(x > y) > 0.5, x, y),
    "sin": lambda x, y, t, lanes: ti.sin(x),
    "cos": lambda x, y, t, lanes: ti.cos(x),
    "tan": lambda x, y, t, lanes: ti.tan(x),
    "asin": lambda x, y, t, lanes: ti.asin(x),
    "acos": lambda x, y, t, lanes: ti.acos(x),
    "exp": lambda x, y, t, lanes: ti.exp(x),
    "log": lambda x, y, t, lanes: ti.log(x),
    "tanh": lambda x, y, t, lanes: ti.tanh(x),
    "atan2": lambda x, y, t, lanes: ti.atan2(x, y),
    "atan2 of a literal": lambda x, y, t, lanes: ti.atan2(x, 2.0),
    "pow": lambda x, y, t, lanes: ti.pow(x, y),
    "pow of a literal": lambda x, y, t, lanes: ti.pow(2.0, x),
    "pow to a literal": lambda x, y, t, lanes: ti.pow(x, 1.5),
    "square": lambda x, y, t, lanes: x**2,
    "literal before": lambda x, y, t, lanes: 3.0 - x,
    "integer literal": lambda x, y, t, lanes: 3 * x + 2,
    "number before": lambda x, y, t, lanes: expr_init(lanes.constant(0.1)) * x,
    "number behind": lambda x, y, t, lanes: x / expr_init(lanes.constant(0.1)),
    "integer before": lambda x, y, t, lanes: expr_init(ti.cast(lanes.constant(3.0), ti.i32)) - x,
    "number of the other precision": lambda x, y, t, lanes: lanes.cast(x * ti.cast(lanes.constant(0.1), _other(lanes))),
    "other precision": lambda x, y, t, lanes: lanes.cast(ti.cast(x, _other(lanes))),
    "sum in the other precision": lambda x, y, t, lanes: lanes.cast(
        ti.cast(x, _other(lanes)) + ti.cast(y, _other(lanes))
    ),
    "promoted": lambda x, y, t, lanes: lanes.cast(x + ti.cast(y, _other(lanes))),
    "promoted before": lambda x, y, t, lanes: lanes.cast(ti.cast(x, _other(lanes)) * y),
    "promoted in a comparison": lambda x, y, t, lanes: lanes.mask(ti.cast(x, _other(lanes)) > y),
    "promoted in a maximum": lambda x, y, t, lanes: lanes.cast(ti.max(x, ti.cast(y, _other(lanes)))),
    "promoted in a selection": lambda x, y, t, lanes: lanes.cast(ti.select(x > y, x, ti.cast(y, _other(lanes)))),
    "selection by the other precision": lambda x, y, t, lanes: ti.select(ti.cast(x, _other(lanes)) > 0.5, x, y),
    "sin in the other precision": lambda x, y, t, lanes: lanes.cast(ti.sin(ti.cast(x, _other(lanes)))),
    "minus in the other precision": lambda x, y, t, lanes: lanes.cast(-ti.cast(x, _other(lanes))),
    "integer": lambda x, y, t, lanes: ti.cast(ti.cast(t, ti.i32), lanes.dtype),
    "integer of the other precision": lambda x, y, t, lanes: lanes.cast(
        ti.cast(ti.cast(ti.cast(t, _other(lanes)), ti.i32), _other(lanes))
    ),
    "sum of integers": lambda x, y, t, lanes: ti.cast(ti.cast(t, ti.i32) + ti.cast(2.0 * t, ti.i32), lanes.dtype),
    "minus an integer": lambda x, y, t, lanes: ti.cast(-ti.cast(t, ti.i32), lanes.dtype),
    "abs of an integer": lambda x, y, t, lanes: ti.cast(ti.abs(ti.cast(t, ti.i32)), lanes.dtype),
    "bits of an integer": lambda x, y, t, lanes: ti.cast(ti.cast(t, ti.i32) & 7, lanes.dtype),
    "integer and number": lambda x, y, t, lanes: ti.cast(t, ti.i32) * x,
    "real of a number": lambda x, y, t, lanes: lanes.real(0.1),
    "real of lanes": lambda x, y, t, lanes: lanes.real(x),
    "doubled": lambda x, y, t, lanes: lanes.cast(lanes.doubled().cast(x) * lanes.doubled().real(1.1)),
    "any: of lanes": lambda x, y, t, lanes: lanes.real(ti.select(lanes.any(lanes.mask(x > y)), 1.0, 0.0)),
    "any: the first": lambda x, y, t, lanes: lanes.real(lanes.get(x, 0)),
    "any: the last": lambda x, y, t, lanes: lanes.real(lanes.get(x, lanes.width - 1)),
}


@ti.func
def _assigned(x: ti.template(), y: ti.template(), lanes: ti.template(), operator: ti.template()):
    a = x
    if ti.static(operator == "Add"):
        a += y
    if ti.static(operator == "Sub"):
        a -= y
    if ti.static(operator == "Mult"):
        a *= y
    if ti.static(operator == "Div"):
        a /= y
    if ti.static(operator == "Assign"):
        a = y
    return a


@traced
def _put_lanes(x, y, t, lanes):
    """A number put into the first and the last lane."""
    a = expr_init(x)
    lanes.put(a, 0, lanes.constant(0.1))
    lanes.put(a, lanes.width - 1, lanes.get(y, 0))
    return a


OPERATIONS |= {
    f"local {name}": lambda x, y, t, lanes, name=name: _assigned(x, y, lanes, name)
    for name in ("Add", "Sub", "Mult", "Div")
}
OPERATIONS["local minus a literal"] = lambda x, y, t, lanes: _assigned(x, 0.1, lanes, "Sub")
OPERATIONS["local by an integer"] = lambda x, y, t, lanes: _assigned(x, 3, lanes, "Mult")
OPERATIONS |= {
    f"local {name} of the other precision": lambda x, y, t, lanes, name=name: _assigned(
        x, ti.cast(y, _other(lanes)), lanes, name
    )
    for name in ("Assign", "Add", "Sub")
}
OPERATIONS["any: put"] = _put_lanes


# Of a view of a field or an array whose items are three lane numbers, another with items of one, and two integers, of
# which the first is 1 and the second any lane: both known at run time only.


@ti.func
def _known_lanes(lanes: ti.template(), three: ti.template(), one: ti.template(), i: ti.i32, lane: ti.i32):
    for k in ti.static(range(lanes.width)):
        three.of_lane(lanes, k, i, 2)._assign(one.of_lane(lanes, lanes.width - 1 - k, i) + k)


@ti.func
def _lanes_at_run_time(lanes: ti.template(), three: ti.template(), one: ti.template(), i: ti.i32, lane: ti.i32):
    for k in range(lanes.width):
        three.of_lane(lanes, k, i, i)._assign(one.of_lane(lanes, (lane + k) % lanes.width, i + 1) + k)


@ti.func
def _known_to_run_time(lanes: ti.template(), three: ti.template(), one: ti.template(), i: ti.i32, lane: ti.i32):
    three.of_lane(lanes, lane, 0)._assign(one.of_lane(lanes, 0, 3))
    one.of_lane(lanes, lanes.width - 1, 4)._assign(three.of_lane(lanes, lane, 1, 1))


@ti.func
def _one_lane(lanes: ti.template(), three: ti.template(), one: ti.template(), i: ti.i32, lane: ti.i32):
    item = three.in_lane(lane)[i]
    three.in_lane(0).put(0, item + three.in_lane(lanes.width - 1)[i])
    one.in_lane(lane)[i + 1] = item.dot(item)


@ti.func
def _gathered(lanes: ti.template(), three: ti.template(), one: ti.template(), i: ti.i32, lane: ti.i32):
    items = ti.cast(lanes.mask(one[i] > 0.0), ti.i32)
    numbers = three.gather(lanes, items, 0, 3)
    three.put_numbers(0, 0, [numbers[2], numbers[0] + numbers[1]])


@ti.func
def _put(lanes: ti.template(), three: ti.template(), one: ti.template(), i: ti.i32, lane: ti.i32):
    lanes.put(one[i], lanes.width - 1, 0.1)
    lanes.put(one[i + 1], 0, lanes.get(three.at(i, 1), lanes.width - 1))
    number = one[i + 2]
    lanes.put(number, lanes.width - 1, lanes.get(number, 0))
    one[i + 3] = number


@ti.func
def _any(lanes: ti.template(), three: ti.template(), one: ti.template(), i: ti.i32, lane: ti.i32):
    for k in range(ROWS):
        if lanes.any(one[k]):
            one[k] = one[k] + 1.0


@ti.func
def _augmented(lanes: ti.template(), three: ti.template(), one: ti.template(), i: ti.i32, lane: ti.i32):
    one[i] += one[i + 1]
    one[i + 2] -= one[i + 3]
    one[i + 4] += 0.5
    one[i + 5] -= 0.1
    one[i + 6] *= one[i]
    one[0] /= one[i + 2]


@ti.func
def _items(lanes: ti.template(), three: ti.template(), one: ti.template(), i: ti.i32, lane: ti.i32):
    item = three[i]
    item += three[0] * one[i]
    three.put(i, item.cross(three[0]))
    three.put_numbers(0, 1, [-one[i], ti.abs(one[i])])
    three.at(0, i - 1)._assign(lanes.real(0.1))


ACTIONS = {
    action.__name__.strip("_"): action
    for action in (
        _known_lanes,
        _lanes_at_run_time,
        _known_to_run_time,
        _one_lane,
        _gathered,
        _put,
        _any,
        _augmented,
        _items,
    )
}


def lane_number(array, lanes, i):
    """The i-th lane number of an array as the driver has them: (1, rows, lanes)."""
    return subscript(None, array, 0, i) if lanes.width > 1 else subscript(None, array, 0, i, 0)


def results_of_operations(lanes, given):
    """All operations on all inputs."""
    numbers, operations = number_array(lanes), [traced(operation) for operation in OPERATIONS.values()]

    @traced
    def compute(x, y, t, out, i, count):
        values = [expr_init(lane_number(array, lanes, i)) for array in (x, y, t)]
        for k, operation in enumerate(operations):
            lane_number(out, lanes, k * count + i)._assign(operation(*values, lanes))

    @ti.kernel
    def run(x: numbers, y: numbers, t: numbers, out: numbers, count: ti.i32):
        ti.loop_config(serialize=True)
        for i in range(count):
            compute(x, y, t, out, i, count)

    out = _tensor(np.zeros((len(OPERATIONS), COUNT), given[0].dtype), lanes)
    run(*(_tensor(numbers, lanes) for numbers in given), out, COUNT // lanes.width)
    return dict(zip(OPERATIONS, out.numpy().reshape(len(OPERATIONS), COUNT), strict=True))


def results_of_actions(kind, lanes, given):
    """What each of the actions leaves of a field, or of an array."""
    return {f"{kind} {name}": _left_by(ACTIONS[name], kind, lanes, given) for name in ACTIONS}


def _left_by(action, kind, lanes, given):
    numbers, rows = number_array(lanes), 4 * ROWS
    field, _ = place(lanes.width, "f64" if lanes.double else "f32", rows)

    @traced
    def views(memory):
        inside = flat_array(field) if kind == "field" else lambda i: lane_number(memory, lanes, i)
        declared = (Field("three", ("n",), 3, "", ""), FIRST), (Field("one", ("n",), 1, "", ""), 3 * SECOND)
        return [FieldView(one, first, None, inside) for one, first in declared]

    @ti.kernel
    def run(memory: numbers, i: ti.i32, lane: ti.i32):
        ti.loop_config(serialize=True)
        for _ in range(1):
            for k in range(rows):
                field[k] = lane_number(memory, lanes, k)
            three, one = ti.static(views(memory))
            action(lanes, three, one, i, lane)
            if ti.static(kind == "field"):
                for k in range(rows):
                    lane_number(memory, lanes, k)._assign(field[k])

    memory = _tensor(given[2][: rows * lanes.width], lanes)
    run(memory, 1, lanes.width // 2)
    return memory.numpy().ravel()


def _tensor(numbers, lanes):
    """Numbers as the driver has them; torch aligns them to cache lines, which vectors need."""
    return torch.tensor(numbers.reshape(1, -1, lanes.width))


def main(form, precision, path, *widths):
    """Compute everything at these widths."""
    if form == "numbers":
        compile_process.use_vectors = lambda: False
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        compile_process.UnitCompiler(int(widths[-1]), precision)
        given = inputs(precision)
        found = {"given": given[2]}
        for width in widths:
            lanes = Lanes(int(width), ti.f32 if precision == "32" else ti.f64)
            results = results_of_operations(lanes, given)
            for kind in ("field", "array"):
                results |= results_of_actions(kind, lanes, given)
            found |= {f"{width} {name}": result for name, result in results.items()}
        os.chdir("/")
    np.savez(path, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])

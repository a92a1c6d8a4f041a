"""Operations on numbers with tangents, computed in a process of their own, as `use_tangents` acts for a whole process.

    python -m tests.physics.gradients.rule_operations FILE

writes, for each width and operation, the results and their tangents, the results of the same code without tangents, and
the message with which each operation that has no rule is refused. Vectors are kept, as in the solver's units.
"""

import json
import os
import sys
import tempfile
from typing import Any, NamedTuple

import mpmath
import numpy as np
import taichi as ti
import torch
from taichi.lang.impl import subscript

from tumble.physics.base.fields import Field, FieldView, flat_array
from tumble.physics.base.math import Lanes, Vec3
from tumble.physics.base.math.elementary import with_limit
from tumble.physics.base.math.lanes import let, traced
from tumble.physics.base.math.trigonometry import atan2, sincos
from tumble.physics.gradients.tangents import attach, tracing, use_tangents
from tumble.physics.run.compile import compile_process
from tumble.physics.run.kernel import number_array
from tumble.physics.run.tiles.scratch import place

WIDTHS = 4, 1
COUNT = 52
"""Points, in so many lane numbers as they fill: at least fifty."""


def points(domain):
    """Two operands and their tangents: any numbers, positive ones, or ones between -1 and 1."""
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(2, COUNT)) * 10.0 ** rng.uniform(-1.0, 0.5, (2, COUNT))
    if domain == "positive":
        x, y = np.abs(x), np.abs(y)
    if domain == "unit":
        x, y = rng.uniform(-0.99, 0.99, (2, COUNT))
    return np.array([x, y, *rng.normal(size=(2, COUNT))])


class Operation(NamedTuple):
    """An operation of kernels on (x, y, lanes), and the same function of mpmath's numbers (x, y)."""

    domain: str
    emit: Any
    oracle: Any


@ti.func
def _changed(x: ti.template(), y: ti.template(), operator: ti.template()):
    a = x
    if ti.static(operator == "Add"):
        a += y
    if ti.static(operator == "Sub"):
        a -= y
    if ti.static(operator == "Mult"):
        a *= y
    if ti.static(operator == "Div"):
        a /= y
    return a


@ti.func
def _by_itself(x: ti.template(), operator: ti.template()):
    a = x
    if ti.static(operator == "Add"):
        a += a
    if ti.static(operator == "Mult"):
        a *= a
    if ti.static(operator == "Assign"):
        a = a * a + a
    return a


@ti.func
def _in_a_loop(x: ti.template(), y: ti.template(), lanes: ti.template()):
    a, b = lanes.real(0.0), x * 1.0
    for k in range(3):
        a = a * y + x
        b, a = a, b
        if k == 1:
            a = 0.5 * a
            b -= y
    return a + 2.0 * b


@ti.func
def _while(x: ti.template(), y: ti.template(), lanes: ti.template()):
    """Newton's iteration for the square root, in every lane until the last one is done."""
    a, left = x * 1.0, 60
    while left > 0 and lanes.any(lanes.mask(ti.abs(a * a - x) > 1e-13 * x)):
        a, left = 0.5 * (a + x / a), left - 1
    for _ in range(2):  # the tangent follows one step behind
        a = 0.5 * (a + x / a)
    return a


@ti.func
def _begun_with_a_literal(x: ti.template(), y: ti.template()):
    a = 0.0
    for k in range(2):
        if k == 1:
            a = x * y
    return a


@traced
def _put_lanes(x, y, lanes):
    """Lane k of the result is x y of lane k; written lane by lane, in numbers that other lanes had before."""
    a = let(y)
    for lane in range(lanes.width):
        lanes.put(a, lane, lanes.get(x, lane) * lanes.get(y, lane))
    return a


@traced
def _by_lane(x, y, lanes):
    (product,) = lanes.each_by(1, lambda lane: [lanes.get(x, lane) * lanes.get(y, lane)])
    return product


@traced
def _vector_of_numbers(x, y, lanes):
    """A vector of lanes made of plain numbers."""
    if lanes.width == 1:
        return x * y
    return lanes.type([lanes.get(x, lane) * lanes.get(y, lane) for lane in range(lanes.width)])


@traced
def _vector_in_space(x, y, lanes):
    return Vec3(x, y, x * y).cross(Vec3(y, 1.0, x)).norm()


@ti.func
def _entry_of_a_matrix(x: ti.template(), y: ti.template(), lanes: ti.template()):
    """A vector of Taichi's, whose entries are read and set at places that are known at run time only."""
    a = x * 1.0
    for lane in ti.static(range(lanes.width)):
        m = ti.Vector([lanes.get(x, lane), lanes.get(y, lane), 0.5])
        for k in range(2):
            m[k + 1] = m[k] * m[k + 1]
        lanes.put(a, lane, m[1] + m[2])
    return a


@ti.func
def _component(x: ti.template(), y: ti.template(), lanes: ti.template()):
    """A vector of Taichi's, whose components are read and set by their names."""
    a = x * 1.0
    for lane in ti.static(range(lanes.width)):
        m = ti.Vector([lanes.get(x, lane), lanes.get(y, lane), 0.5])
        m.z = m.x * m.y
        lanes.put(a, lane, m.z + m.y)
    return a


@ti.func
def _components(x: ti.template(), y: ti.template(), lanes: ti.template()):
    return ti.Vector([lanes.get(x, 0), lanes.get(y, 0), 0.5]).xy


def _as(domain, emit, oracle):
    return Operation(domain, lambda x, y, lanes: emit(x, y, lanes), oracle)


def _taichi(name, domain):
    """An operation of Taichi on one number, which has the same name in mpmath."""
    return Operation(domain, lambda x, y, lanes: getattr(ti, name)(x), lambda x, y: getattr(mpmath, name)(x))


UNARY = dict.fromkeys(("sin", "cos", "tan", "exp", "tanh"), "any")
UNARY |= {"sqrt": "positive", "log": "positive", "asin": "unit", "acos": "unit"}
OPERATIONS = {name: _taichi(name, domain) for name, domain in UNARY.items()}
OPERATIONS |= {
    "minus": _as("any", lambda x, y, lanes: -x, lambda x, y: -x),
    "abs": _as("any", lambda x, y, lanes: ti.abs(x), lambda x, y: abs(x)),
    "rsqrt": _as("positive", lambda x, y, lanes: ti.rsqrt(x), lambda x, y: 1 / mpmath.sqrt(x)),
    "floor": _as("any", lambda x, y, lanes: ti.floor(x) * y, lambda x, y: mpmath.floor(x) * y),
    "ceil": _as("any", lambda x, y, lanes: ti.ceil(x) * y, lambda x, y: mpmath.ceil(x) * y),
    "round": _as("any", lambda x, y, lanes: ti.round(x) * y, lambda x, y: mpmath.nint(x) * y),
    "sum": _as("any", lambda x, y, lanes: x + y, lambda x, y: x + y),
    "sum with a literal": _as("any", lambda x, y, lanes: 0.5 + x, lambda x, y: 0.5 + x),
    "difference": _as("any", lambda x, y, lanes: x - y, lambda x, y: x - y),
    "difference from a literal": _as("any", lambda x, y, lanes: 3.0 - x, lambda x, y: 3 - x),
    "product": _as("any", lambda x, y, lanes: x * y, lambda x, y: x * y),
    "product with an integer": _as("any", lambda x, y, lanes: 3 * x, lambda x, y: 3 * x),
    "square": _as("any", lambda x, y, lanes: x * x, lambda x, y: x * x),
    "quotient": _as("any", lambda x, y, lanes: x / y, lambda x, y: x / y),
    "literal by a number": _as("any", lambda x, y, lanes: 2.0 / x, lambda x, y: 2 / x),
    "number by a literal": _as("any", lambda x, y, lanes: x / 4.0, lambda x, y: x / 4),
    "power": _as("positive", lambda x, y, lanes: ti.pow(x, y), lambda x, y: x**y),
    "power of a literal": _as("any", lambda x, y, lanes: ti.pow(2.0, x), lambda x, y: mpmath.mpf(2) ** x),
    "power to a literal": _as("positive", lambda x, y, lanes: ti.pow(x, 1.5), lambda x, y: x**1.5),
    "power to an integer": _as("any", lambda x, y, lanes: x**2, lambda x, y: x**2),
    "max": _as("any", lambda x, y, lanes: ti.max(x, y), lambda x, y: max(x, y)),
    "min": _as("any", lambda x, y, lanes: ti.min(x, y), lambda x, y: min(x, y)),
    "min of three": _as("any", lambda x, y, lanes: ti.min(x, y, 0.5), lambda x, y: min(x, y, 0.5)),
    "max with a literal": _as("any", lambda x, y, lanes: ti.max(0.0, x), lambda x, y: max(0, x)),
    "clamp": _as("any", lambda x, y, lanes: ti.min(ti.max(x, -1.0), 1.0), lambda x, y: min(max(x, -1), 1)),
    "angle": _as("any", lambda x, y, lanes: ti.atan2(x, y), lambda x, y: mpmath.atan2(x, y)),
    "angle with a literal": _as("any", lambda x, y, lanes: ti.atan2(x, 2.0), lambda x, y: mpmath.atan2(x, 2)),
    "angle of a literal": _as("any", lambda x, y, lanes: ti.atan2(2.0, x), lambda x, y: mpmath.atan2(2, x)),
    "selection": _as("any", lambda x, y, lanes: ti.select(x < y, x * x, y), lambda x, y: x * x if x < y else y),
    "selection or a literal": _as(
        "any", lambda x, y, lanes: ti.select(x > 0.0, x, 3.0), lambda x, y: x if x > 0 else 3
    ),
    "literal or selection": _as("any", lambda x, y, lanes: ti.select(x > 0.0, 3.0, y), lambda x, y: 3 if x > 0 else y),
    "selection by a mask": _as(
        "any", lambda x, y, lanes: ti.select(lanes.mask(x > y) > 0.5, x, y), lambda x, y: max(x, y)
    ),
    "mask": _as("any", lambda x, y, lanes: lanes.mask(x > 0.0) * y, lambda x, y: (x > 0) * y),
    "sine": _as("any", lambda x, y, lanes: sincos(lanes, x)[0], lambda x, y: mpmath.sin(x)),
    "cosine": _as("any", lambda x, y, lanes: sincos(lanes, x)[1], lambda x, y: mpmath.cos(x)),
    "angle in lanes": _as("any", lambda x, y, lanes: atan2(lanes, x, y), lambda x, y: mpmath.atan2(x, y)),
    "angle in lanes with a literal": _as(
        "any", lambda x, y, lanes: atan2(lanes, x, lanes.real(2.0)), lambda x, y: mpmath.atan2(x, 2)
    ),
    "no limit": _as("any", lambda x, y, lanes: with_limit(x * y, x > 1e9, y), lambda x, y: x * y),
    "cast": _as("any", lambda x, y, lanes: ti.cast(lanes.doubled().cast(x), ti.f64) * y, lambda x, y: x * y),
    "integer of a number": _as(
        "any", lambda x, y, lanes: ti.cast(ti.cast(x, ti.i32), lanes.dtype) * y, lambda x, y: int(x) * y
    ),
    "number among lanes": _as("any", lambda x, y, lanes: lanes.real(x) * lanes.real(2.5), lambda x, y: x * 2.5),
    "local sum": _as("any", lambda x, y, lanes: _changed(x, y, "Add"), lambda x, y: x + y),
    "local sum with a literal": _as("any", lambda x, y, lanes: _changed(x, 0.5, "Add"), lambda x, y: x + 0.5),
    "local difference": _as("any", lambda x, y, lanes: _changed(x, y, "Sub"), lambda x, y: x - y),
    "local product": _as("any", lambda x, y, lanes: _changed(x, y, "Mult"), lambda x, y: x * y),
    "local product with a literal": _as("any", lambda x, y, lanes: _changed(x, 3.0, "Mult"), lambda x, y: x * 3),
    "local quotient": _as("any", lambda x, y, lanes: _changed(x, y, "Div"), lambda x, y: x / y),
    "added to itself": _as("any", lambda x, y, lanes: _by_itself(x, "Add"), lambda x, y: 2 * x),
    "multiplied by itself": _as("any", lambda x, y, lanes: _by_itself(x, "Mult"), lambda x, y: x * x),
    "assigned from itself": _as("any", lambda x, y, lanes: _by_itself(x, "Assign"), lambda x, y: x * x + x),
    "assigned in a loop": _as("any", lambda x, y, lanes: _in_a_loop(x, y, lanes), lambda x, y: _looped(x, y)),
    "assigned while": _as("positive", lambda x, y, lanes: _while(x, y, lanes), lambda x, y: mpmath.sqrt(x)),
    "put into lanes": _as("any", _put_lanes, lambda x, y: x * y),
    "each lane": _as("any", _by_lane, lambda x, y: x * y),
    "vector of numbers": _as("any", _vector_of_numbers, lambda x, y: x * y),
    "vector in space": _as(
        "any",
        _vector_in_space,
        lambda x, y: mpmath.sqrt((y * x - x * y) ** 2 + (x * y * y - x * x) ** 2 + (x - y * y) ** 2),
    ),
    "vector of Taichi": _as(
        "any", lambda x, y, lanes: _entry_of_a_matrix(x, y, lanes), lambda x, y: x * y + x * y * 0.5
    ),
    "component of a vector of Taichi": _as("any", lambda x, y, lanes: _component(x, y, lanes), lambda x, y: x * y + y),
}
BY_LITERAL = {
    "begun with a literal": _as("any", lambda x, y, lanes: _begun_with_a_literal(x, y), lambda x, y: x * y),
    "conditional": _as("any", lambda x, y, lanes: _conditional(x, y), lambda x, y: x * y if x > 0 else y),
}
"""Operations of plain numbers only: code of one lane."""


@ti.func
def _conditional(x: ti.template(), y: ti.template()):
    return x * y if x > 0.0 else y


def _looped(x, y):
    a, b = mpmath.mpf(0), x
    for k in range(3):
        a = a * y + x
        b, a = a, b
        if k == 1:
            a, b = a / 2, b - y
    return a + 2 * b


TIES = {
    "abs": (lambda x, y, lanes: ti.abs(x), 0.0, 0.0, lambda dx, dy: 0.0 * dx),
    "max": (lambda x, y, lanes: ti.max(x, y), 1.0, 1.0, lambda dx, dy: 0.5 * (dx + dy)),
    "min": (lambda x, y, lanes: ti.min(x, y), 1.0, 1.0, lambda dx, dy: 0.5 * (dx + dy)),
    "max of a literal": (lambda x, y, lanes: ti.max(0.0, x), 0.0, 0.0, lambda dx, dy: 0.5 * dx),
    "both sides": (lambda x, y, lanes: ti.max(x, 0.0) + ti.min(x, 0.0), 0.0, 0.0, lambda dx, dy: dx),
    "sqrt": (lambda x, y, lanes: ti.sqrt(x), 0.0, 0.0, lambda dx, dy: 0.0 * dx),
    "norm": (lambda x, y, lanes: Vec3(x, y, x).norm(), 0.0, 0.0, lambda dx, dy: 0.0 * dx),
    "angle in lanes": (lambda x, y, lanes: atan2(lanes, x, y), 0.0, 0.0, lambda dx, dy: 0.0 * dx),
    "limit": (lambda x, y, lanes: with_limit(x * y, y < 1.0, x + 3.0 * y), 2.0, 0.0, lambda dx, dy: dx + 3.0 * dy),
    "power of zero": (lambda x, y, lanes: ti.pow(x, y), 0.0, 2.0, lambda dx, dy: 0.0 * dx),
    "first power of zero": (lambda x, y, lanes: ti.pow(x, y), 0.0, 1.0, lambda dx, dy: dx),
    "square of zero": (lambda x, y, lanes: x**2, 0.0, 0.0, lambda dx, dy: 0.0 * dx),
}
"""An operation, both operands, and the tangent by those of the operands."""


@ti.func
def _returned(x: ti.template(), y: ti.template(), change: ti.template()):
    a = x * 1.0
    return change(a, y) * x


REFUSED = {
    "expr_python_mod": lambda x, y, lanes: x % y,
    "expr_floordiv": lambda x, y, lanes: x // y,
    "atomic_max": lambda x, y, lanes: _returned(x, y, ti.atomic_max),
    "atomic_min": lambda x, y, lanes: _returned(x, y, ti.atomic_min),
    "atomic_add": lambda x, y, lanes: _returned(x, y, ti.atomic_add),
    ".xy": lambda x, y, lanes: _components(x, y, lanes),
    "bit_cast": lambda x, y, lanes: ti.bit_cast(lanes.get(x, 0), ti.i64),
}
"""Operations without a rule, by the name that their error has; the last value of an atomic sum has no tangent."""


# Of two views of memory with twins (items of three numbers, and of one), and two integers known at run time only:
# the first is 1, the second any lane. The oracle changes an array of mpmath's numbers: 24 rows of lanes, then 8.

ROWS, SECOND = 32, 24


@ti.func
def _one_lane(lanes: ti.template(), three: ti.template(), one: ti.template(), i: ti.i32, lane: ti.i32):
    item = three.in_lane(lane)[i]
    three.in_lane(0).put(0, item + three.in_lane(lanes.width - 1)[i])
    one.in_lane(lane)[i + 1] = item.dot(item)


def _one_lane_oracle(rows, width, lane):
    item, last = rows[3:6, lane].copy(), rows[3:6, width - 1].copy()
    rows[0:3, 0] = item + last
    rows[SECOND + 2, lane] = item @ item


@ti.func
def _gathered(lanes: ti.template(), three: ti.template(), one: ti.template(), i: ti.i32, lane: ti.i32):
    items = ti.cast(lanes.mask(one[i] > 0.0), ti.i32)
    numbers = three.gather(lanes, items, 0, 3)
    three.put_numbers(0, 0, [numbers[2] * numbers[1], numbers[0] + numbers[1]])


def _gathered_oracle(rows, width, lane):
    items = [3 * int(number > 0) for number in rows[SECOND + 1]]
    found = np.array([rows[item : item + 3, at] for at, item in enumerate(items)]).T
    rows[0:2] = found[2] * found[1], found[0] + found[1]


@ti.func
def _of_a_lane(lanes: ti.template(), three: ti.template(), one: ti.template(), i: ti.i32, lane: ti.i32):
    for k in range(lanes.width):
        number = three.of_lane(lanes, (lane + k) % lanes.width, i, i)
        three.of_lane(lanes, k, i + 1, 2)._assign(number * number)


def _of_a_lane_oracle(rows, width, lane):
    for k in range(width):
        rows[8, k] = rows[4, (lane + k) % width] ** 2


@ti.func
def _put(lanes: ti.template(), three: ti.template(), one: ti.template(), i: ti.i32, lane: ti.i32):
    lanes.put(one[i], lanes.width - 1, 0.25)
    lanes.put(one[i + 1], 0, lanes.get(three.at(i, 1), lanes.width - 1) * 3.0)
    number = one[i + 2] * one[i + 2]
    lanes.put(number, lanes.width - 1, lanes.get(number, 0))
    one[i + 3] = number


def _put_oracle(rows, width, lane):
    one = rows[SECOND:]
    one[1, width - 1] = mpmath.mpf(0.25)
    one[2, 0] = 3 * rows[4, width - 1]
    number = one[3] * one[3]
    number[width - 1] = number[0]
    one[4] = number


@ti.func
def _augmented(lanes: ti.template(), three: ti.template(), one: ti.template(), i: ti.i32, lane: ti.i32):
    one[i] += one[i + 1]
    one[i + 2] -= one[i + 3]
    one[i + 4] += 0.5
    one[i + 5] -= 0.1
    one[i + 6] *= one[i]
    one[0] /= one[i + 2]


def _augmented_oracle(rows, width, lane):
    one = rows[SECOND:]
    one[1] = one[1] + one[2]
    one[3] = one[3] - one[4]
    one[5] = one[5] + 0.5
    one[6] = one[6] - 0.1
    one[7] = one[7] * one[1]
    one[0] = one[0] / one[3]


@ti.func
def _items(lanes: ti.template(), three: ti.template(), one: ti.template(), i: ti.i32, lane: ti.i32):
    item = three[i]
    item += three[0] * one[i]
    three.put(i, item.cross(three[0]))
    three.put_numbers(0, 1, [-one[i], ti.abs(one[i])])
    three.at(0, i - 1)._assign(lanes.real(0.1))


def _items_oracle(rows, width, lane):
    first, number = rows[0:3].copy(), rows[SECOND + 1].copy()
    item = rows[3:6] + first * number
    rows[3:6] = [item[(k + 1) % 3] * first[(k + 2) % 3] - item[(k + 2) % 3] * first[(k + 1) % 3] for k in range(3)]
    rows[1:3] = -number, abs(number)
    rows[0] = mpmath.mpf(0.1)


@ti.func
def _copied(lanes: ti.template(), three: ti.template(), one: ti.template(), i: ti.i32, lane: ti.i32):
    three.copy_item(i, three, i + 1, 2)
    one[i] = three.in_lane(lane).at(i, 0)


def _copied_oracle(rows, width, lane):
    rows[3:5] = rows[6:8]
    rows[SECOND + 1] = rows[3, lane]


ACTIONS = {
    "one lane": (_one_lane, _one_lane_oracle),
    "gathered": (_gathered, _gathered_oracle),
    "of a lane": (_of_a_lane, _of_a_lane_oracle),
    "put": (_put, _put_oracle),
    "augmented": (_augmented, _augmented_oracle),
    "items": (_items, _items_oracle),
    "copied": (_copied, _copied_oracle),
}


def lane_number(array, lanes, i):
    """The i-th lane number of an array as the driver has them: (1, rows, lanes)."""
    return subscript(None, array, 0, i) if lanes.width > 1 else subscript(None, array, 0, i, 0)


def results_of(operations, lanes, given):
    """Results and tangents of operations at points: numbers with tangents, without, and the tangents, (n, 3, count)."""
    numbers, traced_operations = number_array(lanes), [traced(emit) for emit in operations]

    @traced
    def compute(given, out, i, count):
        x, y, dx, dy = (let(lane_number(given, lanes, k * count + i)) for k in range(4))
        for k, operation in enumerate(traced_operations):
            lane_number(out, lanes, (3 * k + 1) * count + i)._assign(operation(x, y, lanes))
        with tracing(True):
            for k, operation in enumerate(traced_operations):
                operands = [attach(let(a), lambda t=t: t) for a, t in ((x, dx), (y, dy))]
                target, twin = (lane_number(out, lanes, (3 * k + place) * count + i) for place in (0, 2))
                attach(target, lambda twin=twin: twin)._assign(operation(*operands, lanes))

    @ti.kernel
    def run(given: numbers, out: numbers, count: ti.i32):
        ti.loop_config(serialize=True)
        for i in range(count):
            compute(given, out, i, count)

    out = _tensor(np.full((len(operations), 3, given.shape[1]), np.nan), lanes)
    run(_tensor(given, lanes), out, given.shape[1] // lanes.width)
    return out.numpy().reshape(len(operations), 3, -1)


def left_by(action, kind, lanes, given, lane):
    """What an action leaves of a field, or of an array, and of its twin: (2, rows, lanes)."""
    dtype = "f64"
    (field, _), (twin, _) = place(lanes.width, dtype, ROWS), place(lanes.width, dtype, ROWS)
    numbers = number_array(lanes)

    @traced
    def views(memory):
        loads = [flat_array(field), flat_array(twin)]
        if kind == "array":
            loads = [lambda i: lane_number(memory, lanes, i), lambda i: lane_number(memory, lanes, ROWS + i)]
        inside = lambda i: attach(loads[0](i), lambda: loads[1](i))  # noqa: E731
        declared = (Field("three", ("n",), 3, "", ""), 0), (Field("one", ("n",), 1, "", ""), SECOND)
        return [FieldView(one, first, None, inside) for one, first in declared]

    @traced
    def act(memory, i, lane):
        three, one = views(memory)
        with tracing(True):
            action(lanes, three, one, i, lane)

    @ti.kernel
    def run(memory: numbers, i: ti.i32, lane: ti.i32):
        ti.loop_config(serialize=True)
        for _ in range(1):
            for k in range(ROWS):
                field[k] = lane_number(memory, lanes, k)
                twin[k] = lane_number(memory, lanes, ROWS + k)
            act(memory, i, lane)
            if ti.static(kind == "field"):
                for k in range(ROWS):
                    lane_number(memory, lanes, k)._assign(field[k])
                    lane_number(memory, lanes, ROWS + k)._assign(twin[k])

    memory = _tensor(given, lanes)
    run(memory, 1, lane)
    return memory.numpy().reshape(2, ROWS, -1)


def memory_for(width):
    """Numbers and tangents for actions."""
    return np.random.default_rng(3).normal(size=(2, ROWS, width))


def refusal(operation, lanes):
    """The message of the error with which an operation ends; "" if there is none."""
    try:
        results_of([operation], lanes, points("positive")[:, : lanes.width])
    except Exception as error:
        return str(error)
    return ""


def _tensor(numbers, lanes):
    """Numbers as the driver has them; torch aligns them to cache lines, which vectors need."""
    return torch.tensor(np.ascontiguousarray(numbers).reshape(1, -1, lanes.width))


def of_width(width):
    """The operations at a lane width."""
    return OPERATIONS | (BY_LITERAL if width == 1 else {})


def main(path):
    """Compute everything."""
    found, refused = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        compile_process.UnitCompiler(WIDTHS[0], "64")
        use_tangents()
        for width in WIDTHS:
            lanes, operations = Lanes(width, ti.f64), of_width(width)
            for domain in ("any", "positive", "unit"):
                names = [name for name, operation in operations.items() if operation.domain == domain]
                results = results_of([operations[name].emit for name in names], lanes, points(domain))
                found |= {f"{width} {name}": result for name, result in zip(names, results, strict=True)}
            for name, (emit, x, y, _) in TIES.items():
                tangents = points("any")[2:, :4]
                given = np.array([np.full(4, x), np.full(4, y), *tangents])
                found[f"{width} tie {name}"] = results_of([emit], lanes, given)[0]
            for kind in ("field", "array"):
                for name, (action, _) in ACTIONS.items():
                    left = left_by(action, kind, lanes, memory_for(width), width // 2)
                    found[f"{width} {kind} {name}"] = left
            refused[width] = {name: refusal(operation, lanes) for name, operation in REFUSED.items()}
        os.chdir("/")
    np.savez(path, **found, refused=json.dumps(refused))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Derivatives of Taichi's operations: the tangent of a result from those of its operands.

A rule takes operands and result, and the operands' tangents; None is a tangent that is zero everywhere. Where a
function has no derivative, a rule gives the mean of the derivatives on both sides: |x|' = 0 at 0, and the mean of both
tangents at a tie of min or max, so that the tangent of max(x, 0) + min(x, 0) is that of x. The square root has the
tangent 0 at 0.
"""

from collections.abc import Callable
from typing import Any

import taichi as ti
from taichi._lib import core

from ..base.math.lanes import let

Rule = Callable[..., Any]


class NoDerivative(TypeError):
    """An operation on a number with a tangent has no rule."""


def _sum(s: Any, t: Any) -> Any:
    return t if s is None else s if t is None else s + t


def _negative(t: Any) -> Any:
    return t * -1.0


def _abs(x: Any, result: Any, t: Any) -> Any:
    return ti.select(x < 0.0, _negative(t), ti.select(x > 0.0, t, t * 0.0))


def _tanh(x: Any, result: Any, t: Any) -> Any:
    """Return the tangent by a formula in which nothing cancels for large x, as it does in 1 - tanh(x)^2."""
    decay = let(ti.exp(-2.0 * ti.abs(x)))
    return t * 4.0 * decay / ((1.0 + decay) * (1.0 + decay))


UNARY: dict[Any, Rule] = {
    core.expr_neg: lambda x, result, t: _negative(t),
    core.expr_abs: _abs,
    core.expr_sqrt: lambda x, result, t: ti.select(result > 0.0, t * 0.5 / result, t * 0.0),
    core.expr_rsqrt: lambda x, result, t: t * -0.5 * result * result * result,
    core.expr_exp: lambda x, result, t: t * result,
    core.expr_log: lambda x, result, t: t / x,
    core.expr_sin: lambda x, result, t: t * ti.cos(x),
    core.expr_cos: lambda x, result, t: t * -1.0 * ti.sin(x),
    core.expr_tan: lambda x, result, t: t * (1.0 + result * result),
    core.expr_tanh: _tanh,
    core.expr_asin: lambda x, result, t: t / ti.sqrt((1.0 - x) * (1.0 + x)),
    core.expr_acos: lambda x, result, t: t * -1.0 / ti.sqrt((1.0 - x) * (1.0 + x)),
}
"""Rules (x, result, tangent of x) of operations on one number, by Taichi's constructor of the expression."""
STEPS = frozenset((core.expr_floor, core.expr_ceil, core.expr_round))
"""Operations whose results are constant between their jumps."""


def _difference(a: Any, b: Any, result: Any, s: Any, t: Any) -> Any:
    return _negative(t) if s is None else s if t is None else s - t


def _product(a: Any, b: Any, result: Any, s: Any, t: Any) -> Any:
    return _sum(None if s is None else s * b, None if t is None else t * a)


def _quotient(a: Any, b: Any, result: Any, s: Any, t: Any) -> Any:
    return (s if t is None else _negative(result * t) if s is None else s - result * t) / b


def _choice(a_wins: Any, b_wins: Any, s: Any, t: Any) -> Any:
    """Return the tangent of the operand that wins, at a tie the mean of both."""
    s, t = (t * 0.0 if s is None else s), (s * 0.0 if t is None else t)
    return ti.select(a_wins, s, ti.select(b_wins, t, 0.5 * (s + t)))


def _power(a: Any, b: Any, result: Any, s: Any, t: Any) -> Any:
    by_base = None if s is None else s * b * ti.pow(a, b - 1.0)
    by_exponent = None if t is None else ti.select(a > 0.0, t * result * ti.log(a), t * 0.0)
    return _sum(by_base, by_exponent)


def _angle(y: Any, x: Any, result: Any, s: Any, t: Any) -> Any:
    """Return the tangent of the angle of (x, y); 0 at the origin."""
    square = let(y * y + x * x)
    crossed = _sum(None if s is None else s * x, None if t is None else _negative(t * y))
    return ti.select(square > 0.0, crossed / square, crossed * 0.0)


BINARY: dict[Any, Rule] = {
    core.expr_add: lambda a, b, result, s, t: _sum(s, t),
    core.expr_sub: _difference,
    core.expr_mul: _product,
    core.expr_div: _quotient,
    core.expr_truediv: _quotient,
    core.expr_max: lambda a, b, result, s, t: _choice(a > b, a < b, s, t),
    core.expr_min: lambda a, b, result, s, t: _choice(a < b, a > b, s, t),
    core.expr_pow: _power,
    core.expr_atan2: _angle,
}
"""Rules (a, b, result, tangent of a, tangent of b) of operations on two numbers."""


def _sincos(lanes: Any, x: Any, results: tuple, tangents: list) -> tuple:
    """Return the tangents of sine and cosine."""
    (sine, cosine), (_, t) = results, tangents
    return t * cosine, _negative(t * sine)


def _atan2(lanes: Any, y: Any, x: Any, results: tuple, tangents: list) -> tuple:
    return (_angle(y, x, *results, *tangents[1:]),)


def _with_limit(value: Any, still: Any, limit: Any, results: tuple, tangents: list) -> tuple:
    """Return the tangent of the limit where `still` holds, else that of the value."""
    t, _, of_limit = (value * 0.0 if t is None else t for t in tangents)
    return (ti.select(still, of_limit, t),)


FUNCTIONS: dict[str, Rule] = {"sincos": _sincos, "atan2": _atan2, "with_limit": _with_limit}
"""Rules (*operands, results, tangents of the operands) of the house's elementary functions; lanes are an operand."""

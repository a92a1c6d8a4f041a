"""Numbers with tangents in Taichi's traces: an expression of a real number has another one, its tangent, attached.

`use_tangents` replaces Taichi's Python operations in a process, as `machine.codegen.vectors.use_vectors` does; then an
operation on an expression with a tangent also emits the code for the tangent of its result. A local variable always
has a tangent, in a variable beside it, since it may be assigned to in a loop. Values select and compare; tangents
follow. Taichi emits an operand's code at each of its uses, so operands are stored in variables first.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import taichi as ti
from taichi.lang import impl, matrix, ops
from taichi.lang.ast.ast_transformer import ASTTransformer
from taichi.lang.common_ops import TaichiOperations
from taichi.lang.expr import Expr

from ..base.math.elementary import ELEMENTARY
from .rules import BINARY, FUNCTIONS, STEPS, UNARY, NoDerivative, Rule

_tracing = False
"""True while a unit with tangents is traced, except in code that computes values or the tangents themselves."""


@contextmanager
def tracing(on: bool) -> Iterator[None]:
    """Give expressions tangents in the `with` block, or none."""
    global _tracing
    before, _tracing = _tracing, on
    try:
        yield
    finally:
        _tracing = before


def attach(number: Any, tangent: Callable[[], Any]) -> Any:
    """Return an expression whose tangent is the one that a function returns."""
    number._tangent = tangent
    return number


def tangent_of(number: Any) -> Any:
    """Return the tangent of an expression; None if it has none, and zero for what is no expression."""
    found = getattr(number, "_tangent", None) if isinstance(number, Expr) else None
    return found() if found is not None else None


def _is_real(x: Any) -> bool:
    """Return True for an expression of real numbers."""
    if not isinstance(x, Expr):
        return False
    return (x.element_type() if x.is_tensor() else x.ptr.get_rvalue_type()) in (ti.f32, ti.f64)


def _zero(like: Any) -> Any:
    """Return a variable with the value 0, of the type of a real number."""
    if like.is_tensor():
        return _init(ti.types.vector(like.get_shape()[0], like.element_type())(0.0))
    return _init(ti.cast(0.0, like.ptr.get_rvalue_type()))


def _variable(x: Any) -> Any:
    """Return an operand in a variable, unless it is one or no expression."""
    if not isinstance(x, Expr) or getattr(x, "_is_variable", False):
        return x
    variable = _init(x)
    variable._is_variable = True
    return variable


# Taichi's own functions, as they are while a unit with tangents is not traced.
_init, _subscript = impl.expr_init, impl.subscript
_originals: dict[str, Any] = {}


def _with_tangent(result: Any, rule: Callable[[Any], Any]) -> Any:
    """Return a result in a variable, with the tangent that `rule` computes from the variable."""
    variable = _init(result)
    variable._is_variable = True
    return _beside(variable, _init(rule(variable)))


def _beside(variable: Any, tangent: Any) -> Any:
    """Return a variable whose tangent is another variable."""
    variable._is_variable = True
    return attach(variable, lambda: tangent)


def _initialised(value: Any) -> Any:
    """Do as `impl.expr_init`: return a variable, which has a variable for its tangent beside it."""
    if not _tracing or not isinstance(value, (Expr, float)):
        return _init(value)
    variable = _init(value)
    if not _is_real(variable):
        return variable
    variable._is_variable = True
    with tracing(False):
        given = tangent_of(value)
        tangent = _zero(variable) if given is None else _init(given)
    return attach(variable, lambda: tangent)


def _element(builder: Any, value: Any, *indices: Any, **options: Any) -> Any:
    """Do as `impl.subscript`; the tangent of an entry of a vector is the entry of its tangent."""
    found = _subscript(builder, value, *indices, **options)
    tangent = getattr(value, "_tangent", None) if _tracing and isinstance(value, Expr) else None
    return found if tangent is None else attach(found, lambda: _subscript(builder, tangent(), *indices, **options))


def _attribute(context: Any, node: Any) -> Any:
    """Do as `ASTTransformer.build_Attribute`; the tangent of `vector.x` is that entry of its tangent."""
    found, value = _originals["attribute"](context, node), node.value.ptr
    tangent = getattr(value, "_tangent", None) if _tracing and isinstance(value, Expr) else None
    if tangent is None or not isinstance(found, Expr):
        return found
    if len(node.attr) > 1:
        _refuse(f".{node.attr}")
    place = matrix.Matrix._swizzle_to_keygroup[node.attr].index(node.attr)
    return attach(found, lambda: _subscript(None, tangent(), place))


def _operation(rules: dict[Any, Rule], original: Callable[..., Any], op: Any, python_op: Any, *operands: Any) -> Any:
    """Emit an operation and the tangent of its result."""
    tangents = [tangent_of(x) for x in operands] if _tracing else []
    with tracing(False):
        if all(t is None for t in tangents):
            return original(op, python_op, *operands)
        operands = tuple(map(_variable, operands))
        result = original(op, python_op, *operands)
        if not _is_real(result) or op in STEPS:
            return result
        if op not in rules:
            _refuse(op.__name__)
        return _with_tangent(result, lambda r: rules[op](*operands, r, *tangents))


def _unary(op: Any, python_op: Any, a: Any) -> Any:
    return _operation(UNARY, _originals["unary"], op, python_op, a)


def _binary(op: Any, python_op: Any, a: Any, b: Any) -> Any:
    return _operation(BINARY, _originals["binary"], op, python_op, a, b)


def _ternary(op: Any, python_op: Any, condition: Any, a: Any, b: Any) -> Any:
    """Emit a selection; the tangent is that of the selected operand."""
    original = _originals["ternary"]
    s, t = (tangent_of(a), tangent_of(b)) if _tracing else (None, None)
    with tracing(False):
        if s is None and t is None:
            return original(op, python_op, condition, a, b)
        condition, a, b = map(_variable, (condition, a, b))
        result = original(op, python_op, condition, a, b)
        one, other = (_zero(result) if x is None else x for x in (s, t))
        return _with_tangent(result, lambda _: original(op, python_op, condition, one, other))


def _cast(x: Any, dtype: Any) -> Any:
    original = _originals["cast"]
    t = tangent_of(x) if _tracing else None
    with tracing(False):
        result = original(x, dtype)
        if t is None or result is x or not _is_real(result):
            return result
        return _with_tangent(result, lambda _: original(t, dtype))


def _assign(x: Any, y: Any) -> None:
    """Assign a number and its tangent."""
    target = tangent_of(x) if _tracing else None
    given = tangent_of(y) if target is not None else None
    with tracing(False):
        if target is not None:
            given = _zero(x) if given is None else _init(given)  # before x changes, of which y may be made
        _originals["assign"](x, y)
        if target is not None:
            _originals["assign"](target, given)


def _changed(name: str) -> Callable[[Any, Any], Any]:
    """Return `x += y` or `x -= y` with tangents; the value before, which Taichi returns, has none."""

    def change(x: Any, y: Any) -> Any:
        target, given = (tangent_of(x), tangent_of(y)) if _tracing else (None, None)
        with tracing(False):
            if target is not None and given is not None:
                _originals[name](target, given)
            before = _originals[name](x, y)
        return before if target is None else attach(before, lambda: _refuse(name))

    return change


def _scaled(x: Any, y: Any) -> Any:
    """Return `x *= y` with tangents."""
    if _tracing and tangent_of(x) is not None:
        return _assign(x, _initialised(x) * y)
    return _originals["atomic_mul"](x, y)


def _refuse(name: str) -> Any:
    raise NoDerivative(f"Taichi's {name!r} has no derivative in gradients/rules.py")


def _refused(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that refuses numbers with tangents."""

    def refuse(*operands: Any, **options: Any) -> Any:
        if _tracing and any(tangent_of(x) is not None for x in operands):
            _refuse(name)
        return original(*operands, **options)

    return refuse


def _each(entries: Any, function: Callable[[Any], Any]) -> list:
    """Return the results of a function of each entry of a matrix, which is a list of entries or of rows."""
    return [list(map(function, row)) if isinstance(row, (list, tuple)) else function(row) for row in entries]


def _matrix(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes a matrix, or a vector of lanes; its tangent is the matrix of the tangents."""

    def made(entries: Any, *options: Any) -> Any:
        tangents = _each(entries, tangent_of) if _tracing else []
        with tracing(False):
            result = make(entries, *options)
            given: list[bool] = []
            _each(tangents, lambda t: given.append(t is not None))
            if not any(given) or not _is_real(result):
                return result
            return _with_tangent(result, lambda _: make(_each(tangents, lambda t: 0.0 if t is None else t), *options))

    return made


def _function(name: str, values: Callable[..., Any]) -> Callable[..., Any]:
    """Return an elementary function of the house with tangents."""

    def compute(*operands: Any) -> Any:
        tangents = [tangent_of(x) for x in operands] if _tracing else []
        with tracing(False):
            if all(t is None for t in tangents):
                return values(*operands)
            operands = tuple(map(_variable, operands))
            found = values(*operands)
            results = found if isinstance(found, tuple) else (found,)
            rates = FUNCTIONS[name](*operands, results, tangents)
            both = [_beside(_init(result), _init(rate)) for result, rate in zip(results, rates, strict=True)]
        return tuple(both) if isinstance(found, tuple) else both[0]

    return compute


def use_tangents() -> None:
    """Replace operations in this process, after `use_vectors`; they act in `tracing` only."""
    _originals.update(
        unary=ops._unary_operation,
        binary=ops._binary_operation,
        ternary=ops._ternary_operation,
        cast=ops.cast,
        assign=TaichiOperations._assign,
        attribute=ASTTransformer.build_Attribute,
        atomic_add=ops.atomic_add,
        atomic_sub=ops.atomic_sub,
        atomic_mul=ops.atomic_mul,
    )
    ops._unary_operation, ops._binary_operation, ops._ternary_operation = _unary, _binary, _ternary
    ops.cast = ti.cast = _cast
    TaichiOperations._assign = lambda x, y: _assign(x, y)
    atomic = {"atomic_add": _changed("atomic_add"), "atomic_sub": _changed("atomic_sub"), "atomic_mul": _scaled}
    refused = {name: _refused(name, getattr(ops, name)) for name in ("atomic_min", "atomic_max", "bit_cast")}
    for name, function in (atomic | refused).items():
        for module in (ops, ti):
            setattr(module, name, function)
    impl.expr_init, impl.subscript = _initialised, _element
    ASTTransformer.build_Attribute = staticmethod(_attribute)
    for name in ("make_matrix", "make_matrix_with_shape"):
        setattr(matrix, name, _matrix(getattr(matrix, name)))
    ELEMENTARY.update({name: _function(name, values) for name, values in ELEMENTARY.items()})

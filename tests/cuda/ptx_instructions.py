"""What PTX's arithmetic computes, as C expressions: one row of a table for each instruction.

The names in an expression: `{0}`, `{1}`, `{2}` are the operands that the instruction reads, `{T}` its type in C, `{W}`
the type twice as wide, `{bits}` the width of T, and `{f}` the f that ends C's names of functions in single precision.
An instruction with a modifier that its row does not name is refused: it would compute something else.
"""

import functools
from dataclasses import dataclass
from typing import NamedTuple

BITS = {kind + str(bits): bits for kind in "usb" for bits in (8, 16, 32, 64)} | {"f32": 32, "f64": 64}
FLOATS = ("f32", "f64")
TYPES = {*BITS, "pred"}
WIDE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64", "u64": "u128", "s64": "s128"}
_FAMILIES = {
    "u": ("unsigned", "integer", "any"),
    "s": ("integer", "any"),
    "b": ("bits", "any"),
    "f": ("float", "any"),
    "p": ("predicate",),
}


def c_type(kind: str) -> str:
    """The type of the prelude that holds one of PTX's types: b32 is bits, which C keeps as u32."""
    return f"u{kind[1:]}" if kind[0] == "b" else kind


class Computation(NamedTuple):
    """A C expression to be filled with operands: the type that each operand is read as, and that of the result."""

    expression: str
    reads: tuple[str, ...]
    result: str


@dataclass(frozen=True)
class Form:
    """A row of the table; in `reads` and `result`, T and W stand for the instruction's type and the wide one."""

    expression: str
    modifiers: str = ""
    reads: str = "T T T"
    result: str = "T"


_EXACT = "rn ftz"
_ANY = "rn approx full ftz"

# By name (with the half of a product that is wanted) and family of types.
_FORMS = {
    ("add", "integer"): Form("{0} + {1}"),
    ("add", "float"): Form("{0} + {1}", _EXACT),
    ("sub", "integer"): Form("{0} - {1}"),
    ("sub", "float"): Form("{0} - {1}", _EXACT),
    ("mul", "float"): Form("{0} * {1}", _EXACT),
    ("mul.lo", "integer"): Form("{0} * {1}", "lo"),
    ("mul.hi", "integer"): Form("({W}){0} * ({W}){1} >> {bits}", "hi"),
    ("mul.wide", "integer"): Form("({W}){0} * ({W}){1}", "wide", result="W"),
    ("mad.lo", "integer"): Form("{0} * {1} + {2}", "lo"),
    ("mad.hi", "integer"): Form("({T})(({W}){0} * ({W}){1} >> {bits}) + {2}", "hi"),
    ("mad.wide", "integer"): Form("({W}){0} * ({W}){1} + {2}", "wide", reads="T T W", result="W"),
    ("fma", "float"): Form("__builtin_fma{f}({0}, {1}, {2})", _EXACT),
    ("div", "integer"): Form("{1} ? {0} / {1} : ({T})-1"),  # a device does not stop at a division by 0
    ("div", "float"): Form("{0} / {1}", _ANY),
    ("rem", "integer"): Form("{1} ? {0} % {1} : {0}"),
    ("rcp", "float"): Form("1 / {0}", _ANY),
    ("sqrt", "float"): Form("__builtin_sqrt{f}({0})", _ANY),
    ("rsqrt", "float"): Form("1 / __builtin_sqrt{f}({0})", _ANY),
    ("sin", "float"): Form("sin{f}({0})", _ANY),
    ("cos", "float"): Form("cos{f}({0})", _ANY),
    ("tanh", "float"): Form("tanh{f}({0})", _ANY),
    ("ex2", "float"): Form("exp2{f}({0})", _ANY),
    ("lg2", "float"): Form("log2{f}({0})", _ANY),
    ("min", "integer"): Form("{0} < {1} ? {0} : {1}"),
    ("min", "float"): Form("fmin{f}({0}, {1})", "ftz"),
    ("max", "integer"): Form("{0} > {1} ? {0} : {1}"),
    ("max", "float"): Form("fmax{f}({0}, {1})", "ftz"),
    ("abs", "integer"): Form("{0} < 0 ? -{0} : {0}"),
    ("abs", "float"): Form("__builtin_fabs{f}({0})", "ftz"),
    ("neg", "integer"): Form("-{0}"),
    ("neg", "float"): Form("-{0}", "ftz"),
    ("copysign", "float"): Form("__builtin_copysign{f}({1}, {0})"),
    ("and", "bits"): Form("{0} & {1}"),
    ("or", "bits"): Form("{0} | {1}"),
    ("xor", "bits"): Form("{0} ^ {1}"),
    ("not", "bits"): Form("~{0}"),
    ("and", "predicate"): Form("{0} && {1}"),
    ("or", "predicate"): Form("{0} || {1}"),
    ("xor", "predicate"): Form("{0} != {1}"),
    ("not", "predicate"): Form("!{0}"),
    ("shl", "bits"): Form("{1} < {bits} ? {0} << {1} : 0", reads="T u32"),
    ("shr", "bits"): Form("{1} < {bits} ? {0} >> {1} : 0", reads="T u32"),
    ("shr", "integer"): Form("{0} >> ({1} < {bits} ? {1} : {bits} - 1) >> ({1} >= {bits})", reads="T u32"),
    ("bfe", "unsigned"): Form(
        "{1} % 256 < {bits} ? {0} >> {1} % 256 & ({2} % 256 < {bits} ? (({T})1 << {2} % 256) - 1 : ({T})-1) : 0",
        reads="T u32 u32",
    ),
    ("popc", "bits"): Form("__builtin_popcountll({0})", result="u32"),
    ("clz", "bits"): Form("{0} ? __builtin_clzll({0}) - (64 - {bits}) : {bits}", result="u32"),
    ("selp", "any"): Form("{2} ? {0} : {1}", reads="T T pred"),
}

_ORDERED = {"eq": "==", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
_UNEQUAL = "({0} < {1} || {0} > {1})"

# Comparisons of floats; those that end in u are true of NaN.
_COMPARISONS = {name: f"{{0}} {sign} {{1}}" for name, sign in _ORDERED.items()} | {
    "ne": _UNEQUAL,
    "equ": f"!{_UNEQUAL}",
    "neu": "{0} != {1}",
    "ltu": "!({0} >= {1})",
    "leu": "!({0} > {1})",
    "gtu": "!({0} <= {1})",
    "geu": "!({0} < {1})",
    "num": "{0} == {0} && {1} == {1}",
    "nan": "{0} != {0} || {1} != {1}",
}
_TO_WHOLE = {"rni": "nearbyint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


@functools.cache
def computation(opcode: str) -> Computation | None:
    """What an instruction computes; None of those that are not known."""
    name, *modifiers = opcode.split(".")
    if not modifiers or modifiers[-1] not in TYPES:
        return None
    if name == "setp":
        return _comparison(modifiers)
    if name == "cvt":
        return _conversion(modifiers)
    kind = modifiers.pop()
    key = ".".join([name, *(half for half in modifiers if half in ("lo", "hi", "wide"))])
    form = next((_FORMS[key, family] for family in _FAMILIES[kind[0]] if (key, family) in _FORMS), None)
    if form is None or not set(modifiers) <= set(form.modifiers.split()):
        return None
    own, wide = c_type(kind), WIDE.get(kind, "")
    types = {"T": own, "W": wide}
    expression = form.expression
    for mark, text in {"{T}": own, "{W}": wide, "{f}": "f" * (kind == "f32"), "{bits}": str(BITS.get(kind))}.items():
        expression = expression.replace(mark, text)
    count = 1 + max(i for i in range(3) if f"{{{i}}}" in expression)
    reads = tuple(types.get(read, read) for read in form.reads.split()[:count])
    return Computation(expression, reads, types.get(form.result, form.result))


def _comparison(modifiers: list[str]) -> Computation | None:
    """`setp.lt.ftz.f32 p, a, b`; not the kind that joins the outcome with another predicate."""
    name, *others, kind = modifiers
    expression = _COMPARISONS.get(name)
    if kind not in FLOATS and name == "ne":
        expression = "{0} != {1}"
    if expression is None or kind == "pred" or not set(others) <= {"ftz"}:
        return None
    return Computation(expression, (c_type(kind),) * 2, "pred")


def _conversion(modifiers: list[str]) -> Computation | None:
    """`cvt.rzi.ftz.s32.f32 d, a`: of the roundings of a float result, only that to the nearest."""
    *others, to, source = modifiers
    whole = [_TO_WHOLE[part] for part in others if part in _TO_WHOLE]
    known = {"rn", "ftz", *_TO_WHOLE} | ({"sat"} if source in FLOATS and to in FLOATS else set())
    if not set(others) <= known or not {to, source} <= set(BITS):
        return None
    value = f"{whole[0]}{'f' * (source == 'f32')}({{0}})" if whole else "{0}"
    if source in FLOATS and to not in FLOATS:
        value = _integer_of(value, to)
    elif "sat" in others:
        value = f"clamped({value}, 0, 1)"
    return Computation(value, (c_type(source),), c_type(to))


def _integer_of(value: str, to: str) -> str:
    """A float, kept to the range of an integer type."""
    if BITS[to] == 64:
        return f"{to}_of({value})"
    least, most = (-(2 ** (BITS[to] - 1)), 2 ** (BITS[to] - 1) - 1) if to[0] == "s" else (0, 2 ** BITS[to] - 1)
    return f"clamped({value}, {float(least)}, {float(most)})"

"""Single instructions of PTX, with the values where C and PTX differ; the results are those of the PTX ISA's manual."""

import ctypes
import math

import pytest

from ..cases import cases
from .emulation import cache_folder, why_not
from .ptx_compile import compile_ptx
from .ptx_reader import Refused
from .ptx_to_c import translated

pytestmark = [pytest.mark.slow, pytest.mark.skipif(why_not() is not None, reason=str(why_not()))]

C_TYPES = {
    "u32": ctypes.c_uint32,
    "s32": ctypes.c_int32,
    "u64": ctypes.c_uint64,
    "s64": ctypes.c_int64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}
NAN, INFINITY = math.nan, math.inf

# The instruction, the types of its operands, their values, and the type and value of the result.
INSTRUCTIONS = [
    ("shl.b32", "u32 u32", (1, 31), "u32", 2**31),
    ("shl.b32", "u32 u32", (1, 32), "u32", 0),  # C leaves it open
    ("shr.u32", "u32 u32", (2**31, 40), "u32", 0),
    ("shr.s32", "s32 u32", (-8, 1), "s32", -4),
    ("shr.s32", "s32 u32", (-8, 40), "s32", -1),
    ("shr.s64", "s64 u32", (-(2**40), 100), "s64", -1),
    ("mul.hi.u32", "u32 u32", (2**31, 6), "u32", 3),
    ("mul.hi.s32", "s32 s32", (-(2**31), 6), "s32", -3),
    ("mul.hi.u64", "u64 u64", (2**63, 6), "u64", 3),
    ("mul.wide.s32", "s32 s32", (-(2**20), 2**20), "s64", -(2**40)),
    ("mad.lo.s32", "s32 s32 s32", (-3, 5, 2), "s32", -13),
    ("mad.wide.u32", "u32 u32 u64", (2**20, 2**20, 7), "u64", 2**40 + 7),
    ("div.s32", "s32 s32", (-7, 2), "s32", -3),
    ("rem.s32", "s32 s32", (-7, 2), "s32", -1),
    ("min.s32", "s32 s32", (-1, 1), "s32", -1),
    ("min.u32", "u32 u32", (2**32 - 1, 1), "u32", 1),
    ("abs.s32", "s32", (-5,), "s32", 5),
    ("bfe.u32", "u32 u32 u32", (0x12345678, 8, 12), "u32", 0x456),
    ("bfe.u64", "u64 u32 u32", (2**64 - 1, 0, 64), "u64", 2**64 - 1),
    ("bfe.u32", "u32 u32 u32", (2**32 - 1, 32, 4), "u32", 0),
    ("popc.b32", "u32", (0xF0F,), "u32", 8),
    ("clz.b32", "u32", (0,), "u32", 32),
    ("clz.b64", "u64", (1,), "u32", 63),
    ("cvt.rzi.s32.f32", "f32", (1e20,), "s32", 2**31 - 1),
    ("cvt.rzi.s32.f32", "f32", (NAN,), "s32", 0),
    ("cvt.rzi.u32.f64", "f64", (-1.5,), "u32", 0),
    ("cvt.rzi.u32.f64", "f64", (4e9,), "u32", 4 * 10**9),
    ("cvt.rni.s32.f64", "f64", (2.5,), "s32", 2),
    ("cvt.rmi.s64.f64", "f64", (-2.5,), "s64", -3),
    ("cvt.rzi.s64.f64", "f64", (INFINITY,), "s64", 2**63 - 1),
    ("cvt.rzi.u64.f64", "f64", (2.0**63,), "u64", 2**63),
    ("cvt.rpi.f64.f64", "f64", (-2.5,), "f64", -2.0),
    ("cvt.sat.f32.f32", "f32", (1.5,), "f32", 1.0),
    ("cvt.sat.f32.f32", "f32", (NAN,), "f32", 0.0),
    ("cvt.rn.f32.f64", "f64", (0.1,), "f32", ctypes.c_float(0.1).value),
    ("cvt.s32.s8", "s32", (200,), "s32", -56),
    ("cvt.u32.u8", "u32", (0x1FF,), "u32", 0xFF),
    ("cvt.s64.s32", "s32", (-1,), "s64", -1),
    ("cvt.u64.u32", "u32", (2**32 - 1,), "u64", 2**32 - 1),
    ("min.f32", "f32 f32", (NAN, 1.0), "f32", 1.0),
    ("max.f64", "f64 f64", (-1.0, NAN), "f64", -1.0),
    ("fma.rn.f64", "f64 f64 f64", (1 + 2.0**-52, 1 + 2.0**-52, -1 - 2.0**-51), "f64", 2.0**-104),
    ("mul.rn.f64", "f64 f64", (1e-200, 1e-120), "f64", 1e-200 * 1e-120),  # a denormal number
    ("mul.ftz.f32", "f32 f32", (1e-30, 1e-10), "f32", 0.0),
    ("copysign.f32", "f32 f32", (-1.0, 3.0), "f32", -3.0),
    ("neg.f64", "f64", (0.0,), "f64", -0.0),
    ("rcp.rn.f64", "f64", (3.0,), "f64", 1 / 3),
]

COMPARISONS = [
    ("setp.lt.f32", "f32", (1.0, 2.0), 1),
    ("setp.lt.f32", "f32", (NAN, 2.0), 0),
    ("setp.ltu.f32", "f32", (NAN, 2.0), 1),
    ("setp.ne.f64", "f64", (NAN, 2.0), 0),
    ("setp.neu.f64", "f64", (NAN, 2.0), 1),
    ("setp.equ.f64", "f64", (1.0, 2.0), 0),
    ("setp.num.f64", "f64", (1.0, NAN), 0),
    ("setp.nan.f64", "f64", (1.0, NAN), 1),
    ("setp.lt.s32", "s32", (-1, 1), 1),
    ("setp.lt.u32", "u32", (2**32 - 1, 1), 0),
    ("setp.ne.s64", "s64", (-1, 1), 1),
]


def kernel(body: str) -> str:
    """PTX of a kernel `one` with four pointers in %rd0 to %rd3: three operands, and where the result goes."""
    parameters = ",\n".join(f"\t.param .u64 one_param_{i}" for i in range(4))
    loads = "\n".join(f"\tld.param.u64 %rd{i}, [one_param_{i}];" for i in range(4))
    families = [("b16", "rs"), ("b32", "r"), ("b64", "rd"), ("f32", "f"), ("f64", "fd"), ("pred", "p")]
    registers = "\n".join(f"\t.reg .{kind} %{family}<20>;" for kind, family in families)
    head = ".version 7.1\n.target sm_80\n.address_size 64\n.visible .entry one("
    return f"{head}\n{parameters}\n)\n{{\n{registers}\n{loads}\n{body}\n\tret;\n}}\n"


def run(ptx: str, operands: list, result: type) -> float:
    """Run one thread of a kernel; gives what it wrote."""
    library = ctypes.CDLL(str(compile_ptx(ptx, False, cache_folder())))
    places = [*operands, *[ctypes.c_uint64(0)] * (3 - len(operands)), result(0)]
    addresses = [ctypes.c_uint64(ctypes.addressof(place)) for place in places]
    parameters = (ctypes.c_void_p * 4)(*(ctypes.addressof(address) for address in addresses))
    ones = (ctypes.c_uint32 * 3)(1, 1, 1)
    library.entry_one(parameters, ones, ones)
    return places[3].value


def register(kind: str, number: int) -> str:
    return {"f32": "%f", "f64": "%fd", "pred": "%p"}.get(kind, "%rd" if kind[1:] == "64" else "%r") + str(number)


def name(row: tuple) -> str:
    return f"{row[0]} {row[2]}"


@cases("row", INSTRUCTIONS, label=name)
def test_an_instruction(row):
    instruction, kinds, values, result, wanted = row
    loads = [f"\tld.{kind} {register(kind, 10 + i)}, [%rd{i}];\n" for i, kind in enumerate(kinds.split())]
    target = register(result, 15)
    operands = ", ".join([target, *(register(kind, 10 + i) for i, kind in enumerate(kinds.split()))])
    body = "".join(loads) + f"\t{instruction} {operands};\n\tst.{result} [%rd3], {target};"
    given = [C_TYPES[kind](value) for kind, value in zip(kinds.split(), values, strict=True)]
    found = run(kernel(body), given, C_TYPES[result])
    assert (found, math.copysign(1, found)) == (wanted, math.copysign(1, wanted))


@cases("row", COMPARISONS, label=name)
def test_a_comparison(row):
    instruction, kind, values, wanted = row
    a, b = register(kind, 10), register(kind, 11)
    body = f"\tld.{kind} {a}, [%rd0];\n\tld.{kind} {b}, [%rd1];\n\t{instruction} %p1, {a}, {b};\n"
    body += "\tselp.u32 %r15, 1, 0, %p1;\n\tst.u32 [%rd3], %r15;"
    assert run(kernel(body), [C_TYPES[kind](value) for value in values], ctypes.c_uint32) == wanted


def test_numbers_of_two_words_are_added_with_their_carry():
    words = "\tmov.b64 {%r1, %r2}, %rd11;\n\tmov.b64 {%r3, %r4}, %rd12;\n"
    sums = "\tadd.cc.u32 %r5, %r1, %r3;\n\taddc.u32 %r6, %r2, %r4;\n\tmov.b64 %rd13, {%r5, %r6};\n"
    body = f"\tld.u64 %rd11, [%rd0];\n\tld.u64 %rd12, [%rd1];\n{words}{sums}\tst.u64 [%rd3], %rd13;"
    a, b = 0x1_FFFF_FFFF, 0x2_0000_0003
    assert run(kernel(body), [ctypes.c_uint64(a), ctypes.c_uint64(b)], ctypes.c_uint64) == a + b


def test_a_vector_is_loaded_from_words_side_by_side():
    body = "\tld.v2.u32 {%r1, %r2}, [%rd0];\n\tsub.s32 %r3, %r1, %r2;\n\tst.u32 [%rd3], %r3;"
    assert run(kernel(body), [ctypes.c_uint64(5 << 32 | 12)], ctypes.c_int32) == 7


def test_a_guard_decides():
    body = "\tmov.pred %p1, 0;\n\tmov.u32 %r1, 1;\n\t@%p1 mov.u32 %r1, 2;\n\t@!%p1 add.s32 %r1, %r1, 10;\n"
    assert run(kernel(f"{body}\tst.u32 [%rd3], %r1;"), [], ctypes.c_uint32) == 11


@cases(
    "instruction",
    [
        "add.rz.f32 %f1, %f2, %f3",  # another rounding
        "add.sat.f32 %f1, %f2, %f3",
        "add.f16 %rs1, %rs2, %rs3",
        "cvt.rz.f32.f64 %f1, %fd1",
        "setp.eq.and.s32 %p1, %r1, %r2, %p2",
        "add.s32 %r1, %r2",
        "add.s32 %r1, %r2, %unknown",
        "ld.shared.f32 %f1, [%rd1]",
        "bar.sync 0",
        "shfl.sync.down.b32 %r1, %r2, 1, 31, -1",
        "activemask.b32 %r1",
        "nonsense.u32 %r1, %r2",
    ],
)
def test_what_is_not_known_is_refused_with_its_line(instruction):
    ptx = kernel(f"\t{instruction};")
    line = 1 + ptx.splitlines().index(f"\t{instruction};")
    with pytest.raises(Refused, match=f"line {line}: ") as refusal:
        translated(ptx)
    assert instruction in str(refusal.value)

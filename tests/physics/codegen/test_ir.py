"""What Taichi makes of units, against what the files that load them take for granted: calls, and where things lie."""

import ctypes
import json
import re
import struct
import subprocess
import sys

import pytest
import torch

from tumble.physics.machine.codegen import ir
from tumble.physics.machine.codegen.llvm import load, machine_code
from tumble.physics.run import programs
from tumble.physics.run.programs import Context, HostScratch, _pack
from tumble.physics.run.tiles.tile_view import ARGUMENTS

ENTRY_OF = "define void @unit_c8_0_kernel_0_serial(ptr nocapture readonly %context) local_unnamed_addr #0 {{\n{}}}\n"
CALL = "  tail call void inttoptr (i64 {} to ptr)() #1\n"
RETURN = "  ret void\n"
ATTRIBUTES = "attributes #0 = { nounwind }\nattributes #1 = { nounwind }\n"

# ---- a module that stands alone


def test_no_task():
    with pytest.raises(ValueError, match="one task of a kernel"):
        ir.stand_alone("define internal void @body(ptr %context) {\n  ret void\n}\n")


def test_two_tasks():
    text = ENTRY_OF.format(RETURN)
    with pytest.raises(ValueError, match=r"kernel_0_serial.*kernel_1_serial"):
        ir.stand_alone(text + text.replace("kernel_0", "kernel_1"))


def test_calls_go_through_the_table():
    """Two functions are called, with the caller's context, in their order."""
    body = "".join(CALL.format(ir._MARK + number) for number in (2, 0)) + RETURN
    (entry,) = load(machine_code(ir.stand_alone(ENTRY_OF.format(body) + ATTRIBUTES)), ir.ENTRY)
    function, called = ctypes.CFUNCTYPE(None, ctypes.c_void_p), []
    functions = [function(lambda context, number=number: called.append((number, context))) for number in range(3)]
    table = (ctypes.c_void_p * 3)(*(ctypes.cast(f, ctypes.c_void_p).value for f in functions))
    context = Context(None, None, 0, ctypes.addressof(table))
    function(entry)(ctypes.addressof(context))
    assert called == [(2, ctypes.addressof(context)), (0, ctypes.addressof(context))]


# ---- the code of real units

UNITS = "turn", "keep_start", "forward_kinematics"
MAKE = """
import json, os, sys, tempfile
from dataclasses import replace
from tumble.physics.run.compile import compile_process, taichi_code, units
from tumble.physics.run.kernel import sample_arguments
from tumble.physics.model.features import Features
answers, found, has = os.fdopen(os.dup(1), "w"), {}, Features(*[False] * 6)
os.dup2(2, 1)
wanted = {name: (name, has) for name in sys.argv[1:]}
wanted |= {f"turn with {one}": ("turn", replace(has, **{one: True})) for one in ("convex", "fields")}
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for width, precision in ((4, "32"), (1, "64")):
        compiler = compile_process.UnitCompiler(width, precision)
        for label, (name, has) in wanted.items():
            (kernel, calls), (again, _) = (
                units.make_unit(name, compiler.lanes, has, compiler.scratch) for _ in range(2)
            )
            arguments = [*sample_arguments(compiler.lanes), 0, 0]
            text = taichi_code.optimised(kernel, arguments)
            assert taichi_code.optimised(again, arguments) == text
            numbers = units.numbers_of_stages()
            found[f"{width} {label}"] = text, sorted(numbers[stage] for stage in calls)
    os.chdir("/")
json.dump(found, answers)
"""


@pytest.fixture(scope="module")
def units():
    """Of each unit, at two widths, Taichi's optimised code and the numbers of the stages that it calls."""
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", MAKE, *UNITS], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def structure(text, named):
    """The type of a C compiler that a type of LLVM is: structures have the layout of the system's C in both."""
    if text in named:
        return named[text]
    if text.startswith("["):
        count, of = re.fullmatch(r"\[(\d+) x (.*)\]", text).groups()
        return structure(of, named) * int(count)
    if not text.startswith("{"):
        return {"ptr": ctypes.c_void_p, "i8": ctypes.c_int8, "i32": ctypes.c_int32, "i64": ctypes.c_int64}[text]
    parts = re.findall(r"(?:\{(?:[^{}]|\{[^{}]*\})*\}|\[[^]]*\]|[^\s,{}\[\]])+", text[1:-1])
    fields = [(f"_{place}", structure(part, named)) for place, part in enumerate(parts)]
    return type("Structure", (ctypes.Structure,), {"_fields_": fields})


def structures(text):
    """The structures that a module gives names, by these."""
    named = {}
    declared = re.findall(r"^(%[\w.]+) = type (\{.*\})$", text, re.MULTILINE)
    while len(named) < len(declared):
        for name, inside in declared:
            if name not in named and all(part in named for part in re.findall(r"%[\w.]+", inside)):
                named[name] = structure(inside, named)
    return named


def members(kind):
    return [(getattr(kind, name).offset, of) for name, of in kind._fields_]


def test_contexts_are_as_taichi_has_them(units):
    for text, _ in units.values():
        (context,) = (kind for name, kind in structures(text).items() if name.startswith("%struct.RuntimeContext"))
        assert members(context) == members(Context)[:4]
        assert Context.table.offset == ir.RESULT_OFFSET


def test_roots_are_where_programs_put_them(units):
    """And nothing else is read of Taichi's runtime."""
    scratch = HostScratch(4, "32")
    for text, _ in units.values():
        if runtime := structures(text).get("%struct.LLVMRuntime"):
            assert runtime._7.offset == programs._ROOTS and runtime._7.size == 512 * 8
        read = set(re.findall(r"%struct\.LLVMRuntime, ptr [%\w.]+, (i64 0, i32 \d+(?:, i64 \d+)?)", text))
        assert read <= {"i64 0, i32 7", *(f"i64 0, i32 7, i64 {k}" for k in range(4))}
    assert any("i64 0, i32 7, i64 1" in text for text, _ in units.values())
    roots = (ctypes.c_void_p * 4).from_address(scratch.runtime + programs._ROOTS)
    assert list(roots) == [array.ctypes.data for array in scratch._room]


@pytest.mark.parametrize("width", [4, 1])
def test_arguments_are_as_taichi_lays_them_out(units, width):
    text, _ = units[f"{width} turn"]
    kinds = set(re.findall(r"getelementptr (?:inbounds )?(\{.*\}), ptr %\d+, i64 0", text))
    arguments = max((structure(kind, {}) for kind in kinds), key=ctypes.sizeof)  # others are the first of them
    assert len(arguments._fields_) == 16, "the turn reads the tile, which comes last"
    dims = [dims for _, dims in ARGUMENTS.values()]
    tensors = [torch.zeros(tuple(range(1 + place, 1 + place + n))) for place, n in enumerate(dims)]
    packed = arguments.from_buffer_copy(_pack(tensors, width, 7))
    assert ctypes.sizeof(arguments) == len(_pack(tensors, width, 7))
    for place, tensor in enumerate(tensors):
        array = getattr(packed, f"_{place}")
        shape = struct.unpack(f"{len(array._0._fields_)}i", bytes(array._0))
        inside = 1 if width > 1 and place in programs._OF_LANES else 0  # the lanes are part of an element
        assert shape == tuple(tensor.shape[: tensor.ndim - inside]) and array._1 == tensor.data_ptr()
    assert packed._14 == 7 and len(_pack(tensors, width, 7)) - programs._ITEM_BYTES == type(packed)._15.offset


def test_units_call_the_stages_that_they_say(units):
    """Also two turns that differ in the stage alone that they call, which Taichi could take for one."""
    assert units["4 turn with convex"][1] != units["4 turn with fields"][1]
    for text, calls in units.values():
        alone = ir.stand_alone(text)
        marked = {int(number) - ir._MARK for number in re.findall(r"inttoptr \(i64 (\d+) to ptr\)", text)}
        assert sorted(marked) == calls and "inttoptr" not in alone
        assert len(re.findall(rf"^define void @{ir.ENTRY}\(", alone, re.MULTILINE)) == 1
    assert len(units["4 turn"][1]) > 20 and not units["4 keep_start"][1]

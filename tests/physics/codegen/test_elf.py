"""Object files are loaded with their constants and calls, wherever there is room, and nothing else is."""

import ctypes
import math
import subprocess
import sys

import pytest

from tumble.physics.codegen.elf import ObjectFile, load_object
from tumble.physics.codegen.ir import machine_code
from tumble.physics.codegen.llvm import llvm

pytestmark = pytest.mark.skipif(llvm() is None, reason="needs llvmlite")

TEXT = """
@table = internal constant [4 x double] [double 1.5, double -2.25, double 3.125, double 1.0e300]
declare double @pow(double, double)
declare double @{unknown}(double)
define double @chosen(i64 %i) {{
  %at = getelementptr [4 x double], ptr @table, i64 0, i64 %i
  %x = load double, ptr %at
  ret double %x
}}
define double @powered(double %x) {{
  %y = call double @pow(double %x, double 1.7)
  %z = call double @{unknown}(double %y)
  ret double %z
}}
define i64 @switched(i64 %i) {{
  switch i64 %i, label %other [ i64 0, label %a  i64 1, label %b  i64 2, label %c  i64 3, label %d  i64 4, label %e ]
a:
  ret i64 17
b:
  ret i64 -5
c:
  ret i64 99
d:
  ret i64 1234567890123
e:
  ret i64 3
other:
  ret i64 0
}}
"""
FRAGMENTED = """
import ctypes, mmap
library = ctypes.CDLL(None)
library.mmap.restype = ctypes.c_void_p
library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
from tumble import assets
from tumble.physics import Model, RigidSolver
solver = RigidSolver(Model.from_mjcf(str(assets.find("inverted_pendulum.xml"))), 8)
nothing, size, page = 0x4022, 8 << 30, mmap.PAGESIZE  # private, anonymous, without memory behind it
for _ in range(2000):
    library.mmap(None, page, 0, nothing, -1, 0)
start = library.mmap(None, size, 0, nothing, -1, 0)
for k in range(64):  # single pages are free, 8 GiB away from where there is room for more
    library.munmap(start + size - 2 * page * (k + 1), page)
solver.step(3)
print(bool((solver.qpos == solver.qpos).all()))
"""


def loaded(text):
    return load_object(machine_code(text))


def test_constants_calls_and_jump_tables():
    functions = loaded(TEXT.format(unknown="sin"))
    chosen = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(functions["chosen"])
    assert [chosen(i) for i in range(4)] == [1.5, -2.25, 3.125, 1e300]
    powered = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(functions["powered"])
    assert powered(2.5) == math.sin(2.5**1.7)
    switched = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(functions["switched"])
    assert [switched(i) for i in range(-1, 6)] == [0, 17, -5, 99, 1234567890123, 3, 0]


def test_a_function_that_the_process_lacks_is_named():
    with pytest.raises(ValueError, match="no function tumble_has_no_such_function"):
        loaded(TEXT.format(unknown="tumble_has_no_such_function"))


@pytest.mark.parametrize("code", [b"", b"\x7fELF", b"\x7fELF\x01\x01" + bytes(60), bytes(100)])
def test_what_is_no_object_file(code):
    with pytest.raises(ValueError, match="no object file for x86-64"):
        ObjectFile(code)


def test_another_relocation_is_refused():
    """One of the kinds that an object file in one mapping does not need."""
    code = bytearray(machine_code(TEXT.format(unknown="sin")))
    file = ObjectFile(bytes(code))
    section = next(s for s in file._sections if s.kind == 4 and s.info in file._places)
    code[section.offset + 8] = 22  # R_X86_64_GOTTPOFF
    with pytest.raises(ValueError, match="relocation of type 22"):
        ObjectFile(bytes(code)).image(1 << 32)


def test_code_and_constants_lie_together_in_a_fragmented_address_space():
    """LLVM's loader put the constants into a page 8 GiB away, and ended the process."""
    run = subprocess.run([sys.executable, "-c", FRAGMENTED], capture_output=True, text=True, timeout=300)
    assert (run.returncode, run.stdout.strip()) == (0, "True"), run.stderr[-2000:]

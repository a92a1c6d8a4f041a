"""Object files are loaded with their constants and calls, wherever there is room, also while the process is forked."""

import ctypes
import math
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from tumble.physics.machine.codegen.llvm import load, machine_code

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


def test_constants_calls_and_jump_tables():
    chosen, powered, switched = load(machine_code(TEXT.format(unknown="sin")), "chosen", "powered", "switched")
    chosen = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(chosen)
    assert [chosen(i) for i in range(4)] == [1.5, -2.25, 3.125, 1e300]
    powered = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(powered)
    assert powered(2.5) == math.sin(2.5**1.7)
    switched = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(switched)
    assert [switched(i) for i in range(-1, 6)] == [0, 17, -5, 99, 1234567890123, 3, 0]


def test_a_function_that_the_process_lacks_is_named(capfd):
    with pytest.raises(RuntimeError, match="written the reason to standard error"):
        load(machine_code(TEXT.format(unknown="tumble_has_no_such_function")), "powered")
    assert "tumble_has_no_such_function" in capfd.readouterr().err


@pytest.mark.parametrize("code", [b"", b"\x7fELF", b"\x7fELF\x01\x01" + bytes(60), bytes(100)])
def test_a_file_that_is_no_object_file(code):
    with pytest.raises(RuntimeError):
        load(code, "chosen")


def test_code_and_constants_lie_together_in_a_fragmented_address_space():
    """LLVM's older loader puts the constants into a page 8 GiB away, and ends the process."""
    run = subprocess.run([sys.executable, "-c", FRAGMENTED], capture_output=True, text=True, timeout=300)
    assert (run.returncode, run.stdout.strip()) == (0, "True"), run.stderr[-2000:]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked on this system")
def test_children_load_code_after_forks_while_another_thread_loads():
    """None of LLVM's locks is held in a child, and functions of the parent go on to work there."""
    code = machine_code(TEXT.format(unknown="sin"))
    number, double = ctypes.c_int64, ctypes.c_double
    before = ctypes.CFUNCTYPE(double, number)(*load(code, "chosen"))
    done = threading.Event()

    def load_often():
        while not done.is_set():
            load(machine_code(TEXT.format(unknown="sin")), "chosen")
            time.sleep(0.001)  # forks wait for the lock too

    other = threading.Thread(target=load_often)
    other.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(20)
                there = ctypes.CFUNCTYPE(double, number)(*load(machine_code(TEXT.format(unknown="cos")), "chosen"))
                os._exit(0 if (before(1), there(2)) == (-2.25, 3.125) else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        done.set()
        other.join()

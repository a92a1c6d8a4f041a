"""What Tumble asks of LLVM: it is found where the operating system has put it, and it changes no bit."""

import ctypes
import gc
import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import taichi as ti
from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext

from tumble.physics.machine import compiler
from tumble.physics.machine.runtime import init
from tumble.physics.machine.taichi_thread import in_taichis_thread
from tumble.physics.run.compile.taichi_code import quick_tracing

# -- What Tumble asks of LLVM: it is found where the operating system has put it, and it changes no bit


SETTINGS = (
    *(compiler.NO_STRENGTH_REDUCTION, compiler.NO_RUNTIME_UNROLLING),
    *(compiler.SHORT_ROTATIONS, compiler.WHOLE_REGISTERS),
)
LIBRARY = compiler._library()
needs_library = pytest.mark.skipif(LIBRARY is None, reason="nothing is asked of LLVM on this system")
CHAIN = """
import hashlib, sys
import numpy as np
import taichi as ti
from tumble.physics.machine import compiler
if sys.argv[1] == "plain":
    compiler._KNOWN = ()
from tumble.physics.base.math import Lanes
from tumble.physics.machine.runtime import init
from tumble.physics.machine.taichi_thread import in_taichis_thread
init(lanes=16)
lanes = Lanes(16, ti.f32)
numbers = in_taichis_thread(lambda: ti.Vector.field(16, ti.f32, 64))

@ti.kernel
def chain(rounds: ti.i32):
    ti.loop_config(serialize=True)
    for r in range(rounds):
        for i in range(63):
            x = lanes.type(0.0) + numbers[i]
            numbers[i + 1] = ti.sqrt(x * x + 0.3 * numbers[i + 1]) - x / (1.5 + x * x) * numbers[63 - i]

numbers.from_numpy(np.random.default_rng(0).random((64, 16), dtype=np.float32))
chain(20)
print(compiler.ask(compiler.WHOLE_REGISTERS), hashlib.sha256(numbers.to_numpy().tobytes()).hexdigest())
"""


@needs_library
def test_the_settings_are_known_to_this_llvm():
    """LLVM ends the process for a setting that it does not know."""
    contents = LIBRARY.read_bytes()
    for setting in SETTINGS:
        assert setting.lstrip("-").split("=")[0].encode() + b"\0" in contents


@needs_library
def test_symbols_are_where_the_dynamic_linker_put_them():
    """The linker tells the address of the one that is not hidden; the operating system where the library begins."""
    hidden, landmark = compiler.symbol_values(LIBRARY, (compiler._WAY_IN, compiler._LANDMARK))
    loaded = ctypes.cast(getattr(ctypes.CDLL(str(LIBRARY)), compiler._LANDMARK), ctypes.c_void_p).value
    starts = [line.split("-")[0] for line in Path("/proc/self/maps").read_text().splitlines() if LIBRARY.name in line]
    assert loaded - landmark == int(starts[0], 16)
    assert 0 < hidden != landmark


@needs_library
def test_a_symbol_that_is_not_there_has_no_address():
    assert compiler.symbol_values(LIBRARY, ("LLVMParseCommandLineOption", compiler._LANDMARK))[0] == 0
    other = next(Path(np.__file__).parent.rglob("*.so"))
    assert compiler.symbol_values(other, (compiler._WAY_IN,)) == [0]


def test_another_taichi_is_left_alone(monkeypatch):
    monkeypatch.setattr(ti, "__version__", (1, 8, 0))
    assert compiler._library() is None
    assert compiler._way_in.__wrapped__() is None


@needs_library
def test_bits_are_the_same_with_the_settings_and_without(tmp_path):
    script = tmp_path / "chain.py"
    script.write_text(CHAIN)
    printed = {}
    for way in ("asked", "plain"):
        place = {**os.environ, "TI_OFFLINE_CACHE_FILE_PATH": str(tmp_path / way)}
        done = subprocess.run([sys.executable, script, way], env=place, capture_output=True, text=True, check=True)
        printed[way] = done.stdout.split()[-2:]
    assert [printed["asked"][0], printed["plain"][0]] == ["True", "False"]
    assert printed["asked"][1] == printed["plain"][1]


# -- Kernels are traced quickly, and what fails while they are traced still says where


def test_what_quick_tracing_changes_is_put_back_even_after_an_error():
    before = ASTTransformerContext.get_pos_info, gc.isenabled()
    with pytest.raises(ZeroDivisionError), quick_tracing():
        assert ASTTransformerContext.get_pos_info is not before[0]
        assert not gc.isenabled()
        raise ZeroDivisionError
    assert (ASTTransformerContext.get_pos_info, gc.isenabled()) == before


def test_garbage_stays_uncollected_where_it_was():
    gc.disable()
    try:
        with quick_tracing():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_an_error_in_a_kernel_names_file_line_and_function():
    init()

    @ti.kernel
    def faulty() -> ti.i32:
        return no_such_name  # noqa: F821

    with pytest.raises(ti.TaichiCompilationError) as raised, quick_tracing():
        in_taichis_thread(faulty)
    line = inspect.getsourcelines(faulty)[1] + 2
    assert f'File "{__file__}", line {line}, in faulty' in str(raised.value)

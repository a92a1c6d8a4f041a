"""The emulation of CUDA itself: Taichi's kernels compute what numpy does, and the log and the counts say what was done.

Each test runs one program in a process of its own. Sums, products and roots are exact on both sides; the functions of
CUDA's library are known to a few units in the last place, so they are held to `LIBRARY`.
"""

import json
import time
from pathlib import Path

import numpy as np
import pytest

from . import ptxas
from .emulation import Done, Emulation, why_not
from .ptx_to_c import translated

pytestmark = [pytest.mark.slow, pytest.mark.skipif(why_not() is not None, reason=str(why_not()))]

# How a program begins. Taichi imports torch by itself, which takes longer than most tests, unless it is told not to.
START_WITH_TORCH = """
import json, sys
import numpy as np, taichi as ti
ti.init(arch=ti.cuda, offline_cache=False, log_level=ti.ERROR, device_memory_GB=0.1, fast_math=False)
assert ti.cfg.arch == ti.cuda
"""
START = "import os; os.environ['TI_ENABLE_TORCH'] = '0'" + START_WITH_TORCH

# Errors in units of the last place, which the CUDA Math API reference grants: 4 for a tangent in single precision, less
# for all others here; libm's own, and numpy's, add one.
LIBRARY = 6


def results(done: Done) -> dict[str, list]:
    """What a program printed: one JSON object, the last line."""
    return json.loads(done.stdout.splitlines()[-1])


ARITHMETIC = (
    START_WITH_TORCH
    + """
import torch
real, number = (ti.f32, np.float32) if sys.argv[1] == "32" else (ti.f64, np.float64)

@ti.kernel
def arithmetic(a: ti.types.ndarray(real, 2), b: ti.types.ndarray(real, 2), out: ti.types.ndarray(real, 3)):
    for i, j in a:
        x, y = a[i, j], b[i, j]
        out[0, i, j] = x + y
        out[1, i, j] = x * y
        out[2, i, j] = x / y
        out[3, i, j] = ti.sqrt(x)
        out[4, i, j] = ti.select(x < y, x, -y)
        out[5, i, j] = ti.floor(x * 8, real)
        out[6, i, j] = ti.max(x, ti.abs(y))
        total = ti.cast(0, real)
        for k in range(a.shape[1]):  # sum of a row
            total = total + a[i, k]
        out[7, i, j] = total

a, b = np.random.default_rng(0).uniform(0.1, 2, (2, 5, 7)).astype(number)
out = torch.from_numpy(np.zeros((8, 5, 7), number))
arithmetic(torch.from_numpy(a), torch.from_numpy(b), out)
print(json.dumps({"a": a.tolist(), "b": b.tolist(), "out": out.tolist()}))
"""
)


@pytest.mark.parametrize("precision", ["32", "64"])
def test_arithmetic_is_exact(tmp_path, precision):
    found = results(Emulation(tmp_path).run(ARITHMETIC, precision))
    a, b, out = (np.array(found[name], np.float32 if precision == "32" else np.float64) for name in ("a", "b", "out"))
    rows = np.cumsum(a, axis=1)[:, -1:].repeat(a.shape[1], axis=1)
    wanted = [a + b, a * b, a / b, np.sqrt(a), np.where(a < b, a, -b), np.floor(a * 8), np.maximum(a, abs(b)), rows]
    np.testing.assert_array_equal(out, wanted)


INTEGERS = (
    START
    + """
@ti.kernel
def integers(x: ti.types.ndarray(ti.i32, 1), out: ti.types.ndarray(ti.i64, 2), bins: ti.types.ndarray(ti.i32, 1)):
    for i in x:
        wide = ti.cast(x[i], ti.i64)
        out[0, i] = x[i] // 7
        out[1, i] = wide * 1234567891 % 1000003
        out[2, i] = (x[i] << 3) ^ (x[i] >> 2)
        out[3, i] = ti.cast(ti.cast(x[i], ti.i8), ti.i64)
        out[4, i] = ti.cast(ti.cast(x[i], ti.u16), ti.i64)
        out[5, i] = ti.cast(ti.cast(x[i], ti.f32) * 0.3, ti.i32)
        ti.atomic_add(bins[x[i] & 3], 1)
        ti.atomic_max(bins[4], x[i])
        ti.atomic_xor(bins[5], x[i])

x = np.random.default_rng(0).integers(-(10**6), 10**6, 300).astype(np.int32)
out, bins = np.zeros((6, 300), np.int64), np.zeros(6, np.int32)
integers(x, out, bins)
print(json.dumps({"x": x.tolist(), "out": out.tolist(), "bins": bins.tolist()}))
"""
)


def test_integers_and_atomics_are_exact(tmp_path):
    found = results(Emulation(tmp_path).run(INTEGERS))
    x = np.array(found["x"], np.int32)
    products = x.astype(np.int64) * 1234567891 % 1000003
    thirds = (x.astype(np.float32) * np.float32(0.3)).astype(np.int32)
    wanted = [x // 7, products, (x << 3) ^ (x >> 2), x.astype(np.int8), x.astype(np.uint16), thirds]
    np.testing.assert_array_equal(found["out"], wanted)
    bins = [*np.bincount(x & 3, minlength=4), x.max(), np.bitwise_xor.reduce(x)]
    np.testing.assert_array_equal(found["bins"], bins)


LIBRARY_FUNCTIONS = (
    START
    + """
real, number = (ti.f32, np.float32) if sys.argv[1] == "32" else (ti.f64, np.float64)

@ti.kernel
def library(a: ti.types.ndarray(real, 1), out: ti.types.ndarray(real, 2)):
    for i in a:
        x = a[i]
        out[0, i] = ti.sin(x)
        out[1, i] = ti.cos(x * 1000000)
        out[2, i] = ti.tan(x)
        out[3, i] = ti.exp(x)
        out[4, i] = ti.log(x)
        out[5, i] = ti.tanh(x)
        out[6, i] = ti.atan2(x, 0.5)
        out[7, i] = ti.acos(x / 4)
        out[8, i] = ti.pow(x, 1.5)

a = np.random.default_rng(0).uniform(0.1, 4, 200).astype(number)
out = np.zeros((9, 200), number)
library(a, out)
print(json.dumps({"a": a.tolist(), "out": out.tolist()}))
"""
)


@pytest.mark.parametrize("precision", ["32", "64"])
def test_cudas_library_is_close(tmp_path, precision):
    found = results(Emulation(tmp_path).run(LIBRARY_FUNCTIONS, precision))
    real = np.float32 if precision == "32" else np.float64
    a, out = np.array(found["a"], real), np.array(found["out"], real)
    wanted = [np.sin(a), np.cos(a * real(1000000)), np.tan(a), np.exp(a), np.log(a), np.tanh(a)]
    wanted += [np.arctan2(a, real(0.5)), np.arccos(a / 4), a ** real(1.5)]
    units = abs(out - wanted) / np.spacing(abs(np.array(wanted)))
    assert units.max() < LIBRARY, units.max(axis=1)


DENORMALS = (
    START
    + """
@ti.kernel
def multiply(x: ti.types.ndarray(ti.f32, 1), y: ti.types.ndarray(ti.f32, 1), factor: ti.f32):
    for i in x:
        y[i] = x[i] * factor - 1.0000001

x, y = np.array([1.0000001, 3.0], np.float32), np.zeros(2, np.float32)
multiply(x, y, 1.0000001)
small = np.array([1.5e-38, 1e-39, 3e-38], np.float32)

@ti.kernel
def scale(x: ti.types.ndarray(ti.f32, 1)):
    for i in x:
        x[i] = x[i] * 0.5

scale(small)
print(json.dumps({"fused": y.tolist(), "small": small.tolist()}))
"""
)


def test_single_precision_is_fused_and_flushed_as_on_a_device(tmp_path):
    found = results(Emulation(tmp_path).run(DENORMALS))
    assert found["small"] == [0, 0, np.float32(3e-38) * np.float32(0.5)]
    x = np.float64(np.float32(1.0000001))
    assert found["fused"][0] == np.float32(x * x - x)  # the product is not rounded before the sum
    assert found["fused"][0] != np.float32(x) * np.float32(x) - np.float32(x)


SAXPY = (
    START_WITH_TORCH
    + """
import torch

@ti.kernel
def saxpy(a: ti.f32, x: ti.types.ndarray(ti.f32, 1), y: ti.types.ndarray(ti.f32, 1)):
    ti.loop_config(block_dim=32)
    for i in range(x.shape[0]):
        y[i] = y[i] + a * x[i]

x, y = torch.arange(100.0), torch.ones(100)
saxpy(2.0, x, y)
ti.sync()
assert y.tolist() == (1 + 2 * x).tolist()
"""
)


def test_tensors_on_the_device_are_not_copied(tmp_path):
    done = Emulation(tmp_path).run(SAXPY)
    assert max(call["bytes"] for call in done.calls("copy")) < 400
    assert done.calls("synchronize")
    (launch,) = [call for call in done.calls("launch") if call["kernel"].startswith("saxpy") and call["block"][0] == 32]
    assert launch["grid"] == [132 * 2, 1, 1]
    assert launch["stream"] == 0


def test_tensors_on_the_host_are_copied(tmp_path):
    done = Emulation(tmp_path, tensors_on_device=False).run(SAXPY)
    assert len(done.calls("copy", direction="HtoD", bytes=400)) == 2
    assert len(done.calls("copy", direction="DtoH", bytes=400)) == 2


PRODUCTS = (
    START
    + """
@ti.kernel
def products(a: ti.types.ndarray(ti.f32, 2), b: ti.types.ndarray(ti.f32, 2), out: ti.types.ndarray(ti.f32, 1)):
    ti.loop_config(block_dim=32)
    for i in range(a.shape[0]):
        total = 0.0
        for k in range(a.shape[1]):
            total = total + a[i, k] * b[i, k]
        out[i] = ti.sqrt(total)

out = np.zeros(5, np.float32)
products(np.ones((5, 9), np.float32), np.ones((5, 9), np.float32), out)
ti.sync()
assert out.tolist() == [3] * 5
"""
)


def test_a_kernel_is_counted(tmp_path):
    done = Emulation(tmp_path, count=True).run(PRODUCTS)
    (count,) = [count for count in done.counts if count["flops"]]
    assert count["threads"] == 132 * 2 * 32  # Taichi's threads take the 5 rows in turn
    assert count["flops"] == 5 * 9 * 2  # a fused product and sum each
    assert count["float_loads"] == 5 * 9 * 2
    assert count["stores"] == 5
    assert count["special"] == 5


def test_without_kernels_the_ptx_is_kept(tmp_path):
    done = Emulation(tmp_path, kernels=False, sm=75).run(PRODUCTS.replace("assert out", "out"))
    assert ".target sm_75" in done.modules[-1].read_text()
    assert not list(done.modules[-1].parent.glob("*.so"))


def test_a_second_run_compiles_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_EMULATION_CACHE", str(tmp_path / "cache"))
    ages = []
    for _ in range(2):
        Emulation(tmp_path / "runs").run(PRODUCTS)
        ages.append({path: path.stat().st_mtime_ns for path in (tmp_path / "cache").glob("*.so")})
    assert ages[0] == ages[1]
    assert len(ages[0]) == 2  # Taichi's run time, and the kernel's


BARRIER = (
    START
    + """
@ti.kernel
def meet(x: ti.types.ndarray(ti.i32, 1)):
    ti.loop_config(block_dim=32)
    for i in x:
        ti.simt.block.sync()
        x[i] = 1

meet(np.zeros(32, np.int32))
"""
)


def test_what_is_not_emulated_is_refused_by_name(tmp_path):
    done = Emulation(tmp_path).run(BARRIER, check=False)
    assert done.returncode != 0
    lines = done.modules[-1].read_text().splitlines()
    number = 1 + next(i for i, line in enumerate(lines) if "bar.sync" in line)
    assert f"line {number}: bar.sync 0 is not emulated" in done.stderr


DRIVER_API = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
def call(name, *arguments):
    assert (error := getattr(cuda, name)(*arguments)) == 0, (name, error)
context, module, kernel, stream = (ctypes.c_void_p() for _ in range(4))
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
assert cuda.cuStreamCreate(ctypes.byref(stream), 0) == 201  # this thread has no context
call("cuCtxSetCurrent", context)
call("cuModuleLoadData", ctypes.byref(module), open(sys.argv[1], "rb").read())
call("cuModuleGetFunction", ctypes.byref(kernel), module, b"twice")
call("cuStreamCreate", ctypes.byref(stream), 0)
numbers = (ctypes.c_int * 64)(*range(64))
address = ctypes.c_uint64(ctypes.addressof(numbers))
parameters = (ctypes.c_void_p * 1)(ctypes.addressof(address))
call("cuLaunchKernel", kernel, 2, 1, 1, 32, 1, 1, 0, stream, parameters, None)
call("cuStreamSynchronize", stream)
call("cuModuleUnload", module)
assert list(numbers) == [2 * i for i in range(64)]
"""

TWICE = """
.version 7.1
.target sm_80
.address_size 64
.visible .entry twice(
	.param .u64 twice_param_0
)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [twice_param_0];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r4, %r1, %r2, %r3;
	mul.wide.s32 %rd2, %r4, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r5, [%rd3];
	shl.b32 %r5, %r5, 1;
	st.global.u32 [%rd3], %r5;
	ret;
}
"""


def test_the_drivers_functions_can_be_called(tmp_path):
    ptx = tmp_path / "twice.ptx"
    ptx.write_text(TWICE)
    done = Emulation(tmp_path).run(DRIVER_API, ptx)
    (launch,) = done.calls("launch")
    assert launch["stream"] == done.calls("stream")[0]["stream"] == done.calls("synchronize")[0]["stream"] != 0
    assert len(done.calls("unload")) == 1


def test_a_large_kernel_is_translated_in_seconds():
    start = TWICE.index("\tmov.u32 %r1")
    begin = time.perf_counter()
    text = translated(TWICE[:start] + TWICE[start : TWICE.index("\tret;")] * 5000 + "\tret;\n}\n")
    assert text.count("\n") > 45000
    assert time.perf_counter() - begin < 20  # half a second, on a machine that does nothing else


def test_ptxas_reports_registers(tmp_path):
    path = tmp_path / "twice.ptx"
    path.write_text(TWICE)
    report = ptxas.ptxas_report(path, 90)
    if report is None:
        pytest.skip("ptxas is not to be found: set TUMBLE_PTXAS, or pip install nvidia-cuda-nvcc-cu12")
    assert 0 < report["twice"].registers < 32
    assert report["twice"].spill_loads == 0


def test_the_report_of_ptxas_is_read(tmp_path, monkeypatch):
    """Its words, as it wrote them for a kernel that calls a function; so they are read where the tool is not."""
    text = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'twice' for 'sm_90'
ptxas info    : Function properties for twice
    200 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 200 bytes cumulative stack size
ptxas info    : Function properties for body
    0 bytes stack frame, 160 bytes spill stores, 248 bytes spill loads
"""
    tool = tmp_path / "ptxas"
    tool.write_text(f"#!/bin/sh\ncat <<'END'\n{text}END\n")
    tool.chmod(0o755)
    monkeypatch.setenv("TUMBLE_PTXAS", str(tool))
    ptx = tmp_path / "twice.ptx"
    ptx.write_text(TWICE.replace("\tret;", "\tcall body;\n\tret;") + ".func body()\n{\n\tret;\n}\n")
    assert ptxas.ptxas_report(Path(ptx), 90) == {"twice": ptxas.Usage(255, 200, 172, 256)}

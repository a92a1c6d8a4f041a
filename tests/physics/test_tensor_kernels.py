"""Kernels over tensors on a CPU: every item is done once, by any number of threads; no Taichi in the user's process."""

import os
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path

import pytest
import torch

import tumble
from tumble.physics.machine.codegen import loops
from tumble.physics.run import tensor_kernels
from tumble.physics.run.programs import can_compile_apart
from tumble.physics.run.tensor_kernels import LoopProgram, Recipe, shared_kernels

apart = pytest.mark.skipif(not can_compile_apart(), reason="nothing can be compiled apart here")
HERE = Path(__file__).resolve().parent
KERNELS = HERE / "loops"
"""A folder of its own, from which any process may import: here are modules with the names of Python's."""
REAL = {"f32": torch.float32, "f64": torch.float64}


def own(make, *arguments):
    """Recipe of a kernel of `loop_kernels`, under a name by which other processes can import it."""
    return Recipe(getattr(import_module("loop_kernels"), make), arguments)


def counting(real="f32", threads=1):
    """The kernel of `counting_kernel`, of a runtime with so many threads."""
    runtime = tumble.init(precision=real[1:], threads=threads)
    (kernel,) = shared_kernels(runtime, real, (own("counting_kernel", real),), "a test")
    return kernel


def count(kernel, real, rows, columns, number=3):
    """Launch it on rows * columns items; what it told, and how often each was done."""
    a = torch.full((rows, 1, 2), 200, dtype=torch.uint8)
    b = torch.full((1, 1, 2, 1), 0.125, dtype=REAL[real])
    told = torch.zeros((rows * columns, 2), dtype=REAL[real])
    done = torch.zeros(rows * columns, dtype=torch.int32)
    kernel((number, a, b, 0.1, -1, told, done))
    return told, done


def tell():
    """Print how often each of four items was done."""
    print(count(counting(), "f32", 2, 2)[1].tolist())


@pytest.fixture(autouse=True)
def own_kernels_and_runtime(monkeypatch):
    """Later tests in this process make their solvers of the runtime that they find."""
    monkeypatch.syspath_prepend(KERNELS)
    yield
    tumble.init(precision="32")


@apart
@pytest.mark.parametrize("real", ["f32", "f64"])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_item_is_done_once_with_all_arguments(real, threads):
    kernel = counting(real, threads)
    assert isinstance(kernel, LoopProgram)
    for rows, columns in ((1, 1), (1, 31), (33, 1), (7, 4567), (1, 0), (2, 50_000)):
        told, done = count(kernel, real, rows, columns)
        assert (done == 1).all()
        assert (told[:, 0] == 202.125).all()
        assert torch.equal(told[:, 1], torch.tensor(0.1, dtype=REAL[real]) * torch.arange(rows * columns))


@apart
def test_threads_of_the_user_launch_it_at_the_same_time():
    kernel, right = counting(threads=2), []

    def launch(number):
        for _ in range(200):
            told, done = count(kernel, "f32", 3, 100, number)
            right.append(bool((done == 1).all() and (told[:, 0] == number + 199.125).all()))

    threads = [threading.Thread(target=launch, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 800


@apart
def test_bits_are_those_of_taichi_in_this_process(monkeypatch):
    told, done = count(counting(), "f32", 5, 77)
    monkeypatch.setattr(tensor_kernels, "can_compile_apart", lambda: False)
    kernel = counting()
    assert not isinstance(kernel, LoopProgram)
    told_by_taichi, done_by_taichi = count(kernel, "f32", 5, 77)
    assert torch.equal(told, told_by_taichi) and torch.equal(done, done_by_taichi)


@apart
@pytest.mark.parametrize(("make", "what"), [("two_loops", "is one loop"), ("short_literals", "literals' type")])
def test_other_kernels_are_refused(make, what):
    (program,) = tensor_kernels.loop_programs("f64", [own(make)], 1, "a test")
    with pytest.raises(RuntimeError, match=what):
        program((torch.zeros(3),))


RUNTIME = "ptr, ptr, ptr, ptr, ptr, [512 x ptr], [512 x i64], ptr, ptr, [1024 x ptr], [1024 x ptr], [1024 x ptr], ptr"
TASKS = f"""
%struct.LLVMRuntime = type {{ {{ ptr, ptr, i64 }}, {{ ptr, ptr, i64 }}, {RUNTIME} }}
define void @fill_c1_kernel_1_range_for(ptr %context) {{
  call void %14(ptr noundef %16, i32 noundef 7, ptr noundef nonnull @cpu_parallel_range_for_task) #1
}}
"""


@apart
def test_another_runtime_of_taichi_is_refused():
    text = loops.loop_stands_alone(TASKS)
    assert "call void @tumble_share(ptr noundef %16" in text
    assert f"@{loops.BEFORE}(ptr %context) {{\n  ret void" in text
    with pytest.raises(ValueError, match="elsewhere"):
        loops.loop_stands_alone(TASKS.replace("[512 x i64]", "[511 x i64]"))
    with pytest.raises(ValueError, match="at one place; here are 0"):
        loops.loop_stands_alone(TASKS.replace("call void %14", "call void @other"))
    with pytest.raises(ValueError, match=r"this one has \['listgen', 'range_for'\]"):
        loops.loop_stands_alone(TASKS + "define void @fill_c1_kernel_0_listgen(ptr %context) {}")


ALL_OF_THEM = """
import subprocess, sys
import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.rendering import BatchRenderer
if sys.argv[1] == "warm":
    def refuse(*_, **__): raise SystemExit("a process was started")
    subprocess.Popen.__init__ = refuse
xml = '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 1"><joint type="slide" axis="0 0 1"/>'
solver = RigidSolver(Model.from_mjcf(xml + '<geom size=".1"/></body></worldbody></mujoco>'), 2, lanes=4)
solver.step()
print(BatchRenderer(solver.model, 16, 16).render(solver).sum().item())
print(solver.ray([0, 0, 3], [0, 0, -1], normals=True))
print(solver.distance(0, 1))
from taichi.lang import impl
print(impl.get_runtime().prog)
"""


@apart
def test_a_warm_process_starts_neither_taichi_nor_a_compiler():
    printed = []
    for kind in ("cold", "warm"):
        command = [sys.executable, "-c", ALL_OF_THEM, kind]
        done = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parents[2])
        assert done.returncode == 0, done.stderr
        printed.append([line for line in done.stdout.splitlines() if not line.startswith("[Taichi] version")])
    assert printed[0] == printed[1]
    assert printed[0][-1] == "None"


@apart
def test_they_are_compiled_without_a_home(tmp_path):
    """Taichi asserts that there is one; and with nothing kept, every process compiles."""
    script = "import sys; from tumble.physics.machine.libraries import load_taichi; load_taichi(); "
    script += f"sys.path += {[str(KERNELS), str(HERE)]}; from test_tensor_kernels import *; tell()"
    place = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    command, place = [sys.executable, "-W", "ignore", "-c", script], {**place, "TUMBLE_CACHE": str(tmp_path)}
    done = subprocess.run(command, env=place, capture_output=True, text=True, cwd=HERE.parents[2])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[1, 1, 1, 1]" and len(list(tmp_path.glob("*.code"))) == 1

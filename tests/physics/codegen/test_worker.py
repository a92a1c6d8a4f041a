"""Workers take every item once, whoever is quicker, and leave the state of the processor as it was."""

import ctypes

import numpy as np
import pytest

from tumble.physics.machine.codegen import worker as module
from tumble.physics.machine.codegen.ir import ENTRY
from tumble.physics.machine.codegen.llvm import llvm, load, machine_code
from tumble.physics.machine.codegen.pool import Pool
from tumble.physics.machine.codegen.worker import BEFORE, COUNT, ITEM, TAKEN, of_workers

WORDS = 7  # of a context: eight bytes each
ON_ITEM = f"""
define void @{ENTRY}(ptr %context) {{
  %array = load ptr, ptr %context
  %place = getelementptr i8, ptr %context, i64 {ITEM}
  %item.at = load ptr, ptr %place
  %item = load i32, ptr %item.at
  %shifted = add i32 %item, 1
  %counter = getelementptr i32, ptr %array, i32 %shifted
  %before = load i32, ptr %counter
  %after = add i32 %before, 1
  store i32 %after, ptr %counter
  %tiny.at = getelementptr i8, ptr %context, i64 8
  %tiny.place = load ptr, ptr %tiny.at
  %tiny = load float, ptr %tiny.place
  %half = fmul float %tiny, 5.000000e-01
  %half.place = getelementptr float, ptr %tiny.place, i32 1
  store float %half, ptr %half.place
  ret void
}}
"""


@pytest.fixture(scope="module")
def entry():
    (address,) = load(machine_code(of_workers(ON_ITEM)), ENTRY)
    return address


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_every_item_is_taken_once(entry, threads):
    """And what comes before, by every worker."""
    items = 20_000
    for _ in range(20):
        numbers = np.array([0, items], np.int32)  # taken, and how many there are
        tiny = np.full((threads, 2), np.finfo(np.float32).tiny)
        done, taken = np.zeros((threads, items + 1), np.int32), np.zeros(threads, np.int32)
        contexts = np.zeros((threads, WORDS), np.uint64)
        for worker in range(threads):
            contexts[worker, 0], contexts[worker, 1] = done[worker].ctypes.data, tiny[worker].ctypes.data
            contexts[worker, TAKEN // 8], contexts[worker, COUNT // 8] = numbers.ctypes.data, numbers[1:].ctypes.data
            contexts[worker, ITEM // 8] = taken[worker:].ctypes.data
        Pool(threads).bind(entry, [row.ctypes.data for row in contexts])()
        assert (done[:, BEFORE + 1] == 1).all()
        assert (done[:, 1:].sum(axis=0) == 1).all()


def test_denormal_results_are_zero_while_it_works_and_not_after(entry):
    numbers, item = np.array([0, 0], np.int32), np.zeros(1, np.int32)
    tiny, done = np.full(2, np.finfo(np.float32).tiny), np.zeros(1, np.int32)
    context = np.zeros(WORDS, np.uint64)
    context[[0, 1, TAKEN // 8, COUNT // 8, ITEM // 8]] = [
        *(array.ctypes.data for array in (done, tiny, numbers, numbers[1:], item))
    ]
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(entry)(context.ctypes.data)
    assert tiny[1] == 0.0
    assert tiny[0] * np.float32(0.5) > 0.0


@pytest.mark.parametrize("architecture", ["x86_64", "aarch64"])
def test_it_compiles_for_every_architecture(architecture, monkeypatch):
    monkeypatch.setattr(module, "architecture", lambda: architecture)
    binding = llvm()
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    target = binding.Target.from_triple(f"{architecture}-unknown-unknown").create_target_machine()
    assert ENTRY.encode() in target.emit_object(binding.parse_assembly(of_workers(ON_ITEM)))

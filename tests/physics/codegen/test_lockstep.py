"""Functions in lanes: the numbers are those of one lane after the other, whatever branches and loops it takes."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from tumble.physics.machine.codegen.llvm import load, machine_code, promoted_machine_code
from tumble.physics.machine.codegen.lockstep import in_lockstep
from tumble.physics.run.programs import can_compile_apart

from .random_ways import RandomWays, optimised

pytestmark = pytest.mark.skipif(not can_compile_apart(), reason="there is no LLVM here")
TEXT = (Path(__file__).parent / "branches.ll").read_text()
CALL = """
define void @call(ptr %context, i32 %item) {
  call void @function_body(ptr %context, ptr null, i32 %item)
  ret void
}
"""


def in_plain_words(x, n):
    """Do in Python what the function of `branches.ll` does for the number of each lane."""
    count = len(x)
    total, out, k, rank = (np.zeros(count, np.float32) for _ in range(4))
    playing = np.ones(count, bool)
    for turn in range(n):
        line = 0
        for i in np.flatnonzero(playing):
            if x[i] < 5:
                total[i] += np.float32(turn)
                rank[i], line = line, line + 1
                if turn == x[i]:
                    out[i], playing[i] = 1000, False
                    continue
            else:
                total[i] += np.sqrt(np.float32(x[i]))
                for _ in range(x[i]):
                    total[i] += np.float32(1)
                total[i] += np.float32(x[i] - 1)
                rank[i] = 0
            k[i] = turn + 1
    out[playing] = n
    switched = np.array([{1: 10, 7: 70}.get(number, 0) for number in x.tolist()], np.float32)
    return total + out + switched + k + np.float32(x.max()) + rank


@pytest.mark.parametrize("width", [4, 8, 16])
def test_each_lane_goes_its_own_way(width):
    (call,) = load(promoted_machine_code(in_lockstep(TEXT, "function_body", width) + CALL), "call")
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32)(call)
    for n in (0, 1, 3, 9):
        x = np.random.default_rng(n).integers(0, 12, 2 * width).astype(np.int32)
        out = np.zeros(2 * width, np.float32)
        context = np.array([x.ctypes.data, out.ctypes.data, n | width << 32], np.uint64)
        function(context.ctypes.data, 1)
        np.testing.assert_array_equal(out, np.append(np.zeros(width), in_plain_words(x[width:], n)))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            "  %r = call float @llvm.sqrt.f32(float %xf)",
            "  %r = atomicrmw fadd ptr %p, float %xf monotonic",
            "no vectors",
        ),
        ("store float %sum, ptr %q", "store float %sum, ptr %out", "no vectors for store"),
    ],
)
def test_what_has_no_vectors_is_refused(before, after, message):
    assert before in TEXT
    with pytest.raises(ValueError, match=message):
        in_lockstep(TEXT.replace(before, after), "function_body", 8)


def test_a_function_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="no function other"):
        in_lockstep(TEXT, "other", 8)


@pytest.mark.parametrize("seed", range(8))
def test_random_ways(seed):
    """Beside the same function for one lane after the other, which LLVM compiles as it is."""
    text, width = RandomWays(seed).text(), 8
    one = text.replace("call float @atan2f(float %item.number, float 1.234500e+04)", "fadd float %item.number, 0.0")
    assert one != text
    codes = promoted_machine_code(in_lockstep(optimised(text), "function_body", width) + CALL), machine_code(one + CALL)
    side_by_side, each = (ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32)(load(c, "call")[0]) for c in codes)
    for n in range(4):
        x = np.random.default_rng(n).integers(-9, 99, width).astype(np.int32)
        found, expected = np.zeros((2, width), np.int32)
        for out, call, items in ((found, side_by_side, [0]), (expected, each, range(width))):
            context = np.array([x.ctypes.data, out.ctypes.data, n], np.uint64)
            for item in items:
                call(context.ctypes.data, item)
        np.testing.assert_array_equal(found, expected)

"""Kernels over tensors for `test_tensor_kernels.py`; the process that compiles imports this file by itself."""

from typing import Any

import taichi as ti


def counting_kernel(real: str) -> Any:
    """A kernel that counts how often every item is done, and tells its arguments, of all kinds and in no order."""
    dtype = getattr(ti, real)
    ints, bytes_, reals = ti.types.ndarray(ti.i32, 1), ti.types.ndarray(ti.u8, 3), ti.types.ndarray(dtype, 4)

    @ti.kernel
    def count(
        first: ti.i32, a: bytes_, b: reals, scale: dtype, c: ti.i32, told: ti.types.ndarray(dtype, 2), done: ints
    ):
        for i, j in ti.ndrange(a.shape[0], done.shape[0] // ti.max(a.shape[0], 1)):
            item = i * (done.shape[0] // a.shape[0]) + j
            ti.atomic_add(done[item], 1)
            told[item, 0] = ti.cast(first + c + a[i, 0, 1], dtype) + b[0, 0, 1, 0]
            told[item, 1] = scale * ti.cast(item, dtype)

    return count


def two_loops() -> Any:
    """A kernel that threads would have to share twice."""

    @ti.kernel
    def fill(x: ti.types.ndarray(ti.i32, 1)):
        for i in range(x.shape[0]):
            x[i] = i
        for i in range(x.shape[0]):
            x[i] = x[x.shape[0] - 1 - i]

    return fill


def short_literals() -> Any:
    """A kernel with an argument of another type than its literals, which are to be f64."""

    @ti.kernel
    def fill(x: ti.types.ndarray(ti.f32, 1), scale: ti.f32):
        for i in range(x.shape[0]):
            x[i] = scale

    return fill

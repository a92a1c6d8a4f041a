"""Lane vectors stay whole from Taichi's code to LLVM's, so that the code is not 16 times as long at 16 lanes.

Taichi 1.7.4 splits vectors into scalars by default (`real_matrix_scalarize`), and LLVM's SLP pass packs them again,
which takes half of the compile time. Taichi can also generate code for vectors, but not for every operation
(codegen_llvm.cpp). `use_vectors` replaces the other operations while a kernel is traced, by ones that Taichi supports
or by one operation per lane.

The replacement holds for all kernels of a process, so only the process that compiles the solver's stages calls it.
Other processes, and systems on which LLVM cannot use opaque pointers, split vectors as before, with the same bits.
"""

from collections.abc import Callable
from typing import Any

import taichi as ti
from taichi._lib import core
from taichi.lang import impl, ops
from taichi.lang.common_ops import TaichiOperations
from taichi.lang.ops import is_taichi_expr

from ..compiler import ask

OPAQUE_POINTERS = "-opaque-pointers=1"
"""LLVM's option for opaque pointers: Taichi loads a vector through a pointer to its first number, which LLVM refuses
for typed pointers."""
SETTINGS = {"real_matrix_scalarize": False}
"""Further arguments of `ti.init`."""

_AS_IT_IS = (core.expr_sqrt, core.expr_floor, core.expr_ceil, core.expr_round, core.expr_bit_not, core.expr_logic_not)
_unary, _binary, _cast = ops._unary_operation, ops._binary_operation, ops.cast
_add, _subtract, _assign = ops.atomic_add, ops.atomic_sub, TaichiOperations._assign
_in_use = False


def use_vectors() -> bool:
    """Make Taichi keep vectors in all kernels that this process traces from now on; to be called before `ti.init`.

    Returns:
        True if vectors are kept; False if LLVM cannot use opaque pointers.
    """
    global _in_use
    if not _in_use and ask(OPAQUE_POINTERS):
        ops._unary_operation, ops._binary_operation = _unary_of_vectors, _binary_of_vectors
        ops.cast = ti.cast = _cast_of_vectors
        ops.atomic_add, ops.atomic_sub = _add_to_vector, _subtract_from_vector
        TaichiOperations._assign = _assign_to_vector
        _in_use = True
    return _in_use


def element(number: Any, lane: Any) -> Any:
    """Return one lane of a vector, assignable; the lane may be known only at run time.

    For a vector in a field, Taichi 1.7.4 takes a lane known at compile time for a distance in bytes
    (LowerAOSGlobalPtr in lower_matrix_ptr.cpp). Such vectors are marked by `mark_in_field`.
    """
    size = getattr(number, "_bytes_of_lane", 1) if isinstance(lane, int) else 1
    return impl.subscript(None, number, lane * size)


def mark_in_field(number: Any, dtype: Any) -> Any:
    """Return the same vector, marked as lying in a field of this type."""
    if _in_use:
        number._bytes_of_lane = 8 if dtype == ti.f64 else 4
    return number


def _is_vector(x: Any) -> bool:
    return is_taichi_expr(x) and x.is_tensor()


def _lanes_of(x: Any) -> list:
    """Return the numbers of a vector, which is stored in a variable first."""
    named = impl.expr_init(x)
    return [impl.subscript(None, named, lane) for lane in range(x.get_shape()[0])]


def _vector_of(numbers: list, dtype: Any) -> Any:
    """Return a vector of this type, where `ti.Vector` would use the kernel's default type."""
    return impl.expr_init(ti.types.vector(len(numbers), dtype)(numbers))


def _unary_of_vectors(op: Callable, python_op: Callable, a: Any) -> Any:
    """Emit an operation on a vector: as it is, by operations that Taichi can vectorise, or lane by lane."""
    if not _is_vector(a) or op in _AS_IT_IS:
        return _unary(op, python_op, a)
    if op is core.expr_neg:  # Taichi treats a negated vector as integers; LLVM turns the product into a sign change
        return ops.mul(a, -1)
    if op is core.expr_abs:  # LLVM makes fabs of this; of max(x, -x) it may not, and |-0.0| would be -0.0
        named = impl.expr_init(a)
        return ops.select(ops.cmp_gt(named, 0), named, ops.sub(0, named))
    if op is core.expr_rsqrt:
        return ops.truediv(1.0, ops.sqrt(a))
    return _vector_of([_unary(op, python_op, number) for number in _lanes_of(a)], a.element_type())


def _binary_of_vectors(op: Callable, python_op: Callable, a: Any, b: Any) -> Any:
    """Emit an operation on vectors; powers and arctangents lane by lane."""
    if op not in (core.expr_pow, core.expr_atan2) or not (_is_vector(a) or _is_vector(b)):
        return _binary(op, python_op, a, b)
    vector = a if _is_vector(a) else b
    width = vector.get_shape()[0]
    sides = (_lanes_of(x) if _is_vector(x) else [x] * width for x in (a, b))
    pairs = zip(*sides, strict=True)
    return _vector_of([_binary(op, python_op, x, y) for x, y in pairs], vector.element_type())


def _cast_of_vectors(x: Any, dtype: Any) -> Any:
    if not _is_vector(x):
        return _cast(x, dtype)
    dtype = ops.cook_dtype(dtype)
    if x.element_type() == dtype:
        return x
    return _vector_of([_cast(number, dtype) for number in _lanes_of(x)], dtype)


def _of_the_type_of(x: Any, y: Any) -> Any:
    """Return the value y converted to the type of a variable x: Taichi converts scalars, but crashes on vectors."""
    return _cast_of_vectors(y, x.element_type()) if _is_vector(x) and _is_vector(y) else y


def _assign_to_vector(x: Any, y: Any) -> None:
    _assign(x, _of_the_type_of(x, y))


def _add_to_vector(x: Any, y: Any) -> Any:
    return _add(x, _of_the_type_of(x, y))


def _subtract_from_vector(x: Any, y: Any) -> Any:
    return _add_to_vector(x, ops.mul(y, -1)) if _is_vector(x) else _subtract(x, y)

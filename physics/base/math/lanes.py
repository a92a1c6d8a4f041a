"""Lanes: W environments side by side in one SIMD register, and values made of them.

On a CPU a number of the solver is `ti.types.vector(W, fp)`; at W = 1 it is a plain scalar. LLVM's SLP pass packs the
scalarised arithmetic into vector instructions, of 512 bits if the lanes have as many (measured: `benchmarks/lanes.py`).
"""

from collections.abc import Callable, Sequence
from copy import copy
from functools import reduce
from operator import or_
from typing import Any

import taichi as ti
from taichi.lang import impl
from taichi.lang.expr import Expr, make_constant_expr

from ...machine.codegen.vectors import element
from ...machine.compiler import WHOLE_REGISTERS, ask
from .func import func


def traced(function: Any) -> Any:
    """Mark a Python function that is called while kernels are traced, so that Taichi does not warn."""
    function._is_wrapped_kernel = True
    return function


@traced
def let(value: Any) -> Any:
    """Store an intermediate result in a local variable of the kernel; otherwise each use would compute it again."""
    return impl.expr_init(value)


class LaneValue:
    """The base class of values made of several lane numbers, usable as local variables of a kernel.

    A subclass lists its components in `parts()`. Constructors make the components local variables (`let`), so a
    value is a copy. Binding a second name to a value does not copy it: write `b = a.copy()` if one of the two is
    assigned to afterwards.
    """

    _data_oriented = True  # makes Taichi's `expr_init` keep the object as it is
    _is_wrapped_kernel = True

    def __init_subclass__(cls) -> None:
        for member in vars(cls).values():
            if callable(member) or isinstance(member, (staticmethod, classmethod)):
                traced(getattr(member, "__func__", member))

    def parts(self) -> tuple:
        """Return the components, lane numbers or lane values, in the order of the constructor's arguments."""
        raise AssertionError(f"{type(self).__name__} lists no components")

    @traced
    def numbers(self) -> list:
        """Return the lane numbers of all components, in storage order."""
        return [n for part in self.parts() for n in (part.numbers() if isinstance(part, LaneValue) else [part])]

    @traced
    def copy(self) -> Any:
        """Return a copy in new local variables."""
        return type(self)(*self.parts())

    def _assign(self, other: "LaneValue") -> None:
        for mine, theirs in zip(self.parts(), other.parts(), strict=True):
            mine._assign(theirs)

    def _augassign(self, other: Any, operator: str) -> None:
        operations = {"Add": lambda: self + other, "Sub": lambda: self - other, "Mult": lambda: self * other}
        self._assign(operations[operator]())


def is_lanes(value: Any) -> bool:
    """Return True if a number is a vector with one entry per lane already."""
    return isinstance(value, Expr) and value.is_tensor()


class Lanes:
    """Width and precision of the lane values in one kernel.

    Args:
        width: environments side by side: 1, 4, 8 or 16.
        dtype: `ti.f32` or `ti.f64`.
    """

    _data_oriented = True

    def __init__(self, width: int, dtype: Any) -> None:
        self.width = width
        self.dtype = dtype
        self.double = dtype == ti.f64
        self.type = ti.types.vector(width, dtype) if width > 1 else dtype
        if width * (64 if self.double else 32) == 512:
            ask(WHOLE_REGISTERS)

    def doubled(self) -> "Lanes":
        """Return as many lanes in double precision, for rare code; LLVM is not asked for 512-bit registers for them."""
        other = copy(self)
        other.dtype, other.double = ti.f64, True
        other.type = ti.types.vector(self.width, ti.f64) if self.width > 1 else ti.f64
        return other

    def single(self) -> "Lanes":
        """Return one lane at the same precision: its numbers are plain scalars, and code may branch on them."""
        other = copy(self)
        other.width, other.type = 1, self.dtype
        return other

    @traced
    def wider(self, width: int) -> "Lanes":
        """So many numbers side by side at the same precision, for code in which they are not environments."""
        other = copy(self)
        other.width, other.type = width, ti.types.vector(width, self.dtype)
        return other

    @traced
    def real(self, value: Any) -> Any:
        """Return a lane number: a scalar repeated in every lane, or a vector of lanes converted to this precision."""
        if self.width == 1 or is_lanes(value):
            return let(ti.cast(value, self.dtype))
        return let(self.type(value))

    @traced
    def constant(self, value: float) -> Any:
        """Return a literal at this precision, with more digits than the kernel's default type may keep."""
        return make_constant_expr(value, self.dtype)

    @traced
    def cast(self, value: Any) -> Any:
        """Convert a number, or a lane value, to this precision."""
        if isinstance(value, LaneValue):
            return type(value)(*(self.cast(part) for part in value.parts()))
        return let(ti.cast(value, self.dtype))

    @traced
    def mask(self, condition: Any) -> Any:
        """Return the mask of a comparison of lane numbers: 1.0 in lanes where it holds, 0.0 in the others."""
        return let(ti.select(condition, self.real(1.0), self.real(0.0)))

    @traced
    def any(self, mask: Any) -> Any:
        """Return True if a mask is set in any lane: a scalar that can control an `if` or a loop."""
        if self.width == 1:
            return mask > 0.5
        lanes = [element(mask, lane) > 0.5 for lane in range(self.width)]
        return reduce(or_, lanes)  # LLVM makes one vector comparison and one test of its bits

    @traced
    def largest(self, value: Any) -> Any:
        """The largest of the numbers in all lanes, a plain number."""
        value = let(value)
        return value if self.width == 1 else reduce(ti.max, [element(value, lane) for lane in range(self.width)])

    @traced
    def each_by(self, count: int, numbers_of: Callable[[int], Sequence[Any]]) -> list[Any]:
        """Compose `count` lane numbers from each lane's plain ones, which `numbers_of(lane)` returns."""
        values = [self.real(0.0) for _ in range(count)]
        for lane in range(self.width):
            for value, number in zip(values, numbers_of(lane), strict=True):
                self.put(value, lane, number)
        return values

    @traced
    def get(self, value: Any, lane: int) -> Any:
        """Return the number in one lane; `lane` is a Python integer."""
        return value if self.width == 1 else element(value, lane)

    @traced
    def put(self, variable: Any, lane: int, number: Any) -> None:
        """Set the number in one lane of a local lane variable; `lane` is a Python integer."""
        (variable if self.width == 1 else element(variable, lane))._assign(ti.cast(number, self.dtype))


@func
def for_each_lane(lanes, routine, arguments):
    """Call routine(lane, *arguments) for one lane after the other, in a run-time loop."""
    for lane in range(lanes.width):
        routine(lane, *arguments)


@func
def in_each_lane(routine, model, work, arguments):
    """Call routine(model, work, *arguments) with the plain numbers of one lane after the other, on which it may branch.

    The code of the routine is compiled once, for a lane that is known at run time only.
    """
    for lane in range(work.lanes.width):
        routine(model.lane(lane), work.lane(lane), *arguments)


@func
def in_lanes_of(mask, routine, model, work, arguments):
    """Do as `in_each_lane`, in the lanes that are set in a mask: item 0 of the field `mask` of the workspace."""
    for lane in range(work.lanes.width):
        if mask.of_lane(work.lanes, lane, 0) > 0.5:
            routine(model.lane(lane), work.lane(lane), *arguments)

"""Fields: each is declared once; storage, documentation and tests are derived from the declaration.

A field is an array of items; an item is a scalar, a vector, a quaternion, a motion vector, an inertia or a row of
plain numbers. All integer fields of a model are stored one after the other in one flat array, all real ones in another,
and all quantities of a step in a worker's scratch. Offsets are data: one compiled kernel serves every model and every
number of environments.

Indices are 32-bit integers, as Taichi has them, and the compiler has to allow for sums that overflow, unless it can
prove that they do not. So offsets and ids pass through `below`, a mask that changes no value but proves the bound: then
one register addresses all numbers of an item, and sums become part of the loads (a single environment steps an eighth
faster).
"""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import taichi as ti
from taichi.lang.impl import subscript
from taichi.lang.matrix import MatrixField

from ..machine.codegen.vectors import element, mark_in_field
from .math import Quat, SpatialInertia, SpatialMotion, Sym3, Vec3
from .math.lanes import LaneValue, is_lanes, let, traced

SMALL_BITS = 16
"""Bits of the integers of fields declared `small`; the processor zero-extends 16 bits while it loads."""
OFFSET_BITS, ROW_BITS, ITEM_BITS = 28, 29, 30
"""Bits of the offset of a field, of the index of a row of a two-dimensional field, and of the index of an item."""


@traced
def below(bits: int, integer: Any) -> Any:
    """Return an integer that is known to be in [0, 2^bits), so that the compiler knows it as well."""
    return integer & ((1 << bits) - 1)


@dataclass(frozen=True)
class Field:
    """The declaration of one quantity.

    Attributes:
        name: MuJoCo's name if it has one.
        dims: names of the sizes of the array, outermost first, e.g. `("nbody",)` or `("nv", "nv")`.
        width: plain numbers in one item (1, 3: vector, 4: quaternion, 6: motion vector, 10: inertia, or a row).
        unit: SI unit of the numbers; "" if they have none.
        doc: one line of meaning.
        small: True if the numbers are integers from 0 to 65535: ids and counts.
    """

    name: str
    dims: tuple[str, ...]
    width: int
    unit: str
    doc: str
    small: bool = False

    def items(self, sizes: Mapping[str, int]) -> int:
        """Return the number of items."""
        count = 1
        for dim in self.dims:
            count *= sizes[dim]
        return count

    def length(self, sizes: Mapping[str, int]) -> int:
        """Return the number of plain numbers in the whole field."""
        return self.items(sizes) * self.width


def ids(name: str, dims: tuple[str, ...], doc: str) -> Field:
    """Return the declaration of a field of ids or counts, which are `small`."""
    return Field(name, dims, 1, "", doc, small=True)


def layout(fields: tuple[Field, ...], sizes: Mapping[str, int]) -> tuple[dict[str, int], int]:
    """Return the offset of every field if they are stored one after the other, and the total length."""
    offsets, total = {}, 0
    for field in fields:
        offsets[field.name] = total
        total += field.length(sizes)
    return offsets, total


def _load(width: int, at: Any) -> Any:
    """Return an item made of its plain numbers; `at(i)` returns the i-th of them."""
    if width == 1:
        return at(0)
    if width == 3:
        return Vec3(at(0), at(1), at(2))
    if width == 4:
        return Quat(at(0), at(1), at(2), at(3))
    if width == 6:
        return SpatialMotion(Vec3(at(0), at(1), at(2)), Vec3(at(3), at(4), at(5)))
    if width == 10:
        rot = Sym3(at(0), at(1), at(2), at(3), at(4), at(5))
        return SpatialInertia(rot, Vec3(at(6), at(7), at(8)), at(9))
    raise TypeError(f"rows of {width} numbers have no item type: use at(item, column)")


class FieldView:
    """A field inside a kernel: `view[i]` loads an item, `view.put(i, value)` stores one.

    For scalar fields that are not `small`, `view[i] = x` stores too. Two-dimensional fields take `view[i, j]`.
    """

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, field: Field, base: Any, inner: Any, number: Any) -> None:
        self._width, self._base, self._inner, self._number = field.width, base, inner, number
        self.width = field.width
        self._small = field.small

    def _first(self, index: Any) -> Any:
        """Return the index of the first plain number of an item."""
        row = self._base
        if isinstance(index, (tuple, list)):
            outer, index = index
            row = let(below(ROW_BITS, row + outer * self._inner * self._width))
        return let(below(ITEM_BITS, row + index * self._width))

    @traced
    def __getitem__(self, index: Any) -> Any:
        first = self._first(index)
        if self._small:
            return below(SMALL_BITS, self._number(first))
        return _load(self._width, lambda i: self._number(first + i if i else first))

    @traced
    def gather(self, lanes: Any, items: Any, column: int, count: int) -> list:
        """Return `count` plain numbers, from `column` on, of one item per lane; `items` has the index for each lane."""

        def numbers_of(lane: int) -> list:
            first = let(below(ITEM_BITS, self._base + column + lanes.get(items, lane) * self._width))
            return [lanes.get(self._number(first + c if c else first), lane) for c in range(count)]

        return lanes.each_by(count, numbers_of)

    @traced
    def of_lane(self, lanes: Any, lane: Any, index: Any, column: Any = 0) -> Any:
        """Return one plain number of an item in one lane, which may be a run-time integer; it can be assigned to."""
        number = self.at(index, column)
        return number if lanes.width == 1 else element(number, lane)

    @traced
    def in_lane(self, lane: Any) -> "FieldView":
        """Return the view of the field in one lane, which may be a run-time integer: its numbers are plain numbers."""
        one, number = copy(self), self._number
        one._number = lambda i: _in_lane(number(i), lane)
        return one

    @ti.func
    def copy_item(self: ti.template(), index: ti.i32, source: ti.template(), at: ti.i32, count: ti.i32):
        """Copy `count` numbers of item `at` of another field into an item here."""
        for c in range(count):
            self.at(index, c)._assign(source.at(at, c))

    @traced
    def inside(self, other: "FieldView") -> "FieldView":
        """Return the same field in the array of `other`, a copy of the field's own array or of its beginning."""
        view = copy(self)
        view._base, view._number = let(below(OFFSET_BITS, self._base + other._base)), other._number
        return view

    def loading(self, number: Callable[[Any], Any]) -> "FieldView":
        """Return the same field, whose numbers another function loads."""
        view = copy(self)
        view._number = number
        return view

    @traced
    def flat(self) -> "FieldView":
        """Return the same field as its plain numbers, one after the other."""
        view = copy(self)
        view._width = view.width = 1
        return view

    @traced
    def symmetric(self, index: Any) -> Sym3:
        """Return an item of six numbers as a symmetric matrix."""
        first = self._first(index)
        return Sym3(self._number(first), *(self._number(first + i) for i in range(1, 6)))

    @traced
    def put(self, index: Any, value: Any) -> None:
        """Store an item."""
        self.put_numbers(index, 0, value.numbers() if isinstance(value, LaneValue) else [value])

    @traced
    def put_numbers(self, index: Any, column: int, numbers: list) -> None:
        """Store plain numbers in an item, from `column` on."""
        first = self._first(index)
        for i, number in enumerate(numbers):
            self._number(first + (column + i))._assign(number)

    @traced
    def at(self, index: Any, column: Any) -> Any:
        """Return one plain number of an item; it can be assigned to."""
        return self._number(self._first(index) + column)


def _in_lane(number: Any, lane: Any) -> Any:
    """Return the entry of a lane number in one lane; a number without lanes is returned as it is."""
    return element(number, lane) if is_lanes(number) else number


def flat_array(array: Any) -> Any:
    """Return a function that loads a number of a flat array or field by its index."""
    if isinstance(array, MatrixField):
        return lambda i: mark_in_field(subscript(None, array, i), array.dtype)
    return lambda i: subscript(None, array, i)

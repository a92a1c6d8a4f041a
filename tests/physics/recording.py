"""Which fields of the workspace a stage loads and stores, seen while Taichi traces it; nothing is compiled.

A number of a field is an expression of Taichi's. It is stored where it is assigned to, and loaded wherever Taichi takes
the expression's C++ object as part of another one: so nothing depends on how views are written.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import pytest
from taichi.lang import impl
from taichi.lang.expr import Expr

from tumble.physics.base.fields import FieldView
from tumble.physics.base.math import Lanes
from tumble.physics.model.features import Features
from tumble.physics.model.state.views import Workspace
from tumble.physics.run.compile import units
from tumble.physics.run.compile.taichi_code import quick_tracing
from tumble.physics.run.compile.units import make_unit
from tumble.physics.run.kernel import sample_arguments
from tumble.physics.run.tiles.scratch import Scratch

NOT_OF_STAGES = frozenset(("parameters", "precise_parameters"))
"""Fields that no stage declares: numbers of the model."""


class Seen(NamedTuple):
    """Names of the fields that a stage loads, and of those that it stores."""

    reads: set[str]
    writes: set[str]


class _Number(Expr):
    """A number of a field, or a lane of one, which notes what becomes of it."""

    def __init__(self, plain: Expr, name: str, seen: Seen) -> None:
        vars(self).update(vars(plain))
        self._plain, self._name, self._seen = plain, name, seen

    @property
    def ptr(self) -> Any:
        """Taichi's expression, which is asked for to load the number."""
        self._seen.reads.add(self._name)
        return self._plain.ptr

    def is_tensor(self) -> bool:
        """Whether the number has several lanes; that loads nothing."""
        return self._plain.is_tensor()

    def get_shape(self) -> tuple[int, ...]:
        """How many, likewise."""
        return self._plain.get_shape()

    def element_type(self) -> Any:
        """Precision of a lane, likewise."""
        return self._plain.element_type()

    def lane(self, subscript: Callable[..., Any], *lane: Any) -> "_Number":
        """One lane, which can be loaded or stored."""
        return _Number(subscript(None, self._plain, *lane), self._name, self._seen)

    def _assign(self, other: Any) -> Any:
        self._seen.writes.add(self._name)
        return self._plain._assign(other)


class Recorder:
    """Traces stages for one width and precision.

    Args:
        lanes: of the stages' numbers.
    """

    def __init__(self, lanes: Lanes) -> None:
        self._lanes, self._scratch = lanes, Scratch(lanes.width, "64" if lanes.double else "32")

    def seen(self, name: str, has: Features) -> Seen:
        """The fields that a stage loads and stores in a kernel with these features."""
        seen = Seen(set(), set())
        with _recording(seen), quick_tracing():
            kernel, _ = make_unit(name, self._lanes, has, self._scratch)
            kernel._primal.ensure_compiled(*sample_arguments(self._lanes), 0, 0)
        return Seen(seen.reads - NOT_OF_STAGES, seen.writes - NOT_OF_STAGES)

    def seen_with(self, name: str, sets: Iterable[Features], enough: Seen | None = None) -> Seen:
        """The same in kernels with any of several sets of features, or of as many as show enough."""
        found = Seen(set(), set())
        for has in sets:
            seen = self.seen(name, has)
            found = Seen(found.reads | seen.reads, found.writes | seen.writes)
            if enough and found.reads >= enough.reads and found.writes >= enough.writes:
                break
        return found


@contextmanager
def _recording(seen: Seen) -> Iterator[None]:
    plain = impl.subscript

    def subscript(builder: Any, value: Any, *indices: Any, **options: Any) -> Any:
        if isinstance(value, _Number):
            return value.lane(plain, *indices)
        return plain(builder, value, *indices, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(impl, "subscript", subscript)
        patch.setattr(units, "Workspace", partial(_RecordingWorkspace, seen))
        yield


class _RecordingWorkspace(Workspace):
    """A workspace whose fields' numbers note what becomes of them."""

    def __init__(self, seen: Seen, *arguments: Any, **options: Any) -> None:
        self._seen = seen
        super().__init__(*arguments, **options)

    def _views(self, ints: Any, group: str, number: Any, origin: Any) -> dict[str, FieldView]:
        views = super()._views(ints, group, number, origin)
        for name, view in views.items():
            view._number = partial(_number, number, name, self._seen)
        return views


def _number(number: Callable[[Any], Expr], name: str, seen: Seen, place: Any) -> _Number:
    return _Number(number(place), name, seen)

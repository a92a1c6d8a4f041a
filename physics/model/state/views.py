"""Model and workspace inside a kernel: objects whose attributes are fields.

A header at the front of the model's integers holds every size and every offset, in the order of `sizes.HEADER`. So a
kernel contains no number that belongs to one model.
"""

from collections.abc import Callable, Container, Sequence
from copy import copy
from types import SimpleNamespace
from typing import Any

import taichi as ti
from taichi.lang.impl import subscript

from ...base.fields import OFFSET_BITS, ROW_BITS, SMALL_BITS, Field, FieldView, below, flat_array
from ...base.hooks import CONTROLS
from ...base.math import Lanes
from ...base.math.lanes import let, traced
from ..features import Features
from ..parts import TWO_SIDED
from ..tables import fields as model_fields
from . import fields
from .sizes import ARRAYS, FLAGS, GROUPS, HEADER, PARAMETER_FIELDS, SIZES, STRIDES

PARTS = {
    "M_pattern": ("M_rownnz", "M_rowadr", "M_colind", "M_order"),
    "H_pattern": ("H_rownnz", "H_rowadr", "H_colind", "H_order"),
    "blocks": ("block_jar", "block_Jv", "block_friction", "block_force", "block_D", "cone_mu"),
    "own": ("own_jar", "own_Jv", "own_friction", "own_force", "own_D", "own_mu"),
    "acting_ctrl": ("ctrl",),
    "doubled": tuple(field.name for field in fields.DOUBLED),
}
"""The attributes of a workspace that are made of several fields, and these fields."""
ASKED_FOR = {
    "parameters": (*(field.name for field in PARAMETER_FIELDS), "some"),
    "mixed_precision": (*fields.PRECISE, *model_fields.PRECISE, "precise_lanes"),
    "double_solver": ("doubled",),
    "elliptic": ("blocks", "own"),
    **dict.fromkeys(TWO_SIDED, ("blocks",)),
    **{feature: ("acting_ctrl",) for feature, _ in CONTROLS.entries},
}
"""Features that the views themselves read, and the attributes for which they read them."""
_PLACE = {name: place for place, name in enumerate(HEADER)}


class Everything:
    """The set of all names: the names of a view that has all of its attributes."""

    def __contains__(self, name: object) -> bool:
        return True


class Names:
    """The names of a view with few attributes: the given names, and the fields of which they are made.

    Args:
        names: names of attributes; names that no view has are ignored.
        unit: the stage that has these names.
    """

    def __init__(self, names: frozenset[str], unit: str) -> None:
        parts = {part for name in names & set(PARTS) for part in PARTS[name]}
        self._names, self.unit = names | parts, unit

    def __contains__(self, name: object) -> bool:
        return name in self._names


def not_named(name: str, unit: str) -> AttributeError:
    """Return the error for a stage that asks for an attribute that it does not name."""
    return AttributeError(
        f"the stage {unit!r} asks for {name!r}, a name that state/reach.py does not find in its code. If there is such "
        "a field or feature, write the name out in a function of the stage, as an attribute or a string; one that is "
        "put together while the stage is traced is not found"
    )


EVERYTHING = Everything()
"""The names of a view that has all of its attributes."""


class _View:
    """The base class of views.

    Attributes are numbers of the header or fields, loaded when the view is made, if they are among `names`.
    """

    _data_oriented = True
    _is_wrapped_kernel = True
    _names: Container[str] = EVERYTHING

    def __getattr__(self, name: str) -> Any:
        if isinstance(self._names, Names) and not name.startswith("_"):
            raise not_named(name, self._names.unit)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _views(self, ints: Any, group: str, number: Any, origin: Any) -> dict[str, FieldView]:
        """Return the fields of a group by name; `number(i)` returns the i-th number of the array that holds them."""
        views = {}

        def read(name: str, bits: int, shift: Any = 0) -> Any:
            return let(below(bits, subscript(None, ints, _PLACE[name]) + shift))

        for field in GROUPS[group]:
            if field.name not in self._names:
                continue
            inner = read(field.dims[1], SMALL_BITS) if len(field.dims) == 2 else None
            base = read(f"{group}.{field.name}", OFFSET_BITS, origin)
            views[field.name] = FieldView(field, base, inner, number)
        return views

    def _has(self, feature: str, has: Features) -> bool:
        """Return True if the kernel has a feature, and the view an attribute that depends on it (`ASKED_FOR`)."""
        return any(name in self._names for name in ASKED_FOR[feature]) and getattr(has, feature)

    @traced
    def lane(self, lane: Any) -> "LaneView":
        """Return the view of one lane; `lane` is an integer of the kernel."""
        return LaneView(self, lane)


class LaneView:
    """A model or workspace in one lane: the same attributes with plain numbers, for code with branches.

    `lane` may be a run-time integer: such code is compiled once, and called for the lanes that need it.
    """

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, view: Any, lane: Any) -> None:
        self._view, self._lane = view, lane

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._view, name)
        if isinstance(found, FieldView):
            return found.in_lane(self._lane)
        return found.single() if isinstance(found, Lanes) else found

    @traced
    def lane(self, lane: Any) -> "LaneView":
        """Return the view itself: routines that go through lanes find a single one here."""
        return self


class ModelView(_View):
    """The model inside a kernel: `model.nbody`, `model.body_mass[b]`, `model.jnt_axis[j]`, ...

    Args:
        ints: the model's flat integers, header first.
        reals: the model's flat real numbers.
        precise: the same in double precision; None if no stage needs them.
        has: the optional code of this kernel; also available as `model.has`, for `ti.static`.
        names: names of the attributes that the kernel may use.

    The fields in `model.fields.PRECISE` are in double precision as `model.precise.body_pos[b]`; with mixed precision
    `model.body_pos[b]` is the same.
    """

    def __init__(self, ints: Any, reals: Any, precise: Any, has: Features, names: Container[str] = EVERYTHING) -> None:
        self.has, self._names = has, names
        for name in (*SIZES, *FLAGS):
            if name in names:
                setattr(self, name, let(subscript(None, ints, _PLACE[name])))
        vars(self).update(self._views(ints, "integers", flat_array(ints), 0))
        vars(self).update(self._views(ints, "reals", flat_array(reals), 0))
        doubles = FieldView(Field("", (), 1, "", ""), 0, None, flat_array(precise))
        named = (name for name in model_fields.PRECISE if name in names)
        self.precise = SimpleNamespace(**{name: getattr(self, name).inside(doubles) for name in named})
        self._put_precise()

    def _put_precise(self) -> None:
        """Replace the rounded fields by fields in double precision, in a kernel of mixed precision."""
        if self._has("mixed_precision", self.has):
            vars(self).update(vars(self.precise))

    @traced
    def set_env_parameters(self, work: "Workspace") -> None:
        """Read the numbers that environments may override from `work.parameters` from now on, as lane numbers."""
        for view, own in ((self, work.parameters), (self.precise, work.precise_parameters)):
            for field in PARAMETER_FIELDS:
                if field.name in vars(view):
                    setattr(view, field.name, getattr(view, field.name).inside(own))
        self._put_precise()

    @traced
    def any_true(self, lanes: Lanes, condition: Any) -> Any:
        """Return a comparison of such numbers as a condition for `if`: if they are lane numbers, true in any lane."""
        return lanes.any(lanes.mask(condition)) if self.has.parameters else condition


class Rows:
    """The fields of constraint blocks, for `constraint.cost`: of the tile's blocks, or of each lane's own contacts.

    Attributes:
        jar: J qacc - aref.
        Jv: J times the search direction.
        friction: friction coefficients of the axes after the first.
        force: force along the axes of the block.
        two_sided: True if there are two-sided rows, the first `Workspace.ntwosided` (`parts.part.ConstraintRows`).
        elliptic: True if contacts have elliptic cones.
        mu: friction coefficient of the round cone, if `elliptic`.
        contacts_alone: True if all blocks are contacts.
    """

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(
        self,
        jar: FieldView,
        Jv: FieldView,
        friction: FieldView,
        force: FieldView,
        stiffness: FieldView,
        two_sided: bool = False,
        mu: FieldView | None = None,
        contacts_alone: bool = False,
    ) -> None:
        self.jar, self.Jv, self.friction, self.force, self._stiffness = jar, Jv, friction, force, stiffness
        self.two_sided, self.mu, self.contacts_alone = two_sided, mu, contacts_alone
        self.elliptic = mu is not None

    @traced
    def stiffness(self, k: Any, axis: Any) -> Any:
        """Return the stiffness of the rows of `axis` (1, 2, ...), or that of a block's only row if it has one axis."""
        width = self._stiffness.width
        return let(self._stiffness[k] if width == 1 else self._stiffness.at(k, axis - 1))


class Workspace(_View):
    """The scratch of one worker inside a kernel, with its current tile: `work.xpos[b]`, `work.qacc[i]`, ...

    Args:
        lanes: width and precision; also available as `work.lanes`.
        ints: the model's flat integers, header first.
        arrays: `sizes.ARRAYS` of all workers, flat.
        worker: number of the worker.
        has: the optional code of this kernel.
        names: names of the attributes that the kernel may use.
        call_stage: emits a call of a stage that is compiled separately; None: the kernel contains the stage's code.

    In a kernel of mixed precision the fields in `state.fields.PRECISE` are in double precision: numbers of
    `work.xpos[b]` are of `work.precise_lanes`. In all other kernels `work.precise_lanes` is `work.lanes`.

    Attributes:
        ccd_lanes: one lane in double precision, for GJK and EPA.
        double_lanes: all lanes in double precision.
        ntwosided: number of two-sided rows, which are the first blocks; in kernels that have any.
        acting_ctrl: ctrl, or ctrl after the mechanisms that change it.
        doubled: the same workspace with `state.fields.SOLVING` in double precision, and with lanes of this precision;
            in kernels with `Features.double_solver`.
    """

    def __init__(
        self,
        lanes: Lanes,
        ints: Any,
        arrays: Sequence[Any],
        worker: Any,
        has: Features,
        names: Container[str] = EVERYTHING,
        call_stage: Callable[[Any], None] | None = None,
    ) -> None:
        self.lanes, self._names, self.call_stage = lanes, names, call_stage
        self._places = self._find(ints, arrays, worker)
        views = {name: self._views(ints, name, *place) for name, place in self._places.items()}
        self.precise_lanes, self.ccd_lanes = lanes, Lanes(1, ti.f64)
        self.double_lanes = lanes if lanes.double else lanes.doubled()
        mixed = self._has("mixed_precision", has)
        if mixed:
            self.precise_lanes = Lanes(lanes.width, ti.f64)
        for name in ARRAYS if mixed else reversed(ARRAYS):  # a later array hides the fields of an earlier one
            vars(self).update(views[name])
        self._compose(ints, has)

    def _compose(self, ints: Any, has: Features) -> None:
        """Set the attributes in PARTS."""
        names = self._names
        if "M_pattern" in names:
            self.M_pattern = Pattern(self.M_rownnz, self.M_rowadr, self.M_colind, self.M_order)
        if "H_pattern" in names:
            self.H_pattern = Pattern(self.H_rownnz, self.H_rowadr, self.H_colind, self.H_order)
        if "blocks" in names:
            two_sided = any(getattr(has, feature) for feature in TWO_SIDED)
            mu = self.cone_mu if has.elliptic else None
            parts = self.block_jar, self.block_Jv, self.block_friction, self.block_force, self.block_D
            self.blocks = Rows(*parts, two_sided=two_sided, mu=mu)
            if two_sided:
                self.ntwosided = let(subscript(None, ints, _PLACE["ntwosided"]))
        if "own" in names:
            parts = self.own_jar, self.own_Jv, self.own_friction, self.own_force, self.own_D
            self.own = Rows(*parts, mu=self.own_mu if has.elliptic else None, contacts_alone=True)
        if "acting_ctrl" in names and CONTROLS.is_empty(has):
            self.acting_ctrl = self.ctrl
        if self._has("double_solver", has):
            self.doubled = self._in_double(ints, has)

    def _in_double(self, ints: Any, has: Features) -> "Workspace":
        """Return the view `doubled`."""
        other = copy(self)
        other.lanes = other.precise_lanes = self.double_lanes
        other._names = frozenset(name for name in PARTS if name in self._names and name != "doubled")
        for field, double in zip(fields.SOLVING, fields.DOUBLED, strict=True):
            setattr(other, field.name, getattr(self, double.name))
        other._compose(ints, has)
        other.rounded = self
        return other

    def _find(self, ints: Any, arrays: Sequence[Any], worker: Any) -> dict[str, tuple[Any, Any]]:
        """Return for each array a function that loads an item, and the index of the worker's first item."""
        return {
            name: (flat_array(array), let(worker * subscript(None, ints, _PLACE[stride])))
            for name, stride, array in zip(ARRAYS, STRIDES, arrays, strict=True)
        }

    @traced
    def row(self, r: Any, array: str = "numbers") -> Any:
        """Return item r of an array of the scratch; an item of `numbers` is a lane number."""
        item, first = self._places[array]
        return item(first + r)

    @traced
    def real(self, value: Any) -> Any:
        """Return the same number in every lane."""
        return self.lanes.real(value)


class ColumnWorkspace(Workspace):
    """The scratch of one thread on a GPU, in arrays (rows, threads): threads of a warp read neighbouring words."""

    def _find(self, ints: Any, arrays: Sequence[Any], worker: Any) -> dict[str, tuple[Any, Any]]:
        return {
            name: (lambda row, array=array: subscript(None, array, row, worker), 0)
            for name, array in zip(ARRAYS, arrays, strict=True)
        }


class Pattern:
    """The sparsity pattern of a tree-sparse matrix, made of integer fields in a kernel.

    Row i has the columns i, the parent of i, and so on to the root.

    Attributes:
        count: number of entries of each row.
        order: all rows sorted by depth; rows of one depth are next to each other, since sums over their ancestors
            are
            independent of each other.
    """

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, count: FieldView, start: FieldView, column: FieldView, order: FieldView) -> None:
        self.count, self._start, self._column, self.order = count, start, column, order

    @traced
    def start(self, i: Any) -> Any:
        """Return the address of the first entry of row i."""
        return below(ROW_BITS - 1, self._start[i])

    @traced
    def set_start(self, i: Any, value: Any) -> None:
        """Set the address of the first entry of row i."""
        self._start.put(i, value)

    @traced
    def end(self, i: Any) -> Any:
        """Return the address behind the last entry of row i."""
        return let(self._start[i] + self.count[i])

    @traced
    def column(self, start: Any, p: Any) -> Any:
        """Return the column of the p-th entry of the row that starts at `start`: the row itself, its parent, ..."""
        return self._column[start + below(SMALL_BITS, p)]

    @traced
    def set_column(self, start: Any, p: Any, value: Any) -> None:
        """Set the column of the p-th entry of the row that starts at `start`."""
        self._column.put(start + p, value)

    @traced
    def address(self, end: Any, j: Any) -> Any:
        """Return the address of the entry in column j, an ancestor, of the row that ends at `end`."""
        return below(ROW_BITS - 1, end - self.count[j])

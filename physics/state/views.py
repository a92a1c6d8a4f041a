"""Model and workspace inside a kernel: objects whose attributes are fields.

A header at the front of the model's integers holds every size and every offset (`sizes.HEADER` gives the order), so a
kernel never contains a number that belongs to one model.
"""

from collections.abc import Callable, Container, Sequence
from typing import Any

import taichi as ti
from taichi.lang.impl import expr_init, subscript

from ..fields import OFFSET_BITS, SMALL_BITS, FieldView, PreciseView, below, flat_array
from ..hooks import CONTROLS
from ..math import Lanes
from ..math.lanes import traced
from ..model import fields as model_fields
from ..model.features import Features
from ..parts import TWO_SIDED
from . import fields
from .pattern import Pattern
from .sizes import FLAGS, GROUPS, HEADER, PARAMETER_FIELDS, SIZES

PARTS = {
    "M_pattern": ("M_rownnz", "M_rowadr", "M_colind", "M_order"),
    "H_pattern": ("H_rownnz", "H_rowadr", "H_colind", "H_order"),
    "blocks": ("block_jar", "block_Jv", "block_friction", "block_force", "block_D", "cone_mu"),
    "own": ("own_jar", "own_Jv", "own_friction", "own_force", "own_D", "own_mu"),
    "acting_ctrl": ("ctrl",),
    "stage_qpos": ("qpos", "eval_rest"),
}
"""Attributes of a workspace that are made of several fields."""
ASKED_FOR = {
    "parameters": (*(field.name for field in PARAMETER_FIELDS), "some"),
    "mixed_precision": (*fields.PRECISE, *model_fields.PRECISE, "precise_lanes", "stage_qpos"),
    "convex": (*(field.name for field in fields.CONVEX), "ccd_lanes"),
    "elliptic": ("blocks", "own"),
    **dict.fromkeys(TWO_SIDED, ("blocks",)),
    **{feature: ("acting_ctrl",) for feature, _ in CONTROLS.entries},
}
"""Features that views themselves ask for, and the attributes for whose sake they do."""
_PLACE = {name: place for place, name in enumerate(HEADER)}


class Everything:
    """The names of a view that has all of its attributes."""

    def __contains__(self, name: object) -> bool:
        return True


class Names:
    """The names of a view that has few attributes: these, what they are made of, and their further digits.

    Args:
        names: of attributes; others than those of views do no harm.
        unit: the stage whose names they are.
    """

    def __init__(self, names: frozenset[str], unit: str) -> None:
        parts = {part for name in names & set(PARTS) for part in PARTS[name]}
        self._names, self.unit = names | parts, unit

    def __contains__(self, name: object) -> bool:
        return name in self._names or str(name).removesuffix("_rest") in self._names


def not_named(name: str, unit: str) -> AttributeError:
    """The error of a stage that asks for something that it does not name."""
    return AttributeError(
        f"the stage {unit!r} asks for {name!r}, a name that state/reach.py does not find in its code. If there is such "
        "a field or feature, write the name out in a function of the stage, as an attribute or a string; one that is "
        "put together while the stage is traced is not found"
    )


EVERYTHING = Everything()


class _View:
    """Attributes are header numbers or fields, read once where the view is made, if they are among `names`."""

    _data_oriented = True
    _is_wrapped_kernel = True
    _names: Container[str] = EVERYTHING

    def __getattr__(self, name: str) -> Any:
        if isinstance(self._names, Names) and not name.startswith("_"):
            raise not_named(name, self._names.unit)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _fill(self, ints: Any, group: str, number: Any, origin: Any) -> None:
        """The fields of a group; `number(i)` is the i-th plain number of where they are."""

        def read(name: str, bits: int, shift: Any = 0) -> Any:
            return expr_init(below(bits, subscript(None, ints, _PLACE[name]) + shift))

        for field in GROUPS[group]:
            if field.name not in self._names:
                continue
            inner = read(field.dims[1], SMALL_BITS) if len(field.dims) == 2 else None
            base = read(f"{group}.{field.name}", OFFSET_BITS, origin)
            setattr(self, field.name, FieldView(field, base, inner, number))

    def _has(self, feature: str, has: Features) -> bool:
        """Whether the kernel has a feature that views ask for, and attributes for whose sake they do."""
        return any(name in self._names for name in ASKED_FOR[feature]) and getattr(has, feature)

    @traced
    def lane(self, lane: Any) -> "LaneView":
        """The numbers of one lane, `lane` being an integer of the kernel."""
        return LaneView(self, lane)

    def _add_rests(self, names: Sequence[str]) -> None:
        """From here on these fields are in double precision."""
        for name in names:
            if name not in self._names:
                continue
            setattr(self, name, PreciseView(getattr(self, name).rounded, getattr(self, f"{name}_rest")))


class LaneView:
    """A model or workspace as one lane sees it: the same attributes with plain numbers, for code that branches.

    The lane may be known at run time only: such code is compiled once, and run for the lanes that need it.
    """

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, view: Any, lane: Any) -> None:
        self._view, self._lane = view, lane

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._view, name)
        if isinstance(found, (FieldView, PreciseView)):
            return found.in_lane(self._lane)
        return found.single() if isinstance(found, Lanes) else found


class ModelView(_View):
    """The model inside a kernel: `model.nbody`, `model.body_mass[b]`, `model.jnt_axis[j]`, ...

    Args:
        ints: the model's flat integers, header first.
        reals: the model's flat real numbers.
        has: the optional code of this kernel; also reachable as `model.has`, for `ti.static`.
        names: of the attributes that the kernel may ask for.

    In a kernel of mixed precision the fields in `model.fields.PRECISE` are in double precision: `model.body_pos[b]`.
    """

    def __init__(self, ints: Any, reals: Any, has: Features, names: Container[str] = EVERYTHING) -> None:
        self.has, self._names = has, names
        for name in (*SIZES, *FLAGS):
            if name in names:
                setattr(self, name, expr_init(subscript(None, ints, _PLACE[name])))
        self._fill(ints, "integers", flat_array(ints), 0)
        self._fill(ints, "reals", flat_array(reals), 0)
        if self._has("mixed_precision", has):
            self._add_rests(model_fields.PRECISE)

    @traced
    def differ(self, work: "Workspace") -> None:
        """From here on numbers that environments may have of their own are lane numbers, in `work.parameters`."""
        for field in PARAMETER_FIELDS:
            if field.name in self._names:
                setattr(self, field.name, getattr(self, field.name).rounded.inside(work.parameters))
        if self._has("mixed_precision", self.has):
            self._add_rests(model_fields.PRECISE)

    @traced
    def some(self, lanes: Lanes, condition: Any) -> Any:
        """Whether a comparison of such numbers holds, in any lane where they are lane numbers: it can drive an `if`."""
        return lanes.any(lanes.mask(condition)) if self.has.parameters else condition


class Rows:
    """Where the numbers of blocks are, for `constraint.cost`.

    Attributes:
        jar: J qacc - aref.
        Jv: J times the search direction.
        friction: coefficients of the axes after the first.
        force: in the space of the block.
        two_sided: True if the first of them, `Workspace.ntwosided`, hold both ways (`parts.part.ConstraintRows`).
        elliptic: whether contacts have elliptic cones.
        mu: friction of a round cone, with `elliptic`.
        contacts_alone: whether all blocks are contacts.
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
        """Of the rows of an axis after the first, and of the only row where there is one axis."""
        width = self._stiffness.width
        return expr_init(self._stiffness[k] if width == 1 else self._stiffness.at(k, axis - 1))


class Workspace(_View):
    """One worker's scratch inside a kernel: `work.xpos[b]`, `work.qacc[i]`, ... for the tile in hand.

    Args:
        lanes: width and precision; also reachable as `work.lanes`.
        ints: the model's flat integers, header first.
        numbers: lane numbers of all workers, flat (`math.lanes.number_array`).
        indices: integers of all workers, flat.
        worker: which of them.
        has: the optional code of this kernel.
        names: of the attributes that the kernel may ask for.
        call_stage: emits a call of a stage that is compiled apart; None: the kernel has its code.

    In a kernel of mixed precision the fields in `state.fields.PRECISE` are in double precision: the numbers of
    `work.xpos[b]` are of `work.precise_lanes`, those of `work.xpos.rounded[b]` of `work.lanes`. In all other kernels
    the two are the same.

    Attributes:
        ccd_lanes: those of GJK and EPA, double where `lanes` are not.
        double_lanes: in double precision.
        ntwosided: rows that hold both ways, which are the first blocks; in kernels that have any.
        acting_ctrl: the controls that act: ctrl, or a field of its own where a mechanism changes them.
        stage_qpos: the coordinates at which positions are evaluated: qpos, and in mixed precision qpos + eval_rest.
    """

    def __init__(
        self,
        lanes: Lanes,
        ints: Any,
        numbers: Any,
        indices: Any,
        worker: Any,
        has: Features,
        names: Container[str] = EVERYTHING,
        call_stage: Callable[[Any], None] | None = None,
    ) -> None:
        self.lanes, self._names, self.call_stage = lanes, names, call_stage
        self._find(ints, numbers, indices, worker)
        self._fill(ints, "quantities", self._number, self._first_row)
        self._fill(ints, "indices", self._integer, self._first_index)
        self.precise_lanes = self.ccd_lanes = lanes
        self.double_lanes = lanes if lanes.double else lanes.doubled()
        mixed = self._has("mixed_precision", has)
        if mixed:
            self._add_rests(fields.PRECISE)
            self.precise_lanes = Lanes(lanes.width, ti.f64)
        if self._has("convex", has) and not lanes.double:
            self._add_rests([field.name for field in fields.CONVEX])
            self.ccd_lanes = lanes.doubled()
        self._compose(ints, has, mixed)

    def _compose(self, ints: Any, has: Features, mixed: bool) -> None:
        """Make the attributes in PARTS of their fields."""
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
                self.ntwosided = expr_init(subscript(None, ints, _PLACE["ntwosided"]))
        if "own" in names:
            parts = self.own_jar, self.own_Jv, self.own_friction, self.own_force, self.own_D
            self.own = Rows(*parts, mu=self.own_mu if has.elliptic else None, contacts_alone=True)
        if "acting_ctrl" in names and CONTROLS.is_empty(has):
            self.acting_ctrl = self.ctrl
        if "stage_qpos" in names:
            self.stage_qpos = PreciseView(self.qpos, self.eval_rest) if mixed else self.qpos

    def _find(self, ints: Any, numbers: Any, indices: Any, worker: Any) -> None:
        """Where a worker's numbers are: one worker's after the other's."""
        self._number, self._integer = flat_array(numbers), flat_array(indices)
        self._first_row = expr_init(worker * subscript(None, ints, _PLACE["rows"]))
        self._first_index = expr_init(worker * subscript(None, ints, _PLACE["index_rows"]))

    @traced
    def row(self, r: Any) -> Any:
        """Lane number in row r of the scratch."""
        return self._number(self._first_row + r)

    @traced
    def index(self, r: Any) -> Any:
        """Integer r of the scratch."""
        return self._integer(self._first_index + r)

    @traced
    def real(self, value: Any) -> Any:
        """The same number in every lane."""
        return self.lanes.real(value)


class ColumnWorkspace(Workspace):
    """One thread's scratch on a GPU, in arrays (rows, threads): neighbours in a warp read neighbouring words."""

    def _find(self, ints: Any, numbers: Any, indices: Any, worker: Any) -> None:
        self._number = lambda row: subscript(None, numbers, row, worker)
        self._integer = lambda row: subscript(None, indices, row, worker)
        self._first_row = self._first_index = 0

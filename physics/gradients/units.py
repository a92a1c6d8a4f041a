"""Units with tangents, compiled in a process apart: each stage once more, and the turn that calls both kinds.

`run.compile.compile_process` uses the compiler of this file for jobs that name it. Plain stages have the same code and
keys as in a solver, so what a solver has compiled is not compiled again. A stage has a unit with tangents for each
level that needs it (`levels`).
"""

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cache, partial
from typing import Any

from ..base.fields import FieldView, flat_array
from ..base.math.lanes import traced
from ..base.stage import STAGES
from ..machine.codegen.ir import emit_call
from ..machine.codegen.keys import hash_of, key_of
from ..machine.codegen.llvm import machine_code
from ..machine.codegen.worker import of_workers
from ..model.features import Features
from ..model.state.fields import PARAMETERS
from ..model.state.reach import Reach, reach_of
from ..model.state.sizes import ARRAYS, kinds
from ..model.state.views import PARTS, Workspace
from ..run.compile.compile_process import UnitCompiler
from ..run.compile.units import features_in, unit_kernel, without_arrays
from ..run.step import PIPELINE
from ..run.tiles.scratch import place
from . import turn
from .batch import SOURCES, TURN, TWINS
from .levels import COMPLETED, CONTROL, OUTPUTS, POSITION, VELOCITY, level_of, stages_in
from .optimum import OPTIMUM, stage_named
from .tangents import attach, tracing, use_tangents

_LEVELS = CONTROL, VELOCITY, POSITION


class TurnWorkspace(Workspace):
    """A workspace that calls plain units, for the turn.

    Attributes:
        twins: the tangents of its numbers, under the names of the numbers.
        outputs: names of the stages that compute outputs.
    """

    def __init__(self, *arguments: Any, twin_arrays: Mapping[str, Any], outputs: Sequence[str]) -> None:
        super().__init__(*arguments)
        self.outputs, self.call_stage = outputs, lambda stage: _emit_call(stage.name)
        self.twins = _twins_of(arguments, twin_arrays)

    @traced
    def at_level(self, number: int) -> Workspace:
        """Return a view that calls units with tangents of a level."""
        other = copy(self)
        other.call_stage = lambda stage: _emit_call(unit_name(number, stage.name))
        return other


class _Kept(FieldView):
    """A field that a unit loads, and leaves as it is where it would store numbers."""

    def __init__(self, view: FieldView) -> None:
        vars(self).update(vars(view))

    @traced
    def put_numbers(self, index: Any, column: int, numbers: list) -> None:
        """Store nothing."""


class TangentWorkspace(Workspace):
    """A workspace whose numbers have tangents, in some fields, for a stage.

    Without tangents a field that a stage completes in place stays as it is: completed by each pass, it would change in
    the last digits, and so would tangents, by the number of passes before.

    Attributes:
        plain: the same workspace without tangents.
        twins: the tangents of its numbers, under the names of the numbers.
    """

    def __init__(self, *arguments: Any, twin_arrays: Mapping[str, Any], fields: frozenset[str]) -> None:
        self._twin_arrays, self._fields = twin_arrays, fields
        self.plain, self.twins = Workspace(*arguments), _twins_of(arguments, twin_arrays)
        super().__init__(*arguments)

    def _views(self, ints: Any, group: str, number: Any, origin: Any) -> dict[str, FieldView]:
        views = super()._views(ints, group, number, origin)
        if group in self._twin_arrays:
            load = _with_twin(number, flat_array(self._twin_arrays[group]))
            views |= {name: view.loading(load) for name, view in views.items() if name in self._fields}
            views |= {name: _Kept(view) for name, view in views.items() if name in COMPLETED - self._fields}
        return views


def _twins_of(arguments: Sequence[Any], twin_arrays: Mapping[str, Any]) -> Workspace:
    """Return the view of the twins, given the arguments of a workspace."""
    lanes, ints, arrays, *others = arguments
    twins = [twin_arrays.get(name, array) for name, array in zip(ARRAYS, arrays, strict=True)]
    return Workspace(lanes, ints, twins, *others)


def _with_twin(number: Any, twin: Any) -> Any:
    """Return a function that loads a number with its tangent, from the functions that load these."""
    return lambda i: attach(number(i), lambda: twin(i))


_BESIDE = frozenset(("factor_optimum", "lay_out_dofs"))
"""Stages beside the pipeline that have plain units only."""


def unit_name(level: int, stage: str) -> str:
    """Return the name of the unit of a stage with the tangents of a level."""
    return f"d{level}_{stage}"


def _level_and_stage(name: str) -> tuple[int, str]:
    """Return the level and the stage of a unit with tangents."""
    return int(name[1]), name[3:]


@cache
def _numbers() -> dict[str, int]:
    """Return the position of every unit in the table of functions."""
    names = sorted((*STAGES, *OPTIMUM))
    return {name: k for k, name in enumerate((*names, *(unit_name(n, name) for n in _LEVELS for name in names)))}


def _emit_call(name: str) -> None:
    emit_call(_numbers()[name])


@cache
def _reach(name: str) -> Reach:
    """Return the names that the code of a turn or of a unit with tangents may use."""
    return reach_of(turn.prepare_or_differentiate if name == TURN else stage_named(_level_and_stage(name)[1]).function)


class TangentCompiler(UnitCompiler):
    """Taichi as a compiler of the units of programs with tangents.

    Args:
        width: the lane width.
        precision: "64".
        outputs: names of the stages that compute outputs, which no step needs.
    """

    def __init__(self, width: int, precision: str, *outputs: str) -> None:
        super().__init__(width, precision)
        self._outputs = outputs
        use_tangents()
        names, kinds_of = list(ARRAYS), kinds(width, precision)
        sizes = [array.shape[0] for array in self.scratch.arrays]
        self._twins = {names[k]: place(*kinds_of[k], sizes[k])[0] for k in TWINS}

    def plan(self, has: Features) -> dict[str, Any]:
        """Return the units that a model with these features may need, each with its key, and their numbers."""
        plain = {stage.name for entry in PIPELINE for stage in stages_in(entry, has)} | _BESIDE
        plain |= {"keep_evaluation", *self._outputs}.difference(OUTPUTS) if self._outputs else set()
        levels = [unit_name(number, name) for number in _LEVELS for name in level_of(number, has, self._outputs).stages]
        levels.sort(key=lambda name: (-len(_reach(name).names), name))
        names = [TURN, *levels, *sorted(plain)]
        numbers = {name: number for name, number in _numbers().items() if name in names}
        return {"units": {name: self.key(name, has) for name in names}, "numbers": numbers}

    def key(self, name: str, has: Features) -> str:
        """Return the key of a unit."""
        if name in STAGES:
            return super().key(name, has)
        asked = self._asked(name, has)
        fields = list(self._outputs) if name == TURN else [] if name in OPTIMUM else sorted(self._fields(name, has))
        return key_of("tangents", hash_of(SOURCES), name, asked, fields, self.lanes.width, self.precision)

    def _asked(self, name: str, has: Features) -> dict[str, Any]:
        names = reach_of(OPTIMUM[name].function).names if name in OPTIMUM else _reach(name).names
        return {feature: getattr(has, feature) for feature in features_in(names)}

    def _fields(self, name: str, has: Features) -> frozenset[str]:
        """Return the fields with tangents of a unit, of those that its code names."""
        number, names = _level_and_stage(name)[0], _reach(name).names
        named = names.union(*(PARTS[name] for name in names & set(PARTS)))
        own = {field.name for field in PARAMETERS} if number == POSITION and has.parameters else set()
        return (level_of(number, has, self._outputs).fields & named) | own

    def compile(self, name: str, has: Features) -> bytes:
        """Return the machine code of a unit."""
        if name in STAGES:
            return super().compile(name, has)
        if name in OPTIMUM:
            function = OPTIMUM[name].function
            names, plain = reach_of(function).names, without_arrays(function)
            return machine_code(self.text_of(unit_kernel(name, self.lanes, has, self.scratch, Workspace, plain, names)))
        names = _reach(name).names
        if name == TURN:
            of_turn = partial(TurnWorkspace, twin_arrays=self._twins, outputs=self._outputs)
            kernel = unit_kernel(name, self.lanes, has, self.scratch, of_turn, turn.prepare_or_differentiate, names)
            return machine_code(of_workers(self.text_of(kernel)))
        fields = self._fields(name, has)
        view = partial(TangentWorkspace, twin_arrays=self._twins, fields=fields)
        function = without_arrays(stage_named(_level_and_stage(name)[1]).function)

        @traced
        def code(*arguments: Any) -> None:
            with tracing(True):
                function(*arguments)

        kernel = unit_kernel(name, self.lanes, has, self.scratch, view, code, names)
        return machine_code(self.text_of(kernel))

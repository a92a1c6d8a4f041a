"""Units with tangents, compiled in a process apart: each stage once more, and the turn that calls both kinds.

`run.compile.compile_process` uses the compiler of this file for jobs that name it. Plain stages have the same code and
keys as in a solver, so what a solver has compiled is not compiled again. Names of units with tangents begin with `d_`.
"""

from functools import cache, partial
from typing import Any

from ..base.fields import flat_array
from ..base.hooks import END_OF_EVALUATION, END_OF_STEP, FIRST_EVALUATION, STATES_ADVANCE
from ..base.math.lanes import traced
from ..base.stage import STAGES
from ..machine.codegen.ir import emit_call
from ..machine.codegen.keys import hash_of, key_of
from ..machine.codegen.llvm import machine_code
from ..machine.codegen.worker import of_workers
from ..model.features import Features
from ..model.state.reach import Reach, reach_of
from ..model.state.sizes import ARRAYS, kinds
from ..model.state.snapshot import hold_faulty, keep_start
from ..model.state.views import Workspace
from ..run.compile.compile_process import UnitCompiler
from ..run.compile.units import features_in, unit_kernel, without_arrays
from ..run.integrate import advance, implicit_acceleration, runge_kutta_stage
from ..run.programs import TWINS
from ..run.step import PIPELINE
from ..run.tiles.scratch import place
from . import turn
from .batch import SOURCES, TURN
from .levels import SOLVERS, stages_in
from .optimum import acceleration_tangent
from .tangents import attach, tracing, use_tangents

D = "d_"
"""The beginning of the names of units with tangents."""


class TangentWorkspace(Workspace):
    """A workspace whose numbers have tangents.

    Attributes:
        plain: the same workspace without tangents.
        twins: the tangents of its numbers, under the names of the numbers.
    """

    def __init__(self, *arguments: Any, twin_arrays: dict[str, Any], call_stage: Any, call_plain: Any) -> None:
        lanes, ints, arrays, *others = arguments
        self._twin_arrays = twin_arrays
        of_twins = [twin_arrays.get(name, array) for name, array in zip(ARRAYS, arrays, strict=True)]
        self.plain = Workspace(*arguments, call_stage=call_plain)
        self.twins = Workspace(lanes, ints, of_twins, *others)
        super().__init__(*arguments, call_stage=call_stage)

    def _find(self, ints: Any, arrays: Any, worker: Any) -> dict[str, tuple[Any, Any]]:
        found = super()._find(ints, arrays, worker)
        for name, twin in self._twin_arrays.items():
            number, origin = found[name]
            found[name] = _with_twin(number, flat_array(twin)), origin
        return found


def _with_twin(number: Any, twin: Any) -> Any:
    """Return a function that loads a number with its tangent, from the functions that load these."""
    return lambda i: attach(number(i), lambda: twin(i))


_BESIDE = frozenset(("factor_optimum", "lay_out_dofs"))
"""Stages beside the pipeline that have plain units only."""
_AROUND = (
    *(keep_start, acceleration_tangent, implicit_acceleration, runge_kutta_stage, advance, hold_faulty),
    *(
        stage
        for hook in (FIRST_EVALUATION, STATES_ADVANCE, END_OF_STEP, END_OF_EVALUATION)
        for _, stage in hook.entries
    ),
)
"""Stages that have units with tangents only."""


@cache
def _reach(name: str) -> Reach:
    if name == TURN:
        return reach_of(turn.prepare_or_differentiate)
    return reach_of(STAGES[name.removeprefix(D)].function)


def _names(has: Features) -> set[str]:
    """Return the names of the units that a model with these features needs."""
    evaluated = {stage.name for entry in PIPELINE for stage in stages_in(entry, has)}
    around = {stage.name for stage in _AROUND if stage.wanted(has)}
    differentiated = (evaluated | around).difference(SOLVERS)
    return {TURN, *evaluated, *_BESIDE, *(D + name for name in differentiated)}


def _numbers() -> dict[str, int]:
    """Return the position of every unit in the table of functions."""
    return {name: number for number, name in enumerate(sorted((*STAGES, *(D + name for name in STAGES))))}


class TangentCompiler(UnitCompiler):
    """Taichi as a compiler of the units of programs with tangents."""

    def __init__(self, width: int, precision: str) -> None:
        super().__init__(width, precision)
        use_tangents()
        names, kinds_of = list(ARRAYS), kinds(width, precision)
        sizes = [array.shape[0] for array in self.scratch.arrays]
        self._twins = {names[k]: place(*kinds_of[k], sizes[k])[0] for k in TWINS}

    def plan(self, has: Features) -> dict[str, Any]:
        """Return the units that a model with these features may need, each with its key, and their numbers."""
        names = _names(has)
        ordered = sorted(names, key=lambda name: (not name.startswith(D), -len(_reach(name).names), name))
        numbers = {name: number for name, number in _numbers().items() if name in names}
        return {"units": {name: self.key(name, has) for name in ordered}, "numbers": numbers}

    def key(self, name: str, has: Features) -> str:
        """Return the key of a unit."""
        if name in STAGES and name != "factor_optimum":
            return super().key(name, has)
        asked = {feature: getattr(has, feature) for feature in features_in(_reach(name).names)}
        return key_of("tangents", hash_of(SOURCES), name, asked, self.lanes.width, self.precision)

    def compile(self, name: str, has: Features) -> bytes:
        """Return the machine code of a unit."""
        if name in STAGES:
            return super().compile(name, has)
        function = (
            turn.prepare_or_differentiate if name == TURN else without_arrays(STAGES[name.removeprefix(D)].function)
        )

        @traced
        def code(*arguments: Any) -> None:
            with tracing(True):
                function(*arguments)

        view = partial(
            TangentWorkspace,
            twin_arrays=self._twins,
            call_stage=lambda stage: emit_call(_numbers()[D + stage.name]),
            call_plain=lambda stage: emit_call(_numbers()[stage.name]),
        )
        kernel = unit_kernel(name, self.lanes, has, self.scratch, view, code, _reach(name).names)
        text = self.text_of(kernel)
        return machine_code(of_workers(text) if name == TURN else text)

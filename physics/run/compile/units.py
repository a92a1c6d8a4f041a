"""Units: pieces that are compiled on their own for a CPU. Each stage is one; the turn, which calls them, is another.

All units have the same arguments, those of the driver's kernel and the numbers of a worker and its tile, so one context
serves them all. A unit is compiled for the features that its code may read (`state.reach`), and is the same for all
models that agree in these.
"""

import dataclasses
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import taichi as ti

from ...base.math import Lanes, with_types
from ...base.math.lanes import traced
from ...base.stage import STAGES, TURN, Stage
from ...machine.codegen.ir import emit_call
from ...model.features import Features
from ...model.state.reach import Reach, reach_of
from ...model.state.views import ASKED_FOR, ModelView, Names, Workspace, not_named
from ..kernel import argument_types, prepare_or_take
from ..tiles.scratch import Scratch
from ..tiles.tile_view import Arguments

_FEATURES = frozenset(field.name for field in dataclasses.fields(Features))


class AskedFeatures:
    """The features of a kernel that a unit may read; its key names them.

    Raises:
        AttributeError: the unit reads another feature.
    """

    _data_oriented = True

    def __init__(self, has: Features, names: frozenset[str], unit: str) -> None:
        vars(self).update({name: getattr(has, name) for name in names}, _unit=unit)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name) if name.startswith("_") else not_named(name, self._unit)


@cache
def numbers_of_stages() -> dict[str, int]:
    """Return the position of every stage in the table of functions that contexts point to."""
    return {name: number for number, name in enumerate(sorted(STAGES))}


@cache
def unit_reach(name: str) -> Reach:
    """Return the names that a unit's code may use, and the stages that it may call."""
    return reach_of(prepare_or_take if name == TURN else STAGES[name].function)


@cache
def features_asked(name: str) -> tuple[str, ...]:
    """Return the features that a unit's code may read, in alphabetical order."""
    return features_in(unit_reach(name).names)


def features_in(names: frozenset[str]) -> tuple[str, ...]:
    """Return the features among names and those for which views themselves look, in alphabetical order."""
    asked = {feature for feature, attributes in ASKED_FOR.items() if not names.isdisjoint(attributes)}
    return tuple(sorted(asked | (names & _FEATURES)))


def units_of(has: Features) -> list[str]:
    """Return the units that a model may need: the turn, and the stages of kernels with these features.

    Units with most names in their code come first, as they take longest to compile.
    """
    called = [TURN, *(stage.name for stage in unit_reach(TURN).stages if stage.wanted(has))]
    return sorted(called, key=lambda name: (-len(unit_reach(name).names), name))


def make_unit(name: str, lanes: Lanes, has: Features, scratch: Scratch) -> tuple[Any, dict[str, None]]:
    """Return the kernel of a unit, and the names of the stages that it calls, filled in while it is traced."""
    calls: dict[str, None] = {}

    def call(stage: Stage) -> None:
        calls[stage.name] = None
        emit_call(numbers_of_stages()[stage.name])

    view = partial(Workspace, call_stage=call)
    code = prepare_or_take if name == TURN else without_arrays(STAGES[name].function)
    return unit_kernel(name, lanes, has, scratch, view, code, unit_reach(name).names), calls


def without_arrays(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function of a stage as one that takes the arrays and the tile as well."""
    return traced(lambda model, work, arrays, tile: function(model, work))


def unit_kernel(
    name: str,
    lanes: Lanes,
    has: Features,
    scratch: Scratch,
    view: Callable[..., Workspace],
    code: Callable[..., None],
    named: frozenset[str],
) -> Any:
    """Return the kernel of a unit.

    Args:
        name: the unit.
        lanes: width and precision.
        has: the features of the models.
        scratch: the scratch.
        view: makes the workspace, from the first six arguments of `Workspace`.
        code: the function of (model, work, arrays, tile).
        named: the names in its code (`unit_reach`).
    """
    asked = features_in(named)
    more = {"parameters", "precise_parameters"} if "parameters" in asked else set()

    @traced
    def body(model: ModelView, work: Workspace, arrays: Arguments, tile: Any) -> None:
        if "parameters" in asked and has.parameters:
            model.set_env_parameters(work)
        code(model, work, arrays, tile)

    return _kernel(lanes, AskedFeatures(has, frozenset(asked), name), Names(named | more, name), scratch, view, body)


def _kernel(lanes: Lanes, has: Any, names: Names, scratch: Scratch, view: Any, body: Any) -> Any:
    @ti.kernel
    @with_types({**argument_types(lanes), "worker": ti.i32, "tile": ti.i32})
    def unit(
        ints, reals, precise, memory, counts, own, call, rows, out, dump, controls, track, own_rows, left, worker, tile
    ):
        ti.loop_config(serialize=True)
        for _ in range(1):  # a loop at the top would be shared among threads
            model = ModelView(ints, reals, precise, has, names)
            work = view(lanes, ints, scratch.arrays, worker, has, names)
            arrays = Arguments(
                memory, counts, own, own_rows, call, rows, out, dump, controls, track, left, (reals, precise)
            )
            body(model, work, arrays, tile)

    return unit

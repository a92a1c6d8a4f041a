"""Stages one by one: units with tangents beside differences of plain units, in the scratch of a step that is under way.

`Bench` takes the place of the functions that a turn calls. When the turn calls a unit with tangents, the scratch is as
it is in a step; then fields that the stage reads are moved along a random direction, and the plain unit of the stage
tells how the fields that it writes move. Afterwards the scratch is as before, and the step goes on.
"""

import ctypes
from collections import defaultdict
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import mujoco
import numpy as np
import torch

from tumble.physics import Model, RigidSolver
from tumble.physics.base.fields import layout
from tumble.physics.base.stage import STAGES, Stage
from tumble.physics.gradients.levels import POSITION, SWITCHES, level_of
from tumble.physics.gradients.optimum import OPTIMUM, stage_named
from tumble.physics.gradients.steps import Steps
from tumble.physics.machine.runtime import ensure_runtime
from tumble.physics.model.state.declared import read_by, written_by
from tumble.physics.model.state.memory import FORCES
from tumble.physics.model.state.sizes import ARRAYS, scratch_rows
from tumble.physics.run.compile.compilers import units_of_program
from tumble.physics.run.programs import _loaded

from ...widths import WIDTH
from ..parity.reference import States
from ..parity.subjects import Tumble

LENGTHS = 1e-3, 1e-4, 1e-5, 1e-6
"""Lengths of the difference quotients' steps, relative to the numbers that are moved."""
SETTLED = 2e-9
"""Quotients of a length, of a third and of a ninth of it agree to this part of the field's largest number, or are no
oracle."""
BENT = 1e-8
"""Derivatives on both sides differ by more than this part of the largest number: there is a kink or a jump."""
BOUND = 1e-8
"""Of tangents, relative to the field's largest number."""
AT_OPTIMUM = {"acceleration_tangent": ("start_acceleration", "acceleration_by_newton")}
"""Stages without plain units, and those whose result they differentiate."""
CHOICES = SWITCHES | {"con_count", "con_needed", "contacts_full", "fault", "history_age"}
"""Whole numbers, which have no derivative; and ages of samples: where one is the delay, a control jumps."""
_NUMBERS, _INDICES, _CONVEX = 0, 1, 3
_TWINS = {_NUMBERS: 4, _CONVEX: 6}
"""Places of the arrays in the scratch, and of their twins."""
_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_CENTRED = ((1, 8 / 12), (-1, -8 / 12), (2, -1 / 12), (-2, 1 / 12))
"""Fourth-order central difference: steps, and weights of the results."""


class Key(NamedTuple):
    """A field that a stage writes, with tangents of a level."""

    stage: str
    level: int
    field: str


@dataclass
class Found:
    """What was compared.

    Attributes:
        errors: largest error of each field.
        compared: number of lanes compared.
        unsettled: number of lanes in which two difference quotients differ, or a choice does.
        values: fields whose values a unit with tangents computes otherwise than the plain unit, with the difference.
        caught: fields whose tangents matter in some stage: without them the comparison fails.
        read: fields whose tangents some stage reads.
    """

    errors: dict[Key, float] = field(default_factory=lambda: defaultdict(float))
    compared: dict[Key, int] = field(default_factory=lambda: defaultdict(int))
    unsettled: dict[Key, int] = field(default_factory=lambda: defaultdict(int))
    values: dict[Key, float] = field(default_factory=lambda: defaultdict(float))
    caught: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)


class Bench:
    """A model's program with tangents, whose stages are compared while it steps.

    Args:
        mjm: the model.
        hfield: how contacts with height fields are found (`Model.from_mjmodel`).

    Attributes:
        steps: the derivatives of its steps.
        found: the results.
    """

    def __init__(self, mjm: mujoco.MjModel, hfield: str = "mujoco") -> None:
        self._subject = Tumble(mjm, WIDTH)
        if hfield != "mujoco":
            self._subject.solver = RigidSolver(Model.from_mjmodel(mjm, hfield=hfield), WIDTH)
        self.steps = Steps(ensure_runtime(), self._subject.solver.model)
        self._rng, self._forces = np.random.default_rng(0), np.random.default_rng(1)
        self.found = Found()
        self._inside, self._error = False, None
        self._levels = {number: level_of(number, self.steps.features).fields for number in range(POSITION + 1)}

    def compare(self, states: States) -> None:
        """Compare the stages of steps from each lane's state."""
        self._subject.load(states)
        memory = self._subject.solver._driver.state_dict()["memory"].double()
        seeds = torch.from_numpy(self._rng.normal(size=(WIDTH, 1, self.steps.nstate + self.steps.model.sizes["nu"])))
        self.steps.products(memory, seeds)  # compiles, and makes room for all contacts
        (batch,) = self.steps._batches.values()
        with self._in_place_of_functions(batch):
            for array in self._arrays:  # numbers of other models would be taken for the size of a field
                array[:] = 0
            batch._scratch.last_user = None
            for level in range(POSITION + 1):
                self._launch_at(batch, level)
        if self._error is not None:
            raise self._error

    def _launch_at(self, batch: Any, level: int) -> None:
        counts = [0, 0, 0]
        counts[level] = 1
        batch._passes = type(batch._passes)(*counts)
        batch.launch(keep=False)

    def _in_place_of_functions(self, batch: Any) -> Any:
        """Return a context in which a turn calls `_called` instead of each unit."""
        bound = batch._launch.prepare()
        program = bound._keeps[-1]
        plan, _ = units_of_program(program._width, "64", program._features, **program._entries)
        plain, code = units_of_program(program._width, "64", program._features)
        self._plain = {name: _FUNCTION(_loaded(key, code[name])) for name, key in plain.units.items()}
        self._arrays, self._sizes = program.scratch._room, batch._room.sizes
        self._rows = scratch_rows(self._sizes)
        _, table = program._code
        return _Replaced(table, plan.numbers, self._called)

    def _called(self, name: str, function: Callable, context: int) -> None:
        """Do as the unit of that name, which a turn calls; compare it before."""
        if name == "forward_kinematics" and not self._inside:
            self._apply_forces()
        stage = stage_named(name[3:]) if name.startswith("d") and name[2:3] == "_" else None
        compared = stage and (stage.name in self._plain or stage.name in AT_OPTIMUM)
        if compared and not self._inside and self._error is None:
            self._inside = True
            try:
                _Comparison(self, stage, int(name[1]), function, context).run()
            except Exception as error:
                self._error = error
            self._inside = False
        function(context)

    def _apply_forces(self) -> None:
        """Apply forces to all bodies and dofs, and control dofs in all ways, as a batch may at any time."""
        numbers = self._arrays[_NUMBERS].reshape(-1, WIDTH)
        offsets, _ = layout(ARRAYS["numbers"], self._sizes)
        for one in FORCES:
            rows = numbers[offsets[one.name] :][: one.length(self._sizes)]
            rows[:] = self._forces.normal(size=rows.shape)
            if one.name == "dof_mode":
                rows[:] = self._forces.integers(0, 4, rows.shape)
            if one.name == "dof_force_range":
                rows[1::2] = rows[::2] + 1.0
        offsets, _ = layout(ARRAYS["indices"], self._sizes)
        self._arrays[_INDICES][[offsets["applied"], offsets["controlled"]]] = 1


@cache
def passed_on() -> frozenset[str]:
    """Return the fields that some stage loads and does not store: not those in which a stage computes by itself."""
    return frozenset().union(*(read_by(stage) - written_by(stage) for stage in (STAGES | OPTIMUM).values()))


class _Replaced:
    """A context in which functions of a table are others."""

    def __init__(self, table: Any, numbers: dict[str, int], called: Callable) -> None:
        self._table, self._before = table, {number: table[number] for number in numbers.values()}
        self._calls = {}
        for name, number in numbers.items():
            function = _FUNCTION(table[number])
            self._calls[number] = _FUNCTION(lambda at, name=name, function=function: called(name, function, at))

    def __enter__(self) -> None:
        for number, call in self._calls.items():
            self._table[number] = ctypes.cast(call, ctypes.c_void_p).value

    def __exit__(self, *error: Any) -> None:
        for number, address in self._before.items():
            self._table[number] = address


class _Comparison:
    """One unit with tangents beside its plain unit, at the present numbers of the scratch."""

    def __init__(self, bench: Bench, stage: Stage, level: int, function: Callable, context: int) -> None:
        self._bench, self._stage, self._level = bench, stage, level
        self._tangents = lambda: function(context)
        self._context = context
        self._solved = AT_OPTIMUM.get(stage.name, ())
        found = [stage_named(name) for name in self._solved]
        fields = bench._levels[level]
        moved = (fields - CHOICES).difference(*map(written_by, found))
        self._moved = {name: slot for name, slot in self._slots(read_by(stage)) if name in moved}
        self._written = dict(self._slots({"qacc"} if found else written_by(stage) & passed_on()))
        self._with_tangents = fields
        lengths = {_NUMBERS: WIDTH, _INDICES: 1, _CONVEX: 1}
        self._views = {
            place: bench._arrays[place][: bench._rows[place] * count].reshape(-1, count)
            for place, count in lengths.items()
        }
        self._twins = {
            place: bench._arrays[twin][: bench._rows[place] * lengths[place]].reshape(-1, lengths[place])
            for place, twin in _TWINS.items()
        }
        offsets, _ = layout(ARRAYS["indices"], bench._sizes)
        chosen = [one for one in ARRAYS["indices"] if one.name in written_by(stage) & passed_on()]
        ranges = [np.arange(one.length(bench._sizes)) + offsets[one.name] for one in chosen]
        self._choices = np.concatenate([np.zeros(0, int), *ranges])
        self._before = {place: view.copy() for place, view in self._views.items()}
        self._twins_before = {place: view.copy() for place, view in self._twins.items()}

    def _evaluate(self) -> None:
        """Call the plain unit, or those that find the optimum, from the optimum as it is without a change."""
        if self._solved:
            offset = {name: rows for name, (_, rows) in self._slots({"qacc", "qacc_warmstart"})}
            numbers = self._views[_NUMBERS]
            numbers[offset["qacc_warmstart"]] = self._before[_NUMBERS][offset["qacc"]]
        for name in self._solved or (self._stage.name,):
            self._bench._plain[name](self._context)

    def _slots(self, names: Container[str]) -> Iterator[tuple[str, tuple[int, slice]]]:
        """Yield real fields with the array in which each lies, and its rows there."""
        for place, (_, fields) in enumerate(ARRAYS.items()):
            if place in _TWINS:
                offsets, _ = layout(fields, self._bench._sizes)
                for one in fields:
                    length = one.length(self._bench._sizes)
                    if one.name in names and length:
                        yield one.name, (place, slice(offsets[one.name], offsets[one.name] + length))

    def run(self) -> None:
        """Compare along directions relative to the numbers, and along others."""
        for relative in (True, False):
            self._compare({name: self._direction(slot, relative) for name, slot in self._moved.items()}, relative)
        self._restore()
        for place, view in self._twins.items():
            view[:] = self._twins_before[place]

    def _direction(self, slot: tuple[int, slice], relative: bool) -> np.ndarray:
        place, rows = slot
        numbers = self._before[place][rows]
        drawn = self._bench._rng.normal(size=numbers.shape)
        if relative:
            return drawn * numbers
        return drawn * (np.abs(numbers).max() or 1.0)

    def _restore(self) -> None:
        for place, view in self._views.items():
            view[:] = self._before[place]

    def _compare(self, direction: dict[str, np.ndarray], relative: bool) -> None:
        found, tangents = self._bench.found, self._tangents_along(direction)
        found.read.update(direction)
        compared = {}
        for name, quotient, settled, scale in self._quotients(direction):
            key = Key(self._stage.name, self._level, name)
            found.compared[key] += int(settled.sum())
            found.unsettled[key] += int((~settled).sum())
            if settled.any():
                compared[name] = quotient, settled, scale
                found.errors[key] = max(found.errors[key], _error(tangents[name], *compared[name]))
        if relative and self._level == POSITION:
            for name in direction:
                if name not in found.caught:
                    without = self._tangents_along(direction | {name: np.zeros_like(direction[name])})
                    if any(_error(without[out], *expected) > BOUND for out, expected in compared.items()):
                        found.caught.add(name)

    def _tangents_along(self, direction: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the tangents of the written fields along a direction."""
        self._restore()
        for view in self._twins.values():
            view[:] = 0.0
        for name, moved in direction.items():
            place, rows = self._moved[name]
            self._twins[place][rows] = moved
        self._tangents()
        values = self._results()
        self._restore()
        self._evaluate()
        for name, plain in self._results().items():
            key = Key(self._stage.name, self._level, name)
            self._bench.found.values[key] = max(self._bench.found.values[key], _apart(values[name], plain))
        found = {}
        for name, (place, rows) in self._written.items():
            twin = self._twins[place][rows]
            found[name] = twin.copy() if name in self._with_tangents else np.zeros_like(twin)
        return found

    def _results(self) -> dict[str, np.ndarray]:
        return {name: self._views[place][rows].copy() for name, (place, rows) in self._written.items()}

    def _quotients(self, direction: dict[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray, np.ndarray, float]]:
        """Yield each written field with its difference quotient, the lanes in which it is an oracle, and its size."""
        self._restore()
        self._evaluate()
        values, choices = self._results(), self._views[_INDICES][self._choices]
        waiting = dict.fromkeys(self._written)
        for length in LENGTHS:
            if not waiting:
                break
            three = [self._quotient(direction, h, values, choices) for h in (length, length / 3, length / 9)]
            for name in list(waiting):
                longest, longer, shortest = (quotients[name] for quotients in three)
                scale = _size(longer.derivative, values[name])
                settled = _settled(longest, longer, scale) & _settled(longer, shortest, scale)
                best = waiting[name]
                if best is None or settled.sum() > best[1].sum():
                    waiting[name] = best = longer.derivative, settled, scale
                if settled.all():
                    yield name, *waiting.pop(name)
        for name, best in waiting.items():
            yield name, *best

    def _quotient(
        self, direction: dict[str, np.ndarray], h: float, values: dict[str, np.ndarray], choices: np.ndarray
    ) -> dict[str, "_Quotient"]:
        """Return the difference quotients of the written fields; NaN where the stage chooses otherwise."""
        moved_by, same = {}, True
        for step, _ in _CENTRED:
            self._restore()
            for name, moved in direction.items():
                place, rows = self._moved[name]
                self._views[place][rows] += step * h * moved
            self._evaluate()
            same = same and np.array_equal(self._views[_INDICES][self._choices], choices)
            moved_by[step] = self._results()
        if not same:
            nothing = {name: np.full_like(value, np.nan) for name, value in values.items()}
            return {name: _Quotient(nan, nan) for name, nan in nothing.items()}
        return {
            name: _Quotient(
                sum(weight * moved_by[step][name] for step, weight in _CENTRED) / h,
                (moved_by[1][name] + moved_by[-1][name] - 2 * values[name]) / h,
            )
            for name in values
        }


class _Quotient(NamedTuple):
    """A difference quotient, and by how much the derivatives on both sides differ."""

    derivative: np.ndarray
    bend: np.ndarray


def _settled(longer: _Quotient, shorter: _Quotient, scale: float) -> np.ndarray:
    """Return the lanes in which quotients of two lengths agree; at a kink or a jump, a bend does not shrink."""
    apart = np.abs(longer.derivative - shorter.derivative).max(axis=0) / scale
    bent = (np.abs(shorter.bend) > BENT * scale) & (np.abs(shorter.bend) > 0.6 * np.abs(longer.bend))
    return (apart <= SETTLED) & ~bent.any(axis=0)


def _size(quotient: np.ndarray, values: np.ndarray) -> float:
    """Return the largest number of a field and of its derivative."""
    largest = max(np.abs(quotient).max(initial=0.0, where=np.isfinite(quotient)), np.abs(values).max(initial=0.0))
    return float(largest) or 1.0


def _error(tangents: np.ndarray, quotient: np.ndarray, settled: np.ndarray, scale: float) -> float:
    """Return the largest error in the lanes that are compared; infinite if a tangent is no number."""
    error = np.abs(tangents - quotient)[:, settled] / scale
    return float(error.max(initial=0.0)) if np.isfinite(error).all() else np.inf


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest difference of numbers, relative to the largest; NaN equals NaN."""
    differs = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    return float((np.abs(a - b) / (np.abs(b).max() or 1.0)).max(initial=0.0, where=differs))

"""Levels: which stages a pass needs, and which fields have tangents in it, from what stages declare to read and write.

A direction of controls leaves positions and velocities as they are. So stages that depend on these only are left out
of its pass, and in the other stages these fields have no tangents. A stage is in a pass if it reads a field that the
direction changes, or that a stage before it in the pass writes. Each stage is compiled for each level that needs it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..base.hooks import END_OF_EVALUATION, END_OF_STEP, FIRST_EVALUATION, STATES_ADVANCE
from ..base.stage import Stage
from ..model.state.declared import FIELDS, read_by, written_by
from ..model.state.fields import SCRATCH_INDICES
from ..model.state.memory import FORCES, MEMORIES
from ..model.state.reach import reach_of
from ..model.state.snapshot import hold_faulty, keep_evaluation, keep_start
from ..run.integrate import advance, implicit_acceleration, runge_kutta_stage
from ..run.step import stages_of
from .optimum import acceleration_tangent, stage_named

CONTROL, VELOCITY, POSITION = 0, 1, 2
"""The levels, in the order in which passes run: directions of controls, applied forces and activations; of velocities
and other memory; of positions and parameters."""
SOLVERS = ("start_acceleration", "acceleration_by_newton", "acceleration_by_gradients", "noslip")
"""Stages without tangents: `optimum.acceleration_tangent` differentiates what they solve."""
SWITCHES = frozenset(("eq_active", "dof_mode", "tree_asleep"))
"""State and inputs that choose between laws; nothing is differentiated by them."""
INPUT_MEMORY = tuple(memory.field.name for memory in MEMORIES if memory.is_input)
"""Memory of mechanisms that users write, as they do controls, and no step changes."""
_CONTROLS = frozenset(("ctrl", "act", *INPUT_MEMORY, *(field.name for field in FORCES))) - SWITCHES
_CHANGED = {
    CONTROL: _CONTROLS,
    VELOCITY: (_CONTROLS | {"qvel", *(memory.field.name for memory in MEMORIES)}) - SWITCHES,
}
"""The fields that directions of a level change."""
COMPLETED = frozenset(("con_frame",))
"""Fields of positions that a stage completes in place, from what it finds there; at other levels their tangents, which
are those of the last pass of positions, are not read."""
_REAL = frozenset(FIELDS) - {field.name for field in SCRATCH_INDICES}
_CONTINUED = frozenset(field.name for field in SCRATCH_INDICES) | {"qfrc_passive"}
"""Lists and sums that one stage begins and later ones go on with."""
_BEFORE = (keep_start, keep_evaluation, acceleration_tangent)
_HOOKS = FIRST_EVALUATION, STATES_ADVANCE, END_OF_STEP, END_OF_EVALUATION
_AFTER = (
    *(implicit_acceleration, runge_kutta_stage, advance, hold_faulty),
    *(stage for hook in _HOOKS for _, stage in hook.entries),
)
"""The stages of a pass around those of an evaluation."""

OUTPUTS = ("force_tangent",)
"""Stages that outputs need, whatever they are."""

Entry = Stage | Callable[..., Any]


class Level(NamedTuple):
    """The stages and fields of the passes of a level.

    Attributes:
        entries: entries of the pipeline.
        outputs: stages that compute outputs.
        stages: names of all stages, also those around an evaluation.
        fields: names of the fields that have tangents.
    """

    entries: list[Entry]
    outputs: list[Stage]
    stages: frozenset[str]
    fields: frozenset[str]


def stages_in(entry: Entry, has: Any) -> list[Stage]:
    """Return the stages of an entry of the pipeline that a kernel has."""
    stages = [entry] if isinstance(entry, Stage) else reach_of(entry).stages
    return [stage for stage in stages if stage.wanted(has)]


def level_of(number: int, has: Any, outputs: Sequence[str] = ()) -> Level:
    """Return the stages and fields of the passes of a level.

    Args:
        number: the level.
        has: features of the model.
        outputs: names of stages that compute outputs, which no step needs; with OUTPUTS, if there are outputs.
    """
    entries: list[Entry] = [entry for _, entry in stages_of(has) if getattr(entry, "name", "") not in SOLVERS]
    before, after = ([stage for stage in stages if stage.wanted(has)] for stages in (_BEFORE, _AFTER))
    if not outputs:
        before.remove(keep_evaluation)
    of_outputs = [stage_named(name) for name in outputs]
    fields = _REAL
    if number != POSITION:
        entries, changed = _changed(entries, _CHANGED[number], has)
        found, changed = _changed(of_outputs, changed | written_in(before), has)
        of_outputs = [stage for stage in of_outputs if stage in found]
        fields = ((changed | written_in(after)) & _REAL) - COMPLETED
    stages = [stage for entry in (*entries, *of_outputs) for stage in stages_in(entry, has)]
    names = frozenset(stage.name for stage in (*before, *stages, *after))
    return Level(entries, of_outputs, names, fields)


def written_in(stages: list[Stage]) -> frozenset[str]:
    """Return the fields that stages write."""
    return frozenset().union(*map(written_by, stages))


def _changed(entries: Sequence[Entry], fields: frozenset[str], has: Any) -> tuple[list[Entry], frozenset[str]]:
    """Return the entries that a change of fields reaches, and all fields that it reaches.

    Entries that prepare what these go on with are among them: a list of blocks is emptied before rows are appended to
    it again.
    """
    stages = {entry: stages_in(entry, has) for entry in entries}
    needed, changed = set[Entry](), fields
    for entry in entries:
        if any(changed & read_by(stage) & _REAL for stage in stages[entry]):
            needed.add(entry)
            changed |= written_in(stages[entry])
    for place in reversed(range(len(entries))):
        if entries[place] in needed:
            continued = _CONTINUED & set[str]().union(*(read_by(s) & written_by(s) for s in stages[entries[place]]))
            needed.update(before for before in entries[:place] if continued & written_in(stages[before]))
    return [entry for entry in entries if entry in needed], changed

"""Levels: which stages a pass needs, from the fields that stages declare to read and write.

A direction of controls leaves positions and velocities as they are, so the stages that depend on these alone have no
tangents in its pass, and are left out. A stage is in a pass if it reads a field that the direction changes, or that a
stage before it in the pass writes. Passes run from the highest level to the lowest, so that the tangents of stages that
a pass leaves out are still zero.
"""

from collections.abc import Callable
from typing import Any

from ..base.stage import Stage
from ..model.state.declared import read_by, written_by
from ..model.state.fields import SCRATCH_INDICES
from ..model.state.memory import FORCES, MEMORIES
from ..model.state.reach import reach_of
from ..run.step import stages_of

POSITION, VELOCITY, CONTROL = 0, 1, 2
"""The levels, lowest first: directions of positions and parameters, of velocities and memory, of controls, applied
forces and activations."""
SOLVERS = ("start_acceleration", "acceleration_by_newton", "acceleration_by_gradients", "noslip")
"""Stages without tangents: `optimum.acceleration_tangent` differentiates what they solve."""
_SWITCHES = frozenset(("eq_active", "dof_mode", "tree_asleep"))
"""State and inputs that choose between laws; nothing is differentiated by them."""
_CONTROLS = frozenset(("ctrl", "act", *(field.name for field in FORCES))) - _SWITCHES
_CHANGED = {
    CONTROL: _CONTROLS,
    VELOCITY: (_CONTROLS | {"qvel", *(memory.field.name for memory in MEMORIES)}) - _SWITCHES,
}
"""The fields that directions of a level change."""
_INTEGERS = frozenset(field.name for field in SCRATCH_INDICES)
_CONTINUED = _INTEGERS | {"qfrc_passive"}
"""Lists and sums that one stage begins and later ones go on with."""

Entry = Stage | Callable[..., Any]


def stages_in(entry: Entry, has: Any) -> list[Stage]:
    """Return the stages of an entry of the pipeline that a kernel has."""
    stages = [entry] if isinstance(entry, Stage) else reach_of(entry).stages
    return [stage for stage in stages if stage.wanted(has)]


def _needed(level: int, entries: list[Entry], has: Any) -> set[Entry]:
    """Return the entries that passes of a level need.

    They are those with tangents, and those that prepare what these go on with: a list of blocks is emptied before
    rows are appended to it again.
    """
    if level == POSITION:
        return set(entries)
    changed, needed = set(_CHANGED[level]), set[Entry]()
    for entry in entries:
        stages = stages_in(entry, has)
        if any(changed & read_by(stage) for stage in stages):
            needed.add(entry)
            changed.update(*(written_by(stage) - _INTEGERS for stage in stages))
    for place in reversed(range(len(entries))):
        if entries[place] in needed:
            stages = stages_in(entries[place], has)
            continued = _CONTINUED & set[str]().union(*(read_by(s) & written_by(s) for s in stages))
            for before in entries[:place]:
                if any(continued & written_by(stage) for stage in stages_in(before, has)):
                    needed.add(before)
    return needed


def entries_with_levels(has: Any) -> list[tuple[int, Entry]]:
    """Return the entries of the pipeline that have tangents, each with the highest level whose passes need it."""
    entries: list[Entry] = [entry for _, entry in stages_of(has) if getattr(entry, "name", "") not in SOLVERS]
    needed = {level: _needed(level, entries, has) for level in (CONTROL, VELOCITY, POSITION)}
    return [(next(level for level in needed if entry in needed[level]), entry) for entry in entries]

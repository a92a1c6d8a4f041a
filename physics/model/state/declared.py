"""The fields that stages declare: names and patterns are resolved to fields of the workspace."""

from fnmatch import filter as matching
from functools import cache

from ...base.stage import Names, Stage
from .fields import CONVEX, DOUBLED, PARAMETERS, PIECES, SCRATCH, SCRATCH_INDICES

FIELDS = tuple(
    field.name for field in (*SCRATCH, *SCRATCH_INDICES, *CONVEX, *PIECES, *DOUBLED) if field not in PARAMETERS
)
"""The names that stages may declare."""


def fields_named(names: Names) -> frozenset[str]:
    """Return the names of the fields that a declaration stands for.

    Raises:
        ValueError: a name or pattern matches no field.
    """
    words = (names if isinstance(names, str) else " ".join(names)).split()
    found = {word: [word] if word in FIELDS else matching(FIELDS, word) for word in words}
    for word, fields in found.items():
        if not fields:
            raise ValueError(f"a stage declares {word!r}, and the workspace has no field of this name")
    return frozenset().union(*found.values())


@cache
def read_by(stage: Stage) -> frozenset[str]:
    """Return the fields that a stage loads, including the fields that the entries of its hooks load."""
    return _named(stage, 0) | _named(stage, 2)


@cache
def written_by(stage: Stage) -> frozenset[str]:
    """Return the fields that a stage stores, including the fields that the entries of its hooks store."""
    return _named(stage, 1) | _named(stage, 2)


def declarations(stage: Stage) -> list[tuple[Names, Names, Names]]:
    """Return the fields that a stage reads, writes and updates, then the fields of each piece of code in its hooks."""
    pieces = [entry for hook in stage.hooks for _, entry in hook.entries]
    found = [item for entry in pieces for item in (entry if isinstance(entry, tuple) else (entry,))]
    return [stage.declared, *(item.declared for item in found if hasattr(item, "declared"))]


def _named(stage: Stage, kind: int) -> frozenset[str]:
    """Return the fields that a stage declares; kind 0: reads, 1: writes, 2: updates."""
    return frozenset().union(*(fields_named(declared[kind]) for declared in declarations(stage)))

"""The plan of an evaluation: the stages that the requested quantities need, from what stages declare.

Stages after the pipeline compute quantities that a step does not need, and run on request only. An evaluation that
moves nothing ends with the last stage of the pipeline that writes a requested quantity: poses of bodies, for example,
are written by its first stage, long before contacts or forces.
"""

from collections.abc import Callable, Collection
from typing import Any

from ...base.stage import Stage
from ...mechanics.dynamics.smooth import smooth_acceleration
from ...model.state.declared import read_by, written_by
from ...model.state.fields import SMOOTH
from ...model.state.memory import MEMORY
from ...model.state.reach import reach_of
from ..settings import Setting
from ..step import LAST, PIPELINE
from ..tiles.tile_pass import ON_REQUEST

_KEPT = frozenset(field.name for group in MEMORY.values() for field in group)


def written_in(entry: Callable[..., Any]) -> frozenset[str]:
    """Return the fields that an entry of the pipeline stores: a stage, or a function that calls stages."""
    stages = [entry] if isinstance(entry, Stage) else reach_of(entry).stages
    return frozenset().union(*map(written_by, stages))


_WRITTEN = [written_in(entry) for entry in PIPELINE]


def ask_for(call: Any, names: Collection[str], everything: bool) -> None:
    """Set the entries of `call` that make a launch compute these fields.

    Args:
        call: the settings of the launch; its other entries are left alone.
        names: the fields.
        everything: run the whole pipeline, as every launch does that moves something.
    """
    wanted, requested = set(names), []
    for bit, stage, fields in reversed(ON_REQUEST):
        if not wanted.isdisjoint(fields.split()):
            requested.append((bit, stage))
            wanted |= read_by(stage).difference(*_WRITTEN)
    call[Setting.REQUESTED] = sum(bit for bit, _ in requested)
    call[Setting.SMOOTH] = int(not SMOOTH.isdisjoint(names))
    stages = [stage for _, stage in requested] + [smooth_acceleration] * int(call[Setting.SMOOTH])
    call[Setting.LAST] = LAST if everything else last_needed(names, stages)


def last_needed(names: Collection[str], requested: Collection[Stage]) -> int:
    """Return the position of the last stage of the pipeline that fields and stages on request need; -1 if none.

    For a field that no evaluation computes, such as the coordinates that a step advances, it is the last position.
    """
    computed = _KEPT.union(*_WRITTEN, *map(written_by, requested))
    if not computed.issuperset(names):
        return LAST
    needed = frozenset(names).union(*(read_by(stage) - written_by(stage) for stage in requested))
    return max((place for place, written in enumerate(_WRITTEN) if written & needed), default=-1)

"""The plan of an evaluation: which stages the quantities that are asked for need, as stages declare what they do.

Behind the pipeline there are stages that run on request alone, as a step does without what they compute. And of the
pipeline an evaluation that moves nothing needs only the stages up to the last one that writes something asked for: the
poses of bodies follow from the first of them, long before any contact or force.
"""

from collections.abc import Callable, Collection
from typing import Any

from ..dynamics.smooth import smooth_acceleration
from ..stage import Stage
from ..state.declared import read_by, written_by
from ..state.fields import SMOOTH
from ..state.memory import MEMORY
from ..state.reach import reach_of
from ..step import LAST, PIPELINE
from .settings import Setting
from .turn import ON_REQUEST

_KEPT = frozenset(field.name for group in MEMORY.values() for field in group)


def written_in(entry: Callable[..., Any]) -> frozenset[str]:
    """The fields that an entry of the pipeline stores: a stage, or a function that calls some."""
    stages = [entry] if isinstance(entry, Stage) else reach_of(entry).stages
    return frozenset().union(*map(written_by, stages))


_WRITTEN = [written_in(entry) for entry in PIPELINE]


def ask_for(call: Any, names: Collection[str], everything: bool) -> None:
    """Have a launch, whose settings are the tensor `call`, compute these fields.

    Args:
        call: the settings of the launch; others of them are left alone.
        names: of fields.
        everything: whether it needs the whole pipeline, as all launches do that move something.
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
    """Place of the last stage of the pipeline that fields and stages on request need; -1: they need none.

    Of a field that no evaluation computes, such as what a step advances with, nobody can say what it needs: everything.
    """
    computed = _KEPT.union(*_WRITTEN, *map(written_by, requested))
    if not computed.issuperset(names):
        return LAST
    needed = frozenset(names).union(*(read_by(stage) - written_by(stage) for stage in requested))
    return max((place for place, written in enumerate(_WRITTEN) if written & needed), default=-1)

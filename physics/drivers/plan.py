"""The plan of an evaluation: the stages that the requested quantities need, from what stages declare.

Stages after the pipeline compute quantities that a step does not need, and run on request only. An evaluation that
moves nothing ends with the last stage of the pipeline that writes a requested quantity: poses of bodies, for example,
are written by its first stage, long before contacts or forces.
"""

from collections.abc import Callable, Collection
from typing import Any

from ..constraint.external_force import external_force
from ..dynamics.smooth import smooth_acceleration
from ..kinematics.center_of_mass import body_inertias, mass_centers
from ..sensed.contact_readings import contact_readings
from ..sensed.limit_readings import limit_forces
from ..sensed.motion_readings import sensed_accelerations, sensed_forces
from ..stage import Stage
from ..state.declared import read_by, written_by
from ..state.fields import SENSED as SENSED_FIELDS
from ..state.fields import SMOOTH
from ..state.memory import MEMORY
from ..state.reach import reach_of
from ..step import LAST, PIPELINE
from .settings import Setting

ON_REQUEST: tuple[tuple[Setting, int, Stage], ...] = (
    (Setting.SMOOTH, 1, smooth_acceleration),
    (Setting.EXTERNAL, 1, external_force),
    (Setting.CENTERS, 1, mass_centers),
    (Setting.INERTIAS, 1, body_inertias),
    (Setting.SENSED, 1, limit_forces),
    (Setting.SENSED, 1, contact_readings),
    (Setting.SENSED, 1, sensed_accelerations),
    (Setting.SENSED, 2, sensed_forces),
)
"""Stages after the pipeline, each with the least value of a setting with which it runs. If such a stage both loads and
stores a field, it stores the field first, so no other stage has to have stored it."""
_SENSED = frozenset(field.name for field in SENSED_FIELDS)
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
    call[Setting.CENTERS] = int("xipos" in names or "subtree_com" in names)
    forces = "sensed_force" in names
    call[Setting.SENSED] = 2 if forces else int(not _SENSED.isdisjoint(names))
    call[Setting.EXTERNAL] = int(forces or "cfrc_ext" in names)
    call[Setting.INERTIAS] = int(forces or "cinert" in names)
    call[Setting.SMOOTH] = int(not SMOOTH.isdisjoint(names))
    requested = [stage for setting, least, stage in ON_REQUEST if call[setting] >= least]
    call[Setting.LAST] = LAST if everything else last_needed(names, requested)


def last_needed(names: Collection[str], requested: Collection[Stage]) -> int:
    """Return the position of the last stage of the pipeline that fields and stages on request need; -1 if none.

    For a field that no evaluation computes, such as those with which a step advances, it is the last of all.
    """
    computed = _KEPT.union(*_WRITTEN, *map(written_by, requested))
    if not computed.issuperset(names):
        return LAST
    needed = frozenset(names).union(*(read_by(stage) - written_by(stage) for stage in requested))
    return max((place for place, written in enumerate(_WRITTEN) if written & needed), default=-1)

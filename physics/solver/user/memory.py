"""Fields of memory, and how each call of a solver treats them: one row each.

`state.reset`, `state.set`, `state.reset_to_keyframe`, `state.mj_state` and `state.set_mj_state` go over these rows. The
memory of a part (`parts.part.Memory`) makes its own rows. `state_dict` and `save` have all fields of memory.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...model.parts import PARTS
from ...model.state.memory import FORCES, INPUTS, MEMORIES, STATE


class Reference(NamedTuple):
    """The value after a reset of a field that depends on per-environment parameters.

    Attributes:
        parameters: names of these parameters.
        rows: (model, numbers (n, ...) of each) -> the field's numbers (n, k).
    """

    parameters: tuple[str, ...]
    rows: Callable[..., np.ndarray]


@dataclass(frozen=True)
class Kept:
    """A field of memory.

    Attributes:
        name: the field's name.
        part: the part of MuJoCo's state vectors (mjtState) that it is; "" if it is no part of them.
        key: the field of mjModel with its values in keyframes; "" if keyframes have none.
        settable: True if `state.set` takes it.
        coordinate: True for positions and velocities. Their rounding errors are kept in another field, which
            is zero after a write; a write ends their environment's fault.
        lasting: True if a reset leaves it as it is.
        reference: the value after a reset, if it depends on numbers of environments' own.
    """

    name: str
    part: str = ""
    key: str = ""
    settable: bool = False
    coordinate: bool = False
    lasting: bool = False
    reference: Reference | None = None


KEPT: tuple[Kept, ...] = (
    Kept("qpos", "qpos", settable=True, coordinate=True),  # `state.reset` takes it, and that of keyframes
    Kept("qvel", "qvel", settable=True, coordinate=True),
    Kept("qacc_warmstart", "warmstart"),
    Kept("ctrl", "ctrl", "key_ctrl"),
    Kept("qfrc_applied", "qfrc_applied"),
    Kept("xfrc_applied", "xfrc_applied"),
    Kept("eq_active", "eq_active"),
    Kept("mocap_pos", "mocap_pos", "key_mpos"),
    Kept("mocap_quat", "mocap_quat", "key_mquat"),
    *(
        Kept(
            *(memory.field.name, memory.state, memory.keyframe),
            settable=memory.settable,
            reference=Reference(*memory.reset) if memory.reset else None,
        )
        for memory in MEMORIES
    ),
    Kept("dof_kp", lasting=True),
    Kept("dof_kv", lasting=True),
    Kept("dof_force_range", lasting=True),
)
STATE_PARTS = {kept.part: kept for kept in KEPT if kept.part}
SETTABLE = {kept.name: kept for kept in KEPT if kept.settable}
REFERENCES = {kept.name: kept.reference for kept in KEPT if kept.reference}
LASTING = frozenset(kept.name for kept in KEPT if kept.lasting)
FIELDS = {field.name: field for field in (*STATE, *INPUTS, *FORCES)}
"""The fields by name."""

HISTORIES = tuple(part.history for part in PARTS if part.history is not None)
"""The samples of mechanisms: of controls, and of readings."""

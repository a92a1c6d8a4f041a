"""Features of a compiled MuJoCo model that Tumble does not simulate: one row per feature.

A rule finds the elements of one kind that use the feature, and says how to take the feature out of an MjSpec. A rule
with ``without`` flags holds only while no such disable flag is set: with one of them the feature has no effect,
and its elements are merely unused.
"""

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
from mujoco import MjModel

from ..files.mjmodel.actuators import BIASES, DYNAMICS, GAINS, disabled_actuators, held_when_off
from ..files.mjmodel.pairs import explicit_pair_number, explicit_pairs, possible_pairs, repeated_explicit_pairs
from ..files.mjmodel.unsupported import Drop, Unsupported, clears
from ..mechanics.collision.pair_table import NO_ROW, PAIR_TABLE, rows_of
from .parts import ACTUATOR_KINDS, PARTS
from .tables.mujoco_fields import ENABLE_FLAGS, Flag

_D = mujoco.mjtDisableBit
_CONTACT = int(_D.mjDSBL_CONTACT) | int(_D.mjDSBL_CONSTRAINT)
_GAINS = {*GAINS, *(kind.gaintype for kind in ACTUATOR_KINDS)}
_BIASES = {*BIASES, *(bias for kind in ACTUATOR_KINDS for bias in kind.biastypes)}
_DYNAMICS = {*DYNAMICS, *(dynamics for kind in ACTUATOR_KINDS for dynamics in kind.dyntypes)}


def _sets(**values: object) -> Drop:
    """Return a function that assigns ``values`` to an element's attributes."""

    def apply(element: object) -> None:
        for name, value in values.items():
            setattr(element, name, value)

    return apply


def _ids(mask: np.ndarray) -> np.ndarray:
    return np.flatnonzero(mask)


def _on(condition: object) -> np.ndarray:
    return np.zeros(1 if condition else 0, dtype=int)


def _enum(prefix: str, enum: Any, allowed: set[int]) -> list[tuple[str, int]]:
    """Return (name, value) of the members of ``enum`` that are not allowed."""
    return [
        (name.removeprefix(prefix).lower(), int(member))
        for name, member in enum.__members__.items()
        if int(member) not in allowed and not name.startswith("mjN") and not name.endswith("UNDEFINED")
    ]


def _actuator_types(field: str, what: str, prefix: str, enum: Any, allowed: set[int]) -> list[Unsupported]:
    """Return one rule for each member of an actuator's type field that is not allowed."""

    def where(value: int) -> Callable[[MjModel], np.ndarray]:
        return lambda m: _ids(getattr(m, f"actuator_{field}") == value)

    return [
        Unsupported(f"{what} '{name}'", "actuator", field, where(value), None)
        for name, value in _enum(prefix, enum, allowed)
    ]


def _without_plugin(body: object) -> None:
    body.plugin.active = False  # type: ignore[attr-defined]


def _integrator(name: str) -> Unsupported:
    value = int(mujoco.mjtIntegrator.__members__[f"mjINT_{name.upper()}"])
    replace = _sets(integrator=int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST))
    return Unsupported(
        f"integrator '{name}'", "option", "integrator", lambda m: _on(m.opt.integrator == value), replace
    )


def _enable_flag(name: str) -> Unsupported:
    bit = int(mujoco.mjtEnableBit.__members__[f"mjENBL_{name.upper()}"])
    feature, drop = f"flag {name}='enable'", clears("enableflags", bit)
    return Unsupported(feature, "option", name, lambda m: _on(int(m.opt.enableflags) & bit), drop)


def has_narrow_phase(mjm: mujoco.MjModel, pairs: np.ndarray) -> np.ndarray:
    """Return bool (n,), True for each pair (n, 2) of geoms whose contacts Tumble can compute."""
    types = mjm.geom_type[pairs].reshape(-1, 2)
    return rows_of(types[:, 0], types[:, 1]) != NO_ROW


def repeated_with_another_reach(mjm: mujoco.MjModel) -> np.ndarray:
    """Return repeated explicit pairs of geoms with corners whose detection distance differs from the first one's.

    The contacts of such geoms may depend on the detection distance, and are computed once for all pairs of two geoms.
    """
    own, again = explicit_pairs(mjm), repeated_explicit_pairs(mjm)
    reach = mjm.pair_margin + mjm.pair_gap
    first = explicit_pair_number(mjm, own[again])
    types = mjm.geom_type[own[again]].reshape(-1, 2)
    cornered = np.array([row == NO_ROW or bool(PAIR_TABLE[row].group) for row in rows_of(types[:, 0], types[:, 1])])
    return again[(reach[again] != reach[first]) & cornered.astype(bool)]


RULES: list[Unsupported] = [
    _integrator("discrete"),
    *(_enable_flag(name) for name, flag in ENABLE_FLAGS.items() if flag is Flag.REFUSED),
    Unsupported("plugin with passive forces", "body", "plugin", lambda m: _ids(m.body_plugin >= 0), _without_plugin),
    Unsupported(
        "plugin",
        "geom",
        "plugin",
        lambda m: np.intersect1d(_ids(m.geom_plugin >= 0), possible_pairs(m)),
        _sets(contype=0, conaffinity=0),
        _CONTACT,
    ),
    *_actuator_types("dyntype", "activation dynamics", "mjDYN_", mujoco.mjtDyn, _DYNAMICS),
    *_actuator_types("gaintype", "gain", "mjGAIN_", mujoco.mjtGain, _GAINS),
    *_actuator_types("biastype", "bias", "mjBIAS_", mujoco.mjtBias, _BIASES),
    Unsupported("plugin", "actuator", "plugin", lambda m: _ids(m.actuator_plugin >= 0), None),
    Unsupported(
        "PID controller, DC motor or orientation in a disabled group",
        "actuator",
        "actuatorgroupdisable",
        lambda m: _ids(disabled_actuators(m) & ~held_when_off(m)),
        None,
    ),
    *(rule for part in PARTS for rule in part.unsupported),
    Unsupported(
        "second pair of the same geoms with another reach",
        "pair",
        "pair",
        repeated_with_another_reach,
        None,
        _CONTACT,
    ),
    Unsupported("deformable body", "flex", "flex", lambda m: np.arange(m.nflex), None),
]

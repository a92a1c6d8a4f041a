"""The real numbers that kernels read, computed from MuJoCo's, for one model or for many environments at once.

Axis 0 of every array is the environment; size 1 means that all environments share the values.
"""

from collections.abc import Iterable, Mapping

import mujoco
import numpy as np

from ...base.joints import is_free, is_scalar
from ...base.shapes import HALF_SIDES
from ...files.mjmodel.actuators import ORIENTATION, REFSITE, actuator_types, disabled_actuators, from_actuators, owners
from ...files.mjmodel.flags import UNLIMITED, disabled
from ...files.mjmodel.pairs import never_moves
from ..number_rules import LIMITED
from ..parts import ACTUATOR_KINDS, NUMBERS, PARTS
from ..parts.part import Rule

Numbers = Mapping[str, np.ndarray]
"""MuJoCo's numbers by name, (environments, *shape) each."""

_D = mujoco.mjtDisableBit
_AFFINE_GAINS = (int(mujoco.mjtGain.mjGAIN_FIXED), int(mujoco.mjtGain.mjGAIN_AFFINE))


def mujoco_numbers(mjm: mujoco.MjModel, name: str) -> np.ndarray:
    """Return a field of mjModel or mjOption, or a number of a part, in double precision."""
    if name in NUMBERS:
        return np.array(NUMBERS[name].read(mjm), np.float64)
    return np.array(getattr(mjm.opt if is_option(name) else mjm, name), np.float64)


def is_option(name: str) -> bool:
    """Return True for a field of mjOption, such as gravity."""
    return hasattr(mujoco.MjOption, name)


def kernel_numbers(mjm: mujoco.MjModel, fields: Iterable[str], numbers: Numbers | None = None) -> dict[str, np.ndarray]:
    """Return fields of `model.fields` by name, (environments, items, ...) each.

    Args:
        mjm: the model.
        fields: names of fields, keys of `RULES`.
        numbers: MuJoCo's numbers that environments override; all have the same environments.
    """
    given: dict[str, np.ndarray] = dict(numbers or {})
    found = {}
    for field in fields:
        # Apply the field's rule, then the amendments of parts.
        names, compute = RULES[field]
        for name in names:
            if name not in given:
                given[name] = mujoco_numbers(mjm, name)[None]
        found[field] = compute(mjm, *(_within_reach(name, given[name]) for name in names))
        for part in PARTS:
            if field in part.amends:
                found[field] = part.amends[field](mjm, found[field])
    return found


def _within_reach(name: str, numbers: np.ndarray) -> np.ndarray:
    """Return numbers as kernels take them: infinite bounds of ranges become UNLIMITED."""
    return np.clip(numbers, -UNLIMITED, UNLIMITED) if name in LIMITED else numbers


def fields_from(names: Iterable[str]) -> list[str]:
    """Return the fields that depend on any of the given numbers of MuJoCo."""
    changed = set(names)
    return [field for field, (sources, _) in RULES.items() if changed.intersection(sources)]


def _gravity(mjm: mujoco.MjModel, gravity: np.ndarray) -> np.ndarray:
    """Return gravity (environments, 3), zero if disabled."""
    return gravity * (0.0 if disabled(mjm, _D.mjDSBL_GRAVITY) else 1.0)


def _stiffness(mjm: mujoco.MjModel, stiffness: np.ndarray) -> np.ndarray:
    """Return the first spring constant of every joint, zero if springs are disabled."""
    return _first(stiffness) * (0.0 if disabled(mjm, _D.mjDSBL_SPRING) else 1.0)


def _damping(mjm: mujoco.MjModel, damping: np.ndarray) -> np.ndarray:
    """Return the damping of every dof, that of actuators included, zero if dampers are disabled."""
    own = _first(damping) + from_actuators(mjm, mjm.actuator_damping)
    return own * (0.0 if disabled(mjm, _D.mjDSBL_DAMPER) else 1.0)


def _first(numbers: np.ndarray) -> np.ndarray:
    """Return the first number of every item, (environments, items), for items of any shape."""
    return numbers.reshape(*numbers.shape[:2], -1)[:, :, 0] if numbers.size else numbers[:, :0].reshape(len(numbers), 0)


def _solver_scale(mjm: mujoco.MjModel, diagonal: np.ndarray) -> np.ndarray:
    """Return 1 / trace of M at qpos0, or 1 / (nv mean inertia of the file); 0 with constraint islands."""
    if not disabled(mjm, _D.mjDSBL_ISLAND) or not mjm.nv:
        return np.zeros((len(diagonal), 1))
    own, given = float(np.mean(mjm.dof_M0)), float(mjm.stat.meaninertia)
    share = diagonal.mean(axis=1) / own if np.isclose(own, given) else np.ones(len(diagonal))
    return 1.0 / (given * share[:, None] * max(1, mjm.nv))


def _active(mjm: mujoco.MjModel) -> np.ndarray:
    """Return 1 for each output that is enabled, else 0, (nout, 1)."""
    share = 0.0 if disabled(mjm, _D.mjDSBL_ACTUATION) else 1.0
    return np.where(disabled_actuators(mjm)[owners(mjm), None], 0.0, share)


def _gain(mjm: mujoco.MjModel, gainprm: np.ndarray) -> np.ndarray:
    """Return the coefficients of the gain of every output, (environments, nout, 3)."""
    of = owners(mjm)
    gain = gainprm[:, of, :3]
    gain[:, mjm.actuator_gaintype[of] == int(mujoco.mjtGain.mjGAIN_FIXED), 1:] = 0.0
    gain[:, ~np.isin(mjm.actuator_gaintype[of], _AFFINE_GAINS)] = 0.0
    for kind in ACTUATOR_KINDS:
        for column in kind.gains:
            own = mjm.actuator_gaintype[of] == kind.gaintype
            gain[:, own, column] = gainprm[:, of][:, own, column]
    return gain * _active(mjm)


def _bias(mjm: mujoco.MjModel, biasprm: np.ndarray) -> np.ndarray:
    """Return the coefficients of the bias of every output, (environments, nout, 3)."""
    of = owners(mjm)
    bias = biasprm[:, of, :3]
    bias[:, mjm.actuator_biastype[of] != int(mujoco.mjtBias.mjBIAS_AFFINE)] = 0.0
    for kind in ACTUATOR_KINDS:
        for column in kind.biases:
            own = np.isin(mjm.actuator_biastype[of], kind.biastypes)
            bias[:, own, column] = biasprm[:, of][:, own, column]
    return bias * _active(mjm)


def _limited(limited: np.ndarray, ranges: np.ndarray) -> np.ndarray:
    """Return ranges (environments, items, 2) of limited items, and +-UNLIMITED for the others."""
    return np.where(limited[:, None], ranges.reshape(len(ranges), -1, 2), [-UNLIMITED, UNLIMITED])


def _ctrlrange(mjm: mujoco.MjModel, ranges: np.ndarray) -> np.ndarray:
    """Return the control ranges, unlimited if clamping is disabled."""
    clamps = not disabled(mjm, _D.mjDSBL_CLAMPCTRL)
    return _limited(np.asarray(mjm.actuator_ctrllimited, bool) & clamps, ranges)


def _forcerange(mjm: mujoco.MjModel, ranges: np.ndarray) -> np.ndarray:
    """Return the force range of every output, unlimited if actuation is disabled."""
    clamps = not disabled(mjm, _D.mjDSBL_ACTUATION)
    of = owners(mjm)
    each = np.asarray(mjm.actuator_forcelimited, bool) & (mjm.actuator_gaintype != ORIENTATION)
    return _limited(each[of] & clamps, ranges[:, of])


def _period(mjm: mujoco.MjModel, gear: np.ndarray, gainprm: np.ndarray, biasprm: np.ndarray) -> np.ndarray:
    """Return the period (environments, nout) of a setpoint servo on a ball joint or for a rotation between two sites.

    It is one revolution times the gear; 0 for other outputs.
    """
    of = owners(mjm)
    kind, gains = actuator_types(mjm)[of], mjm.actuator_gaintype[of]
    affine = mjm.actuator_biastype[of] == int(mujoco.mjtBias.mjBIAS_AFFINE)
    follows = (gains == int(mujoco.mjtGain.mjGAIN_FIXED)) & (gainprm[:, of, 0] == -biasprm[:, of, 1])
    servo = affine & (follows | np.isin(gains, [each.gaintype for each in ACTUATOR_KINDS if each.follows]))
    slides, turns = gear[:, :, :3], gear[:, :, 3:]
    between = (kind == REFSITE) & ~slides.any(axis=2)
    ball = ~is_scalar(kind) & ~is_free(kind)
    size = np.linalg.norm(np.where(ball[:, None], slides, turns), axis=2)
    return np.where(servo & (ball | between), 2 * np.pi * size, 0.0)


def _half_sides(mjm: mujoco.MjModel, sizes: np.ndarray) -> np.ndarray:
    """Return half the sides of a box that contains the geom and is centred at the origin of its frame.

    A mesh's own box (geom_aabb) may be smaller.
    """
    half, made = sizes.copy(), mjm.geom_dataid >= 0
    half[:, made] = np.abs(mjm.geom_aabb[made, :3]) + mjm.geom_aabb[made, 3:]
    for kind, half_sides in HALF_SIDES.items():
        own = mjm.geom_type == kind
        half[:, own] = half_sides(sizes[:, own])
    return half


def _statics_moved(mjm: mujoco.MjModel, *numbers: np.ndarray) -> np.ndarray:
    """Return 1 for environments in which a geom that is fixed in the world differs from the model's, (n, 1)."""
    fixed = never_moves(mjm)
    moved = np.zeros(max(map(len, numbers)), bool)
    for name, values in zip(_PLACES, numbers, strict=True):
        own = fixed if name.startswith("body") else fixed[mjm.geom_bodyid]
        same = values[:, own] == getattr(mjm, name)[own]
        moved |= ~same.reshape(len(values), -1).all(axis=1)
    return moved[:, None].astype(float)


_PLACES = ("geom_pos", "geom_quat", "geom_size", "geom_margin", "geom_gap", "body_pos", "body_quat")
"""Numbers on which the place of a static geom in a grid depends (`static_grid`)."""
_SAME = (
    *("qpos0", "qpos_spring", "body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia"),
    *("condition", "body_subtreemass", "geom_pos", "geom_quat", "geom_size", "geom_rbound"),
    *("geom_margin", "geom_friction", "geom_solmix", "geom_solref", "geom_solimp"),
    *("pair_friction", "pair_margin", "pair_solref", "pair_solimp", "pair_solreffriction"),
)
"""Fields that are MuJoCo's numbers unchanged."""

RULES: dict[str, Rule] = {
    **{name: ((name,), lambda mjm, numbers: numbers) for name in _SAME},
    "gravity": (("gravity",), _gravity),
    "solver_scale": (("dof_M0",), _solver_scale),
    "body_invweight0": (("body_invweight0",), lambda mjm, weight: weight[..., 0]),
    "geom_half": (("geom_size",), _half_sides),
    "statics_moved": (_PLACES, _statics_moved),
    "geom_detect": (("geom_margin", "geom_gap"), lambda mjm, margin, gap: margin + gap),
    "pair_detect": (("pair_margin", "pair_gap"), lambda mjm, margin, gap: margin + gap),
    "jnt_stiffness": (("jnt_stiffness",), _stiffness),
    "dof_damping": (("dof_damping",), _damping),
    "dof_armature": (("dof_armature",), lambda mjm, own: own + from_actuators(mjm, mjm.actuator_armature)),
    "actuator_gear": (("actuator_gear",), lambda mjm, gear: gear.reshape(len(gear), -1, 6)),
    "actuator_gain": (("actuator_gainprm",), _gain),
    "actuator_bias": (("actuator_biasprm",), _bias),
    "actuator_ctrlrange": (("actuator_ctrlrange",), _ctrlrange),
    "actuator_forcerange": (("actuator_forcerange",), _forcerange),
    "actuator_period": (("actuator_gear", "actuator_gainprm", "actuator_biasprm"), _period),
    **{name: rule for part in PARTS for name, rule in part.rules.items()},
}
"""The rules by which fields of `model.fields` are computed from MuJoCo's numbers: the fields that can be overridden."""

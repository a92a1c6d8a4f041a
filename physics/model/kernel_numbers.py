"""The real numbers that kernels read, made from MuJoCo's: of one model, or of many environments at once.

Arrays have environments in front: (1, ...) for the model's own numbers, which stand for everybody.
"""

from collections.abc import Iterable, Mapping

import mujoco
import numpy as np

from ..mjmodel.actuators import disabled_actuators, from_actuators
from ..mjmodel.flags import UNLIMITED, disabled
from ..mjmodel.outputs import ORIENTATION, owners
from ..mjmodel.transmissions import REFSITE, actuator_types
from ..parts import ACTUATOR_KINDS, NUMBERS, PARTS
from ..parts.part import Rule
from .fields import PRECISE
from .number_rules import LIMITED

Numbers = Mapping[str, np.ndarray]
"""MuJoCo's numbers by name, (environments, *shape) each."""

_D = mujoco.mjtDisableBit
_AFFINE_GAINS = (int(mujoco.mjtGain.mjGAIN_FIXED), int(mujoco.mjtGain.mjGAIN_AFFINE))
_BALL, _SLIDE, _HINGE = (int(getattr(mujoco.mjtJoint, f"mjJNT_{n}")) for n in ("BALL", "SLIDE", "HINGE"))
_SPHERE, _CAPSULE, _CYLINDER, _MESH = (
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{n}")) for n in ("SPHERE", "CAPSULE", "CYLINDER", "MESH")
)


def mujoco_numbers(mjm: mujoco.MjModel, name: str) -> np.ndarray:
    """Return a field of mjModel or mjOption, or a part's number, in double precision."""
    if name in NUMBERS:
        return np.array(NUMBERS[name].read(mjm), np.float64)
    return np.array(getattr(mjm.opt if is_option(name) else mjm, name), np.float64)


def is_option(name: str) -> bool:
    """Return True for a field of mjOption, such as gravity."""
    return hasattr(mujoco.MjOption, name)


def kernel_numbers(mjm: mujoco.MjModel, fields: Iterable[str], numbers: Numbers | None = None) -> dict[str, np.ndarray]:
    """Fields of `model.fields` by name, (environments, items, ...).

    Args:
        mjm: the model.
        fields: keys of `RULES`.
        numbers: what is not the model's own, of the same environments each.
    """
    given: dict[str, np.ndarray] = dict(numbers or {})
    found = {}
    for field in fields:
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
    """Numbers as kernels take them: the bounds of ranges may be infinite, which is no bound."""
    return np.clip(numbers, -UNLIMITED, UNLIMITED) if name in LIMITED else numbers


def fields_from(names: Iterable[str]) -> list[str]:
    """Fields that depend on any of MuJoCo's numbers."""
    changed = set(names)
    return [field for field, (sources, _) in RULES.items() if changed.intersection(sources)]


def _gravity(mjm: mujoco.MjModel, gravity: np.ndarray) -> np.ndarray:
    return gravity * (0.0 if disabled(mjm, _D.mjDSBL_GRAVITY) else 1.0)


def _stiffness(mjm: mujoco.MjModel, stiffness: np.ndarray) -> np.ndarray:
    return _first(stiffness) * (0.0 if disabled(mjm, _D.mjDSBL_SPRING) else 1.0)


def _damping(mjm: mujoco.MjModel, damping: np.ndarray) -> np.ndarray:
    own = _first(damping) + from_actuators(mjm, mjm.actuator_damping)
    return own * (0.0 if disabled(mjm, _D.mjDSBL_DAMPER) else 1.0)


def _first(numbers: np.ndarray) -> np.ndarray:
    """First number of every item, whatever the items' shape."""
    return numbers.reshape(*numbers.shape[:2], -1)[:, :, 0] if numbers.size else numbers[:, :0].reshape(len(numbers), 0)


def _solver_scale(mjm: mujoco.MjModel, diagonal: np.ndarray) -> np.ndarray:
    """One over the trace of M at qpos0, or over the mean inertia that the file gives; 0 with constraint islands."""
    if not disabled(mjm, _D.mjDSBL_ISLAND) or not mjm.nv:
        return np.zeros((len(diagonal), 1))
    own, given = float(np.mean(mjm.dof_M0)), float(mjm.stat.meaninertia)
    share = diagonal.mean(axis=1) / own if np.isclose(own, given) else np.ones(len(diagonal))
    return 1.0 / (given * share[:, None] * max(1, mjm.nv))


def _active(mjm: mujoco.MjModel) -> np.ndarray:
    """1 or 0 for each output, (nout, 1)."""
    share = 0.0 if disabled(mjm, _D.mjDSBL_ACTUATION) else 1.0
    return np.where(disabled_actuators(mjm)[owners(mjm), None], 0.0, share)


def _gain(mjm: mujoco.MjModel, gainprm: np.ndarray) -> np.ndarray:
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
    of = owners(mjm)
    bias = biasprm[:, of, :3]
    bias[:, mjm.actuator_biastype[of] != int(mujoco.mjtBias.mjBIAS_AFFINE)] = 0.0
    for kind in ACTUATOR_KINDS:
        for column in kind.biases:
            own = np.isin(mjm.actuator_biastype[of], kind.biastypes)
            bias[:, own, column] = biasprm[:, of][:, own, column]
    return bias * _active(mjm)


def _limited(limited: np.ndarray, ranges: np.ndarray) -> np.ndarray:
    """Ranges (environments, items, 2) where they count, else all numbers."""
    return np.where(limited[:, None], ranges.reshape(len(ranges), -1, 2), [-UNLIMITED, UNLIMITED])


def _ctrlrange(mjm: mujoco.MjModel, ranges: np.ndarray) -> np.ndarray:
    clamps = not disabled(mjm, _D.mjDSBL_CLAMPCTRL)
    return _limited(np.asarray(mjm.actuator_ctrllimited, bool) & clamps, ranges)


def _forcerange(mjm: mujoco.MjModel, ranges: np.ndarray) -> np.ndarray:
    clamps = not disabled(mjm, _D.mjDSBL_ACTUATION)
    of = owners(mjm)
    each = np.asarray(mjm.actuator_forcelimited, bool) & (mjm.actuator_gaintype != ORIENTATION)
    return _limited(each[of] & clamps, ranges[:, of])


def _period(mjm: mujoco.MjModel, gear: np.ndarray, gainprm: np.ndarray, biasprm: np.ndarray) -> np.ndarray:
    """Of a setpoint servo on a ball joint, or for a turn between two sites: a whole turn."""
    of = owners(mjm)
    kind, gains = actuator_types(mjm)[of], mjm.actuator_gaintype[of]
    affine = mjm.actuator_biastype[of] == int(mujoco.mjtBias.mjBIAS_AFFINE)
    follows = (gains == int(mujoco.mjtGain.mjGAIN_FIXED)) & (gainprm[:, of, 0] == -biasprm[:, of, 1])
    servo = affine & (follows | np.isin(gains, [each.gaintype for each in ACTUATOR_KINDS if each.follows]))
    slides, turns = gear[:, :, :3], gear[:, :, 3:]
    between = (kind == REFSITE) & ~slides.any(axis=2)
    size = np.linalg.norm(np.where((kind == _BALL)[:, None], slides, turns), axis=2)
    return np.where(servo & ((kind == _BALL) | between), 2 * np.pi * size, 0.0)


def _half_sides(mjm: mujoco.MjModel, sizes: np.ndarray) -> np.ndarray:
    """Of the box that holds a geom and has its origin in the middle; a mesh's own box may be smaller."""
    kinds, half = mjm.geom_type, sizes.copy()
    for row in np.flatnonzero(np.isin(kinds, (_SPHERE, _CAPSULE, _CYLINDER))):
        radius, length = sizes[:, row, 0], sizes[:, row, 1]
        half[:, row, :2] = radius[:, None]
        half[:, row, 2] = {_SPHERE: radius, _CAPSULE: radius + length, _CYLINDER: length}[kinds[row]]
    meshes = kinds == _MESH
    half[:, meshes] = np.abs(mjm.geom_aabb[meshes, :3]) + mjm.geom_aabb[meshes, 3:]
    return half


_SAME = (
    *("qpos0", "qpos_spring", "body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia"),
    *("condition", "body_subtreemass", "geom_pos", "geom_quat", "geom_size", "geom_rbound"),
    *("geom_margin", "geom_friction", "geom_solmix", "geom_solref", "geom_solimp"),
    *("pair_friction", "pair_margin", "pair_solref", "pair_solimp", "pair_solreffriction"),
)

RULES: dict[str, Rule] = {
    **{name: ((name,), lambda mjm, numbers: numbers) for name in _SAME},
    **{f"{name}_rest": ((name,), lambda mjm, x: x - np.float32(x)) for name in PRECISE if name in _SAME},
    "gravity": (("gravity",), _gravity),
    "solver_scale": (("dof_M0",), _solver_scale),
    "body_invweight0": (("body_invweight0",), lambda mjm, weight: weight[..., 0]),
    "geom_half": (("geom_size",), _half_sides),
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
"""How fields of `model.fields` follow from MuJoCo's numbers: those that an environment may have of its own."""

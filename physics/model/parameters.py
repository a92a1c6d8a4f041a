"""The parameters: fields of MuJoCo's model that environments may have own numbers of, with checks of their values."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import mujoco
import numpy as np

from ..base.arguments import real_array
from ..base.shapes import HFIELD
from ..files.geometry.visual import MESH_TYPES
from ..files.mjmodel.actuators import fixed_gears
from ..files.mjmodel.allowed import Allowed, Parameter
from ..files.mjmodel.equalities import holds_bodies
from ..files.mjmodel.sleep import sleeps
from .loading.sanity import beyond_single
from .number_rules import RULES, crossed
from .parts import NUMBERS, PARTS
from .tables.kernel_numbers import is_option, mujoco_numbers

_INERTIAL = ("body_invweight0", "dof_invweight0", "dof_M0", "actuator_acc0", "tendon_invweight0", "tendon_length0")
_PLACED = (
    *("cam_pos0", "cam_poscom0", "cam_mat0", "light_pos0", "light_poscom0", "light_dir0"),
    *("eq_data", "dof_length"),
)
_CENTRED = ("cam_poscom0", "light_poscom0")

PARAMETERS: dict[str, Parameter] = {
    parameter.name: parameter
    for parameter in (
        Parameter("gravity"),
        Parameter("qpos0", derives=(*_INERTIAL, *_PLACED)),
        Parameter("qpos_spring"),
        Parameter("body_pos", derives=(*_INERTIAL, *_PLACED)),
        Parameter("body_quat", derives=(*_INERTIAL, *_PLACED), turns=True),
        Parameter("body_ipos", derives=(*_INERTIAL, *_CENTRED, "dof_length")),
        Parameter("body_iquat", derives=_INERTIAL, turns=True),
        Parameter("body_mass", derives=("body_subtreemass", *_INERTIAL, *_CENTRED), lasting=True),
        Parameter("body_inertia", derives=_INERTIAL, lasting=True),
        Parameter("jnt_stiffness"),
        Parameter("dof_armature", derives=_INERTIAL),
        Parameter("dof_damping"),
        Parameter("geom_pos", derives=("dof_length",)),
        Parameter("geom_quat", turns=True),
        Parameter("geom_size", derives=("geom_rbound", "dof_length"), lasting=True),
        Parameter("geom_friction"),
        Parameter("geom_margin"),
        Parameter("geom_gap"),
        Parameter("geom_solmix"),
        Parameter("geom_solref"),
        Parameter("geom_solimp"),
        Parameter("pair_friction"),
        Parameter("pair_margin"),
        Parameter("pair_gap"),
        Parameter("pair_solref"),
        Parameter("pair_solimp"),
        Parameter("pair_solreffriction"),
        Parameter("actuator_gear", derives=("actuator_acc0",)),
        Parameter("actuator_gainprm"),
        Parameter("actuator_biasprm"),
        Parameter("actuator_ctrlrange", ordered=True),
        Parameter("actuator_forcerange", ordered=True),
        *(parameter for part in PARTS for parameter in part.parameters),
        *(Parameter(name) for name in NUMBERS),
    )
}
"""The parameters that `set_parameters` takes, by MuJoCo's name."""

DERIVED = tuple(dict.fromkeys(constant for parameter in PARAMETERS.values() for constant in parameter.derives))
"""Constants that `mj_setConst` derives from parameters; `get_parameters` returns these, too."""


def constants_of(names: Iterable[str], mjm: mujoco.MjModel | None = None) -> list[str]:
    """Return the constants that follow from parameters; `condition` is one that only single precision uses.

    Parameters that a model `mjm` has no use for are left out.
    """
    wanted = {constant for name in names for constant in PARAMETERS[name].derives}
    if mjm is not None:
        wanted = {name for name in wanted if np.size(getattr(mjm, name)) and _USED.get(name, _always)(mjm)}
    return [*(name for name in DERIVED if name in wanted), *(["condition"] if "dof_M0" in wanted else [])]


def _always(mjm: mujoco.MjModel) -> bool:
    return True


_USED: dict[str, Callable[[mujoco.MjModel], bool]] = {"eq_data": holds_bodies, "dof_length": sleeps}
"""Tests of a model: does it use this constant? A constant without a row is used if the model has such items."""


def require_known(name: str, writable: bool) -> None:
    """Raise KeyError, with a list of parameters, for an unknown name; constants count as known if not `writable`."""
    if not isinstance(name, str):
        raise KeyError(f"name={name!r}: parameters are named by strings, such as 'body_mass'")
    if name in PARAMETERS or (name in DERIVED and not writable):
        return
    if name in DERIVED:
        follows = ", ".join(p.name for p in PARAMETERS.values() if name in p.derives)
        raise KeyError(f"{name} cannot be set: it follows from {follows}, as MuJoCo's mj_setConst has it")
    near = difflib.get_close_matches(name, PARAMETERS, 3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise KeyError(f"no parameter is named {name!r}{hint}; there are {', '.join(PARAMETERS)}")


def checked(mjm: mujoco.MjModel, name: str, values: np.ndarray, index: np.ndarray, single: bool = False) -> np.ndarray:
    """Return a user's numbers for the environments `index`, (n, *shape) in double precision.

    In a solver of `single` precision numbers that it makes infinite are impossible, too.

    Raises:
        KeyError: for an unknown name.
        ValueError: for a wrong shape and for impossible numbers, naming the environment.
    """
    require_known(name, writable=True)
    own, wanted = mujoco_numbers(mjm, name), PARAMETERS[name]
    shape = (len(index), *own.shape)
    try:
        if values.ndim > len(shape):
            raise ValueError
        numbers = np.broadcast_to(values, shape).astype(np.float64)
    except ValueError:
        raise ValueError(
            f"{name}: expected shape {shape}, environments first, or one that broadcasts to it, got {values.shape}"
        ) from None
    if values.size and not own.size:
        raise ValueError(f"{name}: the model has no item with such a number; add one in the file")
    # limits of the field, and then of the parameter
    allowed = _allowed(name)
    if allowed.infinite:
        _refuse(name, numbers, np.isnan(numbers), index, f"it must be {allowed.words}")
    else:
        _refuse(name, numbers, ~np.isfinite(numbers), index, "it must be finite")
        _refuse(name, numbers, single & beyond_single(numbers), index, "it is infinite in single precision")
    if wanted.positive or allowed.least == 0.0:
        _refuse(name, numbers, numbers < 0, index, "it must not be negative")
    if allowed.above:
        _refuse(name, numbers, numbers <= allowed.least, index, f"it must be above {allowed.least:g}")
    if wanted.lasting:
        _refuse(name, numbers, (numbers <= 0) & (own > 0), index, "it must stay above 0, as in the model")
    if wanted.found:
        _refuse(name, numbers, (numbers > 0) & (own <= 0), index, "the model has none there; give it some in the file")
    if wanted.ordered and numbers.size:
        wrong = crossed(numbers)[..., None] & np.array([True, False])
        _refuse(name, numbers, wrong, index, "a lower bound must not be above its upper one")
    if wanted.turns and numbers.size:
        length = np.linalg.norm(numbers, axis=-1, keepdims=True)
        _refuse(name, numbers, np.broadcast_to(length == 0, shape), index, "a quaternion must have a length")
        numbers /= length
    # numbers that this model cannot change
    if name == "geom_size":
        fixed = np.isin(mjm.geom_type, (*MESH_TYPES, HFIELD))[:, None]
        reason = "the size of a mesh or height field cannot be changed"
        _refuse(name, numbers, fixed & (numbers != own), index, reason)
    for part in PARTS:
        if name in part.refusals:
            wrong, reason = part.refusals[name]
            _refuse(name, numbers, wrong(mjm, numbers), index, reason)
    if name == "actuator_gear":
        fixed = fixed_gears(mjm).reshape(-1, 1) & (numbers != own)
        _refuse(name, numbers, fixed, index, "its armature and damping depend on it: it cannot be changed")
    return numbers


def _allowed(name: str) -> Allowed:
    if name in NUMBERS:
        return NUMBERS[name].allowed
    return RULES[f"opt.{name}" if is_option(name) else name].allowed


def _refuse(name: str, numbers: np.ndarray, wrong: np.ndarray, index: np.ndarray, reason: str) -> None:
    if np.count_nonzero(wrong):
        env, *place = np.argwhere(wrong)[0]
        at = "".join(f"[{i}]" for i in place)
        raise ValueError(f"{name}{at} of environment {index[env]} is {numbers[(env, *place)]:g}: {reason}")


def as_double(parameters: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return a user's numbers as arrays in double precision.

    Raises:
        ValueError: a value is not made of real numbers.
    """
    return {name: real_array(str(name), values).astype(np.float64, copy=False) for name, values in parameters.items()}

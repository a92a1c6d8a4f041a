"""Overrides of a model's options (mjOption) by keyword, with MJCF's spelling of enumerations and flags."""

import difflib
from collections.abc import Iterable, Mapping

import mujoco
import numpy as np

from ..machine.scalars import as_whole
from .number_rules import RULES

_ENUMS = {
    "integrator": (mujoco.mjtIntegrator, "mjINT_"),
    "cone": (mujoco.mjtCone, "mjCONE_"),
    "solver": (mujoco.mjtSolver, "mjSOL_"),
    "jacobian": (mujoco.mjtJacobian, "mjJAC_"),
}
_FLAGS = {
    "disableflags": (mujoco.mjtDisableBit, "mjDSBL_"),
    "enableflags": (mujoco.mjtEnableBit, "mjENBL_"),
}
_MOST = 2**31 - 1


def option_names() -> list[str]:
    """Return the names that ``apply_options`` takes: the fields of mjOption."""
    return [name for name in dir(mujoco.MjOption()) if not name.startswith("_")]


def apply_options(option: object, values: Mapping[str, object]) -> None:
    """Set fields of an MjOption, of a model or of an MjSpec.

    Args:
        option: ``MjModel.opt`` or ``MjSpec.option``; changed in place.
        values: name -> value. Enumerations take MJCF's name ("implicitfast"), a number or a member; ``disableflags``
            and ``enableflags`` also take an iterable of MJCF's flag names (["contact", "gravity"]).

    Raises:
        ValueError: for a name that mjOption lacks (with the nearest ones) or a value that it cannot have.
    """
    known = option_names()
    for name, value in values.items():
        if name not in known:
            raise ValueError(f"unknown option {name!r}{_nearest(name, known)}; options are: {', '.join(known)}")
        current = getattr(option, name)
        if name in _ENUMS:
            setattr(option, name, _member(name, value, *_ENUMS[name]))
        elif name in _FLAGS:
            setattr(option, name, _bits(name, value, *_FLAGS[name]))
        elif isinstance(current, np.ndarray):
            current[:] = _vector(name, value, current.shape)
        else:
            setattr(option, name, _number(name, value, type(current)))


def _nearest(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word.lower(), [k.lower() for k in known], n=3, cutoff=0.5)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def _names(enum: type, prefix: str) -> dict[str, int]:
    members = enum.__members__.items()  # type: ignore[attr-defined]
    return {name.removeprefix(prefix).lower(): int(member) for name, member in members if name.startswith(prefix)}


def _member(option: str, value: object, enum: type, prefix: str) -> int:
    names = _names(enum, prefix)
    if isinstance(value, str):
        if value.lower() not in names:
            near = _nearest(value, names)
            raise ValueError(f"option {option}: no such value {value!r}{near}; it can be {', '.join(names)}")
        return names[value.lower()]
    number = int(value) if isinstance(value, enum) else as_whole(f"option {option}", value)  # type: ignore[call-overload]
    if number not in names.values():
        raise ValueError(f"option {option}: no such value {value!r}; it can be {', '.join(names)}")
    return number


def _bits(option: str, value: object, enum: type, prefix: str) -> int:
    names = _names(enum, prefix)
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Iterable):
        bits = int(value) if isinstance(value, enum) else as_whole(f"option {option}", value)  # type: ignore[call-overload]
        if bits & ~sum(names.values()):
            raise ValueError(f"option {option}: {value!r} has bits that are no flags; flags are {', '.join(names)}")
        return bits
    bits = 0
    for flag in value:
        if str(flag).lower() not in names:
            raise ValueError(
                f"option {option}: no flag {flag!r}{_nearest(str(flag), names)}; flags are {', '.join(names)}"
            )
        bits |= names[str(flag).lower()]
    return bits


def _vector(option: str, value: object, shape: tuple[int, ...]) -> np.ndarray:
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "iuf":
            raise TypeError
        vector = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"option {option}: {value!r} is not {shape[0]} numbers") from error
    if vector.shape != shape or not np.all(np.isfinite(vector)):
        raise ValueError(f"option {option}: {value!r} is not {shape[0]} finite numbers")
    return vector


def _number(option: str, value: object, kind: type) -> float | int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"option {option}: {value!r} is not a number") from error
    if not np.isfinite(number) or (kind is int and number != int(number)):
        raise ValueError(f"option {option}: {value!r} is not {'an integer' if kind is int else 'a finite number'}")
    rule = RULES.get(f"opt.{option}")
    if rule is not None and not rule.allowed.fits(np.asarray(number)):
        raise ValueError(f"option {option}: {value!r} {rule.allowed.fault(number)}; it must be {rule.allowed.words}")
    if kind is int and abs(number) > _MOST:
        raise ValueError(f"option {option}: {value!r} is more than {_MOST:,}, the most there can be")
    return int(number) if kind is int else number

"""The numbers that terms of randomization change: rows of a field of the model, or of several that belong together."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import mujoco
import numpy as np

from ...physics.base.rotations import cross, matrix_to_quat, quat_to_matrix
from ...physics.model.parameters import require_known
from ...physics.model.tables.kernel_numbers import is_option, mujoco_numbers
from ..arrays import exp, row_sum
from .items import Names, rows_of

Values = dict[str, np.ndarray]


class DrawTarget(NamedTuple):
    """Numbers of the model that one draw changes."""

    parameters: tuple[str, ...]  # MuJoCo's names
    rows: int
    axes: int
    apply: Callable[[Values, np.ndarray], None]  # to values (n, ...) by name, of drawn numbers (n, rows or 1, axes)


class Asked(NamedTuple):
    """A term as the functions below see it."""

    owner: str  # for messages
    model: mujoco.MjModel
    field: str
    operation: str
    names: Mapping[str, Names]
    axes: int | Sequence[int] | None
    clip: tuple[float, float] | None

    def changed(self, own: np.ndarray, drawn: np.ndarray) -> np.ndarray:
        """Return the model's numbers after the draw."""
        changed_numbers = (
            own * drawn if self.operation == "scale" else own + drawn if self.operation == "add" else drawn + 0 * own
        )
        return changed_numbers if self.clip is None else np.clip(changed_numbers, *self.clip)

    def rows(self, field: str) -> np.ndarray:
        """Return the chosen rows of a field that has some."""
        rows = rows_of(self.model, field, self.names, self.owner)
        assert rows is not None
        return rows

    def plain(self) -> "Asked":
        """Refuse axes, which a target of one number a row does not have."""
        if self.axes is not None:
            raise ValueError(f"{self.owner}: axes={self.axes!r}: it has one number a row, leave axes out")
        return self


def target_of(
    owner: str,
    model: mujoco.MjModel,
    field: str,
    operation: str,
    names: Mapping[str, Names],
    axes: int | Sequence[int] | None,
    clip: tuple[float, float] | None,
) -> DrawTarget:
    """Return the target of a term; arguments as in `Randomize`.

    Raises:
        ValueError: it does not fit the model.
        KeyError: no parameter has such a name.
    """
    asked = Asked(owner, model, field, operation, names, axes, clip)
    if field in _TOGETHER:
        return _TOGETHER[field](asked)
    try:
        require_known(field, writable=True)
    except KeyError as error:
        raise KeyError(f"{owner}: {error.args[0]}, and {', '.join(_TOGETHER)}") from None
    return _of_field(asked)


def _of_field(asked: Asked) -> DrawTarget:
    """Return rows and axes of one field."""
    field, own = asked.field, mujoco_numbers(asked.model, asked.field)
    rows = rows_of(asked.model, field, asked.names, asked.owner)
    if rows is None and not is_option(field):
        rows = np.arange(len(own))  # of pairs of geoms, equalities and other unnamed items: all
    shape = (1, max(1, own.size)) if rows is None else (len(own), own.size // max(1, len(own)))
    rows = np.zeros(1, int) if rows is None else rows
    if not len(rows):
        raise ValueError(f"{asked.owner}: the model has nothing of the kind; leave the term out")
    columns = np.arange(shape[1]) if asked.axes is None else np.atleast_1d(np.asarray(asked.axes))
    whole = columns.ndim == 1 and columns.dtype.kind in "iu"
    if not whole or (columns < 0).any() or (columns >= shape[1]).any() or len(np.unique(columns)) < len(columns):
        raise ValueError(f"{asked.owner}: axes={asked.axes!r}: there are 0 to {shape[1] - 1}, each to be named once")

    def apply(values: Values, drawn: np.ndarray) -> None:
        numbers = values[field].reshape(len(drawn), *shape)
        place = (slice(None), rows[:, None], columns)
        numbers[place] = asked.changed(numbers[place], drawn)
        values[field] = numbers.reshape(len(drawn), *own.shape)

    return DrawTarget((field,), len(rows), len(columns), apply)


def _mass(asked: Asked) -> DrawTarget:
    """Return masses of bodies, with inertias in proportion."""
    rows = asked.plain().rows("body_mass")
    rows = rows[asked.model.body_mass[rows] > 0]
    if not len(rows):
        raise ValueError(f"{asked.owner}: no body has a mass")

    def apply(values: Values, drawn: np.ndarray) -> None:
        before = values["body_mass"][:, rows]
        after = asked.changed(before, drawn[..., 0])
        values["body_mass"][:, rows] = after
        values["body_inertia"][:, rows] *= (after / before)[..., None]

    return DrawTarget(("body_mass", "body_inertia"), len(rows), 1, apply)


def _pseudo_inertia(asked: Asked) -> DrawTarget:
    """Return mass, centre of mass and inertia of bodies."""
    if asked.operation != "add":
        raise ValueError(f'{asked.owner}: operation={asked.operation!r}: it can only be "add"')
    rows = asked.plain().rows("body_mass")
    rows = rows[asked.model.body_mass[rows] > 0]
    if not len(rows):
        raise ValueError(f"{asked.owner}: no body has a mass")
    names = tuple(f"body_{name}" for name in Inertia._fields)

    def apply(values: Values, drawn: np.ndarray) -> None:
        numbers = np.broadcast_to(drawn, (len(drawn), len(rows), len(NUMBERS)))
        inertia = mapped(Inertia(*(values[name][:, rows] for name in names)), numbers)
        for name, part in zip(names, inertia, strict=True):
            values[name][:, rows] = part

    return DrawTarget(names, len(rows), len(NUMBERS), apply)


_GAIN, _BIAS = "actuator_gainprm", "actuator_biasprm"


def _servos(asked: Asked, column: int, what: str) -> np.ndarray:
    """Return actuators (k,) whose force has a gain on the length (column 1) or on the velocity (2)."""
    model, rows = asked.model, asked.plain().rows(_GAIN)
    affine = (model.actuator_gaintype == int(mujoco.mjtGain.mjGAIN_FIXED)) & (
        model.actuator_biastype == int(mujoco.mjtBias.mjBIAS_AFFINE)
    )
    has = affine & (model.actuator_biasprm[:, column] < 0)
    wrong = rows[~has[rows]]
    if asked.names["actuators"] is not None and len(wrong):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, int(wrong[0]))
        raise ValueError(f"{asked.owner}: actuator {name!r} has no {what} gain; choose others by actuators=")
    if not has[rows].any():
        raise ValueError(f"{asked.owner}: no actuator has a {what} gain; leave the term out")
    return rows[has[rows]]


def _kp(asked: Asked) -> DrawTarget:
    """Return position gains of actuators."""
    return _gains(asked, _servos(asked, 1, "position"), 1)


def _kv(asked: Asked) -> DrawTarget:
    """Return velocity gains of actuators."""
    return _gains(asked, _servos(asked, 2, "velocity"), 2)


def _gains(asked: Asked, rows: np.ndarray, column: int) -> DrawTarget:
    """Return gains on the length or the velocity, with that on the control where it is the same.

    The control of an actuator with a gain on the length is a length, whatever its other gain is.
    """
    model = asked.model
    controlled = model.actuator_gainprm[rows, 0] == -model.actuator_biasprm[rows, column]
    controlled &= (model.actuator_biasprm[rows, 1:column] == 0).all(1)

    def apply(values: Values, drawn: np.ndarray) -> None:
        after = asked.changed(-values[_BIAS][:, rows, column], drawn[..., 0])
        values[_BIAS][:, rows, column] = -after
        if controlled.any():
            values[_GAIN][:, rows[controlled], 0] = after[:, controlled]

    return DrawTarget((_GAIN, _BIAS) if controlled.any() else (_BIAS,), len(rows), 1, apply)


def _motor_strength(asked: Asked) -> DrawTarget:
    """Return all forces of actuators."""
    model, rows = asked.model, asked.plain().rows(_GAIN)
    if not len(rows):
        raise ValueError(f"{asked.owner}: the model has no actuators; leave the term out")
    if asked.operation != "scale":
        raise ValueError(f'{asked.owner}: operation={asked.operation!r}: it can only be "scale"')
    bias = np.isin(model.actuator_biastype, (int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE)))
    gain = np.isin(model.actuator_gaintype, (int(mujoco.mjtGain.mjGAIN_FIXED), int(mujoco.mjtGain.mjGAIN_AFFINE)))
    wrong = rows[~(bias & gain)[rows]]
    if len(wrong):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, int(wrong[0]))
        raise ValueError(f"{asked.owner}: the force of actuator {name!r} is no affine one; choose others by actuators=")
    names = (_GAIN, *(_BIAS,) * bool(model.actuator_biasprm[rows].any()))
    names += ("actuator_forcerange",) * bool(model.actuator_forcelimited[rows].any())

    def apply(values: Values, drawn: np.ndarray) -> None:
        for name in names:
            values[name][:, rows, :3] *= drawn

    return DrawTarget(names, len(rows), 1, apply)


def _effort_limit(asked: Asked) -> DrawTarget:
    """Return limits of forces, both by one number."""
    rows, limited = asked.plain().rows(_GAIN), asked.model.actuator_forcelimited.astype(bool)
    if asked.operation != "scale":
        raise ValueError(f'{asked.owner}: operation={asked.operation!r}: it can only be "scale"')
    if not limited[rows].any():
        raise ValueError(f"{asked.owner}: no actuator has a limit of its force; give it a forcerange")
    rows = rows[limited[rows]]

    def apply(values: Values, drawn: np.ndarray) -> None:
        values["actuator_forcerange"][:, rows] *= drawn

    return DrawTarget(("actuator_forcerange",), len(rows), 1, apply)


_TOGETHER: dict[str, Callable[[Asked], DrawTarget]] = {
    "mass": _mass,
    "pseudo_inertia": _pseudo_inertia,
    "kp": _kp,
    "kv": _kv,
    "motor_strength": _motor_strength,
    "effort_limit": _effort_limit,
}


NUMBERS = ("alpha", "d1", "d2", "d3", "s12", "s23", "s13", "t1", "t2", "t3")
"""The ten numbers: density times exp(2 alpha); stretches exp(d) along x, y, z; shears; the centre of mass moves, m."""


class Inertia(NamedTuple):
    """Mass and inertia of bodies, as MuJoCo has them."""

    mass: np.ndarray  # (..., ) kg
    ipos: np.ndarray  # (..., 3) m, centre of mass in the body's frame
    inertia: np.ndarray  # (..., 3) kg m^2, principal moments about it
    iquat: np.ndarray  # (..., 4), their axes in the body's frame


def mapped(own: Inertia, numbers: np.ndarray) -> Inertia:
    """Return the inertia of bodies whose mass was stretched, sheared and moved, about their centres of mass.

    Args:
        own: of the bodies before.
        numbers: (..., 10), in the order of `NUMBERS`, along the axes of the body's frame.
    """
    scales = exp(numbers[..., :4] * np.array([2.0, 1.0, 1.0, 1.0]))
    heavier, moved = scales[..., 0], numbers[..., 7:]
    if not numbers[..., 1:7].any():  # neither stretched nor sheared: the axes stay
        return Inertia(own.mass * heavier, own.ipos + moved, own.inertia * heavier[..., None], own.iquat)
    stretch = np.zeros((*numbers.shape[:-1], 3, 3))
    for k in range(3):
        stretch[..., k, k] = scales[..., 1 + k]
    stretch[..., 0, 1], stretch[..., 1, 2], stretch[..., 0, 2] = np.moveaxis(numbers[..., 4:7], -1, 0)
    # Second moments about the centre of mass, S = tr(I) / 2 - I, in the body's axes: a square R R'.
    moments = np.maximum(0.5 * row_sum(own.inertia)[..., None] - own.inertia, 0.0)  # a flat body's is a rounding
    root = _product(stretch, quat_to_matrix(own.iquat) * np.sqrt(moments)[..., None, :])
    second = heavier[..., None, None] * _product(root, np.swapaxes(root, -1, -2))
    found, axes = np.linalg.eigh(second)
    right_handed = row_sum(cross(axes[..., 0], axes[..., 1]) * axes[..., 2]) > 0
    axes = np.where(right_handed[..., None, None], axes, -axes)
    found = np.maximum(found, 0.0)
    inertia = row_sum(found)[..., None] - found
    return Inertia(own.mass * heavier, own.ipos + moved, inertia, matrix_to_quat(axes))


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return products of matrices (..., 3, 3), with sums in a fixed order."""
    return row_sum(a[..., :, None, :] * np.swapaxes(b, -1, -2)[..., None, :, :])

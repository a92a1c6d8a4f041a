"""The inputs of the solver that a task may drive, by MuJoCo's names: mocap bodies, applied forces, equalities.

A task returns them from `reset`, `begin` and `step` (`Start`, `ResetResult`, `StepResult`). The solver keeps them until
they are replaced, and saves them with its state. An environment that is reset begins with the model's: mocap bodies
where the file has them, no forces, equalities as the file's `active` says.

| name | shape | what |
|---|---|---|
| `mocap_pos` | (n, nmocap, 3) | positions of the mocap bodies, m, world frame |
| `mocap_quat` | (n, nmocap, 4) | their orientations, w first |
| `xfrc_applied` | (n, nbody, 6) | on every body a force at its centre of mass (N) and a torque (N m), world frame |
| `qfrc_applied` | (n, nv) | forces on the dofs, N or N m |
| `eq_active` | (n, neq) | whether each equality constraint holds, bool |
"""

from collections.abc import Mapping
from typing import Any

import mujoco

from ..arrays import Array, ArrayKind

_SIZES: dict[str, tuple[str, tuple[int, ...], str]] = {
    "mocap_pos": ("nmocap", (3,), 'mocap body; mark a child of the world with mocap="true"'),
    "mocap_quat": ("nmocap", (4,), 'mocap body; mark a child of the world with mocap="true"'),
    "xfrc_applied": ("nbody", (6,), "body"),
    "qfrc_applied": ("nv", (), "joint"),
    "eq_active": ("neq", (), "equality constraint"),
}
"""Size of the model, further axes, and the missing feature of a model without any."""


def checked_inputs(where: str, inputs: Any, n: int, model: mujoco.MjModel, kind: ArrayKind) -> dict[str, Array]:
    """Check inputs that a task returned for n environments; return them in the solver's precision.

    Args:
        where: task and method, for messages.
        inputs: by name, each (n, ...), or (...) for all.
        n: number of environments.
        model: of the task.
        kind: of the batch's arrays.

    Raises:
        TypeError: they are no mapping, or a value is no array of numbers.
        KeyError: there is no input of such a name; the message lists the names.
        ValueError: a shape is wrong; the message has the right one.
    """
    if not isinstance(inputs, Mapping):
        raise TypeError(f'{where}: inputs is {type(inputs).__name__}; needed is a mapping, {{"xfrc_applied": array}}')
    checked = {}
    for name, value in inputs.items():
        if name not in _SIZES:
            hint = "; `control` returns the controls" if name == "ctrl" else ""
            raise KeyError(f"{where}: inputs: no input is named {name!r}; there are {', '.join(_SIZES)}{hint}")
        if getattr(value, "dtype", kind.dtype) != kind.dtype and "complex" in str(value.dtype):
            raise TypeError(f"{where}: inputs {name!r} has dtype {value.dtype}; needed are real numbers")
        size, rest, lacking = _SIZES[name]
        single = (int(getattr(model, size)), *rest)
        try:
            numbers = kind.numbers(value)
        except (TypeError, ValueError, RuntimeError) as error:
            raise TypeError(f"{where}: inputs {name!r} is no array of numbers: {error}") from error
        if tuple(numbers.shape) not in ((n, *single), single):
            axes = ", ".join(("environments", f"model.{size}", *map(str, rest)))
            needed = f"{(n, *single)}, ({axes})" + ("" if single[0] else f"; the model has no {lacking}")
            raise ValueError(f"{where}: inputs {name!r} has shape {tuple(numbers.shape)}; needed is {needed}")
        checked[name] = numbers
    return checked

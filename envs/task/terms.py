"""Terms that several tasks share: observations, costs, starts. Formulas are taken from Gymnasium's v5 tasks."""

import math

from ..arrays import Array, namespace, row_sum
from .noise import Noise
from .task import Start, Task, TaskState


def control_cost(action: Array, weight: float) -> Array:
    """Cost of large actions, weight x sum of squares: (n, nu) -> (n,)."""
    return weight * row_sum(action * action)


def strictly_inside(x: Array, bounds: tuple[Array, Array] | tuple[float, float]) -> Array:
    """Return low < x < high, elementwise."""
    low, high = bounds
    return (x > low) & (x < high)


def without_wrenches(state: TaskState) -> TaskState:
    """The state with `cfrc_ext` zero: v5 computes contact wrenches in its steps only, so that a start shows none."""
    wrenches = state.fields["cfrc_ext"]
    return state.with_fields(cfrc_ext=namespace(wrenches).zeros_like(wrenches))


def squared_wrenches(state: TaskState) -> Array:
    """Sum of the squares of all contact wrenches on all bodies, (n,)."""
    wrenches = state.fields["cfrc_ext"]
    wrenches = namespace(wrenches).reshape(wrenches, (wrenches.shape[0], -1))
    return row_sum(wrenches * wrenches)


def uniform_start(task: Task, noise: Noise, scale: float) -> Start:
    """Draw positions within ±scale of the reference and velocities within ±scale of rest.

    Raises:
        ValueError: the scale is negative or not finite.
    """
    _check_scale(task, scale)
    nq, nv = task.model.nq, task.model.nv
    return Start(task.init_qpos + noise.uniform(-scale, scale, nq), noise.uniform(-scale, scale, nv))


def normal_start(task: Task, noise: Noise, scale: float) -> Start:
    """Draw positions within ±scale of the reference and normal velocities of standard deviation `scale`.

    Raises:
        ValueError: the scale is negative or not finite.
    """
    _check_scale(task, scale)
    nq, nv = task.model.nq, task.model.nv
    return Start(task.init_qpos + noise.uniform(-scale, scale, nq), scale * noise.normal(nv))


def _check_scale(task: Task, scale: float) -> None:
    """Refuse a scale of noise that is negative or not finite; tasks call this option `reset_noise_scale`."""
    if not 0 <= scale < math.inf:
        raise ValueError(
            f"{type(task).__name__}: the noise of its starts (reset_noise_scale) has scale {scale}; it must be finite "
            "and not negative"
        )

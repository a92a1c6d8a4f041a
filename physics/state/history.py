"""MuJoCo's `mjData.history` of controls, made from samples of kernels and taken apart into them.

There an actuator with n samples has a buffer [user, cursor, times (n), controls (n x ctrlnum)], a ring in which the
cursor is the place of the newest sample. Here samples are in order, the newest first, and have ages: steps since then.
Buffers of sensors are not kept: a sensor with a delay or an interval cannot be read, and moves nothing.
"""

from collections.abc import Iterator

import mujoco
import numpy as np

from ..model.delays import lagging, samples

_ROUNDED = 1e-6
"""Steps: ages as near to a whole number, or to a half, are that; MuJoCo's times are sums of steps, and rounded."""


def _places(mj: mujoco.MjModel) -> Iterator[tuple[int, int, int, slice, slice]]:
    """Of every actuator with samples its number, that of its samples and of controls in each, and where both lie."""
    age, control = 0, 0
    for a in lagging(mj):
        n, width = int(samples(mj)[a]), int(mj.actuator_ctrlnum[a])
        yield int(a), n, width, slice(age, age + n), slice(control, control + n * width)
        age, control = age + n, control + n * width


def to_mujoco(mj: mujoco.MjModel, ages: np.ndarray, controls: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Buffers (n, mj.nhistory) from ages (n, nsample), controls (n, nhistory) and the present times (n, 1) in seconds.

    The oldest sample comes first, as after MuJoCo's reset; those of sensors are 0.
    """
    found = np.zeros((len(ages), mj.nhistory))
    for a, n, width, samples_at, controls_at in _places(mj):
        first = mj.actuator_historyadr[a]
        found[:, first + 1] = n - 1
        found[:, first + 2 : first + 2 + n] = times - ages[:, samples_at][:, ::-1] * float(mj.opt.timestep)
        newest_first = controls[:, controls_at].reshape(-1, n, width)
        found[:, first + 2 + n : first + 2 + n + n * width] = newest_first[:, ::-1].reshape(-1, n * width)
    return found


def from_mujoco(mj: mujoco.MjModel, buffers: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ages (n, nsample) and controls (n, nhistory) from buffers (n, mj.nhistory) and the present times (n, 1).

    Raises:
        ValueError: for a cursor that is none, for times that do not increase, or that are not in the past.
    """
    ages, controls = [np.zeros((len(buffers), 0))], [np.zeros((len(buffers), 0))]
    for a, n, width, _, _ in _places(mj):
        first, name = mj.actuator_historyadr[a], mj.actuator(a).name or f"actuator {a}"
        cursor = buffers[:, first + 1]
        if not np.isin(cursor, np.arange(n)).all():
            raise ValueError(f"history of {name}: its cursor must be a whole number from 0 to {n - 1}")
        order = (cursor[:, None].astype(int) - np.arange(n)) % n
        taken = np.take_along_axis(buffers[:, first + 2 : first + 2 + n], order, 1)
        ages.append(checked_ages((times - taken) / float(mj.opt.timestep), name))
        rows = buffers[:, first + 2 + n : first + 2 + n + n * width].reshape(-1, n, width)
        controls.append(np.take_along_axis(rows, order[:, :, None], 1).reshape(-1, n * width))
    return np.concatenate(ages, 1), np.concatenate(controls, 1)


def shifted(mj: mujoco.MjModel, ages: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Ages (n, nsample) where the present time moves by so many seconds (n, 1) and the samples' times do not.

    Raises:
        ValueError: for samples that are not in the past any more.
    """
    moved = ages + seconds / float(mj.opt.timestep)
    for a, _, _, samples_at, _ in _places(mj):
        moved[:, samples_at] = checked_ages(moved[:, samples_at], mj.actuator(a).name or f"actuator {a}")
    return moved


def checked_ages(ages: np.ndarray, name: str) -> np.ndarray:
    """Ages (n, samples) of an actuator without the rounding of times.

    Raises:
        ValueError: they do not increase from the newest sample on, or it is not in the past.
    """
    halves = np.round(2 * ages) / 2
    ages = np.where(np.abs(ages - halves) < _ROUNDED, halves, ages)
    if not (ages[:, 0] > 0).all():
        raise ValueError(
            f"history of {name}: its newest sample must be from before the present time; "
            "let the state have mjSTATE_TIME and mjSTATE_HISTORY both"
        )
    if not (np.diff(ages, axis=1) > 0).all():
        raise ValueError(f"history of {name}: times of samples must increase")
    return ages

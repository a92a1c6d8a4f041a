"""MuJoCo's `mjData.history` of controls and readings, made from samples in memory and taken apart into them.

MuJoCo's buffers are rings (`mjmodel.history`). In memory samples are in order, the newest first, and have ages: steps
since they were taken. Buffers of sensors that Tumble does not compute are as after a reset.
"""

from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np

from .history import Ring

_ROUNDED = 1e-6
"""Steps: ages as near to a whole number, or to a half, are that; MuJoCo's times are sums of steps, and rounded."""


class Samples(NamedTuple):
    """The contents of the buffers of n environments.

    Attributes:
        ages: (n, samples) steps, the newest sample of a ring first.
        values: (n, numbers).
        ticks: (n, ticks) steps since the last ones.
    """

    ages: np.ndarray
    values: np.ndarray
    ticks: np.ndarray


def put_samples(
    mj: mujoco.MjModel, rings: Sequence[Ring], found: Samples, times: np.ndarray, buffers: np.ndarray
) -> None:
    """Write samples into buffers (n, mj.nhistory) at the present times (n, 1) in seconds, the oldest first."""
    step = float(mj.opt.timestep)
    for ring in rings:
        buffers[:, ring.first + 1] = ring.nsample - 1
        buffers[:, ring.times()] = times - found.ages[:, ring.ages][:, ::-1] * step
        newest_first = found.values[:, ring.values].reshape(len(buffers), ring.nsample, ring.width)
        buffers[:, ring.numbers()] = newest_first[:, ::-1].reshape(len(buffers), -1)
        if ring.tick >= 0:
            buffers[:, ring.first] = times[:, 0] - found.ticks[:, ring.tick] * step


def taken_samples(mj: mujoco.MjModel, rings: Sequence[Ring], buffers: np.ndarray, times: np.ndarray) -> Samples:
    """Return the samples in buffers (n, mj.nhistory) at the present times (n, 1) in seconds.

    Raises:
        ValueError: for a cursor that is none, for times that do not increase, or that are not in the past, and for
            readings that are not finite.
    """
    ages, values, ticks = ([np.zeros((len(buffers), 0))] for _ in range(3))
    for ring in rings:
        cursor = buffers[:, ring.first + 1]
        if not np.isin(cursor, np.arange(ring.nsample)).all():
            raise ValueError(f"history of {ring.name}: its cursor must be a whole number from 0 to {ring.nsample - 1}")
        order = (cursor[:, None].astype(int) - np.arange(ring.nsample)) % ring.nsample
        taken = np.take_along_axis(buffers[:, ring.times()], order, 1)
        if ring.tick >= 0:
            ticks.append(_in_steps(mj, times - buffers[:, ring.first : ring.first + 1]))
        ages.append(checked_ages(_in_steps(mj, times - taken), ring, ticks[-1]))
        rows = buffers[:, ring.numbers()].reshape(-1, ring.nsample, ring.width)
        values.append(np.take_along_axis(rows, order[:, :, None], 1).reshape(len(buffers), -1))
        if ring.finite and not np.isfinite(rows).all():
            raise ValueError(f"history of {ring.name}: its readings must be finite")
    return Samples(*(np.concatenate(parts, 1) for parts in (ages, values, ticks)))


def shifted(mj: mujoco.MjModel, rings: Sequence[Ring], found: Samples, seconds: np.ndarray) -> Samples:
    """Return the samples after a change of the present time by `seconds` (n, 1), their own times being kept.

    Raises:
        ValueError: for samples that are not in the past any more.
    """
    ages, ticks = found.ages + seconds / float(mj.opt.timestep), found.ticks + seconds / float(mj.opt.timestep)
    for ring in rings:
        ages[:, ring.ages] = checked_ages(ages[:, ring.ages], ring, ticks[:, ring.tick : ring.tick + 1])
    return Samples(ages, found.values, ticks)


def _in_steps(mj: mujoco.MjModel, seconds: np.ndarray) -> np.ndarray:
    """Return times in steps, without their rounding."""
    ages = seconds / float(mj.opt.timestep)
    halves = np.round(2 * ages) / 2
    return np.where(np.abs(ages - halves) < _ROUNDED, halves, ages)


def checked_ages(ages: np.ndarray, ring: Ring, ticks: np.ndarray) -> np.ndarray:
    """Return the ages (n, count) of the samples of a ring whose last tick is `ticks` steps ago (n, 1).

    Raises:
        ValueError: they do not increase from the newest sample on, or the next sample would not be newer.
    """
    wait = np.maximum(0.0, np.ceil(ring.interval - ticks - _ROUNDED)) if ring.tick >= 0 else 0.0  # for the next one
    if not (ages[:, :1] + wait > 0).all():
        raise ValueError(
            f"history of {ring.name}: its newest sample must be from before the present time; "
            "let the state have mjSTATE_TIME and mjSTATE_HISTORY both"
        )
    if not (np.diff(ages, axis=1) > 0).all():
        raise ValueError(f"history of {ring.name}: times of samples must increase")
    return ages

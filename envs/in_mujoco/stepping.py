"""Steps of all environments, in several threads: MuJoCo's C runs without Python's lock.

Threads take the lock between two calls of C, and wait for it if another one computes in Python. So all but these calls
happens in one thread, for all environments at once if that is possible.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..faults import NON_FINITE
from .world import LARGEST, MujocoWorld

_FEWEST = 32
"""Environments that a thread steps at least; to start it, twice a step, takes as long as some ten of them."""


def step(worlds: Sequence[MujocoWorld], n: int, threads: int) -> None:
    """Take n physics steps in each environment; one whose state did not stay finite stands still.

    Args:
        worlds: the environments.
        n: number of steps, at least 1.
        threads: the most threads; they change no bit. MuJoCo's callback of environments that watch is of the whole
            process, so that these are stepped in one thread.
    """
    going = [world for world in worlds if not world.faults & NON_FINITE]
    count = 1 if any(world.watches for world in going) else min(threads, len(going) // _FEWEST)
    for world in going:
        world.begin()
    if n > 1:
        _each(going, lambda world: world.advance(n - 1), count)
    for world in going:
        world.begin_last()
    _each(going, MujocoWorld.take_last, count)
    if not _all_sound(going):
        for world in going:
            world.check(n)


def _each(worlds: Sequence[MujocoWorld], work: Callable[[MujocoWorld], None], threads: int) -> None:
    """Do the work of each environment."""

    def share(first: int, apart: int) -> None:
        for world in worlds[first::apart]:
            work(world)

    if threads < 2:
        share(0, 1)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(share, range(threads), [threads] * threads))


def _all_sound(worlds: Sequence[MujocoWorld]) -> bool:
    """Return True if MuJoCo has warned of nothing, and no environment has a number that is not finite or too large."""
    if not worlds or np.concatenate([world.warned for world in worlds]).any():
        return not worlds
    moved = np.concatenate([part for world in worlds for part in (world.data.qpos, world.data.qvel)])
    evaluated = np.concatenate([world.evaluated for world in worlds])
    return bool(np.isfinite(evaluated).all() and (np.abs(moved) <= LARGEST).all())

"""Values that are resampled at intervals: in each environment when its time is over."""

from collections.abc import Callable, Mapping

import numpy as np

from ..arrays import Array, namespace, spread_mask
from ..task.noise import Noise


def whole_steps(seconds: Array, dt: float) -> Array:
    """Return durations (n,) s as steps of `dt` s, rounded, at least 1: (n,) int64."""
    xp = namespace(seconds)
    steps = xp.round(seconds / dt)
    return xp.astype(xp.where(steps > 1, steps, xp.ones_like(steps)), xp.int64)


class Renewal:
    """Resamples values at intervals.

    In numpy it draws only for the due environments, which are few at any step; the noise of all goes on by as many
    numbers, so that draws that follow are the same in every batch. On a device it draws for all and chooses, because
    there the host would have to wait to know how many are due.

    Args:
        draw: from the noise of k environments, and from arrays that are given for them, (k, ...), to values by name,
            (k, ...) each. It takes as many numbers from the noise every time.
    """

    def __init__(self, draw: Callable[..., Mapping[str, Array]]) -> None:
        self._draw = draw
        self._numbers: int | None = None  # that a draw takes from the noise

    def __call__(self, noise: Noise, due: Array, kept: Mapping[str, Array], *given: Array) -> dict[str, Array]:
        """Return the values `kept` (n, ...), resampled where the mask `due` (n,) is True."""
        if not isinstance(due, np.ndarray):
            xp, fresh = namespace(due), self._draw(noise, *given)
            return {
                name: xp.where(spread_mask(due, value), xp.astype(fresh[name], value.dtype), value)
                for name, value in kept.items()
            }
        rows, fresh = np.flatnonzero(due), {}
        if len(rows) or self._numbers is None:
            part = noise.of(rows)
            before = part.position
            fresh = self._draw(part, *(array[rows] for array in given))
            self._numbers = part.position - before
        noise.skip(self._numbers)
        if not len(rows):
            return dict(kept)
        renewed = {name: value.copy() for name, value in kept.items()}
        for name, value in renewed.items():
            value[rows] = fresh[name]
        return renewed

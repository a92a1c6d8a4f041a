"""Mean and variance of all rows seen so far."""

from typing import Any

import numpy as np

from ..arrays import Array, host, namespace
from .stateful import in_the_library_of


class RunningMoments:
    """Mean and variance of all rows seen so far, in double precision, in the library and on the device of the data.

    Batches are joined by Chan, Golub and LeVeque ("Updating formulae and a pairwise algorithm for computing sample
    variances", 1979). At first the mean is 0 and the variance 1, and they weigh as much as `count` rows.

    Attributes:
        mean: of the rows, (...).
        var: of the rows, (...): mean squared distance from the mean.
        count: how many rows were seen, and the weight of the first mean and variance.
    """

    def __init__(self, shape: tuple[int, ...] = (), count: float = 1e-4) -> None:
        self.mean: Array = np.zeros(shape)
        self.var: Array = np.ones(shape)
        self.count = count

    def update(self, rows: Array) -> None:
        """Take in k rows (k, ...); k may be zero."""
        if len(rows) == 0:
            return
        xp = namespace(rows)
        rows = xp.astype(rows, xp.float64)
        self.move_to(rows)
        mean, var, added = xp.mean(rows, axis=0), xp.var(rows, axis=0, correction=0), len(rows)
        away, total = mean - self.mean, self.count + added
        spread = self.var * self.count + var * added + away * away * (self.count * added / total)
        self.mean, self.var = xp.asarray(self.mean + away * (added / total)), xp.asarray(spread / total)
        self.count = total

    def move_to(self, like: Array) -> None:
        """Bring mean and variance to the library and device of an array."""
        self.mean, self.var = in_the_library_of(self.mean, like), in_the_library_of(self.var, like)

    def state_dict(self) -> dict[str, Any]:
        """Return mean and variance as numpy arrays, and the count."""
        return {"mean": host(self.mean).copy(), "var": host(self.var).copy(), "count": self.count}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` left off.

        Raises:
            ValueError: the moments are of rows of another shape.
        """
        mean, var = np.array(state["mean"], np.float64), np.array(state["var"], np.float64)
        if mean.shape != np.shape(host(self.mean)):
            raise ValueError(f"the saved mean has shape {mean.shape}; needed is {tuple(self.mean.shape)}")
        self.mean, self.var, self.count = mean, var, float(state["count"])

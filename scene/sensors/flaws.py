"""The flaws of a sensor's readings: a walk, white noise, a bias and a resolution, of every environment's own."""

from collections.abc import Mapping

import torch

from ..checks import Numbers, Rows
from . import draws

NAMES = ("resolution", "bias", "noise", "random_walk")
"""The flaws that readings may have, by the names of options."""


class Flaws:
    """The flaws of n environments' readings of k numbers each.

    A number becomes x + walk + noise + bias, rounded to whole multiples of the resolution. The walk starts at zero with
    the environment, and takes a normal step, of standard deviation `random_walk`, with each reading.

    Args:
        like: readings (n, k), for their shape, precision and device.
        given: numbers by `NAMES`, each for all k numbers or k of them.
    """

    def __init__(self, like: torch.Tensor, given: Mapping[str, Numbers]) -> None:
        self.walk = torch.zeros_like(like)
        self._numbers = {
            name: torch.as_tensor(value, dtype=like.dtype, device=like.device).expand_as(like).clone()
            for name, value in given.items()
        }
        self._there = {name: bool(numbers.any()) for name, numbers in self._numbers.items()}

    def get(self, name: str) -> torch.Tensor:
        """Return the numbers of a flaw, (n, k), a copy."""
        return self._numbers[name].clone()

    def set(self, name: str, values: torch.Tensor, rows: Rows) -> None:
        """Write the numbers of a flaw of environments `rows`, (len(rows), k)."""
        self._numbers[name][rows] = values
        self._there[name] = bool(self._numbers[name].any())

    def apply(self, values: torch.Tensor, rows: Rows, key: torch.Tensor, tick: torch.Tensor) -> torch.Tensor:
        """Return the measured values of the numbers (len(rows), k) of environments `rows`, and walk on.

        Args:
            values: the numbers; they stay as they are.
            rows: an index into the environments.
            key: from which these environments draw, (len(rows),).
            tick: the moment at which they do, (len(rows),): `draws.at`.
        """
        there, width = self._there, values.shape[1]
        if there["random_walk"]:
            step = draws.normal(draws.at(key, tick, draws.WALK), width).to(values.dtype)
            self.walk[rows] += self._numbers["random_walk"][rows] * step
            values = values + self.walk[rows]
        if there["noise"]:
            drawn = draws.normal(draws.at(key, tick, draws.NOISE), width).to(values.dtype)
            values = values + self._numbers["noise"][rows] * drawn
        if there["bias"]:
            values = values + self._numbers["bias"][rows]
        if there["resolution"]:
            step = self._numbers["resolution"][rows]
            values = torch.where(step > 0.0, (values / step).round() * step, values)
        return values

    def state_dict(self, rows: Rows) -> dict[str, torch.Tensor]:
        """Return the walk of environments `rows`, and the flaws that they have, (len(rows), k) each."""
        there = {name: self._numbers[name][rows].clone() for name in NAMES if self._there[name]}
        return {"walk": self.walk[rows].clone()} | there

    def load_state_dict(self, state: Mapping[str, torch.Tensor], rows: Rows) -> None:
        """Write the result of `state_dict` into environments `rows`; a missing flaw is zero."""
        self.walk[rows] = state["walk"]
        for name in NAMES:
            if name in state or self._there[name]:
                self.set(name, state.get(name, torch.zeros_like(self.walk[rows])), rows)

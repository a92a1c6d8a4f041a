"""The readings of the last steps: a ring of them for delays, jitter and histories."""

import torch

from ...physics.machine.normal_mode import normal_mode


class Timeline:
    """The last readings of n environments, the newest of age 0.

    Args:
        depth: how many are kept.
        first: the readings with which all ages begin, (n, width).
    """

    def __init__(self, depth: int, first: torch.Tensor) -> None:
        self._ring = first.repeat(depth, 1, 1)  # (depth, n, width)
        self._head = 0
        self._envs = torch.arange(len(first), device=first.device)

    @property
    def depth(self) -> int:
        """The number of readings that are kept."""
        return len(self._ring)

    def push(self, readings: torch.Tensor) -> None:
        """Take the readings of a step, (n, width)."""
        self._head = (self._head + 1) % self.depth
        self._ring[self._head] = readings

    def fill(self, readings: torch.Tensor, rows: torch.Tensor) -> None:
        """Fill all ages with the readings (k, width), in environments `rows` (k,)."""
        self._ring[:, rows] = readings

    def at(self, age: torch.Tensor) -> torch.Tensor:
        """Return the readings of whole ages, (n,) int64, one of each environment, (n, width)."""
        return self._ring[(self._head - age.clamp(0, self.depth - 1)) % self.depth, self._envs]

    def between(self, age: torch.Tensor) -> torch.Tensor:
        """Return readings of any age, (n,) float64: interpolated between the two nearest ones, (n, width)."""
        whole = age.floor()
        share = (age - whole).to(self._ring.dtype)[:, None]
        newer, older = self.at(whole.long()), self.at(whole.long() + 1)
        return newer + share * (older - newer)

    def all(self, rows: torch.Tensor | None = None) -> torch.Tensor:
        """Return the readings of environments `rows` (k,), or of all, the newest first, (k, depth, width)."""
        order = (self._head - torch.arange(self.depth, device=self._ring.device)) % self.depth
        readings = self._ring[order].transpose(0, 1)
        return readings if rows is None else readings[rows]

    def put(self, readings: torch.Tensor, rows: torch.Tensor) -> None:
        """Write the result of `all`, of this depth or less, into environments `rows` (k,)."""
        lacking = self.depth - readings.shape[1]
        readings = torch.cat((readings, readings[:, -1:].expand(-1, lacking, -1)), 1)
        order = (self._head - torch.arange(self.depth, device=self._ring.device)) % self.depth
        self._ring[order[:, None], rows] = readings.transpose(0, 1)

    @normal_mode
    def deepen(self, depth: int) -> None:
        """Keep more readings from now on; readings older than any kept one equal the oldest one."""
        if depth <= self.depth:
            return
        readings = self.all().transpose(0, 1).flip(0)  # the oldest first
        self._ring = torch.cat((readings[:1].expand(depth - len(readings), -1, -1), readings))
        self._head = depth - 1

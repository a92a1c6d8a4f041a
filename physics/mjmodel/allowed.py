"""Sets of floating-point numbers that a field may hold."""

import math
from typing import NamedTuple

import numpy as np


class Allowed(NamedTuple):
    """The numbers that a field may hold.

    Attributes:
        words: what they are, for messages.
        least: the least of them.
        above: whether they must be above `least`, not only at it.
        infinite: whether infinity is one of them.
    """

    words: str
    least: float = -math.inf
    above: bool = False
    infinite: bool = False

    def fits(self, numbers: np.ndarray) -> np.ndarray:
        """Mask of the numbers that are allowed, of the same shape."""
        fits = ~np.isnan(numbers) if self.infinite else np.isfinite(numbers)
        if self.least > -math.inf:
            fits &= numbers > self.least if self.above else numbers >= self.least
        return fits

    def fault(self, number: float) -> str:
        """Return the reason why a number is not allowed, such as "is negative"."""
        if math.isnan(number) or (math.isinf(number) and not self.infinite):
            return "is not finite" if not self.infinite else "is not a number"
        if number < 0 and not self.above:
            return "is negative"
        return f"is not above {self.least:g}"


FINITE = Allowed("a finite number")
NOT_NEGATIVE = Allowed("a finite number of at least 0", least=0.0)
POSITIVE = Allowed("a finite number above 0", least=0.0, above=True)
BOUND = Allowed("a number, where -inf and inf are no limit", infinite=True)
REACH = Allowed("a number of at least 0, where inf is no limit", least=0.0, infinite=True)

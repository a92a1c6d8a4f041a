"""Declarations of the numbers that fields of MuJoCo's model may hold, in files and in environments."""

import math
from typing import NamedTuple

import numpy as np


class Allowed(NamedTuple):
    """The numbers that a field may hold.

    Attributes:
        words: their description, for messages.
        least: the smallest allowed number.
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


class AllowedNumbers(NamedTuple):
    """The numbers that a field may hold, and the reason."""

    allowed: Allowed
    reason: str


class Parameter(NamedTuple):
    """A field of mjModel or mjOption that can be a per-environment parameter.

    Attributes:
        name: MuJoCo's.
        allowed: the numbers that it may hold, for mechanisms' fields (`model.number_rules` has all others).
        derives: constants that follow from it (`model.constants`).
        positive: its numbers are not negative, although a file's may be (`model.number_rules` has the others).
        lasting: numbers above zero in the model stay so: without mass or size a body is another kind of thing.
        found: numbers above zero are only for items that have such numbers in the model: others have no constraint.
        ordered: its rows are ranges, lower bound first.
        turns: its rows are quaternions, w first; they are brought to unit length, as MuJoCo's compiler does.
    """

    name: str
    allowed: AllowedNumbers | None = None
    derives: tuple[str, ...] = ()
    positive: bool = False
    lasting: bool = False
    found: bool = False
    ordered: bool = False
    turns: bool = False


FINITE = Allowed("a finite number")
NOT_NEGATIVE = Allowed("a finite number of at least 0", least=0.0)
POSITIVE = Allowed("a finite number above 0", least=0.0, above=True)
BOUND = Allowed("a number, where -inf and inf are no limit", infinite=True)
REACH = Allowed("a number of at least 0, where inf is no limit", least=0.0, infinite=True)

SOLREF = AllowedNumbers(
    FINITE,
    "solver reference: negative numbers are stiffness and damping themselves, and mixed signs are MuJoCo's default",
)
SOLIMP = AllowedNumbers(
    FINITE, "solver impedance: MuJoCo brings it to 0.0001 to 0.9999, a width to at least 0 and a power to at least 1"
)
MARGIN = AllowedNumbers(FINITE, "a margin below 0 lets the constraint act only behind its limit")
HIGHER_ORDER = AllowedNumbers(FINITE, "a coefficient of higher order: a force may rise and fall")
SPRING = AllowedNumbers(FINITE, "a spring with negative stiffness pushes away from its rest, as a toggle does")
DAMPER = AllowedNumbers(
    NOT_NEGATIVE,
    "a damper that feeds energy in has no stable implicit step; such a force is an actuator's (biasprm), or a "
    "coefficient of higher order",
)
BRAKE = AllowedNumbers(NOT_NEGATIVE, "friction only brakes")
RANGE = AllowedNumbers(BOUND, "a range")
MASS = AllowedNumbers(NOT_NEGATIVE, "a mass or an inertia")
GAIN = AllowedNumbers(FINITE, "gains, biases and gears: a force may go either way")
FORM = AllowedNumbers(FINITE, "places, orientations and coefficients: their sign is free")
"""Rows that several fields share."""

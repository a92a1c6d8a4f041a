"""Fair timing: the sides of a comparison take turns, and a figure is a median with its spread."""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """Durations of the same piece of work.

    Attributes:
        seconds: one for each round.
    """

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The figure that is reported, in seconds."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """Longest minus shortest over the median."""
        return (max(self.seconds) - min(self.seconds)) / self.median

    def times_faster_than(self, other: "Sample") -> "Ratio":
        """Return the factor by which this side was faster, round by round."""
        return Ratio(tuple(theirs / ours for ours, theirs in zip(self.seconds, other.seconds, strict=True)))


@dataclass(frozen=True)
class Ratio:
    """Quotients of two sides, one for each round, so that slow drifts of the machine cancel."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The figure that is reported."""
        return statistics.median(self.values)

    @property
    def low(self) -> float:
        """The worst round."""
        return min(self.values)

    @property
    def high(self) -> float:
        """The best round."""
        return max(self.values)


def take_turns(sides: Mapping[str, Callable[[], float]], rounds: int, warm_up: int = 1) -> dict[str, Sample]:
    """Run every side once a round; the order turns around from round to round.

    Args:
        sides: name -> function that does the side's work and returns the seconds that count.
        rounds: rounds that count.
        warm_up: rounds before them that do not.
    """
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(-warm_up, rounds):
        names = list(sides)
        for name in names if number % 2 == 0 else names[::-1]:
            duration = sides[name]()
            if number >= 0:
                seconds[name].append(duration)
    return {name: Sample(tuple(durations)) for name, durations in seconds.items()}


def clock(work: Callable[[], object], times: int = 1) -> float:
    """Seconds that `work`, done so many times, takes."""
    start = time.perf_counter()
    for _ in range(times):
        work()
    return time.perf_counter() - start

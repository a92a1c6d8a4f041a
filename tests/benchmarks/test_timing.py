"""Sides take turns, and figures are medians over rounds."""

import pytest

from tumble.benchmarks.timing import Sample, clock, take_turns


def test_sides_take_turns_and_the_warm_up_does_not_count():
    calls, clocks = [], iter(range(100))

    def side(name):
        def work():
            calls.append(name)
            return float(next(clocks))

        return work

    samples = take_turns({"a": side("a"), "b": side("b")}, rounds=2)
    assert calls == ["b", "a", "a", "b", "b", "a"]
    assert samples["a"].seconds == (2.0, 5.0)
    assert samples["b"].seconds == (3.0, 4.0)


def test_ratio_is_of_the_same_round():
    """A machine that slows down by half in one round does not change the ratio."""
    ours, theirs = Sample((1.0, 2.0, 1.0)), Sample((4.0, 8.0, 5.0))
    ratio = ours.times_faster_than(theirs)
    assert (ratio.median, ratio.low, ratio.high) == (4.0, 4.0, 5.0)
    assert ours.median == 1.0
    assert ours.spread == 1.0


def test_clock_repeats_the_work():
    done = []
    assert clock(lambda: done.append(1), 3) > 0
    assert len(done) == 3


def test_a_ratio_needs_equal_rounds():
    with pytest.raises(ValueError):
        Sample((1.0,)).times_faster_than(Sample((1.0, 2.0)))

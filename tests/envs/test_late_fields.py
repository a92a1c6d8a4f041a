"""Derived quantities before a step are read if `control` asks for them, once, and are those of the state there."""

from typing import ClassVar

import numpy as np
import pytest

import tumble
from tumble.envs.arrays import host
from tumble.envs.views import BatchView, LateFields

from .own_tasks import Held


class Looker(Held):
    """An arm held at its targets by a controller that looks where its tip is, or does not."""

    reads = ("site_xpos",)
    seen: ClassVar[list] = []

    frame_skip = 1
    asks: bool = True

    def control(self, state, action):
        """Keep what is seen of the tip."""
        if self.asks:
            assert {*state.fields} == {"site_xpos"} and len(state.fields) == 1
            self.seen.append(state.fields["site_xpos"].copy())
        return super().control(state, action)


def test_quantities_are_read_when_the_first_is_asked_for():
    reads = []
    fields = LateFields(lambda: reads.append(1) or {"a": 1, "b": 2})
    assert not reads
    assert (fields["a"], fields["b"], {**fields}) == (1, 2, {"a": 1, "b": 2}) and reads == [1]
    with pytest.raises(KeyError, match="c"):
        fields["c"]


def test_control_sees_the_state_before_the_step(monkeypatch):
    counted, read = [], BatchView._fields
    monkeypatch.setattr(BatchView, "_fields", lambda view, rows: counted.append(rows) or read(view, rows))
    for asks in (True, False):
        envs = tumble.make_vec(Looker, 3, asks=asks, max_episode_steps=100)
        envs.reset(seed=0)
        tip = host(envs.unwrapped.solver.get("site_xpos"))
        counted.clear()
        Looker.seen.clear()
        envs.step(np.ones((3, 2), np.float32))
        assert len(counted) == (2 if asks else 1)
        if asks:
            np.testing.assert_array_equal(Looker.seen[0], tip)
        envs.close()

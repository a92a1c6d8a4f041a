"""Derived quantities before a step, pictures and rays are computed if a method reads them, once, at the state there."""

from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

import tumble
from tumble.envs.arrays import host
from tumble.envs.batch.views import BatchView, LazyArrays
from tumble.envs.task.scans import RayScan, Scanner
from tumble.physics.rendering import BatchRenderer

from .own_tasks import Held, Pointer


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


class Watcher(Pointer):
    """The pointer with rays around it, which looks after each step, and before it if asked to."""

    rays: ClassVar = {"ahead": RayScan(site="tip", points=[[0, 0, 0]], geoms=[0])}
    frame_skip = 2
    early: bool = False

    def control(self, state, action):
        """Look, or not."""
        assert {*state.images} == {"above"} and {*state.rays} == {"ahead"}
        if self.early:
            state.images["above"], state.images["above"], state.rays["ahead"]
        return super().control(state, action)

    def observation(self, state):
        """The pointer's, whose picture is read; the ray is read twice."""
        state.rays["ahead"], state.rays["ahead"]
        return super().observation(state)


class Often(Watcher):
    """One whose controls are made before each physics step."""

    control_each_substep = True


@pytest.mark.parametrize("num_envs", [1, 3])
def test_pictures_are_drawn_and_rays_cast_where_they_are_read(num_envs, monkeypatch):
    drawn, cast, draw, distances = [], [], BatchRenderer.render, Scanner.distances
    monkeypatch.setattr(BatchRenderer, "render", lambda *args: drawn.append(1) or draw(*args))
    monkeypatch.setattr(Scanner, "distances", lambda *args: cast.append(1) or distances(*args))
    for task, early, expected in ((Watcher, False, 1), (Often, False, 1), (Watcher, True, 2), (Often, True, 3)):
        envs = tumble.make_vec(task, num_envs, early=early, max_episode_steps=100)
        envs.reset(seed=0)
        drawn.clear()
        cast.clear()
        envs.step(envs.action_space.sample())
        assert (len(drawn), len(cast)) == (expected, expected), (task, early)
        envs.close()


def test_quantities_are_read_when_they_are_asked_for_and_once():
    reads, solver = [], SimpleNamespace(edits=1)
    late = LazyArrays(solver, ("a", "b"), lambda name: reads.append(name) or 2 * name)
    assert {*late} == {"a", "b"} and len(late) == 2 and "a" in late and not reads
    assert (late["a"], late["a"], late["b"]) == ("aa", "aa", "bb") and reads == ["a", "b"]
    with pytest.raises(KeyError, match="c"):
        late["c"]


def test_a_state_that_is_past_is_not_computed_from_the_present_one():
    solver = SimpleNamespace(edits=1)
    late = LazyArrays(solver, ("a", "b"), lambda name: 2 * name)
    assert late["a"] == "aa"
    solver.edits += 1
    assert late["a"] == "aa"
    with pytest.raises(RuntimeError, match=r"'b' of a state is computed when it is first read, .* have moved on"):
        late["b"]


class Seer(Pointer):
    """One whose observation is its pictures."""

    def observation(self, state):
        """All of them."""
        return state.images


@pytest.mark.parametrize("num_envs", [1, 3])
def test_pictures_of_a_state_are_an_observation(num_envs):
    envs = tumble.make_vec(Seer, num_envs, max_episode_steps=100)
    observations = [envs.reset(seed=0)[0], envs.step(envs.action_space.sample())[0]]
    assert [{name: tuple(part.shape) for name, part in each.items()} for each in observations] == [
        {"above": (num_envs, 10, 12, 3)}
    ] * 2
    assert {*envs.single_observation_space.spaces} == {"above"}
    assert all(np.ptp(host(each["above"])) > 0 for each in observations)
    envs.close()


class Keeper(Watcher):
    """One that reads the picture of the state before a step after it."""

    def control(self, state, action):
        """Keep the state."""
        self.kept = state
        return super().control(state, action)

    def step(self, state, action):
        """Look back."""
        self.kept.images["above"]
        return super().step(state, action)


@pytest.mark.parametrize("num_envs", [1, 3])
def test_a_task_that_reads_a_past_picture_is_told(num_envs):
    envs = tumble.make_vec(Keeper, num_envs, max_episode_steps=100)
    envs.reset(seed=0)
    with pytest.raises(RuntimeError, match=r"'above' of a state is computed when it is first read"):
        envs.step(envs.action_space.sample())
    envs.close()


@pytest.mark.parametrize("num_envs", [1, 3])
def test_the_last_picture_of_an_episode_is_drawn_before_the_reset(num_envs):
    seen, actions = [], None
    for mode in ("NEXT_STEP", "SAME_STEP"):
        envs = tumble.make_vec(Watcher, num_envs, max_episode_steps=3, autoreset_mode=mode, output="numpy")
        envs.reset(seed=5)
        envs.action_space.seed(5)
        actions = actions or [envs.action_space.sample() for _ in range(3)]
        for action in actions:
            observation, _, _, truncated, info = envs.step(action)
        assert truncated.all()
        seen.append((info["final_obs"] if mode == "SAME_STEP" else observation)["picture"])
        first = envs.reset(seed=5)[0]["picture"]
        envs.close()
    np.testing.assert_array_equal(np.stack([*seen[1]]), seen[0])
    assert (seen[0] != first).any()


def test_control_sees_the_state_before_the_step(monkeypatch):
    counted, read = [], BatchView._found
    monkeypatch.setattr(BatchView, "_found", lambda view, rows: counted.append(rows) or read(view, rows))
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

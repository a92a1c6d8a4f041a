"""A saved state of vector environments is taken as a whole or not at all, wherever in it the mistake is."""

import copy

import pytest
import torch

import tumble

from .own_tasks import Counter, Held, Pointer


def leaves(state, path=()):
    """Paths of everything in a nested dict that is no dict."""
    for key, value in state.items():
        yield from leaves(value, (*path, key)) if isinstance(value, dict) else [(*path, key)]


def changed(state, path, change):
    """A copy of a state, with `change(parent, key)` made at a path."""
    found = copy.deepcopy(state)
    parent = found
    for key in path[:-1]:
        parent = parent[key]
    change(parent, path[-1])
    return found


def assert_same(one, other):
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, torch.Tensor):
        assert torch.equal(one, other)
    else:
        assert one == other


def cut(parent, key):
    parent[key] = parent[key][:-1] if not isinstance(parent[key], int) else parent[key] + 1


def replace_last(parent, key):
    if isinstance(parent[key], list):
        parent[key] = [*parent[key][:-1], "seven"]
    else:
        parent[key] = None


CHANGES = {
    "missing": lambda parent, key: parent.pop(key),
    "cut": cut,
    "replaced at its end": replace_last,
    "without numbers": lambda parent, key: parent.update({key: torch.zeros(2, device="meta")}),
    "with another beside it": lambda parent, key: parent.update(unknown=1),
}


LATER = ("timestep", "frame_skip")
"""Parts that states of older versions lack."""


@pytest.mark.parametrize("task", [Pointer, Held])
def test_a_mistake_anywhere_leaves_everything_as_it_was(task):
    one, other = (tumble.make_vec(task, 3, max_episode_steps=9) for _ in range(2))
    for envs, seed, count in ((one, 0, 4), (other, 5, 7)):
        envs.action_space.seed(seed)
        envs.reset(seed=seed)
        for _ in range(count):
            envs.step(envs.action_space.sample())
    given, before = one.state_dict(), copy.deepcopy(other.state_dict())
    tried = 0
    for path in leaves(given):
        for what, change in CHANGES.items():
            if what == "missing" and path[-1] in LATER:
                continue
            wrong = changed(given, path, change)
            with pytest.raises((ValueError, TypeError)) as caught:
                other.load_state_dict(wrong)
            assert "\n" not in str(caught.value), (path, what)
            assert_same(other.state_dict(), before)
            tried += 1
    assert tried >= 50
    for nothing in (None, [], "state"):
        with pytest.raises(TypeError, match="state: expected what state_dict"):
            other.load_state_dict(nothing)
    other.load_state_dict(given)
    assert_same(other.state_dict(), given)
    one.close()
    other.close()


@pytest.mark.parametrize("simulator", ["tumble", "mujoco"])
def test_another_length_of_steps_is_refused_by_name(simulator):
    """Of physics or of environment steps, in saved states and snapshots; states of older versions do not say it."""
    envs, alike, longer, rarer = (
        tumble.make_vec(Counter, 2, simulator=simulator, **options)
        for options in ({}, {}, {"model_options": {"timestep": 0.01}}, {"frame_skip": 3})
    )
    for made in (envs, alike, longer, rarer):
        made.reset(seed=0)
        made.step(made.action_space.sample())
    before = envs.state_dict()
    now, frame_skip = envs.solver.model.mj.opt.timestep, envs.task.frame_skip
    timestep_words = f"the state of environment 0 was saved with a timestep of 0.01 s, and here it is {now} s"
    skip_words = f"of Counter was saved with frame_skip=3, and here it is {frame_skip}"
    refused = [
        (lambda: envs.load_state_dict(longer.state_dict()), timestep_words),
        (lambda: envs.solver.load_state_dict(longer.solver.state_dict()), timestep_words),
        (lambda: envs.solver.load_state_dict(longer.solver.state_dict([1])), timestep_words),
        (lambda: envs.load_state_dict(rarer.state_dict()), skip_words),
        (lambda: envs.restore(rarer.snapshot()), skip_words),
    ]
    for call, words in refused:
        with pytest.raises(ValueError, match=words):
            call()
    assert_same(envs.state_dict(), before)
    old = alike.state_dict()
    del old["batch"]["frame_skip"], old["batch"]["solver"]["timestep"]
    envs.load_state_dict(old)
    assert_same(envs.state_dict(), alike.state_dict())
    envs.set_attr("frame_skip", 3)
    envs.restore(rarer.snapshot())
    for made in (envs, alike, longer, rarer):
        made.close()

"""Gymnasium's and Stable-Baselines3's checkers: no warning that the v5 task does not raise as well."""

import re
import warnings
from collections.abc import Callable

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_sb3

from tumble.envs.registry import V5


def messages(check: Callable, env: gymnasium.Env, **options) -> set[str]:
    """Run a checker, and return what it warned of, without colours and class names."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        check(env.unwrapped, **options)
    env.close()
    return {re.sub(r"\x1b\[\d+m", "", str(warning.message)) for warning in seen}


@pytest.mark.parametrize("name", V5)
def test_gymnasiums_checker(name):
    """Rendering is checked for ours alone: v5's needs OpenGL."""
    ours = messages(check_env, gymnasium.make(f"tumble/{name}-v0", render_mode="rgb_array"))
    theirs = messages(check_env, gymnasium.make(f"{name}-v5"), skip_render_check=True)
    assert ours <= theirs


@pytest.mark.parametrize("name", V5)
def test_stable_baselines3s_checker(name, each_precision):
    """In both precisions."""
    ours = messages(check_sb3, gymnasium.make(f"tumble/{name}-v0"))
    theirs = messages(check_sb3, gymnasium.make(f"{name}-v5"))
    assert ours <= theirs


def test_stable_baselines3s_checker_with_pictures():
    """It closes the environment after the picture, and goes on with a reset."""
    ours = messages(check_sb3, gymnasium.make("tumble/Ant-v0", render_mode="rgb_array"), skip_render_check=False)
    theirs = messages(check_sb3, gymnasium.make("Ant-v5"))
    assert ours <= theirs


def test_reset_opens_a_closed_environment():
    """It goes on with its seed, at the next episode; without a reset the step and the picture say what to do."""
    twins = [gymnasium.make("tumble/Hopper-v0", render_mode="rgb_array", width=16, height=16).unwrapped for _ in "ab"]
    for env in twins:
        env.reset(seed=3)
        env.reset()
    twins[0].close()
    for use in (lambda: twins[0].step(np.zeros(3)), twins[0].render):
        with pytest.raises(gymnasium.error.ResetNeeded, match=r"was closed: reset\(\) opens it again"):
            use()
    twins[0].close()
    for _ in range(2):
        np.testing.assert_array_equal(*(env.reset()[0] for env in twins))
        for one, other in zip(*(env.step(np.ones(3))[:4] for env in twins), strict=True):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(*(env.render() for env in twins))
    for env in twins:
        env.close()


@pytest.mark.parametrize("name", V5)
def test_the_whole_stack_of_wrappers(name):
    """`gymnasium.make` with its passive checker: a few episodes without a warning."""
    env = gymnasium.make(f"tumble/{name}-v0", max_episode_steps=20)
    env.action_space.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for episode in range(3):
            env.reset(seed=episode)
            done = False
            while not done:
                _, _, terminated, truncated, _ = env.step(env.action_space.sample())
                done = terminated or truncated
    env.close()

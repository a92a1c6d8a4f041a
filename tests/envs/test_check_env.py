"""Gymnasium's and Stable-Baselines3's checkers: no warning that the v5 task does not raise as well."""

import re
import warnings
from collections.abc import Callable

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_sb3

from tumble.envs.registry import TASKS


def messages(check: Callable, env: gymnasium.Env, **options) -> set[str]:
    """Run a checker, and return what it warned of, without colours and class names."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        check(env.unwrapped, **options)
    env.close()
    return {re.sub(r"\x1b\[\d+m", "", str(warning.message)) for warning in seen}


@pytest.mark.parametrize("name", TASKS)
def test_gymnasiums_checker(name):
    """Rendering is checked for ours alone: v5's needs OpenGL."""
    ours = messages(check_env, gymnasium.make(f"tumble/{name}-v0", render_mode="rgb_array"))
    theirs = messages(check_env, gymnasium.make(f"{name}-v5"), skip_render_check=True)
    assert ours <= theirs


@pytest.mark.parametrize("name", TASKS)
def test_stable_baselines3s_checker(name, each_precision):
    """In both precisions."""
    ours = messages(check_sb3, gymnasium.make(f"tumble/{name}-v0"))
    theirs = messages(check_sb3, gymnasium.make(f"{name}-v5"))
    assert ours <= theirs


@pytest.mark.parametrize("name", TASKS)
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

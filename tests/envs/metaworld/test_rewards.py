"""Observations, rewards and measures of all tasks equal those of Meta-World in recorded states."""

import numpy as np
import pytest

from tumble.assets.packages import folder_of
from tumble.envs.metaworld.names import KINDS

from .recorded import judged, of_task

NUMBERS = ("near_object", "grasp_reward", "in_place_reward", "obj_to_target")


def available() -> bool:
    """Return True if Meta-World's files are there."""
    try:
        return folder_of("metaworld").is_dir()
    except FileNotFoundError:
        return False


pytestmark = pytest.mark.skipif(not available(), reason="Meta-World's files are not installed")


@pytest.mark.parametrize("name", KINDS)
def test_as_recorded(name):
    rows = of_task("rewards.npz", name)
    observation, reward, info = judged(name, rows)
    seen = np.concatenate((observation[:, :18], observation[:, 36:]), axis=1)
    np.testing.assert_allclose(seen, rows["seen"], rtol=0, atol=1e-12)
    worth = dict(zip(("reward", "success", "near_object", "grasp_success", *NUMBERS[1:]), rows["worth"].T, strict=True))
    np.testing.assert_array_equal(info["success"], worth["success"] == 1)
    for key in NUMBERS:
        np.testing.assert_allclose(info[key], worth[key], rtol=0, atol=1e-12, err_msg=key)
    np.testing.assert_allclose(reward, worth["reward"], rtol=0, atol=1e-11)
    np.testing.assert_array_equal(info["grasp_success"], worth["grasp_success"])

"""Options of `reset` that nothing would look at are refused, with those there are."""

import gymnasium
import numpy as np
import pytest

import tumble
from tumble.envs import SingleEnv
from tumble.wrappers import NormalizeObservation


@pytest.fixture(scope="module")
def envs():
    return tumble.make_vec("InvertedPendulum", 2)


def test_unknown_options_of_vector_environments(envs):
    """The error lists the known ones, through a wrapper too; nothing was reset."""
    before, _ = envs.reset(seed=0)
    for options in ({"mask": np.ones(2, bool)}, {"reset_mask": np.ones(2, bool), "mask": 1}):
        for made in (envs, NormalizeObservation(envs)):
            with pytest.raises(ValueError, match=r"no option 'mask'; vector .* take 'reset_mask', 'elapsed_steps'"):
                made.reset(options=options)
    with pytest.raises(TypeError, match="options must be a dictionary or None, got list"):
        envs.reset(options=["reset_mask"])
    now, _ = envs.reset(options={"reset_mask": np.zeros(2, bool)})
    np.testing.assert_array_equal(now, before)
    envs.reset(options={})
    envs.reset(options=None)


def test_unknown_options_of_single_environments():
    """All are refused but an empty dictionary, which Gymnasium's checkers and SyncVectorEnv pass."""
    env = SingleEnv("InvertedPendulum")
    words = r"no option 'low', 'high'; single .* take none \(vector environments take 'reset_mask', 'elapsed_steps'\)"
    with pytest.raises(ValueError, match=words):
        env.reset(options={"low": -0.1, "high": 0.1})
    with pytest.raises(TypeError, match="options must be a dictionary or None, got int"):
        env.reset(options=3)
    env.reset(options={})
    many = gymnasium.vector.SyncVectorEnv([lambda: SingleEnv("InvertedPendulum")] * 2, autoreset_mode="Disabled")
    many.reset(seed=0)
    many.reset(options={"reset_mask": np.array([True, False])})
    many.close()

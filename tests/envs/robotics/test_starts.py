"""Episodes begin as the originals' do: each number of first observations and goals has the same distribution."""

import numpy as np
import pytest
from scipy import stats

import tumble

from . import originals
from .originals import Original, side_by_side

pytestmark = pytest.mark.skipif(not originals.available(), reason="Gymnasium-Robotics is not installed")

EPISODES = 300
RARE = 1e-5  # the chance of samples of the same distribution to be farther apart (Kolmogorov and Smirnov)
FINE = 1e-5  # smaller differences are those of solvers
SETTLED = {"settled_starts": EPISODES}  # the test asks for as many independent ones
SLOW = pytest.mark.slow
NAMES = {
    "FetchReach-v4": {},
    "FetchPush-v4": {},
    "FetchSlide-v4": {},
    "FetchPickAndPlace-v4": {},
    "PointMaze_Medium-v3": {},
    "PointMaze_Large_Diverse_G-v3": {},
    "AntMaze_Open_Diverse_GR-v5": {},
    "AdroitHandDoor-v1": {},
    "AdroitHandHammer-v1": {},
    "AdroitHandPen-v1": {},
    "AdroitHandRelocate-v1": {},
    "HandReach-v3": {},
    "HandManipulateBlockRotateZ-v1": SETTLED,
    "HandManipulateBlockRotateParallel-v1": SETTLED,
    "HandManipulateEgg-v1": SETTLED,
    "HandManipulatePen-v1": SETTLED,
    "FrankaKitchen-v1": {},
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[SLOW] * ("Manipulate" in name)) for name in NAMES])
def test_numbers_are_distributed_as_the_originals(name, double_precision):
    identity = f"gymnasium_robotics/{name}"
    envs = tumble.make_vec(identity, EPISODES, output="numpy", **NAMES[name])
    seen, _ = envs.reset(seed=0)
    ours = np.array([side_by_side(seen, i) for i in range(EPISODES)])
    env = Original(identity).env
    theirs = np.array([side_by_side(env.reset()[0]) for _ in range(EPISODES)])
    envs.close()
    assert ours.shape == theirs.shape
    moving = np.ptp(theirs, axis=0) > 100 * FINE
    for k in np.flatnonzero(moving):
        one, other = (np.round(sample[:, k] / FINE) for sample in (ours, theirs))
        assert stats.ks_2samp(one, other).pvalue > RARE, k
    still = (np.median(sample[:, ~moving], axis=0) for sample in (ours, theirs))
    np.testing.assert_allclose(*still, atol=100 * FINE)

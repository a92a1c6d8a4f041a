"""All ids of MyoSuite: made, stepped, in MuJoCo too, the same in batches of any size and in both libraries' arrays."""

import numpy as np
import pytest
import torch

import tumble
from tumble.envs.arrays import host
from tumble.envs.batch.batch import TaskBatch
from tumble.envs.checking.suite import check_vector_env
from tumble.envs.myo.table import ROWS
from tumble.envs.registry import make_task

from .test_parity import available

pytestmark = pytest.mark.skipif(not available(), reason="MyoSuite's models are not installed")

EACH = [
    f"myosuite/{name}-v0"
    for name in (
        *("motorFingerReachRandom", "myoElbowPose1D6MExoRandom", "myoFatiHandReachRandom", "myoReafHandKeyTurnRandom"),
        *("myoHandObjHoldRandom", "myoSarcHandPenTwirlRandom", "myoLegStandRandom", "myoLegWalk"),
    )
]
"""A task of each class."""

ids = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in EACH else pytest.mark.slow) for name in ROWS]
)
each = pytest.mark.parametrize("name", EACH)


def drawn(envs, count: int) -> np.ndarray:
    """Return actions that are the same for the first environments of any batch, (steps, count, nu)."""
    actions = np.random.default_rng(0).uniform(-1, 1, (12, 64, *envs.single_action_space.shape))
    return actions[:, :count].astype(np.float32)


@ids
def test_steps(name):
    """Five numbers come out, finite ones, and rewards are the sums of their terms."""
    envs = tumble.make_vec(name, 2, output="numpy")
    observation, _ = envs.reset(seed=1)
    for action in drawn(envs, 2)[:3]:
        assert np.isfinite(observation).all()
        observation, reward, _, _, info = envs.step(action)
        terms = sum(value for key, value in info.items() if key.startswith("reward_"))
        np.testing.assert_allclose(reward, terms, rtol=1e-5, atol=1e-5)
    envs.close()


@each
def test_conforms(name):
    """Vector environments as Gymnasium describes them."""
    check_vector_env(name, steps=24)


def rollout(name: str, size: int) -> np.ndarray:
    """Return what the first environment sees and gets in a batch, (steps, k)."""
    envs = tumble.make_vec(name, size, output="numpy", max_episode_steps=8)
    envs.reset(seed=5)
    rows = []
    for action in drawn(envs, size):
        observation, reward, terminated, truncated, _ = envs.step(action)
        rows.append(np.concatenate((observation[0], [reward[0], terminated[0], truncated[0]])))
    envs.close()
    return np.array(rows)


@each
def test_same_bits_in_any_batch(name):
    """The first of 5 and of 64 environments does as it does without company."""
    one = rollout(name, 1)
    for size in (5, 64):
        np.testing.assert_array_equal(rollout(name, size), one)


@each
def test_in_mujoco(name):
    """The same start and nearly the same step in MuJoCo's C."""
    seen = []
    for simulator in ("tumble", "mujoco"):
        envs = tumble.make_vec(name, 3, output="numpy", simulator=simulator)
        first, _ = envs.reset(seed=2)
        second, reward, *_ = envs.step(drawn(envs, 3)[0])
        seen.append(np.concatenate((first, second, reward[:, None]), axis=1))
        envs.close()
    np.testing.assert_allclose(*seen, rtol=2e-3, atol=2e-3)


@each
def test_in_torch(name):
    """Tensors give what numpy's arrays give."""
    seen = []
    for library in (None, "torch"):
        batch, everyone = TaskBatch(make_task(name, {}), 3, library=library), np.arange(3)
        batch.seed([1, 2, 3], everyone)
        first = batch.reset(everyone).observation
        action = np.linspace(-1, 1, 3 * batch.task.model.nu, dtype=np.float32).reshape(3, -1)
        result = batch.step(torch.as_tensor(action) if library else action)
        seen.append([host(part) for part in (first, result.observation, result.reward)])
        batch.solver.close()
    for mine, theirs in zip(*seen, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)
